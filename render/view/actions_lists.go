package view

import (
	"context"
	"strings"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/overlays"
	"github.com/longterm-dev/longterm/render/view/statusbar"
	"github.com/longterm-dev/longterm/vterm/input"
)

// openPicker opens the list of sessions: running ones first, then by start time, newest first.
func openPicker(v *viewer) {
	v.open(&overlays.List{Title: "Sessions", Preview: true, Items: func() []overlays.Item {
		return overlays.Sessions(&v.m, v.terminalTheme(), v.o.Home, v.o.Now(), v.m.GoTo)
	}})
}

// openPalette opens the list of all actions.
func openPalette(v *viewer) {
	v.open(&overlays.List{
		Title: "Command palette", Items: func() []overlays.Item { return paletteItems(v) },
		ItemForLine: func(line string, found bool) *overlays.Item { return typedCommand(v, line, found) },
	})
}

func paletteItems(v *viewer) []overlays.Item {
	var out []overlays.Item
	for i := range v.keys.Prefix {
		r := &v.keys.Prefix[i]
		if r.Action == "go" || r.Action == "tab-go" || r.Action == "palette" {
			continue
		}
		it := overlays.Item{Name: r.Name(), Text: r.Help, Names: r.SearchNames(), Do: func() { actions[r.Action](v, input.Key{}) }}
		if len(r.Chords) > 0 {
			it.Extra = v.keys.PrefixName + " " + keymap.Label(r.Chords[0])
		}
		if isOn := toggles[r.Action]; isOn != nil && isOn(v) {
			it.Sign, it.Color = "✓", v.terminalTheme().Good
		}
		out = append(out, it)
	}
	for i := range v.m.Sessions {
		s, id := &v.m.Sessions[i], v.m.Sessions[i].ID
		if s.FirstError != "" {
			out = append(out, overlays.Item{Name: "first error", Text: s.FirstError, Extra: s.Name, Sign: "✗", Color: v.terminalTheme().Bad, Do: func() { v.m.GoTo(id) }})
		}
		if s.State == model.StateRunning {
			out = append(out, overlays.Item{
				Name: "go to", Text: statusbar.Label(s, v.o.Home), Extra: statusbar.ShortPath(s.Cwd, v.o.Home, 30), Sign: "●",
				Color: statusbar.StateColor(v.terminalTheme(), s), Do: func() { v.m.GoTo(id) },
			})
		}
	}
	for _, t := range v.themes() {
		it := overlays.Item{Name: "theme", Text: t.Name, Do: func() { v.setTheme(t) }}
		if t.Name == v.theme.Name {
			it.Sign, it.Color = "✓", v.terminalTheme().Good
		}
		out = append(out, it)
	}
	for _, name := range v.layouts.names {
		out = append(out, overlays.Item{Name: "load layout", Text: name, Do: func() { v.layouts.use(name) }})
	}
	return append(out, sizeItems(v)...)
}

// toggles maps the actions that toggle something to functions that report whether it is on.
var toggles = map[keymap.Action]func(v *viewer) bool{
	"zoom":      func(v *viewer) bool { return v.m.Zoomed },
	"sync":      func(v *viewer) bool { return v.m.Tab().Sync },
	"read-only": func(v *viewer) bool { return v.m.ReadOnly },
	"follow":    func(v *viewer) bool { return v.m.Follow },
	"floats":    func(v *viewer) bool { return v.m.Tab().FloatsShown },
	"float":     func(v *viewer) bool { return v.m.IsFloating(v.m.Focus) },
	"pin":       func(v *viewer) bool { return v.m.IsPinned(v.m.Focus) },
	"stack":     func(v *viewer) bool { return v.m.Tab().Tree.InStack(v.m.Focus) },
	"frames":    func(v *viewer) bool { return v.usesFrames() },
	"all":       func(v *viewer) bool { return v.m.Tab().Auto && len(v.m.Tabs) > 1 },
}

// sizePolicies lists the size policies.
var sizePolicies = []struct{ name, help string }{
	{"latest", "size of the client that typed last"},
	{"largest", "size of the largest client"},
	{"smallest", "size of the smallest client"},
	{"fixed", "current size, whatever clients attach"},
	{"none", "ignore this viewer's size"},
}

