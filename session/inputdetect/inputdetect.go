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

// State is what the foreground process group does with respect to its terminal.
type State uint8

// States.
const (
	Unknown  State = iota // not known: see Result.Reason
	Reading               // a thread is blocked in a read of this terminal
	Polling               // a thread waits for several events, input of this terminal among them
	Busy                  // a thread runs, or waits for a disk
	Sleeping              // all threads wait for other events
)

// stateNames are the names of states, by value.
var stateNames = [...]string{"unknown", "reading", "polling", "busy", "sleeping"}

// String returns the name of the state, for logs.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "state " + strconv.Itoa(int(s))
}

// Source is the kind of evidence of a Result. Greater values are stronger evidence.
type Source uint8

// Sources.
const (
	NoSource    Source = iota
	FromSched          // run state and run time: all that a process of another user shows
	FromWchan          // the kernel function it sleeps in (/proc/PID/wchan)
	FromSyscall        // the system call and its arguments (/proc/PID/syscall)
)

// sourceNames are the names of sources, by value.
var sourceNames = [...]string{"none", "schedule", "wait channel", "system call"}

// String returns the name of the source, for logs.
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
	PID     int    // the process whose thread determined the state; 0: none
	TID     int    // that thread
	Program string // its name in the kernel: at most 15 bytes, chosen by the program
	Syscall string // the system call, or kernel function, in which it is blocked; "": unknown
	// Timeout is the longest wait of a Polling thread: negative without a limit or if unknown. A thread with a short
	// timeout also does other work.
	Timeout time.Duration
	// Idle is set if no thread of the group ran since this prober's last probe of the same group. It is only determined
	// for groups in state Unknown. It means more after a longer interval: some 100 ms suffice for most programs.
	Idle   bool
	Reason string // the state in words, for users and logs

	// OnlyTerminal is set if the thread waits for nothing but the terminal.
	OnlyTerminal bool

	// Background is what the process does while one of its threads waits for the terminal.
	Background BackgroundActivity
	// WaitCount counts the waits of the thread that determined the state, or is -1 if unknown. The same thread with the
	// same count is still in the same wait.
	WaitCount int64
	// RunsScript is set for a shell or interpreter that was given its commands (-c, a file) and has no prompt.
	RunsScript bool
	// Relayed has the results for the terminals behind the program, if it is a relay and they are on this machine.
	Relayed []RelayedTTY
}

// BackgroundActivity is what a process does besides waiting for the terminal.
type BackgroundActivity uint8

// Background activities. Greater values are stronger.
const (
	BackgroundNone    BackgroundActivity = iota // the process has one thread, or the others wait for this one
	BackgroundWaiting                           // a dedicated thread waits for input; the first thread waits for other events
	BackgroundWorking                           // the first thread, or the processor time, shows other work
)

// RelayedTTY is a terminal behind a relay.
type RelayedTTY struct {
	Probe Result
	Modes *sys.Modes // nil: unknown
}

// Target is the terminal to probe.
type Target struct {
	TTY   uint64 // device number of the slave (st_rdev of /dev/pts/N)
	Group int    // foreground process group id
	// Leader is the session leader's pid. Without it, or if no process of the group is among its descendants, every
	// process of the machine is examined. A member whose parent has exited is missed if other members are found: no
	// shell's job has such a member.
	Leader int
	// NoEcho is set if the terminal echoes nothing. Then a helper outside of its session may read a secret from it.
	NoEcho bool
}
