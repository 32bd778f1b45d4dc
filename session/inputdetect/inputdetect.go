// Package inputdetect detects whether the program in a terminal waits for a user's input, and for which kind, by
// evidence other than silence.
//
//	kernel  ── Prober.Probe ──→ Result ─┐
//	PTY     ── sys.ReadModes ─→ Modes ──┼─→ Facts ── Classify ──→ Verdict
//	screen  ── the session's owner ─────┘
//	rows    ── ActivityFilter ──────────→ did the screen change in substance?
//
// The prober reads from Linux what each thread of the foreground process group is blocked on. The classifier and
// ActivityFilter are pure: no clock, no I/O, and they build everywhere. Nothing here is safe for concurrent use; each
// session's owner has its own.
//
// Output of programs is hostile: text alone never outweighs a kernel that reports that the program sleeps.
package inputdetect

import (
	"strconv"
	"time"

	"github.com/longterm-dev/longterm/session/sys"
)

// State is the activity of the foreground process group with respect to its terminal.
type State uint8

// States.
const (
	Unknown  State = iota // it cannot be known: see Result.Why
	Reading               // a thread is blocked in a read of this terminal
	Polling               // a thread waits for a set of things with this terminal in it
	Busy                  // a thread runs, or waits for a disk
	Sleeping              // all threads wait for something else
)

var stateNames = [...]string{"unknown", "reading", "polling", "busy", "sleeping"}

func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "state " + strconv.Itoa(int(s))
}

// Source is the evidence of a Result, the strongest last.
type Source uint8

// Sources.
const (
	NoSource    Source = iota
	FromSched          // run state and run time: all that a foreign user's process shows
	FromChannel        // the kernel function it sleeps in (/proc/PID/wchan)
	FromCall           // the system call and its arguments (/proc/PID/syscall)
)

var sourceNames = [...]string{"none", "schedule", "wait channel", "system call"}

func (s Source) String() string {
	if int(s) < len(sourceNames) {
		return sourceNames[s]
	}
	return "source " + strconv.Itoa(int(s))
}

// Result is the result of a probe.
type Result struct {
	State   State
	Source  Source
	PID     int    // the process that decided, 0 if none did
	TID     int    // its thread
	Program string // its name as the kernel has it: at most 15 bytes, chosen by the program
	Call    string // the system call or kernel function it is in, "" if not known
	// Timeout is the longest wait of a Polling thread: negative without a limit or if unknown. A thread with a short
	// timeout also does other work.
	Timeout time.Duration
	// Idle is set if no thread of the group ran since this prober's last probe of the same group. It is only determined
	// for groups in state Unknown. It means more after a longer interval: some 100 ms suffice for most programs.
	Idle bool
	Why  string // in words, for people and logs

	// Alone is set if the thread waits for nothing but the terminal.
	Alone bool

	// Aside describes what the process does while one of its threads waits for the terminal.
	Aside BackgroundActivity
	// Waits counts the waits of the thread that decided, or is -1 if unknown: the same thread with the same number is
	// still in the same wait.
	Waits int64
	// Script is set for a shell, or another of the bare programs, that was given its commands (-c, a file) and has no
	// prompt.
	Script bool
	// Behind has the results for the terminals behind the program, if it is a relay and they are on this machine.
	Behind []RelayedTTY
}

// BackgroundActivity is what a process does besides waiting for the terminal.
type BackgroundActivity uint8

// Background activities, the strongest last.
const (
	Nothing   BackgroundActivity = iota // only this thread exists, or the others wait for it
	Elsewhere                           // a dedicated thread waits; the first thread waits for other events
	Working                             // the first thread, or the processor time, shows other work
)

// RelayedTTY is a terminal behind a relay.
type RelayedTTY struct {
	Probe Result
	Modes *sys.Modes // nil: not known
}

// Target is the terminal to probe.
type Target struct {
	TTY   uint64 // device number of the slave (st_rdev of /dev/pts/N)
	Group int    // foreground process group
	// Leader is the session leader's pid. Without it, or if no process of the group is among its descendants, every
	// process of the machine is examined. A member whose parent has exited is missed while others of the group are
	// found: no shell's job has such a member.
	Leader int
	// NoEcho is set if the terminal echoes nothing. In that case a helper outside of its session may read a secret from
	// it.
	NoEcho bool
}
