package view

import (
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/bars"
	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/vterm/input"
)

// openPicker lists the sessions: those that run first, the newest before older ones.
func (v *viewer) openPicker() {
	l := &list{title: "Sessions", preview: true, items: (*viewer).sessionItems}
	l.refresh(v)
	v.open(l)
}

func (v *viewer) sessionItems() []item {
	var running, ended []item
	for i := range slices.Backward(v.m.Sessions) {
		s := &v.m.Sessions[i]
		id := s.ID
		text := s.Name
		if what := bars.Doing(s, ""); what != "" {
			text += "  " + what
		}
		if s.Cwd != "" {
			text += "  " + bars.ShortPath(s.Cwd, v.o.Home, 40)
		}
		sign, color := "●", bars.StateColor(v.theme, s)
		if a := v.m.Alerts[id]; a.Kind != model.AlertNone {
			sign, color = a.Kind.Sign(), v.theme.Wants
		}
		it := item{text: text, extra: bars.StateText(s, bars.Wide) + " " + bars.Elapsed(s, v.o.Now()), sign: sign, color: color, id: id, run: func(v *viewer) { v.m.GoTo(id) }}
		if s.State == model.StateRunning {
			running = append(running, it)
			continue
		}
		it.sign = "✗"
		if !s.Failed() {
			it.sign = "✓"
		}
		ended = append(ended, it)
	}
	return append(running, ended...)
}

// openPalette lists everything that can be done.
func (v *viewer) openPalette() {
	l := &list{title: "What to do", items: (*viewer).paletteItems}
	l.refresh(v)
	v.open(l)
}

func (v *viewer) paletteItems() []item {
	var out []item
	for i := range v.keys.Prefix {
		r := &v.keys.Prefix[i]
		if r.Action == "go" || r.Action == "palette" {
			continue
		}
		extra := ""
		if len(r.Chords) > 0 {
			extra = v.keys.PrefixName + " " + keymap.Label(r.Chords[0])
		}
		a, text := r.Action, r.Help
		if r.Short != "" && r.Brief == "" {
			text = r.Short + ": " + r.Help
		}
		out = append(out, item{text: text, extra: extra, run: func(v *viewer) { actions[a](v, input.Key{}) }})
	}
	for i := range v.m.Sessions {
		s, id := &v.m.Sessions[i], v.m.Sessions[i].ID
		if s.FirstError != "" {
			out = append(out, item{text: "first error: " + s.FirstError, extra: s.Name, sign: "✗", color: v.theme.Bad, run: func(v *viewer) { v.m.GoTo(id) }})
		}
		if s.State == model.StateRunning {
			out = append(out, item{text: "go to " + s.Name, extra: bars.ShortPath(s.Cwd, v.o.Home, 30), sign: "●", color: bars.StateColor(v.theme, s), run: func(v *viewer) { v.m.GoTo(id) }})
		}
	}
	for _, t := range v.themes() {
		out = append(out, item{text: "theme: " + t.Name, run: func(v *viewer) { v.setTheme(t) }})
	}
	for _, name := range v.layouts.names {
		out = append(out, item{text: "layout: load " + name, run: func(v *viewer) { v.useLayout(name) }})
	}
	return append(out, v.sizeItems()...)
}

// sizes are whose size a session may take.
var sizes = []struct{ name, help string }{
	{"latest", "of who typed last"},
	{"largest", "the largest of all that look"},
	{"smallest", "the smallest of all that look"},
	{"fixed", "as it is now; nobody changes it"},
	{"none", "this viewer has no say; others may"},
}

func (v *viewer) openSizes() {
	if v.m.Session(v.m.Focus) == nil {
		return
	}
	l := &list{title: "Size of the session", items: (*viewer).sizeItems}
	l.refresh(v)
	v.open(l)
}

func (v *viewer) sizeItems() []item {
	var out []item
	for _, size := range sizes {
		it := item{text: "size: " + size.name + ": " + size.help, run: func(v *viewer) { v.setSize(size.name) }}
		s := v.m.Session(v.m.Focus)
		if s != nil && (size.name == "none") == v.mute[s.ID] && (size.name == "none" || size.name == s.Size) {
			it.sign, it.color = "✓", v.theme.Good
		}
		out = append(out, it)
	}
	return out
}

// setSize says whose size the focused session takes.
func (v *viewer) setSize(policy string) {
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

func (v *viewer) openLayouts() {
	if len(v.layouts.names) == 0 {
		v.message = "no layout was saved; " + v.keys.Chord("layout-save") + " saves one"
		return
	}
	l := &list{title: "Layouts", items: func(v *viewer) []item {
		var out []item
		for _, name := range v.layouts.names {
			out = append(out, item{text: name, color: tcell.ColorDefault, run: func(v *viewer) { v.useLayout(name) }})
		}
		return out
	}}
	l.refresh(v)
	v.open(l)
}

func (v *viewer) askLayoutName() {
	if v.o.Layouts == nil {
		v.message = "layouts are not kept here"
		return
	}
	v.open(&prompt{label: "save the layout as: ", done: func(name string) {
		if name = strings.TrimSpace(name); name != "" {
			v.saveAs(name)
		}
	}})
}
