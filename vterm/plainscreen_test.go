package vterm_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// linewise are pieces of output that move within a line only: on a screen that is wide enough its
// rows and the plain text's lines are the same.
var linewise = []string{
	"a", "word", " ", "0123456789", "你", "你好", "e\u0301", "\U0001F469\u200d\U0001F4BB", "\r", "\b", "\t", "\r\n", "\r\n", "\x1b[K", "\x1b[1K", "\x1b[2K",
	"\x1b[3C", "\x1b[2D", "\x1b[5G", "\x1b[G", "\x1b[2@", "\x1b[3P", "\x1b[2X", "\x1b[1;31m", "\x1b[0m", "\x1b]2;t\a", "\x1bPq\x1b\\", "\x07", "\x00",
	"\x1b[4`", "\x1b[2a", "\xff", "\xe4\xbd",
} // no mark by itself: what it joins after a move is a question of the screen's cells

// TestPlainTextIsTheScreen: output as lines of text is what a wide screen shows of it, row by row.
// The plain text counts columns by code points, as a terminal without mode 2027 does.
//
// FEATURES: R24
func TestPlainTextIsTheScreen(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 5))
		var b strings.Builder
		for range 1 + r.IntN(40) {
			b.WriteString(linewise[r.IntN(len(linewise))])
		}
		in := b.String() + "\r\n"
		term := vterm.New(vterm.Options{Cols: 1000, Rows: 60, LegacyWidth: true})
		write(term, in)
		var w plaintext.Writer
		_, _ = w.Write([]byte(in))
		var lines []string
		w.Lines(func(l plaintext.Line) { lines = append(lines, strings.TrimRight(expanded(string(l.Text)), " ")) })
		var f vterm.Frame
		term.Frame(&f, vterm.Query{})
		rows := make([]string, len(lines))
		copy(rows, rowsShown(&f))
		for i := range rows {
			if lines[i] != rows[i] {
				t.Fatalf("seed %d: %q: line %d is %q, the screen's row %q", seed, in, i, lines[i], rows[i])
			}
		}
	}
}

// expanded is a line with its tabs as the blanks that a screen shows.
func expanded(line string) string {
	if !strings.Contains(line, "\t") {
		return line
	}
	term := vterm.New(vterm.Options{Cols: 1000, Rows: 1, LegacyWidth: true})
	write(term, line)
	return firstRow(term)
}
