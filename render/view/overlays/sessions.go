package overlays

import (
	"slices"
	"time"

	"github.com/longterm-dev/longterm/render/view/bars"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/theme"
)

// Sessions are the sessions to choose from: those that run first, the newest before older
// ones. take is told the one that was taken.
func Sessions(m *model.Model, th *theme.Theme, home string, now time.Time, take func(id string)) []Item {
	var running, ended []Item
	for i := range slices.Backward(m.Sessions) {
		s := &m.Sessions[i]
		id := s.ID
		text := s.Name
		if what := bars.Doing(s, ""); what != "" {
			text += "  " + what
		}
		if s.Cwd != "" {
			text += "  " + bars.ShortPath(s.Cwd, home, 40)
		}
		sign, color := "●", bars.StateColor(th, s)
		if a := m.Alerts[id]; a.Kind != model.AlertNone {
			sign, color = a.Kind.Sign(), th.Wants
		}
		it := Item{Text: text, Extra: bars.StateText(s, bars.Wide) + " " + bars.Elapsed(s, now), Sign: sign, Color: color, Session: id, Do: func() { take(id) }}
		if s.State == model.StateRunning {
			running = append(running, it)
			continue
		}
		it.Sign = "✗"
		if !s.Failed() {
			it.Sign = "✓"
		}
		ended = append(ended, it)
	}
	return append(running, ended...)
}
