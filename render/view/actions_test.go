package view

import (
	"testing"

	"github.com/longterm-dev/longterm/render/view/copymode"
	"github.com/longterm-dev/longterm/render/view/keymap"
)

// Every action of the tables can be done, and nothing else.
func TestActions(t *testing.T) {
	for _, r := range keymap.Prefix {
		if actions[r.Action] == nil {
			t.Errorf("nothing does %q", r.Action)
		}
	}
	for _, r := range keymap.Scroll {
		if copymode.Actions[r.Action] == nil {
			t.Errorf("nothing does %q", r.Action)
		}
	}
	if len(actions) != len(keymap.Prefix) || len(copymode.Actions) != len(keymap.Scroll) {
		t.Error("something is done that no table names")
	}
}
