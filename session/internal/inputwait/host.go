package inputwait

import (
	"time"

	"github.com/longterm-dev/longterm/session/inputdetect"
	"github.com/longterm-dev/longterm/session/internal/echodetect"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/vterm"
)

// Host is the session from the machine's view.
type Host interface {
	// View returns the state that needs no probe.
	View() View
	// Probe returns the kernel's state of the terminal's foreground processes. It costs some system calls.
	Probe() Probe
	// Screen returns the screen and the places of typed input.
	Screen() Screen
	// RedactLine returns a line for publication, without its secrets.
	RedactLine(line string) string
}

// View is the session's state that needs no probe.
type View struct {
	Now        time.Time
	CanProbe   bool   // the program runs on a terminal that supports probes
	PID        int    // of the session's own program
	Offset     uint64 // of the output that the emulator has seen
	LastOutput time.Time
	Alt        bool // a full-screen program is shown
	Modes      vterm.Modes
	// HasIntegration reports that the shell has integration: Shell is the tracked state, Phase the published one.
	HasIntegration bool
	Phase          shell.Phase
	Shell          shell.State
	// RunsLine reports that a submitted line is running, and that the shell is not known to read input for it.
	RunsLine bool
	// ReadsBriefly reports that the shell runs a line that checks for input for a moment, and the kernel cannot
	// distinguish its waits.
	ReadsBriefly bool
}

// atPrompt reports whether the followed shell waits for a command, or draws its prompt.
func (v *View) atPrompt() bool {
	return v.HasIntegration && (v.Shell.Phase == shell.PhasePrompt || v.Shell.IsDrawingPrompt || v.Shell.HasEnded)
}

// Probe is the kernel's state of the terminal's programs.
type Probe struct {
	Now           time.Time // time of the probe
	Result        inputdetect.Result
	Modes         *sys.Modes // the terminal's settings; nil: unavailable
	Failed        bool       // the foreground process is unknown
	OutputPending bool       // output is in transit
}

// Screen is a screen with the history above it. Typed and Editor have the places of typed input. PartialLine is the
// text of a partial line, or "" if unknown.
type Screen struct {
	Frame       vterm.Frame
	History     vterm.History
	Typed       echodetect.TypedTexts
	Editor      *echodetect.EditorRegion
	PartialLine string
}
