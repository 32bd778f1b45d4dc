package vterm_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/vt10x"
)

// TestDifferential runs random output through both engines, of the kind that vt10x gets
// right: text that does not wrap, cursor moves without margins, erasing, scrolling.
//
// FEATURES: R25, R93
func TestDifferential(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 5))
		o := vterm.Options{Cols: 40, Rows: 10}
		ours, theirs := vterm.New(o), vt10x.New(o)
		var all strings.Builder
		for range 60 {
			s := randomOutput(r)
			all.WriteString(s)
			_, _ = ours.Write([]byte(s))
			_, _ = theirs.Write([]byte(s))
			if a, b := screenOf(ours), screenOf(theirs); a != b {
				t.Fatalf("seed %d: after %q\nours\n%s\nvt10x\n%s", seed, all.String(), a, b)
			}
		}
	}
}

func randomOutput(r *rand.Rand) string {
	text := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('!' + r.IntN(94))
		}
		return string(b)
	}
	at := fmt.Sprintf("\x1b[%d;%dH", 1+r.IntN(10), 1+r.IntN(20))
	switch r.IntN(10) {
	case 0, 1, 2:
		return at + text(1+r.IntN(18))
	case 3:
		return at + fmt.Sprintf("\x1b[%dJ", r.IntN(3))
	case 4:
		return at + fmt.Sprintf("\x1b[%dK", r.IntN(3))
	case 5:
		return at + fmt.Sprintf("\x1b[%d%c", 1+r.IntN(5), "LMP@X"[r.IntN(5)])
	case 6:
		return fmt.Sprintf("\x1b[%d%c", 1+r.IntN(5), "ABCDG"[r.IntN(5)])
	case 7:
		return "\r\n" + text(r.IntN(10)) + "\r"
	case 8:
		return at + "\t" + text(2) + "\b\x1b[" + fmt.Sprint(31+r.IntN(7)) + "mc\x1b[m"
	default:
		return "\x1b[10;1H\n\x1bM" + at
	}
}

// screenOf returns the state in which both engines should agree.
func screenOf(e vterm.Engine) string {
	var f vterm.Frame
	e.Frame(&f, vterm.Query{})
	var b strings.Builder
	for i := range f.Lines {
		var line []byte
		for _, c := range f.Lines[i].Cells {
			line = f.AppendText(line, c)
		}
		fmt.Fprintf(&b, "|%s\n", strings.TrimRight(string(line), " "))
	}
	return b.String() + fmt.Sprintf("%d,%d", f.Cursor.Row, f.Cursor.Col)
}
