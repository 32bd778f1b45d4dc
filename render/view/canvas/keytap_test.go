package canvas

import (
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/events"
	"github.com/longterm-dev/longterm/vterm/input"
)

// TestKeyTap checks that keys reach the viewer with modifiers, events and alternates, and functional keys as such, and
// that keys without a name are not typed. Text, pastes and the mouse are unchanged.
//
// FAULT: H8
// FAULT: H9
func TestKeyTap(t *testing.T) {
	t.Setenv("LC_ALL", "C.UTF-8")
	for _, c := range []struct {
		reads []string
		want  []input.Key
	}{
		{[]string{"\x1b[57439u"}, []input.Key{{Code: input.KeyVolumeUp}}},
		{[]string{"a\x1b[57500ub"}, []input.Key{{Code: 'a', Text: "a"}, {Code: 'b', Text: "b"}}},
		{[]string{"\x1b[97:65;2u"}, []input.Key{{Code: 'a', Shifted: 'A', Mods: input.Shift, Text: "A"}}},
		{[]string{"\x1b[97;5:3u"}, []input.Key{{Code: 'a', Mods: input.Ctrl, Action: input.KeyRelease}}},
		{[]string{"\x1b[1089::99;5u"}, []input.Key{{Code: 'с', Base: 'c', Mods: input.Ctrl}}},
		{[]string{"\x1b[1;1", ":3A"}, []input.Key{{Code: input.KeyUp, Action: input.KeyRelease}}},
		{[]string{"\x1b", "[1;5A"}, []input.Key{{Code: input.KeyUp, Mods: input.Ctrl}}},
		{[]string{"\x1b", "[1", ";5Ax"}, []input.Key{{Code: input.KeyUp, Mods: input.Ctrl}, {Code: 'x', Text: "x"}}},
		{[]string{"\x1b\x1b[A"}, []input.Key{{Code: input.KeyUp, Mods: input.Alt}}},
		{[]string{"\x1bé"}, []input.Key{{Code: 'é', Mods: input.Alt}}},
		{[]string{"\x1bx"}, []input.Key{{Code: 'x', Mods: input.Alt}}},
		{[]string{"\x1bOu\x1bO5t"}, []input.Key{{Code: input.KeyKP0 + 5}, {Code: input.KeyKP0 + 4, Mods: input.Ctrl}}},
		{[]string{"\U00100001\uf8ff"}, []input.Key{{Code: 0x100001, Text: "\U00100001"}, {Code: 0xf8ff, Text: "\uf8ff"}}},
		{[]string{"\x1b]11;rgb:0/0/0\x1b\\\x1b[?62;4cz"}, []input.Key{{Code: 'z', Text: "z"}}},
	} {
		screen, e := screenInLocale(t, 20, 3)
		for _, r := range c.reads {
			e.Typed <- []byte(r)
		}
		for _, want := range c.want {
			for {
				k, ok := screen.PollEvent().(*tcell.EventKey)
				if !ok {
					continue
				}
				if got := events.Key(k); got != want {
					t.Errorf("%q: %+v, want %+v", c.reads, got, want)
				}
				break
			}
		}
		screen.Fini()
	}
}

// FuzzKeyTap proves that nothing breaks it, and that little is held.
func FuzzKeyTap(f *testing.F) {
	f.Add([]byte("ab\x1b[Aé\x1b]x\x07"), uint8(3))
	f.Add([]byte("\x1b[\x01"), uint8(2)) // interrupted at once
	f.Fuzz(func(t *testing.T, b []byte, cut uint8) {
		var tap keyTap
		n := int(cut) % (len(b) + 1)
		tap.feed(b[:n], time.Unix(0, 0))
		tap.feed(b[n:], time.Unix(0, 0))
		if len(tap.held) > maxKeySequence {
			t.Errorf("%d bytes are held back", len(tap.held))
		}
	})
}