func openSizes(v *viewer) {
	if v.m.Session(v.m.Focus) == nil {
		return
	}
	v.open(&overlays.List{Title: "Session size", Items: func() []overlays.Item { return sizeItems(v) }})
}

func sizeItems(v *viewer) []overlays.Item {
	var out []overlays.Item
	for _, size := range sizePolicies {
		it := overlays.Item{Name: "size: " + size.name, Text: size.help, Do: func() { setSize(v, size.name) }}
		s := v.m.Session(v.m.Focus)
		if s != nil && (size.name == "none") == v.ignoresSize[s.ID] && (size.name == "none" || size.name == s.Size) {
			it.Sign, it.Color = "✓", v.terminalTheme().Good
		}
		out = append(out, it)
	}
	return out
}

// setSize sets the size policy of the focused session.
func setSize(v *viewer, policy string) {
	id := v.m.Focus
	if v.m.Session(id) == nil {
		return
	}
	v.ignoresSize[id] = policy == "none"
	v.message = "size: " + policy
	if policy == "none" || v.o.SessionManager == nil {
		return
	}
	v.spawn(func() {
		if err := v.o.SessionManager.SizeBy(v.ctx, id, policy); err != nil {
			v.later(func() { v.message = "size not changed: " + err.Error() })
		}
	})
}

func openLayouts(v *viewer) {
	if len(v.layouts.names) == 0 {
		v.message = "no saved layouts; " + v.keys.Chord("layout-save") + " saves one"
		return
	}
	v.open(&overlays.List{Title: "Layouts", Items: func() []overlays.Item {
		var out []overlays.Item
		for _, name := range v.layouts.names {
			out = append(out, overlays.Item{Text: name, Color: tcell.ColorDefault, Do: func() { v.layouts.use(name) }})
		}
		return out
	}})
}

func askLayoutName(v *viewer) {
	if v.o.Layouts == nil {
		v.message = "layouts are not saved here"
		return
	}
	v.open(overlays.NewPrompt("save layout as: ", "", func(name string) {
		if name = strings.TrimSpace(name); name != "" {
			v.layouts.saveAs(name)
		}
	}))
}

// summaries caches the last lines of sessions for the overview. Visible ones are refreshed while it is open.
type summaries struct {
	panel    *overlays.List           // nil: closed
	lines    map[string]model.Summary // summaries by session id
	fetching bool                     // a request is in progress
}

// openOverview opens the list of sessions by urgency, each with its last line.
func openOverview(v *viewer) {
	l := &overlays.List{
		Title: "Overview", Wide: true, Preview: true, Hint: "Enter jumps there  Ctrl-R answers  Ctrl-O details", Empty: "no running sessions",
		Items: func() []overlays.Item {
			return overlays.Overview(&v.m, v.terminalTheme(), v.o.Home, v.o.Now(), v.summaries.lines, v.m.GoTo)
		},
	}
	l.OnKey = func(k input.Key, it *overlays.Item) (overlays.Result, bool) {
		if it == nil || k.Mods&input.Ctrl == 0 || k.Code != 'r' && k.Code != 'o' {
			return overlays.Result{}, false
		}
		id := it.Session
		do := func() { answerIn(v, id, l) }
		if k.Code == 'o' {
			do = func() { showDetails(v, id) }
		}
		return overlays.Result{Close: true, Then: do}, true
	}
	v.summaries.panel = l
	if v.summaries.lines == nil {
		v.summaries.lines = map[string]model.Summary{}
	}
	v.open(l)
	v.fetchSummaries()
}

// maxSummaries limits the sessions that are read at a time.
const maxSummaries = 60

// fetchSummaries reads the last lines of the visible sessions.
func (v *viewer) fetchSummaries() {
	if v.summaries.panel == nil || v.overlay != overlays.Overlay(v.summaries.panel) || v.summaries.fetching || v.o.Inspector == nil {
		return
	}
	ids := v.summaries.panel.VisibleSessions(maxSummaries)
	v.summaries.fetching = true
	v.runAsync(func(ctx context.Context) func() {
		got := map[string]model.Summary{}
		for _, id := range ids {
			if g, err := v.o.Inspector.Summary(ctx, id); err == nil { // an ended session's may be gone
				got[id] = g
			}
		}
		return func() {
			v.summaries.fetching = false
			for id, g := range got {
				v.summaries.lines[id] = g
			}
		}
	})
}
