package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/theme"
)

// drawStatus draws a pane's first row: number, name, what runs and where; on the right
// how it fares and for how long.
func (v *viewer) drawStatus(p *pane) {
	s := v.m.Session(p.id)
	if s == nil || p.area.H < 2 {
		return
	}
	focused := p.id == v.m.Focus
	th := v.theme
	ground, dim := th.Status, th.StatusDim
	if focused {
		ground, dim = th.StatusFocus, th.FocusDim
	}
	left := []segment{{fmt.Sprintf(" %d %s", v.m.Number(p.id), s.Name), ground}}
	if what := doing(s, p); what != "" {
		left = append(left, segment{"  " + what, ground})
	}
	if dir := shortPath(s.Cwd, v.o.Home, p.area.W/3); dir != "" && p.area.W >= wideStatus {
		left = append(left, segment{"  " + dir, dim})
	}
	if s.FirstError != "" && p.area.W >= wordyStatus {
		left = append(left, segment{"  ✗ " + s.FirstError, theme.On(ground, th.Bad)})
	}
	right := v.statusRight(p, s, ground, dim)
	key := fmt.Sprint(focused)
	for _, seg := range append(left, right...) {
		key += "\x00" + seg.text
	}
	if p.status != key {
		p.status = key
		v.row(p.area.X, p.area.Y, p.area.W, left, right, ground)
	}
}

// doing is what a session is about: the command its shell runs, a title, or what was
// started. A shell at its prompt needs no word.
func doing(s *model.Session, p *pane) string {
	switch {
	case s.Phase == model.PhaseRunning && s.Doing != "":
		first, _, _ := strings.Cut(s.Doing, "\n")
		return first
	case s.Phase == model.PhasePrompt:
		return ""
	case p != nil && p.screen.Title != "":
		return p.screen.Title
	}
	return s.Command
}

func (v *viewer) statusRight(p *pane, s *model.Session, ground, dim tcell.Style) []segment {
	th, wide := v.theme, p.area.W >= wideStatus
	var out []segment
	add := func(text string, st tcell.Style) { out = append(out, segment{" " + text, st}) }
	if a := v.m.Alerts[s.ID]; s.State == model.StateRunning && (a.Kind == model.AlertBell || a.Kind == model.AlertFinished) {
		add(a.Kind.Sign(), theme.On(ground, th.Wants).Bold(true))
	}
	if l := p.look; l != nil && !l.passing {
		text := "⏸"
		if above := l.page.End() - l.height; wide && above > 0 { // else there is nothing to go back to
			text = fmt.Sprintf("⏸ %d/%d", max(l.page.End()-l.top-l.height, 0), above)
		}
		add(text, theme.On(ground, th.Wants))
	}
	if wide && p.outgrown(v.o.Now()) {
		add(fmt.Sprintf("⧉ %d×%d", p.screen.Cols, p.screen.Rows), theme.On(ground, th.Warn))
	}
	if v.m.Tab().Sync && s.State == model.StateRunning {
		add("SYNC", theme.On(ground, th.Warn))
	}
	if wide && s.Errors > 0 {
		add(fmt.Sprintf("✗%d", s.Errors), theme.On(ground, th.Bad))
	}
	if wide && s.Warnings > 0 {
		add(fmt.Sprintf("⚠%d", s.Warnings), theme.On(ground, th.Warn))
	}
	if s.Progress != nil && s.State == model.StateRunning && s.Phase != model.PhasePrompt {
		add(progressText(s.Progress, wide), theme.On(ground, th.Busy))
	}
	if left := s.Due.Sub(v.o.Now()); wide && left >= time.Second && s.State == model.StateRunning && s.Phase != model.PhasePrompt {
		add("ETA "+duration(left), theme.On(ground, th.Busy))
	}
	add(stateText(s, p.area.W), theme.On(ground, stateColor(th, s)))
	if t := elapsed(s, v.o.Now()); t != "" {
		add(t, dim)
	}
	return append(out, segment{" ", ground})
}

func stateColor(th *theme.Theme, s *model.Session) tcell.Color {
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

// wideStatus is the width from which on a state is told in words.
const wideStatus = 40

// wordyStatus is the width from which on an error is told.
const wordyStatus = 100

func stateText(s *model.Session, width int) string {
	wide := width >= wideStatus
	switch {
	case s.Wants() && wide:
		return "? needs " + s.Needs
	case s.Wants():
		return "?"
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

// elapsed is how long what is going on has been going on. Idle shells have no clock: a
// row that changes every second draws the eye.
func elapsed(s *model.Session, now time.Time) string {
	switch {
	case s.State == model.StateRunning && s.Phase == model.PhasePrompt:
		return ""
	case s.State == model.StateRunning && s.Phase == model.PhaseRunning && !s.Since.IsZero():
		return duration(max(0, now.Sub(s.Since)))
	}
	return duration(s.Ran(now))
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

func duration(d time.Duration) string {
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

// shortPath is a directory in few columns: ~ for home, then only its last parts.
func shortPath(dir, home string, width int) string {
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
