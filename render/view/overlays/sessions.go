package overlays

import (
	"slices"
	"time"

	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/statusbar"
	"github.com/longterm-dev/longterm/render/view/theme"
)

// prependDraft puts the mark of the session's draft before state.
func prependDraft(s *model.Session, state string) string {
	if s.Draft == "" {
		return state
	}
	return s.Draft + "  " + state
}

// Sessions returns the items for all sessions: running ones first, then by start time, newest first. take is called
// with the chosen one.
func Sessions(m *model.Model, th *theme.Theme, home string, now time.Time, take func(id string)) []Item {
	var running, ended []Item
	for i := range slices.Backward(m.Sessions) {
		s := &m.Sessions[i]
		id := s.ID
		text := s.Name
		if what := statusbar.Activity(s, ""); what != "" {
			text += "  " + what
		}
		if s.Cwd != "" {
			text += "  " + statusbar.ShortPath(s.Cwd, home, 40)
		}
		sign, color := "●", statusbar.StateColor(th, s)
		if a := m.Alerts[id]; a.Kind != model.AlertNone {
			sign, color = a.Kind.Sign(), th.Wants
		}
		it := Item{Text: text, Extra: prependDraft(s, statusbar.StateText(s, statusbar.Wide)+" "+statusbar.Elapsed(s, now)), Sign: sign, Color: color, Session: id, Do: func() { take(id) }}
		if s.State == model.StateRunning {
			running = append(running, it)
			continue
		}
		it.Sign = "✗"
		if !s.HasFailed() {
			it.Sign = "✓"
		}
		ended = append(ended, it)
	}
	return append(running, ended...)
}
