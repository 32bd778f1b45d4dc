package view

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/vterm/input"
)

func zellijOptions(t *testing.T) Options {
	t.Helper()
	preset, err := keymap.Choose("zellij", "")
	if err != nil {
		t.Fatal(err)
	}
	prefix, err := input.ParseKey(preset.Prefix)
	if err != nil {
		t.Fatal(err)
	}
	return Options{LiveOptions: LiveOptions{Keys: preset.With(nil), Modes: preset.Modes, Prefix: prefix}}
}

func ctrl(r rune) tcell.Event { return tcell.NewEventKey(tcell.KeyRune, r, tcell.ModCtrl) }

func alt(r rune) tcell.Event { return tcell.NewEventKey(tcell.KeyRune, r, tcell.ModAlt) }

// typed is the next keys that the session is sent.
func (b *bench) typed(id string, n int) string {
	b.t.Helper()
	var keys []string
	for range n {
		if in := b.streams[id].input(b.t); in.Key != nil {
			keys = append(keys, keymap.KeyLabel(*in.Key))
		}
	}
	b.streams[id].none(b.t)
	return strings.Join(keys, " ")
}

// FEATURES: R119
func TestModes(t *testing.T) {
	b := newBench(t, 120, 40, zellijOptions(t))
	b.list(running("a"), running("b"), running("c"))
	b.m.Focus = "a"
	b.send(ctrl('p'))
	b.shows(" pane ", "zoom", "hjkl focus")
	b.keys("p") // moves, and stays in its mode
	b.keys("p")
	if b.m.Focus != "c" || b.mode != modeTable {
		t.Errorf("focus %s, mode %d", b.m.Focus, b.mode)
	}
	b.keys("f") // ends it
	if !b.m.Zoomed || b.mode != modeInput {
		t.Errorf("zoomed %t, mode %d", b.m.Zoomed, b.mode)
	}
	b.send(ctrl('p'))
	b.keys("f")
	b.send(ctrl('p'), ctrl('t')) // from one mode to another
	b.shows(" tab ")
	b.keys("s")
	if !b.m.Tab().Sync || b.mode != modeInput {
		t.Errorf("sync %t, mode %d", b.m.Tab().Sync, b.mode)
	}
	b.send(ctrl('t'))
	b.keys("s")
	b.send(ctrl('t'))
	b.keys("~") // no key of the mode
	if b.mode != modeTable || !strings.Contains(b.message, "Escape leaves mode tab") {
		t.Errorf("mode %d, message %q", b.mode, b.message)
	}
	b.send(alt('h')) // without a mode, in any mode
	b.send(tcell.NewEventKey(tcell.KeyEscape, 0, 0))
	if b.mode != modeInput || b.m.Focus == "c" {
		t.Errorf("mode %d, focus %s", b.mode, b.m.Focus)
	}
	b.send(ctrl('p'))
	b.send(ctrl('b')) // the prefix ends a mode
	b.keys("z")
	if !b.m.Zoomed || b.mode != modeInput {
		t.Errorf("zoomed %t, mode %d", b.m.Zoomed, b.mode)
	}
	b.m.Focus = "a"
	b.keys("p") // outside of modes keys are the session's
	if got := b.typed("a", 1); got != "p" {
		t.Errorf("typed %q", got)
	}
}

// FEATURES: R119
func TestLockedKeys(t *testing.T) {
	b := newBench(t, 100, 30, zellijOptions(t))
	b.list(running("a"))
	b.send(ctrl('g'))
	b.shows("LOCKED: Ctrl-g unlocks")
	if strings.Contains(b.term.Text(), "Ctrl-b") {
		t.Errorf("a hint names a key without effect:\n%s", b.term.Text())
	}
	b.send(ctrl('p'), ctrl('b'), alt('n'))
	b.send(ctrl('g'))
	if got := b.typed("a", 3); got != "Ctrl-p Ctrl-b Alt-n" || b.mode != modeInput || b.locked {
		t.Errorf("typed %q, mode %d, locked %t", got, b.mode, b.locked)
	}
	b.send(ctrl('g'))
	if err := b.reconfigure(LiveOptions{}); err != nil || b.locked { // other keys, which may be without a lock
		t.Errorf("%v, locked %t", err, b.locked)
	}
}

// TestLockedKeysInCopyMode checks that locked keys reach the session, except in a pane in copy mode, and that the
// unlock key works everywhere.
//
// FEATURES: R76, R119
func TestLockedKeysInCopyMode(t *testing.T) {
	b := newBench(t, 100, 30, zellijOptions(t))
	b.list(running("a"), running("b"))
	b.m.Focus = "a"
	b.send(ctrl('b'))
	b.keys("[")
	p := b.panes.Get("a")
	b.m.Focus = "b" // as a click does
	b.send(ctrl('g'))
	b.m.Focus = "a"
	b.keys("vl")
	if b.streams["a"].none(t); p.Copying() == nil || !b.locked {
		t.Fatalf("copy mode %v, locked %t", p.Copying(), b.locked)
	}
	b.send(ctrl('g'))
	if b.locked || p.Copying() == nil {
		t.Errorf("copy mode %v, locked %t", p.Copying(), b.locked)
	}
	b.keys("q") // with the selection
	b.send(ctrl('g'), ctrl('p'))
	if got := b.typed("a", 1); got != "Ctrl-p" || p.Copying() != nil || !b.locked {
		t.Errorf("typed %q, copy mode %v, locked %t", got, p.Copying(), b.locked)
	}
	b.list() // there is nothing that could use a key
	if b.send(ctrl('g')); b.locked {
		t.Error("without sessions keys stay locked")
	}
}

var zellijKey = regexp.MustCompile("(?m)^\\| `([^` ]+)(?: ([^`]+))?` \\| `([a-z-]+)` \\| .+ \\|$")

// TestFromZellij checks that the page for users of zellij describes its keys.
//
// FEATURES: R119
func TestFromZellij(t *testing.T) {
	page, err := os.ReadFile("../../docs/from-zellij.md")
	if err != nil {
		t.Fatal(err)
	}
	o := zellijOptions(t)
	keys, err := o.keymap()
	if err != nil {
		t.Fatal(err)
	}
	rows := zellijKey.FindAllStringSubmatch(string(page), -1)
	if len(rows) < 30 {
		t.Errorf("%d keys", len(rows))
	}
	for _, row := range rows {
		first, err := input.ParseKey(row[1])
		if err != nil {
			t.Fatal(err)
		}
		got := string(keys.Direct(first))
		if m := keys.ModeStartedBy(first); m != nil {
			got = m.Name
			if row[2] != "" {
				k, err := input.ParseKey(row[2])
				if err != nil {
					t.Fatal(err)
				}
				got = string(m.ActionOf(k))
			}
		}
		if got != row[3] {
			t.Errorf("%s %s is %q, not %q", row[1], row[2], got, row[3])
		}
	}
}
