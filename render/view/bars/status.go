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
	Rule     *tcell.Style // draws a line between what is on the left and on the right; nil: there is none
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
	left := []segment{{fmt.Sprintf(" %d", s.Number), dim}}
	what := Doing(s.Session, s.Title)
	dir := ShortPath(s.Session.Cwd, s.Home, at.W/3)
	if s.Session.Past != "" { // the directory is the player's
		dir = ""
	}
	switch auto := s.Session.Automatic(); {
	case auto && at.W < Wide && what != "": // sh says less than what runs in it
		what = s.Session.There(what)
	case auto && at.W < Wide && dir != "" && s.Session.Phase == model.PhasePrompt:
		what, dir = s.Session.There(dir), ""
	case auto:
		left = append(left, segment{" " + s.Session.Name, ground})
	default:
		left = append(left, segment{" " + s.Session.Name, ground.Bold(true)})
	}
	name := segmentsWidth(left)
	if len(left) == 1 {
		name += min(canvas.TextWidth(canvas.Printable(what)), at.W/3)
	}
	if what != "" && len(left) > 1 {
		what = " " + what
	}
	if what != "" {
		left = append(left, segment{" " + what, ground})
	}
	if dir != "" && at.W >= Wide {
		left = append(left, segment{"  " + dir, dim})
	}
	if s.Session.FirstError != "" && at.W >= wordyStatus {
		left = append(left, segment{"  " + s.Session.FirstError, th.On(ground, th.Bad)})
	}
	right := s.right(th, at.W, ground, dim, 0)
	need := min(segmentsWidth(left), max(name+1, at.W/3)) // one for the blank behind the name
	for less := 1; less <= mostLess && at.W-segmentsWidth(right) < need; less++ {
		right = s.right(th, at.W, ground, dim, less) // the name comes before the state
	}
	key := fmt.Sprint(s.Focused)
	for _, seg := range append(left, right...) {
		key += "\x00" + seg.text
	}
	if key != before {
		row(c, at.X, at.Y, at.W, left, right, ground)
		if s.Rule != nil {
			left = append(left, segment{" ", ground})
			for x := segmentsWidth(left); x < at.W-segmentsWidth(right); x++ {
				c.Sign(at.X+x, at.Y, "─", *s.Rule)
			}
		}
	}
	return key
}

// mostLess is the highest value of less, which drops one part each: no time left, no bar, no warnings, no errors, no clock, no size.
const mostLess = 6

// right says how it fares, what is most urgent last: there it is looked for. Where there is little room less is told.
func (l *Status) right(th *theme.Theme, width int, ground, dim tcell.Style, less int) []segment {
	s, wide, roomy := l.Session, width >= Wide, width >= roomyStatus
	busy := s.State == model.StateRunning && s.Phase != model.PhasePrompt
	var out []segment
	gap := "  "
	if !wide {
		gap = " "
	}
	add := func(text string, st tcell.Style) {
		if text != "" {
			out = append(out, segment{gap + text, st})
		}
	}
	if a := l.Alert; s.State == model.StateRunning && (a == model.AlertBell || a == model.AlertFinished) {
		add(map[model.AlertKind]string{model.AlertBell: "bell", model.AlertFinished: "finished"}[a], th.On(ground, AlertColor(th, a)).Bold(true))
	}
	if at := l.Copying; at != nil {
		text := "copy"
		if wide && at.Above > 0 { // else there is nothing to go back to
			text = fmt.Sprintf("copy %d/%d", at.Below, at.Above)
		}
		add(text, th.On(ground, th.Warn).Bold(true))
	}
	if wide && l.Cols > 0 && less < 6 {
		add(fmt.Sprintf("size %d×%d", l.Cols, l.Rows), th.On(ground, th.Warn))
	}
	if l.SyncKeys && s.State == model.StateRunning {
		add("SYNC", th.On(ground, th.Warn))
	}
	if roomy && s.Errors > 0 && less < 4 {
		add(Count(s.Errors, "error"), th.On(ground, th.Bad))
	}
	if roomy && s.Warnings > 0 && less < 3 {
		add(Count(s.Warnings, "warning"), th.On(ground, th.Warn))
	}
	if s.Progress != nil && busy {
		add(progressText(s.Progress, roomy && less < 2), th.On(ground, th.Busy))
	}
	if left := s.Due.Sub(l.Now); roomy && left >= time.Second && busy && less < 1 {
		add(Duration(left)+" left", th.On(ground, th.Busy))
	}
	state := dim
	if c := StateColor(th, s); c != tcell.ColorDefault {
		state = th.On(ground, c)
		if s.Wants() || s.Failed() || s.PromptFailed() || !s.CutOff.IsZero() {
			state = state.Bold(true)
		}
	}
	add(StateText(s, width), state)
	if s.Past == "" && less < 5 && (wide || s.State == model.StateRunning) { // narrow bars have no room for the time
		add(Elapsed(s, l.Now), dim)
	}
	return append(out, segment{" ", ground})
}
