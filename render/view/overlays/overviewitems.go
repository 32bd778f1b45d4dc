package overlays

import (
	"slices"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/statusbar"
	"github.com/longterm-dev/longterm/render/view/theme"
)

// Overview returns the sessions by urgency, then by start time, newest first, each with its last line. take is called
// with the chosen one.
func Overview(m *model.Model, th *theme.Theme, home string, now time.Time, last map[string]model.Summary, take func(id string)) []Item {
	order := make([]*model.Session, 0, len(m.Sessions))
	for i := range m.Sessions {
		order = append(order, &m.Sessions[i])
	}
	slices.SortStableFunc(order, func(a, b *model.Session) int {
		if x, y := m.Attention(a), m.Attention(b); x != y {
			return int(x) - int(y)
		}
		return -a.Started.Compare(b.Started)
	})
	out := make([]Item, 0, len(order))
	for _, s := range order {
		id, about := s.ID, m.Attention(s)
		text := last[id].Last
		if text == "" {
			text = statusbar.Activity(s, "")
		}
		it := Item{
			Name: s.Name, Text: text, Sign: attentionSigns[about], Color: statusbar.StateColor(th, s), Session: id, Do: func() { take(id) },
			Extra: strings.TrimSpace(statusbar.StateText(s, statusbar.Wide) + " " + statusbar.Elapsed(s, now)), ExtraColor: statusbar.StateColor(th, s),
		}
		switch about {
		case model.AttentionFinished:
			it.Color, it.ExtraColor, it.Extra = th.Good, th.Good, "finished"
		case model.AttentionEnded: // needs nothing from the user
			it.Color, it.ExtraColor = tcell.ColorDefault, tcell.ColorDefault
		}
		it.Extra = prependDraft(s, it.Extra)
		if s.Cwd != "" {
			it.Names = statusbar.ShortPath(s.Cwd, home, 40) + " " + s.Command + " " + about.String()
		}
		out = append(out, it)
	}
	return out
}

var attentionSigns = map[model.Attention]string{
	model.AttentionNeeds: "?", model.AttentionFailed: "✗", model.AttentionFinished: "✓", model.AttentionRuns: "●", model.AttentionIdle: "·", model.AttentionEnded: " ",
}
