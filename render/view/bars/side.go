package bars

import (
	"fmt"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/theme"
)

// Side lists the sessions of a tab beside the only pane that there is room for. The zero value is ready.
type Side struct {
	drawn string // as last drawn
	ids   []string
	first int
	area  layout.Rect
}

// Forget has the list drawn again, whatever it says.
func (s *Side) Forget() { s.drawn = "" }

// At is the session at a position; empty: none.
func (s *Side) At(x, y int) string {
	if i := s.first + y - s.area.Y; s.area.Contains(x, y) && i < len(s.ids) {
		return s.ids[i]
	}
	return ""
}

// Draw draws the list if it has something else to say than before: of each session its number, name and how it fares.
func (s *Side) Draw(c *canvas.Canvas, th *theme.Theme, m *model.Model, home string) {
	if s.area = m.Side; s.area.W < 1 {
		return
	}
	s.ids = m.Shown()
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
		ground, dim := th.Status, th.StatusDim
		if i == now {
			ground, dim = th.StatusFocus, th.FocusDim
		}
		text := strings.TrimSpace(StateText(x, 0))
		if text == "" {
			text = "run"
		}
		look := dim
		if a := m.Alerts[x.ID].Kind; a == model.AlertFinished || a == model.AlertBell {
			text, look = map[model.AlertKind]string{model.AlertBell: "bell", model.AlertFinished: "done"}[a], th.On(ground, AlertColor(th, a)).Bold(true)
		} else if color := StateColor(th, x); x.Attention() < model.AttentionIdle {
			look = th.On(ground, color)
		}
		l := line{
			left:  []segment{{fmt.Sprintf(" %d", i+1), dim}, {" " + Label(x, home), ground}},
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
			ground := th.Status
			if s.first+y == now {
				ground = th.StatusFocus
			}
			row(c, at.X, at.Y, at.W, lines[y].left, lines[y].right, ground)
		} else {
			c.Fill(at.X, at.Y, at.W, canvas.Plain)
		}
		c.Sign(at.X+at.W, at.Y, "│", th.Separator)
	}
}
