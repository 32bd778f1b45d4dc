package evidence

import (
	"time"

	"github.com/longterm-dev/longterm/session/sys"
)

// Facts is all that Classify judges by. What is not known keeps its zero value, which
// counts neither for nor against.
type Facts struct {
	Probe Result
	Modes *sys.Modes // nil: not known

	// The screen, as text without trailing blanks, but for Line: what stands before the
	// cursor is kept whole, blanks too.
	Line  string   // the cursor's row up to the cursor
	After string   // the same row from the cursor on: ghost text, a right-hand prompt
	Above []string // rows above, the nearest last; 20 are enough
	Below []string // rows below, the nearest first

	// Shown masks the secrets in a line that a verdict tells of; nil: none is known.
	Shown func(line string) string

	AltScreen      bool // the alternate screen is shown
	BracketedPaste bool
	AppCursor      bool // application cursor keys (DECCKM)
	Mouse          bool // any mouse reporting

	// Answered: something was typed after the last output, so that what stands at the cursor may have
	// had its answer.
	Answered bool
	// Beside: something was printed while the thread that reads was in this same wait all along, so
	// that others print what it does not.
	Beside bool
	// Leader is the pid of the session's own program; NewPrompt: what it runs gives a shell another
	// prompt, which no marks are in.
	Leader    int
	NewPrompt bool

	Quiet  time.Duration // since the last output
	Rhythm time.Duration // quiet that this program is used to keep between outputs: see Rhythm
	Shell  ShellState
}

// ShellState is what the shell's integration marks say.
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
	Confirm  Kind = "confirm"  // yes or no, or any key to go on
	Menu     Kind = "menu"     // one or more of the choices shown
	Text     Kind = "text"     // a line of text, or keys
	Screen   Kind = "screen"   // a full-screen program is idle
	Prompt   Kind = "prompt"   // a shell's prompt: it waits for a person, and asks nothing
)

// Verdict is what Classify finds.
type Verdict struct {
	// Needs: a program waits for input of this kind. Not set for a shell's prompt. It
	// is for Screen: such a program does nothing until a key comes, which may be its
	// normal state.
	Needs bool
	Kind  Kind
	// Repl: a program that takes commands waits for one at its prompt, and asks nobody anything.
	Repl bool
	// Box is set for a password box of a full-screen program, which reads keys without echo and shows none of them.
	Box bool
	// Confidence, in percent, that input is awaited; Needs is set from 50 on.
	Confidence int
	Reason     string // in words, for people and logs
}

// Rhythm learns how long a program is silent between two outputs, so that its usual
// silence is not taken for a question. The zero value knows nothing.
type Rhythm struct {
	usual time.Duration
	last  time.Time
}

// Output tells it that something was printed at a time; times do not go backwards.
func (r *Rhythm) Output(at time.Time) {
	if !r.last.IsZero() {
		gap := at.Sub(r.last)
		// A long gap counts at once and is forgotten slowly.
		r.usual = max(gap, r.usual-r.usual/8)
	}
	r.last = at
}

// Restart forgets everything: another command runs.
func (r *Rhythm) Restart() { *r = Rhythm{} }

// Usual is the value for Facts.Rhythm.
func (r *Rhythm) Usual() time.Duration { return r.usual }
