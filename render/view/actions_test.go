package view

import (
	"testing"

	"github.com/longterm-dev/longterm/render/view/copymode"
	"github.com/longterm-dev/longterm/render/view/keymap"
)

// TestActions checks that every action of the tables is implemented, and no other.
func TestActions(t *testing.T) {
	for _, r := range keymap.Prefix {
		if actions[r.Action] == nil {
			t.Errorf("no code implements %q", r.Action)
		}
	}
	for _, r := range keymap.Scroll {
		if copymode.Actions[r.Action] == nil {
			t.Errorf("no code implements %q", r.Action)
		}
	}
	if len(actions) != len(keymap.Prefix) || len(copymode.Actions) != len(keymap.Scroll) {
		t.Error("something is done that no table names")
	}
}
