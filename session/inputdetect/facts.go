package inputdetect

import (
	"time"

	"github.com/longterm-dev/longterm/session/sys"
)

// Evidence is the input of Classify. Unknown facts have their zero value, which counts neither for nor against.
type Evidence struct {
	Probe Result
	Modes *sys.Modes // terminal settings; nil: unknown

	// Text of the screen, without trailing blanks, except for Line, which keeps them.
	Line  string   // the cursor's row up to the cursor
	After string   // the same row from the cursor on: ghost text, a right-hand prompt
	Above []string // rows above, the nearest last; 20 are enough
	Below []string // rows below, the nearest first

	// Redact masks the secrets in a line that a verdict quotes. It is nil if no secrets are known.
	Redact func(line string) string

	AltScreen      bool // the alternate screen is shown
	BracketedPaste bool
	AppCursor      bool // application cursor keys (DECCKM)
	Mouse          bool // any mouse reporting

	// Answered is set if input came after the last output, so that the prompt at the cursor may be answered.
	Answered bool
	// PrintedByOther is set if output came during this wait of the reading thread, so that another process printed it.
	PrintedByOther bool
	// Leader is the pid of the session's own program. HasNewPrompt is set if the current command gives a shell another
	// prompt, without marks.
	Leader       int
	HasNewPrompt bool

	Silence      time.Duration // since the last output
	UsualSilence time.Duration // this program's usual pause between outputs (SilenceTracker.Usual)
	Shell        ShellState
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
	Password Kind = "password" // any secret
	Confirm  Kind = "confirm"  // yes or no, or any key to continue
	Menu     Kind = "menu"     // one or several of the listed choices
	Text     Kind = "text"     // a line of text, or keys
	Screen   Kind = "screen"   // a full-screen program is idle
	Prompt   Kind = "prompt"   // a shell's prompt: it waits for a command, and needs no input
)

// Verdict is the result of Classify.
type Verdict struct {
	// NeedsInput is set if a program waits for input of this kind. It is not set for a shell's prompt. It is set for
	// Screen: such a program does nothing until a key comes, which may be its normal state.
	NeedsInput bool
	Kind       Kind
	// IsREPL is set if an interpreter at its prompt, or a filter such as cat, waits for input without a question for the user.
	IsREPL bool
	// IsPasswordBox is set for a password box of a full-screen program, which reads keys without echo and shows none of
	// them.
	IsPasswordBox bool
	// Confidence is the confidence that the program waits for input, in percent. NeedsInput is set from minConfidence
	// on.
	Confidence int
	Reason     string // in words, for users and logs
}

// SilenceTracker learns a program's usual silence between two outputs, so that it does not count as evidence of a
// prompt. The zero value has learned nothing.
type SilenceTracker struct {
	usual time.Duration
	last  time.Time
}

// Output records output at a time. Times must not decrease.
func (r *SilenceTracker) Output(at time.Time) {
	if !r.last.IsZero() {
		gap := at.Sub(r.last)
		// A long gap counts at once and decays slowly.
		r.usual = max(gap, r.usual-r.usual/8)
	}
	r.last = at
}

// Reset clears the state when another command starts.
func (r *SilenceTracker) Reset() { *r = SilenceTracker{} }

// Usual returns the value for Facts.UsualSilence.
func (r *SilenceTracker) Usual() time.Duration { return r.usual }
