package keymap

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/vterm/input"
)

// FEATURES: R76
func TestTable(t *testing.T) {
	m, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[Action]bool{}
	for _, rows := range [][]Row{m.Prefix, m.Scroll} {
		for _, r := range rows {
			if seen[r.Action] || r.Help == "" || r.Group == "" || len(r.Chords) == 0 || r.Label() == "" {
				t.Errorf("row %+v", r)
			}
			seen[r.Action] = true
		}
	}
	for chord, want := range map[string]Action{"n": "new", "S-Tab": "previous", "L": "wider", "S-Right": "wider", "Space": "arrange", "7": "go", "PageUp": "scroll", "%": "split-right", "F9": ""} {
		k, err := input.ParseKey(chord)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.AfterPrefix(k); got != want {
			t.Errorf("%s: %q; want %q", chord, got, want)
		}
	}
}

// TestNamesAreOfActions checks that alternative names are those of existing actions.
func TestNamesAreOfActions(t *testing.T) {
	left := maps.Clone(names)
	for i := range Prefix {
		delete(left, Prefix[i].Action)
	}
	if len(left) > 0 {
		t.Errorf("no actions are called %v", slices.Collect(maps.Keys(left)))
	}
}

func TestOtherKeys(t *testing.T) {
	m, err := New(map[string][]string{"zoom": {"f", "C-z"}, "follow": nil})
	if err != nil {
		t.Fatal(err)
	}
	if m.AfterPrefix(input.Key{Code: 'z', Mods: input.Ctrl}) != "zoom" || m.AfterPrefix(input.Key{Code: 'z'}) != "" || m.AfterPrefix(input.Key{Code: 'f'}) != "zoom" {
		t.Error("zoom has not got its new keys")
	}
	for want, other := range map[string]map[string][]string{
		"unknown action":       {"fly": {"f"}},
		"both follow and zoom": {"zoom": {"x"}, "kill": {"K"}, "follow": {"x"}},
		"Cntrl-x":              {"zoom": {"Cntrl-x"}},
	} {
		if _, err := New(other); err == nil || !strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "change one") {
			t.Errorf("%v: %v", other, err)
		}
	}
}

func TestLabels(t *testing.T) {
	for chord, want := range map[string]string{"C-Space": "Ctrl-Space", "S-Tab": "Shift-Tab", "Left": "←", "C-Up": "Ctrl-↑", "PageUp": "PageUp", "|": "|", "Escape": "Escape", "M-x": "Alt-x"} {
		if got := Label(chord); got != want {
			t.Errorf("%s: %q; want %q", chord, got, want)
		}
	}
}

func TestKeyNames(t *testing.T) {
	for want, k := range map[string]input.Key{
		"Ctrl-Space": {Code: ' ', Mods: input.Ctrl}, "x": {Code: 'x'}, "Shift-Tab": {Code: input.KeyTab, Mods: input.Shift},
		"Ctrl-Alt-F5": {Code: input.KeyF1 + 4, Mods: input.Ctrl | input.Alt}, "PageUp": {Code: input.KeyPageUp}, "Backspace": {Code: input.KeyBackspace},
	} {
		if got := KeyLabel(k); got != want {
			t.Errorf("%+v is called %q; want %q", k, got, want)
		}
	}
}

// FEATURES: R119
func TestPresets(t *testing.T) {
	known := map[string]bool{}
	for _, rows := range [][]Row{Prefix, Scroll} {
		for _, r := range rows {
			known[string(r.Action)] = true
		}
	}
	for i := range Presets() {
		p := &Presets()[i]
		if _, err := New(p.With(nil)); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		if _, err := input.ParseKey(p.Prefix); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		for action := range p.Keys {
			if !known[action] {
				t.Errorf("%s: no action %s", p.Name, action)
			}
		}
	}
	for _, c := range []struct{ name, editor, want string }{
		{"longterm", "vim", "longterm"}, {"tmux", "/usr/bin/nvim", "tmux-vi"}, {"tmux", "emacs", "tmux-emacs"}, {"tmux", "", "tmux-emacs"}, {"tmux-vi", "", "tmux-vi"},
	} {
		if p, err := Choose(c.name, c.editor); err != nil || p.Name != c.want {
			t.Errorf("%s with %s: %+v, %v", c.name, c.editor, p, err)
		}
	}
	if _, err := Choose("screen", ""); err == nil || !strings.Contains(err.Error(), "use one of longterm, tmux") {
		t.Errorf("%v", err)
	}
	p, _ := Choose("tmux", "vi")
	m, err := New(p.With(map[string][]string{"zoom": {"c"}}))
	if err != nil {
		t.Fatal(err)
	}
	for chord, want := range map[string]Action{"c": "zoom", "%": "split-right", "z": "", "d": "quit", "o": "next", ";": "last", "3": "tab-go", "[": "scroll", "]": "paste", "{": "swap-before"} {
		k, _ := input.ParseKey(chord)
		if got := m.AfterPrefix(k); got != want {
			t.Errorf("%s is %q; want %q", chord, got, want)
		}
	}
}

// FEATURES: R119
func TestModes(t *testing.T) {
	modes := []Mode{{Name: "pane", Key: "C-p"}, {Name: Locked, Key: "C-g"}}
	m, err := New(map[string][]string{"zoom": {"z", "pane:f", "direct:M-z"}, "palette": {":"}, "swap": {"tab:x"}, "next": {"pane::"}}, modes...)
	if err != nil {
		t.Fatal(err)
	}
	ctrlP, altZ := input.Key{Code: 'p', Mods: input.Ctrl}, input.Key{Code: 'z', Mods: input.Alt}
	pane := m.ModeStartedBy(ctrlP)
	if pane == nil || pane.ActionOf(input.Key{Code: 'f'}) != "zoom" || pane.ActionOf(input.Key{Code: ':'}) != "next" || pane.ActionOf(input.Key{Code: 'z'}) != "" {
		t.Errorf("mode %+v", pane)
	}
	if m.Direct(altZ) != "zoom" || m.Direct(ctrlP) != "" || m.AfterPrefix(altZ) != "" || m.PrefixLabel("zoom") != "z" || m.PrefixLabel("swap") != "" {
		t.Errorf("direct %q, after the prefix %q", m.Direct(altZ), m.AfterPrefix(altZ))
	}
	if m.AfterPrefix(input.Key{Code: ':'}) != "palette" {
		t.Error("a colon is no mode")
	}
	if m, err := New(map[string][]string{"zoom": {"direct:C-p"}}, modes...); err != nil || m.ModeStartedBy(ctrlP) != nil || m.Direct(ctrlP) != "zoom" {
		t.Errorf("a key of the user starts a mode: %v", err)
	}
	for chord, want := range map[string]string{"z": "", "direct:M-z": "", "pane:f": "", ":": "", "pain:f": "unknown mode", "locked:f": "unknown mode", "pane:Cntrl-x": "Cntrl-x", "Cntrl-x": "Cntrl-x"} {
		if err := CheckChord(chord); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", chord, err)
		}
	}
	for want, other := range map[string]map[string][]string{
		"unknown mode \"pain\"; use one of direct, pane": {"zoom": {"pain:f"}},
		"unknown mode \"locked\"":                        {"zoom": {"locked:f"}},
		"pane:f is bound":                                {"zoom": {"pane:f"}, "swap": {"pane:f"}},
		"take no mode":                                   {"scroll-up": {"pane:k"}},
		"key of zoom":                                    {"zoom": {"pane:Cntrl-x"}},
	} {
		if _, err := New(other, modes...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", other, err)
		}
	}
}
