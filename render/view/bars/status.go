package bars

import (
	"fmt"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/theme"
)

// Status is what a pane's first row says: number, name, what runs and where; on the right
// how it fares and for how long.
type Status struct {
	Session  *model.Session
	Number   int
	Focused  bool
	Title    string // that a program set
	Alert    model.AlertKind
	Copying  *Position // in copy mode; nil: the screen is shown
	Cols     int       // of a screen that has not the pane's size; 0: it has
	Rows     int
	SyncKeys bool // keys go to all panes
	Home     string
	Now      time.Time
}

// Position is how many rows lie below what copy mode shows, of how many above the newest
// ones.
type Position struct{ Below, Above int }

// Draw draws the row unless that was what it said before, and returns what it says now.
func (s *Status) Draw(c *canvas.Canvas, th *theme.Theme, at layout.Rect, before string) string {
	ground, dim := th.Status, th.StatusDim
	if s.Focused {
		ground, dim = th.StatusFocus, th.FocusDim
	}
	left := []segment{{fmt.Sprintf(" %d %s", s.Number, s.Session.Name), ground}}
	if what := Doing(s.Session, s.Title); what != "" {
		left = append(left, segment{"  " + what, ground})
	}
	if dir := ShortPath(s.Session.Cwd, s.Home, at.W/3); dir != "" && at.W >= Wide {
		left = append(left, segment{"  " + dir, dim})
	}
	if s.Session.FirstError != "" && at.W >= wordyStatus {
		left = append(left, segment{"  ✗ " + s.Session.FirstError, th.On(ground, th.Bad)})
	}
	right := s.right(th, at.W, ground, dim)
	key := fmt.Sprint(s.Focused)
	for _, seg := range append(left, right...) {
		key += "\x00" + seg.text
	}
	if key != before {
		row(c, at.X, at.Y, at.W, left, right, ground)
	}
	return key
}

func (l *Status) right(th *theme.Theme, width int, ground, dim tcell.Style) []segment {
	s, wide := l.Session, width >= Wide
	var out []segment
	add := func(text string, st tcell.Style) { out = append(out, segment{" " + text, st}) }
	if a := l.Alert; s.State == model.StateRunning && (a == model.AlertBell || a == model.AlertFinished) {
		add(a.Sign(), th.On(ground, th.Wants).Bold(true))
	}
	if at := l.Copying; at != nil {
		text := "⏸"
		if wide && at.Above > 0 { // else there is nothing to go back to
			text = fmt.Sprintf("⏸ %d/%d", at.Below, at.Above)
		}
		add(text, th.On(ground, th.Wants))
	}
	if wide && l.Cols > 0 {
		add(fmt.Sprintf("⧉ %d×%d", l.Cols, l.Rows), th.On(ground, th.Warn))
	}
	if l.SyncKeys && s.State == model.StateRunning {
		add("SYNC", th.On(ground, th.Warn))
	}
	if wide && s.Errors > 0 {
		add(fmt.Sprintf("✗%d", s.Errors), th.On(ground, th.Bad))
	}
	if wide && s.Warnings > 0 {
		add(fmt.Sprintf("⚠%d", s.Warnings), th.On(ground, th.Warn))
	}
	if s.Progress != nil && s.State == model.StateRunning && s.Phase != model.PhasePrompt {
		add(progressText(s.Progress, wide), th.On(ground, th.Busy))
	}
	if left := s.Due.Sub(l.Now); wide && left >= time.Second && s.State == model.StateRunning && s.Phase != model.PhasePrompt {
		add("ETA "+Duration(left), th.On(ground, th.Busy))
	}
	add(StateText(s, width), th.On(ground, StateColor(th, s)))
	if t := Elapsed(s, l.Now); t != "" {
		add(t, dim)
	}
	return append(out, segment{" ", ground})
}
