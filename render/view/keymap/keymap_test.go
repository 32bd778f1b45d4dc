package keymap

import (
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

func TestOtherKeys(t *testing.T) {
	m, err := New(map[string][]string{"zoom": {"f", "C-z"}, "follow": nil})
	if err != nil {
		t.Fatal(err)
	}
	if m.AfterPrefix(input.Key{Code: 'z', Mods: input.Ctrl}) != "zoom" || m.AfterPrefix(input.Key{Code: 'z'}) != "" || m.AfterPrefix(input.Key{Code: 'f'}) != "zoom" {
		t.Error("zoom has not got its new keys")
	}
	for want, other := range map[string]map[string][]string{
		"no action is called": {"fly": {"f"}},
		"is follow and zoom":  {"zoom": {"x"}, "kill": {"K"}, "follow": {"x"}},
		"Cntrl-x":             {"zoom": {"Cntrl-x"}},
	} {
		if _, err := New(other); err == nil || !strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "give one of them another") {
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
