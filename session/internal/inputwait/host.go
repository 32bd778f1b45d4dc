package inputwait

import (
	"time"

	"github.com/longterm-dev/longterm/session/evidence"
	"github.com/longterm-dev/longterm/session/internal/echo"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/vterm"
)

// Host is the session, as the machine needs it.
type Host interface {
	// View is what is known without asking anybody.
	View() View
	// Probe asks the kernel what the terminal's foreground does. It costs some system calls.
	Probe() Probe
	// Screen is the screen, and what is known of its rows.
	Screen() Screen
	// Shown is a line as it may be told of: without its secrets.
	Shown(line string) string
}

// View is what is known of the session.
type View struct {
	Now        time.Time
	Live       bool   // the program runs, on a terminal that can be asked
	PID        int    // of the session's own program
	Offset     uint64 // of the output that was looked at
	LastOutput time.Time
	Alt        bool
	Modes      vterm.Modes
	// Followed says that the shell tells of itself: Shell is what it tells, Phase what is shown of it.
	Followed bool
	Phase    shell.Phase
	Shell    shell.State
	// Waits says that a line of ours is under way and does not read from the terminal itself.
	Waits bool
	// ReadsBriefly says that the shell runs a line in which it looks for input for a moment, and that
	// the kernel does not tell which of its waits that is.
	ReadsBriefly bool
}

// atPrompt says that the shell that is followed waits for a command, or draws its prompt.
func (v *View) atPrompt() bool {
	return v.Followed && (v.Shell.Phase == shell.PhasePrompt || v.Shell.Drawing || v.Shell.Done)
}

// Probe is what the kernel tells.
type Probe struct {
	Now     time.Time // when it was asked
	Result  evidence.Result
	Modes   *sys.Modes // the terminal's settings; nil: they cannot be had
	Failed  bool       // it is not known who has the foreground
	Pending bool       // output is on its way
}

// Screen is a screen, with the history above it. Typed and Editor say where something was typed; Half is what was typed and
// not ended, empty where that is not known.
type Screen struct {
	Frame   vterm.Frame
	History vterm.History
	Typed   echo.Texts
	Editor  *echo.Region
	Half    string
}
