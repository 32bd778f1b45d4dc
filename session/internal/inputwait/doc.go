// Package inputwait detects whether a silent program waits for a user's input, and for which kind.
//
// Schedule decides when a silent program is probed. In a probe, Machine combines the kernel's state (Host.Probe), the
// text around the cursor (Host.Screen) and the shell's state (Host.View), and lets package inputdetect classify them.
// Then it decides what counts: if the prompt's text may still be in transit, or input may have ended the wait already,
// the result must be found again.
//
// The machine is pure and belongs to the session's owner, which has the timer, probes the kernel and publishes the
// findings. Rows have the ids of the emulator's history. Offsets count all bytes that the program has printed.
package inputwait
