package view

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/theme"
)

// Commands of tmux that people type with words behind them are done by the palette, first of what it finds.
//
// FEATURES: R119 R120
func TestCommandsWithWords(t *testing.T) {
	b := newBench(t, 120, 30, Options{LiveOptions: LiveOptions{Theme: theme.Dark}})
	b.list(running("a"))
	b.makes("b", "^|")
	typed := func(line string) {
		b.keys("^:")
		b.keys(line)
		b.send(tcell.NewEventKey(tcell.KeyEnter, 0, 0))
	}
	for _, line := range []string{"rename-window first tab", `renamew "my tab"`} {
		typed(line)
	}
	if b.m.Tab().Name != "my tab" {
		t.Errorf("the tab is called %q", b.m.Tab().Name)
	}
	width := b.panes.Get("b").Area.W
	typed("resize-pane -L 5") // the last pane's border is on its left
	if w := b.panes.Get("b").Area.W; w != width+5 {
		t.Errorf("%d columns were %d", w, width)
	}
	typed("resizep -R 3")
	if w := b.panes.Get("b").Area.W; w != width+2 {
		t.Errorf("%d columns were %d", w, width)
	}
	typed("resize-pane -D 3")
	b.shows("there is no border to move")
	typed("setw synchronize-panes on")
	if !b.m.Tab().Sync {
		t.Error("not synchronised")
	}
	typed("setw synchronize-panes off")
	if b.m.Tab().Sync {
		t.Error("still synchronised")
	}
	b.src.made = "c"
	typed("neww -n logs")
	b.call()
	b.list(append(slices.Clone(b.m.Sessions), running("c"))...)
	if len(b.m.Tabs) != 2 || b.m.Tab().Name != "logs" || b.m.Focus != "c" {
		t.Errorf("%d tabs, %q, focus %s", len(b.m.Tabs), b.m.Tab().Name, b.m.Focus)
	}
	typed("selectw -t 1")
	if b.m.Current != 0 {
		t.Errorf("tab %d", b.m.Current)
	}
	typed("selectw -t:2")
	if b.m.Current != 1 {
		t.Errorf("tab %d", b.m.Current)
	}
	typed("select-window -t 7")
	b.shows("no tab 7; they count from 1")
	typed("switch-client -t " + b.m.Session("a").Name)
	if b.m.Focus != "a" {
		t.Errorf("focus %s", b.m.Focus)
	}
	typed("display-message hello there")
	b.shows("hello there")
}

func TestWordsOfALine(t *testing.T) {
	for line, want := range map[string]string{
		"": "[]", " a  b ": `["a" "b"]`, `a "b c" 'd "e'`: `["a" "b c" "d \"e"]`, `a ""`: `["a" ""]`, `a"b c"d`: `["ab cd"]`, `a "open`: `["a" "open"]`,
	} {
		if got := fmt.Sprintf("%q", wordsOf(line)); got != want {
			t.Errorf("%q: %s", line, got)
		}
	}
	if strings.Join(behind([]string{"-nx", "y"}, "-n"), " ") != "x y" || behind([]string{"x"}, "-n") != nil {
		t.Error("options")
	}
}

// What was being typed for the last session when it went is no key of the viewer's, and no line that it runs.
//
// FEATURES: R76
func TestKeysForASessionThatWent(t *testing.T) {
	b := newBench(t, 80, 24, Options{LiveOptions: LiveOptions{Theme: theme.Dark}})
	b.list(running("a"))
	b.list()
	for _, k := range "d:?pv!" {
		b.keys(string(k))
		if b.over != nil || b.quit || b.message != "" {
			t.Fatalf("%q does something: %s", k, b.message)
		}
		b.now = b.now.Add(strayTime / 2)
	}
	b.now = b.now.Add(strayTime)
	if b.keys("!"); b.message != "" {
		t.Errorf("a bare key takes a line to run: %s", b.message)
	}
	b.keys(":")
	b.shows("What to do")
}
