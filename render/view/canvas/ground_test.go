package canvas

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/theme"
)

// What a terminal says of its background is found among what is typed, however it is cut into pieces.
//
// FEATURES: R76
func TestGround(t *testing.T) {
	for text, want := range map[string]string{
		"\x1b]11;rgb:ffff/ffff/ffff\x1b\\":                       "[light]",
		"ab\x1b[A\x1b]11;rgb:1e1e/1e1e/2e2e\x07x":                "[dark]",
		"\x1b]11;rgba:ff/ff/dd/ff\x1b\\":                         "[light]",
		"\x1b[?997;1n\x1b[?997;2n":                               "[dark light]",
		"\x1b[?997;3n\x1b[?62;22c\x1bOA\x1b[1;5A":                "[]",
		"\x1b]11;rgb:ffff/ffff\x07\x1b]11;rgb:x/y/z\x07":         "[]",
		"\x1b]11;\x1b\x1b]11;rgb:0/0/0\x07\x1b]10;rgb:f/f/f\x07": "[dark]",
	} {
		for size := 1; size <= len(text); size++ {
			var got []theme.Ground
			var s groundScan
			for at := 0; at < len(text); at += size {
				s.feed([]byte(text[at:min(at+size, len(text))]), func(g theme.Ground) { got = append(got, g) })
			}
			if fmt.Sprint(got) != want {
				t.Errorf("%q in pieces of %d: %v; want %s", text, size, got, want)
			}
		}
	}
}

// writes are what a terminal was written, call by call.
type writes struct {
	tcell.Tty
	calls []string
}

func (w *writes) Write(p []byte) (int, error) {
	w.calls = append(w.calls, string(p))
	return len(p), nil
}

// A drawing that is to be shown as one is written as one; nothing else waits, nor is put in another order.
//
// FEATURES: R76
func TestDrawingsAreWrittenAtOnce(t *testing.T) {
	w := &writes{}
	h := &hearing{Tty: w}
	for _, p := range []string{"a", beginSync + "one", endSync, "b", beginSync + "two" + endSync, beginSync + "three", "\a", endSync} {
		if n, err := h.Write([]byte(p)); n != len(p) || err != nil {
			t.Errorf("%q: %d, %v", p, n, err)
		}
	}
	want := []string{"a", beginSync + "one" + endSync, "b", beginSync + "two" + endSync, beginSync + "three\a", endSync}
	if !slices.Equal(w.calls, want) {
		t.Errorf("%q; want %q", w.calls, want)
	}
}

func FuzzGround(f *testing.F) {
	f.Add([]byte("\x1b]11;rgb:ffff/ffff/ffff\x1b\\"), 3)
	f.Add([]byte("\x1b[?997;1n"), 1)
	f.Fuzz(func(t *testing.T, b []byte, size int) {
		size = max(1, min(size, len(b)+1))
		var s, whole groundScan
		var a, c []theme.Ground
		whole.feed(b, func(g theme.Ground) { c = append(c, g) })
		for at := 0; at < len(b); at += size {
			s.feed(b[at:min(at+size, len(b))], func(g theme.Ground) { a = append(a, g) })
		}
		if fmt.Sprint(a) != fmt.Sprint(c) || len(s.held) > maxAnswer {
			t.Fatalf("%v in pieces, %v as a whole, %d bytes held", a, c, len(s.held))
		}
	})
}
