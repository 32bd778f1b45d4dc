package view

import (
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"
)

// TestUnsent checks that input that did not reach its session is reported when its pane closes, and printed when the
// viewer ends.
//
// FEATURES: R94
func TestUnsent(t *testing.T) {
	var told []string
	b := newBench(t, 80, 10, Options{Unsent: func(session string, bytes int) {
		if bytes == 7 {
			told = append(told, session)
		}
	}})
	b.list(running("a"), running("b"))
	b.streams["a"].unsent, b.streams["b"].unsent = 1, 7
	b.keys("^z")
	b.shows("not sent: 1 byte typed into a")
	b.closePanes()
	if len(told) != 1 || told[0] != "b" {
		t.Errorf("reported %q", told)
	}
}

// TestInputAfterPaneSwitch_GoesToNewPane checks that input typed right after a key that shows a pane goes to that pane.
//
// FEATURES: R75
func TestInputAfterPaneSwitch_GoesToNewPane(t *testing.T) {
	b := newBench(t, 80, 10, Options{})
	b.list(running("a"), running("b"))
	b.keys("^z")
	other := "a"
	if b.m.Focus == "a" {
		other = "b"
	}
	for _, r := range " x" {
		if r == ' ' { // together with the next key in one read: nothing is drawn in between
			b.handle(tcell.NewEventKey(tcell.KeyCtrlSpace, 0, tcell.ModCtrl))
			b.handle(tcell.NewEventKey(tcell.KeyRune, rune('1'+strings.Index("ab", other)), 0))
			continue
		}
		b.handle(tcell.NewEventKey(tcell.KeyRune, r, 0))
	}
	b.settle()
	typed := ""
	for s := b.streams[other]; len(s.acts) > 0; {
		if in := <-s.acts; in.Key != nil {
			typed += string(in.Key.Code)
		}
	}
	if typed != "x" {
		t.Errorf("%s got %q", other, typed)
	}
}
