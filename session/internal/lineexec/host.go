package lineexec

import (
	"time"

	"github.com/longterm-dev/longterm/session/shell"
)

// Host is the session, as the machine needs it.
type Host interface {
	// View is what is known of the shell.
	View() View
	// Probe asks the kernel what the terminal's foreground does. It costs some system calls.
	Probe() Probe
	// Do carries an action out. It fails where there is something to be said: ActType, when the
	// line cannot be typed; ActRepair, when there is no way; ActFollow, when the other shell's
	// commands will not be followed.
	Do(Action) error
}

// View is what is known without asking anybody.
type View struct {
	Now        time.Time
	LastOutput time.Time
	Offset     uint64 // of the output
	Kind       shell.Kind
	shell.State
}

// atPrompt says that the shell takes a line.
func (v *View) atPrompt() bool { return v.Phase == shell.PhasePrompt && !v.Continuation }

// quiet is how long nothing was printed.
func (v *View) quiet() time.Duration { return v.Now.Sub(v.LastOutput) }

// Probe is what the kernel tells of the process that reads the terminal.
type Probe struct {
	Known   bool // else nothing below means anything, but for Prints
	Prints  bool // what was printed is on its way still: nobody knows yet what it says
	Reads   bool // a process in the foreground waits for input of the terminal
	Blocked bool // in a read of it
	// Shell says that it is the session's own process; Replaced, that this process runs another
	// program, or with other arguments, than it was started with.
	Shell, Replaced bool
	Program         string   // its name
	Argv            []string // its arguments, if they may be seen
	Canonical       bool     // the terminal hands on lines, not keys
	Pastes          bool     // a program asked for bracketed pastes
	Unread          int      // bytes of input that were not read
	// Bytes is how many it asks for in its read; 0: not known.
	Bytes int
}

// ActionKind is what the host is to do.
type ActionKind uint8

// Actions; the comment names the fields in use.
const (
	ActKeys   ActionKind = iota + 1 // Keys: type them
	ActType                         // Line: type it and its Enter
	ActWake                         // After: call Due then; a new one replaces the one before
	ActFlush                        // take back the input that was not read
	ActSane                         // put the terminal into line mode: its shell has no editor of its own
	ActBegun                        // Line: it runs
	ActOver                         // Line, Err, Nothing: it has ended
	ActReads                        // the shell is at its prompt, though its marks did not say so
	ActLost                         // Reason: likewise, and no mark will say how the line ended
	ActRepair                       // Line: put the shell's marks back; the next one tells how the line ended
	ActFollow                       // Program, Argv, Replaced, Again, Reason: another shell reads the terminal
)

// Action is something to be done.
type Action struct {
	Kind     ActionKind
	Line     *Line
	Keys     []byte
	After    time.Duration
	Err      error
	Reason   string
	Nothing  bool // there was nothing in it to run
	Program  string
	Argv     []string
	Replaced bool
	Again    bool // it may be prepared
}
