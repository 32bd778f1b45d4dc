package view

import (
	"strings"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/bars"
	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/overlays"
	"github.com/longterm-dev/longterm/vterm/input"
)

// openPicker lists the sessions: those that run first, the newest before older ones.
func openPicker(v *viewer) {
	v.open(&overlays.List{Title: "Sessions", Preview: true, Items: func() []overlays.Item {
		return overlays.Sessions(&v.m, v.look(), v.o.Home, v.o.Now(), v.m.GoTo)
	}})
}

// openPalette lists everything that can be done.
func openPalette(v *viewer) {
	v.open(&overlays.List{
		Title: "What to do", Items: func() []overlays.Item { return paletteItems(v) },
		Typed: func(line string, found bool) *overlays.Item { return typedCommand(v, line, found) },
	})
}

func paletteItems(v *viewer) []overlays.Item {
	var out []overlays.Item
	for i := range v.keys.Prefix {
		r := &v.keys.Prefix[i]
		if r.Action == "go" || r.Action == "tab-go" || r.Action == "palette" {
			continue
		}
		it := overlays.Item{Name: r.Name(), Text: r.Help, Also: r.Also(), Do: func() { actions[r.Action](v, input.Key{}) }}
		if len(r.Chords) > 0 {
			it.Extra = v.keys.PrefixName + " " + keymap.Label(r.Chords[0])
		}
		if isOn := switches[r.Action]; isOn != nil && isOn(v) {
			it.Sign, it.Color = "✓", v.look().Good
		}
		out = append(out, it)
	}
	for i := range v.m.Sessions {
		s, id := &v.m.Sessions[i], v.m.Sessions[i].ID
		if s.FirstError != "" {
			out = append(out, overlays.Item{Name: "first error", Text: s.FirstError, Extra: s.Name, Sign: "✗", Color: v.look().Bad, Do: func() { v.m.GoTo(id) }})
		}
		if s.State == model.StateRunning {
			out = append(out, overlays.Item{
				Name: "go to", Text: bars.Label(s, v.o.Home), Extra: bars.ShortPath(s.Cwd, v.o.Home, 30), Sign: "●",
				Color: bars.StateColor(v.look(), s), Do: func() { v.m.GoTo(id) },
			})
		}
	}
	for _, t := range v.themes() {
		it := overlays.Item{Name: "theme", Text: t.Name, Do: func() { v.setTheme(t) }}
		if t.Name == v.theme.Name {
			it.Sign, it.Color = "✓", v.look().Good
		}
		out = append(out, it)
	}
	for _, name := range v.layouts.names {
		out = append(out, overlays.Item{Name: "load layout", Text: name, Do: func() { v.layouts.use(name) }})
	}
	return append(out, sizeItems(v)...)
}

// switches are the actions that turn something on and off, and whether it is on.
var switches = map[keymap.Action]func(v *viewer) bool{
	"zoom":      func(v *viewer) bool { return v.m.Zoomed },
	"sync":      func(v *viewer) bool { return v.m.Tab().Sync },
	"read-only": func(v *viewer) bool { return v.m.ReadOnly },
	"follow":    func(v *viewer) bool { return v.m.Follow },
	"floats":    func(v *viewer) bool { return v.m.Tab().Over },
	"float":     func(v *viewer) bool { return v.m.Floats(v.m.Focus) },
	"pin":       func(v *viewer) bool { return v.m.IsPinned(v.m.Focus) },
	"stack":     func(v *viewer) bool { return v.m.Tab().Tree.InPile(v.m.Focus) },
	"frames":    func(v *viewer) bool { return v.framed() },
	"all":       func(v *viewer) bool { return v.m.Tab().Auto && len(v.m.Tabs) > 1 },
}

// sizes are whose size a session may take.
var sizes = []struct{ name, help string }{
	{"latest", "of who typed last"},
	{"largest", "the largest of all that look"},
	{"smallest", "the smallest of all that look"},
	{"fixed", "as it is now, whatever clients there are"},
	{"none", "this viewer has no say; others may"},
}

func openSizes(v *viewer) {
	if v.m.Session(v.m.Focus) == nil {
		return
	}
	v.open(&overlays.List{Title: "Size of the session", Items: func() []overlays.Item { return sizeItems(v) }})
}

func sizeItems(v *viewer) []overlays.Item {
	var out []overlays.Item
	for _, size := range sizes {
		it := overlays.Item{Name: "size: " + size.name, Text: size.help, Do: func() { setSize(v, size.name) }}
		s := v.m.Session(v.m.Focus)
		if s != nil && (size.name == "none") == v.mute[s.ID] && (size.name == "none" || size.name == s.Size) {
			it.Sign, it.Color = "✓", v.look().Good
		}
		out = append(out, it)
	}
	return out
}

// setSize says whose size the focused session takes.
func setSize(v *viewer, policy string) {
	id := v.m.Focus
	if v.m.Session(id) == nil {
		return
	}
	v.mute[id] = policy == "none"
	v.message = "size: " + policy
	if policy == "none" || v.o.Steward == nil {
		return
	}
	v.spawn(func() {
		if err := v.o.Steward.SizeBy(v.ctx, id, policy); err != nil {
			v.later(func() { v.message = "size not changed: " + err.Error() })
		}
	})
}

func openLayouts(v *viewer) {
	if len(v.layouts.names) == 0 {
		v.message = "no layout was saved; " + v.keys.Chord("layout-save") + " saves one"
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
		v.message = "layouts are not kept here"
		return
	}
	v.open(overlays.NewPrompt("save the layout as: ", "", func(name string) {
		if name = strings.TrimSpace(name); name != "" {
			v.layouts.saveAs(name)
		}
	}))
}
