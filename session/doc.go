// Package session runs a terminal session: it records the child's output, shows it on an emulated screen and types
// input for it.
//
//	ring ─▶ journal (offset) ─▶ emulator ─▶ events ─▶ waits, rules ─▶ watchers
//	child ◀─ PTY ◀─ input queue ◀─ keys, text, paste, replies
//
// # Structure
//
// The package contains the owner's loop (loop.go), the session's state (session.go), its public status (status.go) and
// its operations. Decisions are made by state machines in internal: they receive events and return actions. For each of
// them, a type of this package is the host, which accesses the terminal, the files and the timers:
//
//	inputState  input.go, inputstate.go   ▶ internal/admit, internal/inputqueue, internal/echodetect
//	rulesHost   rules.go                  ▶ internal/rules      response rules
//	waits       wait.go                   ▶ internal/wait       conditions
//	inputWait   inputwait.go, pendingprompt.go ▶ internal/inputwait  detection of prompts
//	lineHost    exec.go, linehost.go, lineprobe.go, track.go ▶ internal/lineexec  command lines
//	historyHost rebuild.go, journalmarks.go, reportedstate.go, checkpointwriter.go ▶ internal/history  journal and checkpoints
//
// # Ownership
//
// At most one goroutine owns a Session at a time, and none while the session is idle (park.go). Only the owner uses the
// emulator and writes to the journal. Other goroutines send it closures (Session.do). Status is a copy for readers on
// any goroutine, behind a mutex that guards little else. Raw followers read by offset from the ring or the journal and
// can never delay the owner.
//
// # Units
//
// Offsets count all bytes that the child has printed. Rows and columns are cells, 0-based. Versions grow with each
// change of the screen.
package session
