package grid

import (
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/internal/width"
)

// TestNarrowRun reads characters of every kind by fours, by twos and one by one: as many as precede the first that
// starter rejects.
func TestNarrowRun(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	odds := []string{"\xc2\x80", "\xe0\x83\x80", "\xe0\x83\x80\xe2\x94\x80", "\xe2\x94\x80\xe0\x90\x80", "\xed\xa0\x80", "\xc3", "\x1b", "\u4f60", "\u0301", "\u200b", "\U0001F642", "\ufffd"}
	blocks := []rune{0x20, 0xa0, 0xe0, 0x390, 0x410, 0x5d0, 0x600, 0x900, 0xe00, 0x1100, 0x2000, 0x2190, 0x2500, 0x3040, 0xac00}
	for range 20_000 {
		var p []byte
		for block := blocks[rnd.IntN(len(blocks))]; len(p) < 60; {
			if rnd.IntN(40) == 0 {
				p = append(p, odds[rnd.IntN(len(odds))]...)
			} else if block == 0x20 || rnd.IntN(30) == 0 {
				p = append(p, byte(' '+rnd.IntN(95)))
			} else {
				p = utf8.AppendRune(p, block+rnd.Int32N(0x60))
			}
			if rnd.IntN(10) == 0 {
				block = blocks[rnd.IntN(len(blocks))]
			}
		}
		odd, limit := []width.Class{0, width.SomeAmbiguous}[rnd.IntN(2)], rnd.IntN(40)
		bytes, cols := 0, 0
		for cols < limit && bytes < len(p) {
			n := 1
			if p[bytes]-0x20 >= 0x5f {
				var w int
				if _, n, w = starter(p[bytes:], odd); w != 1 || n > 3 {
					break
				}
			}
			bytes, cols = bytes+n, cols+1
		}
		n, c := narrowRun(p, limit, odd)
		whole := n == bytes || len(p)-n < 4 || odd != 0 // of a class all are odd or none
		if !whole || n > bytes || c != utf8.RuneCount(p[:n]) {
			t.Fatalf("%q, %d at most, without %d: %d bytes of %d columns, want %d of %d", p, limit, odd, n, c, bytes, cols)
		}
	}
}
