package bars

import (
	"fmt"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/theme"
)

// Doing is what a session is about: the command its shell runs, the title that a program
// set, or what was started. A shell at its prompt needs no word.
func Doing(s *model.Session, title string) string {
	switch {
	case s.Phase == model.PhaseRunning && s.Doing != "":
		first, _, _ := strings.Cut(s.Doing, "\n")
		return first
	case s.Phase == model.PhasePrompt:
		return ""
	case title != "":
		return title
	}
	return s.Command
}

// StateColor is the colour of how a session fares.
func StateColor(th *theme.Theme, s *model.Session) tcell.Color {
	switch {
	case s.Failed():
		return th.Bad
	case s.State != model.StateRunning:
		return th.Good
	case s.Wants():
		return th.Wants
	case s.Phase == model.PhaseRunning:
		return th.Busy
	case s.Phase == model.PhasePrompt && s.LastExit != nil && *s.LastExit != 0:
		return th.Bad
	}
	return th.Good
}

// Wide is the width from which on a state is told in words.
const Wide = 40

// wordyStatus is the width from which on an error is told.
const wordyStatus = 100

// StateText is how a session fares, in so many columns.
func StateText(s *model.Session, width int) string {
	wide := width >= Wide
	switch {
	case s.Needs == model.NeedsApproval && s.Wants() && wide:
		return "! needs approval"
	case s.Needs == model.NeedsApproval && s.Wants():
		return "!"
	case s.Wants() && wide:
		return "? needs " + s.Needs
	case s.Wants():
		return "?"
	case s.State == model.StateRunning && s.Agent != "" && wide:
		return "▣ " + s.Agent
	case s.State == model.StateRunning && s.Phase == model.PhasePrompt:
		return promptText(s, wide)
	case s.State == model.StateRunning && s.FullScreen:
		return "▣"
	case s.State == model.StateRunning && s.Phase == model.PhaseRunning:
		return "▶"
	case s.State == model.StateRunning:
		return "●"
	case s.ExitCode != nil && *s.ExitCode == 0 && !wide:
		return "✓"
	case s.ExitCode != nil && *s.ExitCode == 0:
		return "✓ exited 0"
	case s.ExitCode != nil && !wide:
		return fmt.Sprintf("✗%d", *s.ExitCode)
	case s.ExitCode != nil:
		return fmt.Sprintf("✗ exited %d", *s.ExitCode)
	case !wide:
		return "✗"
	case s.Signal != "":
		return "✗ " + s.Signal
	}
	return "✗ " + s.State
}

// promptText is the state of a shell that waits for a command.
func promptText(s *model.Session, wide bool) string {
	failed := s.LastExit != nil && *s.LastExit != 0
	switch {
	case failed && wide:
		return fmt.Sprintf("✗%d idle", *s.LastExit)
	case failed:
		return fmt.Sprintf("✗%d", *s.LastExit)
	case wide:
		return "idle"
	}
	return "·"
}

// Elapsed is how long what is going on has been going on. Idle shells have no clock: a
// row that changes every second draws the eye.
func Elapsed(s *model.Session, now time.Time) string {
	switch {
	case s.State == model.StateRunning && s.Phase == model.PhasePrompt:
		return ""
	case s.State == model.StateRunning && s.Phase == model.PhaseRunning && !s.Since.IsZero():
		return Duration(max(0, now.Sub(s.Since)))
	}
	return Duration(s.Ran(now))
}

func progressText(p *model.Progress, wide bool) string {
	const cells = 8
	if p.State == "indeterminate" {
		return "…"
	}
	percent := min(max(p.Percent, 0), 100)
	sign := map[string]string{"error": "!", "paused": "‖"}[p.State]
	if !wide {
		return fmt.Sprintf("%s%d%%", sign, percent)
	}
	full := percent * cells / 100
	return fmt.Sprintf("%s%s%s %d%%", sign, strings.Repeat("█", full), strings.Repeat("░", cells-full), percent)
}

// Duration is a span of time in few columns.
func Duration(d time.Duration) string {
	sec := int(d / time.Second)
	switch {
	case sec < 60:
		return fmt.Sprintf("%ds", sec)
	case sec < 3600:
		return fmt.Sprintf("%d:%02d", sec/60, sec%60)
	case sec < 48*3600:
		return fmt.Sprintf("%d:%02d:%02d", sec/3600, sec/60%60, sec%60)
	}
	return fmt.Sprintf("%dd%dh", sec/86400, sec/3600%24)
}

// ShortPath is a directory in few columns: ~ for home, then only its last parts.
func ShortPath(dir, home string, width int) string {
	if rest, ok := strings.CutPrefix(dir, home); ok && home != "" && home != "/" && (rest == "" || rest[0] == '/') {
		dir = "~" + rest
	}
	for canvas.TextWidth(dir) > width {
		_, rest, ok := strings.Cut(strings.TrimPrefix(dir, "…/"), "/")
		if !ok || rest == "" {
			break
		}
		dir = "…/" + rest
	}
	return dir
}
