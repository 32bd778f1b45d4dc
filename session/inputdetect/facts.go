package inputdetect

import (
	"time"

	"github.com/longterm-dev/longterm/session/sys"
)

// Facts is the input of Classify. Unknown facts have their zero value, which counts neither for nor against.
type Facts struct {
	Probe Result
	Modes *sys.Modes // nil: not known

	// The screen, as text without trailing blanks, except for Line, the text before the cursor, which keeps its blanks.
	Line  string   // the cursor's row up to the cursor
	After string   // the same row from the cursor on: ghost text, a right-hand prompt
	Above []string // rows above, the nearest last; 20 suffice
	Below []string // rows below, the nearest first

	// Shown masks the secrets in a line of a verdict. It is nil if no secrets are known.
	Shown func(line string) string

	AltScreen      bool // the alternate screen is shown
	BracketedPaste bool
	AppCursor      bool // application cursor keys (DECCKM)
	Mouse          bool // any mouse reporting

	// Answered is set if input came after the last output, so that the prompt at the cursor may be answered.
	Answered bool
	// Beside is set if output came while the reading thread was in this same wait, so that another process printed it.
	Beside bool
	// Leader is the pid of the session's own program. NewPrompt is set if the current command gives a shell another
	// prompt, without marks.
	Leader    int
	NewPrompt bool

	Quiet  time.Duration // since the last output
	Rhythm time.Duration // quiet that this program is used to keep between outputs: see Rhythm
	Shell  ShellState
}

// ShellState is the state according to the shell's integration marks.
type ShellState uint8

// Shell states.
const (
	ShellUnknown ShellState = iota // no integration
	ShellPrompt                    // the shell waits for a command
	ShellRunning                   // a command runs
)

// Kind is the kind of input that a program waits for.
type Kind string

// Kinds.
const (
	None     Kind = ""
	Password Kind = "password" // anything secret
	Confirm  Kind = "confirm"  // yes or no, or any key to continue
	Menu     Kind = "menu"     // one or more of the choices shown
	Text     Kind = "text"     // a line of text, or keys
	Screen   Kind = "screen"   // a full-screen program is idle
	Prompt   Kind = "prompt"   // a shell's prompt: it waits for a user, and asks nothing
)

// Verdict is the result of Classify.
type Verdict struct {
	// Needs is set if a program waits for input of this kind. It is not set for a shell's prompt. It is set for Screen:
	// such a program does nothing until a key comes, which may be its normal state.
	Needs bool
	Kind  Kind
	// Repl is set if an interpreter waits for a command at its prompt, without a question for the user.
	Repl bool
	// Box is set for a password box of a full-screen program, which reads keys without echo and shows none of them.
	Box bool
	// Confidence, in percent, that input is awaited. Needs is set from 50 on.
	Confidence int
	Reason     string // in words, for people and logs
}

// Rhythm learns a program's usual silence between two outputs, so that it is not taken for a prompt. The zero value has
// learned nothing.
type Rhythm struct {
	usual time.Duration
	last  time.Time
}

// Output records output at a time. Times must not decrease.
func (r *Rhythm) Output(at time.Time) {
	if !r.last.IsZero() {
		gap := at.Sub(r.last)
		// A long gap counts at once and decays slowly.
		r.usual = max(gap, r.usual-r.usual/8)
	}
	r.last = at
}

// Restart clears the state: another command runs.
func (r *Rhythm) Restart() { *r = Rhythm{} }

// Usual returns the value for Facts.Rhythm.
func (r *Rhythm) Usual() time.Duration { return r.usual }
