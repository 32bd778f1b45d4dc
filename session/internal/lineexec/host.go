package lineexec

import (
	"time"

	"github.com/longterm-dev/longterm/session/shell"
)

// Host gives the machine the state of its session and carries out its actions.
type Host interface {
	// View returns the state of the shell.
	View() View
	// Probe returns the kernel's state of the terminal's foreground process. It costs some system calls.
	Probe() Probe
	// Do carries out an action. It returns an error for ActType if the line cannot be typed, for ActRepair if the shell
	// has no repair line, and for ActFollow if the other shell's commands will not be followed.
	Do(Action) error
}

// View is the state that needs no probe.
type View struct {
	Now        time.Time
	LastOutput time.Time
	Offset     uint64 // of the output
	Kind       shell.Kind
	shell.State
}

// atPrompt reports whether the shell accepts a line.
func (v *View) atPrompt() bool { return v.Phase == shell.PhasePrompt && !v.InContinuation }

// sinceOutput returns the time since the last output.
func (v *View) sinceOutput() time.Duration { return v.Now.Sub(v.LastOutput) }

// Probe is the kernel's state of the process that reads the terminal, and of its input.
type Probe struct {
	Known         bool // otherwise only OutputPending is valid
	OutputPending bool // output is in transit and not interpreted yet
	Reads         bool // a process in the foreground waits for input of the terminal
	Blocked       bool // it is blocked in a read
	// ReaderIsShell reports that the reader is the session's own process. Replaced reports that this process now runs another
	// program, or has other arguments than at its start.
	ReaderIsShell, Replaced bool
	// Shadowed reports that the user's functions or settings replaced builtins that the integration calls: no mark will
	// come.
	Shadowed  bool
	Program   string   // name of the reader
	Argv      []string // its arguments, if they may be seen
	Canonical bool     // the terminal passes lines, not keys
	Pastes    bool     // a program enabled bracketed pastes
	Unread    int      // bytes of unread input
	// ReadSize is the size of the read request; 0: unknown.
	ReadSize int
	// Stack is the stack pointer of the reading thread; 0: unknown. A shell has the same one whenever it reads at its prompt, and
	// a different one in a builtin that reads.
	Stack uint64
}

// ActionKind is the kind of an Action.
type ActionKind uint8

// Kinds of actions; the comment names the fields in use.
const (
	ActKeys         ActionKind = iota + 1 // Keys: type them
	ActType                               // Line: type it and its Enter
	ActSetTimer                           // After: call OnTimer then; replaces an earlier ActSetTimer
	ActFlush                              // discard the unread input
	ActSane                               // set the terminal to line mode, for a shell without line editor
	ActStarted                            // Line: it is running
	ActEnded                              // Line, Err, NoCommand: it has ended
	ActFoundRunning                       // a line that the user typed runs, in a shell that does not mark starts
	ActAtPrompt                           // AtPrompt: the shell is at its prompt, without the mark for it
	ActMarksLost                          // Reason: likewise, and no mark will report how the line ended
	ActRepair                             // Line: restore the shell's marks; the next one reports how the line ended
	ActFollow                             // Program, Argv, Replaced, Shadowed, MayPrepare, Reason: another shell, or one without marks, reads the terminal
)

// Action is a request to the host.
type Action struct {
	Kind       ActionKind
	Line       *Line
	Keys       []byte
	After      time.Duration
	Err        error
	Reason     string
	NoCommand  bool // the line contained no command
	Program    string
	Argv       []string
	Replaced   bool
	Shadowed   bool
	MayPrepare bool // the other shell may be given the integration
	AtPrompt   bool // the shell is known to read at its prompt, so that a repair line may be typed
}
