package grid

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/internal/width"
)

// printRows prints p into rows of 40 columns, one after the other, and returns the text of the last.
func printRows(tb *Tables, p string) string {
	var r Row
	for state := width.State(0); len(p) > 0; {
		r = Row{}
		run := r.AppendRun(tb, []byte(p), 0, 40, 0, 0, state, true)
		if run.Bytes == 0 {
			break
		}
		p, state = p[run.Bytes:], run.State
	}
	return string(r.Packed.Text)
}

// TestSymbolsAreFound checks that repeated symbols are looked up, and that others are not.
func TestSymbolsAreFound(t *testing.T) {
	var tb Tables
	printRows(&tb, strings.Repeat("漢字👩‍💻 ok 👍🏽", 50))
	if tb.symbols.misses >= 0 {
		t.Errorf("of few symbols %d more were missed than found", tb.symbols.misses)
	}
	tb = Tables{}
	var rare strings.Builder
	for r := rune(0x1f300); r < 0x1f5ff; r++ {
		rare.WriteRune(r)
		rare.WriteString("漢")
	}
	printRows(&tb, rare.String())
	if tb.symbols.misses <= manyMisses {
		t.Errorf("rare symbols are searched after %d misses", tb.symbols.misses)
	}
}

// TestSymbolsArePacked checks that an idle terminal keeps no symbols, and learns them again.
func TestSymbolsArePacked(t *testing.T) {
	var tb Tables
	printed := strings.Repeat("漢字👩‍💻 ok 👍🏽", 50)
	want := printRows(&tb, printed)
	tb.Pack()
	if tb.symbols.known != nil {
		t.Error("symbols are kept")
	}
	if got := printRows(&tb, printed); got != want || tb.symbols.known == nil || tb.symbols.misses >= 0 {
		t.Errorf("after that %q, want %q; %d more were missed than found", got, want, tb.symbols.misses)
	}
}

// TestSymbolEnd finds the end of the text before a character that is not joinsNothing, at any position.
func TestSymbolEnd(t *testing.T) {
	for c := range 256 {
		for at := range symbolBytes {
			p := [symbolBytes]byte{}
			for i := range p {
				p[i] = 0xf0
			}
			p[at] = byte(c)
			want := symbolBytes
			if joinsNothing(byte(c)) {
				want = at
			}
			if key, n := keyOf(&p); n != want || n < symbolBytes && n >= 8 && key.b != firstOf(key.b, n-8) {
				t.Fatalf("%#x at %d: %d bytes of %x, want %d", c, at, n, key, want)
			}
		}
	}
}

// TestHanJoinsNothing holds what the fast paths take for granted of Han and hiragana to the tables.
func TestHanJoinsNothing(t *testing.T) {
	for r := rune(0x80); r <= utf8.MaxRune; r++ {
		first := string(r)[0]
		if c := width.Of(r).Class(); utf8.ValidRune(r) && (first >= firstHan && first <= lastHan || hiragana(r)) && c != 2 {
			t.Fatalf("%U is of class %d", r, c)
		}
	}
}
