package statusbar

import (
	"fmt"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/theme"
)

// Side draws a list of a tab's sessions next to the only pane that fits. The zero value is ready.
type Side struct {
	drawn string // content as last drawn
	ids   []string
	first int // index of the first visible session
	area  layout.Rect
}

// Forget makes the next Draw draw the list in any case.
func (s *Side) Forget() { s.drawn = "" }

// At returns the session at a position, or "".
func (s *Side) At(x, y int) string {
	if i := s.first + y - s.area.Y; s.area.Contains(x, y) && i < len(s.ids) {
		return s.ids[i]
	}
	return ""
}

// Draw draws the list if it changed: each session's number, name and state.
func (s *Side) Draw(c *canvas.Canvas, th *theme.Theme, m *model.Model, home string) {
	if s.area = m.Side; s.area.W < 1 {
		return
	}
	s.ids = m.ShownPanes()
	now := max(0, slices.Index(s.ids, m.Focus))
	s.first = max(0, min(max(s.first, now-s.area.H+1), now, len(s.ids)-s.area.H))
	type line struct {
		left, right []segment
	}
	var lines []line
	key := fmt.Sprint(s.area, s.first, m.Focus)
	for i := s.first; i < min(len(s.ids), s.first+s.area.H); i++ {
		x := m.Session(s.ids[i])
		if x == nil {
			x = &model.Session{Name: "…", State: model.StateRunning}
		}
		background, dim := th.Status, th.StatusDim
		if i == now {
			background, dim = th.StatusFocus, th.FocusDim
		}
		text := strings.TrimSpace(StateText(x, 0))
		if text == "" {
			text = "run"
		}
		look := dim
		if a := m.Alerts[x.ID].Kind; a == model.AlertFinished || a == model.AlertBell {
			text, look = map[model.AlertKind]string{model.AlertBell: "bell", model.AlertFinished: "done"}[a], th.On(background, AlertColor(th, a)).Bold(true)
		} else if color := StateColor(th, x); x.Attention() < model.AttentionIdle {
			look = th.On(background, color)
		}
		l := line{
			left:  []segment{{fmt.Sprintf(" %d", i+1), dim}, {" " + Label(x, home), background}},
			right: []segment{{" " + text + " ", look}},
		}
		for _, seg := range append(slices.Clone(l.left), l.right...) {
			key += "\x00" + seg.text
		}
		lines = append(lines, l)
	}
	if key == s.drawn {
		return
	}
	s.drawn = key
	for y := range s.area.H {
		at := layout.Rect{X: s.area.X, Y: s.area.Y + y, W: s.area.W, H: 1}
		if y < len(lines) {
			background := th.Status
			if s.first+y == now {
				background = th.StatusFocus
			}
			row(c, at.X, at.Y, at.W, lines[y].left, lines[y].right, background)
		} else {
			c.Fill(at.X, at.Y, at.W, canvas.Plain)
		}
		c.Sign(at.X+at.W, at.Y, "│", th.Separator)
	}
}
