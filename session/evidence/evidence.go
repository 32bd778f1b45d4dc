// Package evidence finds out whether the program in a terminal waits for a person, and
// for what, from what can be known instead of from silence.
//
//	kernel  ── Prober.Probe ──→ Result ─┐
//	PTY     ── sys.ReadModes ─→ Modes ──┼─→ Facts ── Classify ──→ Verdict
//	screen  ── the session's owner ─────┘
//	rows    ── ActivityFilter ──────────→ did the screen change in substance?
//
// The prober asks Linux what each thread of the foreground process group is blocked on.
// The classifier and ActivityFilter are pure: no clock, no I/O, and they build everywhere.
// Nothing here is safe for concurrent use; each session's owner has its own.
//
// What programs print is hostile: text alone never outweighs a kernel that says the
// program sleeps.
package evidence

import (
	"strconv"
	"time"

	"github.com/longterm-dev/longterm/session/sys"
)

// State is what the foreground process group does, as far as its terminal matters.
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

// Source says how a Result is known, the strongest last.
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

// Result is what a probe found.
type Result struct {
	State   State
	Source  Source
	PID     int    // the process that decided, 0 if none did
	TID     int    // its thread
	Program string // its name as the kernel has it: at most 15 bytes, chosen by the program
	Call    string // the system call or kernel function it is in, "" if not known
	// Timeout is how long a Polling thread waits at most: negative without a limit or
	// when that is not known. A short one is a program that does something else meanwhile.
	Timeout time.Duration
	// Idle: no thread of the group ran since this prober's last probe of the same group.
	// Only known (else false) for groups whose state is Unknown; it means the more the
	// longer ago that probe was: some 100 ms are enough for most programs.
	Idle bool
	Why  string // in words, for people and logs

	// Alone: nothing but the terminal is waited for.
	Alone bool

	// Aside says what else the process does while one of its threads waits for the terminal.
	Aside Aside
	// Waits counts the waits of the thread that decided, -1 when that is not known: the same thread
	// with the same number is still in the same wait.
	Waits int64
	// Script: a shell, or one of the bare programs, that was given its commands (-c, a file) and has no prompt of its own.
	Script bool
	// Behind is what was found on the terminals that the program relays for, if it relays and they
	// are on this machine.
	Behind []Behind
}

// Aside is what a process does besides waiting for the terminal.
type Aside uint8

// What is done aside, the most last.
const (
	Nothing   Aside = iota // the thread that waits is all there is, or the others wait for it
	Elsewhere              // it waits in a thread made for it; the first thread waits for events of its own
	Working                // the first thread, or the processor's time, says that other work goes on
)

// Behind is a terminal that a program relays for.
type Behind struct {
	Probe Result
	Modes *sys.Modes // nil: not known
}

// Target is the terminal to probe.
type Target struct {
	TTY   uint64 // device number of the slave (st_rdev of /dev/pts/N)
	Group int    // foreground process group
	// Leader is the session leader's pid. Without it, or if no process of the group is among
	// its descendants, every process of the machine is looked at. A member whose parent
	// is gone is missed while others of the group are found: no shell's job has one.
	Leader int
	// NoEcho is set if the terminal echoes nothing. Then a helper outside of its session may read a secret from it.
	NoEcho bool
}
