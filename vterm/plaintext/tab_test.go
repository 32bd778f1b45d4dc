package plaintext

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/vterm"
)

// TestTabsAsOnAScreen checks that text with tabs, expanded, equals what a screen shows, whatever a program does to the
// line afterwards.
//
// FAULT: B3
func TestTabsAsOnAScreen(t *testing.T) {
	ops := []string{"a", "bcdef", "你", "\t", "\t\t", "\r", "\b", "\x1b[3C", "\x1b[2D", "\x1b[9G", "\x1b[2@", "\x1b[2P", "\x1b[3X", "\x1b[K", "\x1b[1K", "\x1b[2K"}
	rnd := rand.New(rand.NewPCG(3, 3))
	for range 20_000 {
		in := ""
		for range 1 + rnd.IntN(12) {
			in += ops[rnd.IntN(len(ops))]
		}
		_, rest := collect(&Writer{}, []byte(in), len(in))
		want := strings.TrimRight(shown(in), " ")
		if got := strings.TrimRight(expandTabs(rest), " "); got != want {
			t.Fatalf("%q is %q, expanded %q; a screen shows %q", in, rest, got, want)
		}
	}
}

// shown is the first line of a screen that was sent in.
func shown(in string) string {
	term := vterm.New(vterm.Options{Cols: 400, Rows: 2})
	_, _ = term.Write([]byte(in))
	var f vterm.Frame
	term.Frame(&f, vterm.Query{})
	var b []byte
	for _, c := range f.Lines[0].Cells {
		b = f.AppendText(b, c)
	}
	return string(b)
}

func expandTabs(s string) string {
	var b strings.Builder
	col := 0
	for _, r := range s {
		switch r {
		case '\t':
			n := 8 - col%8
			b.WriteString(strings.Repeat(" ", n))
			col += n
		case '你':
			b.WriteRune(r)
			col += 2
		default:
			b.WriteRune(r)
			col++
		}
	}
	return b.String()
}
