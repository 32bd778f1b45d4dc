package statusbar

import (
	"fmt"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/theme"
)

// Status is the content of a pane's first row: number, name, command and directory, and on the right the state and its
// duration.
type Status struct {
	Session  *model.Session
	Number   int
	Focused  bool
	Title    string // title set by a program
	Alert    model.AlertKind
	Copying  *Position // position in copy mode; nil: the live screen is shown
	Cols     int       // size of a screen that differs from the pane's; 0: equal
	Rows     int
	SyncKeys bool // keys go to all panes
	Home     string
	Now      time.Time
	Rule     *tcell.Style // style of a line drawn between left and right; nil if unset
}

// Position is the scroll position of copy mode: the number of rows below the visible ones, and of all rows above the
// newest screen.
type Position struct{ Below, Above int }

// Draw draws the row unless its content equals before, and returns its content.
func (s *Status) Draw(c *canvas.Canvas, th *theme.Theme, at layout.Rect, before string) string {
	background, dim := th.Status, th.StatusDim
	if s.Focused {
		background, dim = th.StatusFocus, th.FocusDim
	}
	left := []segment{{fmt.Sprintf(" %d", s.Number), dim}}
	what := Activity(s.Session, s.Title)
	dir := ShortPath(s.Session.Cwd, s.Home, at.W/3)
	if s.Session.PlaybackOf != "" { // the directory is the player's
		dir = ""
	}
	switch auto := s.Session.HasAutomaticName(); {
	case auto && at.W < Wide && what != "": // sh is less informative than the program in it
		what = s.Session.WithHost(what)
	case auto && at.W < Wide && dir != "" && s.Session.Phase == model.PhasePrompt:
		what, dir = s.Session.WithHost(dir), ""
	case auto:
		left = append(left, segment{" " + s.Session.Name, background})
	default:
		left = append(left, segment{" " + s.Session.Name, background.Bold(true)})
	}
	name := segmentsWidth(left)
	if len(left) == 1 {
		name += min(canvas.TextWidth(canvas.Printable(what)), at.W/3)
	}
	if what != "" && len(left) > 1 {
		what = " " + what
	}
	if what != "" {
		left = append(left, segment{" " + what, background})
	}
	if dir != "" && at.W >= Wide {
		left = append(left, segment{"  " + dir, dim})
	}
	if s.Session.FirstError != "" && at.W >= wordyStatus {
		left = append(left, segment{"  " + s.Session.FirstError, th.On(background, th.Bad)})
	}
	right := s.right(th, at.W, background, dim, 0)
	need := min(segmentsWidth(left), max(name+1, at.W/3)) // one for the blank behind the name
	for less := 1; less <= maxReduction && at.W-segmentsWidth(right) < need; less++ {
		right = s.right(th, at.W, background, dim, less) // the name comes before the state
	}
	key := fmt.Sprint(s.Focused)
	for _, seg := range append(left, right...) {
		key += "\x00" + seg.text
	}
	if key != before {
		row(c, at.X, at.Y, at.W, left, right, background)
		if s.Rule != nil {
			left = append(left, segment{" ", background})
			for x := segmentsWidth(left); x < at.W-segmentsWidth(right); x++ {
				c.Sign(at.X+x, at.Y, "─", *s.Rule)
			}
		}
	}
	return key
}

// maxReduction is the largest value of less. Each value drops one more part: time left, progress bar, warnings, errors,
// clock, then size and draft.
const maxReduction = 6

// right returns the session's state, most urgent last, as users look there first. Higher values of less shorten it.
func (l *Status) right(th *theme.Theme, width int, background, dim tcell.Style, less int) []segment {
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
		add(map[model.AlertKind]string{model.AlertBell: "bell", model.AlertFinished: "finished"}[a], th.On(background, AlertColor(th, a)).Bold(true))
	}
	if at := l.Copying; at != nil {
		text := "copy"
		if wide && at.Above > 0 { // else the session has no earlier state to return to
			text = fmt.Sprintf("copy %d/%d", at.Below, at.Above)
		}
		add(text, th.On(background, th.Warn).Bold(true))
	}
	if wide && l.Cols > 0 && less < 6 {
		add(fmt.Sprintf("size %d×%d", l.Cols, l.Rows), th.On(background, th.Warn))
	}
	if wide && less < 6 {
		add(s.Draft, th.On(background, th.Warn))
	}
	if l.SyncKeys && s.State == model.StateRunning {
		add("SYNC", th.On(background, th.Warn))
	}
	if roomy && s.Errors > 0 && less < 4 {
		add(Count(s.Errors, "error"), th.On(background, th.Bad))
	}
	if roomy && s.Warnings > 0 && less < 3 {
		add(Count(s.Warnings, "warning"), th.On(background, th.Warn))
	}
	if s.Progress != nil && busy {
		add(progressText(s.Progress, roomy && less < 2), th.On(background, th.Busy))
	}
	if left := s.Due.Sub(l.Now); roomy && left >= time.Second && busy && less < 1 {
		add(Duration(left)+" left", th.On(background, th.Busy))
	}
	state := dim
	if c := StateColor(th, s); c != tcell.ColorDefault {
		state = th.On(background, c)
		if s.NeedsAnswer() || s.HasFailed() || s.PromptFailed() || !s.UnreachableSince.IsZero() {
			state = state.Bold(true)
		}
	}
	add(StateText(s, width), state)
	if s.PlaybackOf == "" && less < 5 && (wide || s.State == model.StateRunning) { // narrow bars have no room for the time
		add(Elapsed(s, l.Now), dim)
	}
	return append(out, segment{" ", background})
}
