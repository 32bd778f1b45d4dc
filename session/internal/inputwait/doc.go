// Package inputwait finds out whether a program that has fallen silent waits for a person, and for what.
//
// Schedule says when a silent program is looked at. At a look Machine puts together what the kernel tells
// (Host.Probe), what stands around the cursor (Host.Screen) and what the shell tells (Host.View), has
// package evidence classify it, and tells what counts: a question that may be on its way still, or a wait
// that what was typed has ended, has to be found again.
//
// The machine is pure and belongs to the session's owner, who has the timer, asks the kernel and shows what
// was found. Rows are named by ids, as the history of the emulator counts them; offsets count the bytes the
// program ever printed.
package inputwait
