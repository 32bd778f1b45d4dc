package width

import (
	"testing"
	"unicode/utf8"
)

func TestColumns(t *testing.T) {
	for r, want := range map[rune]int{
		'a': 1, 0xe9: 1, 0xad: 1, 0x300: 0, 0x200b: 0, 0x200d: 0, 0xfe0f: 0, 0x4f60: 2, 0xac00: 2, 0x1100: 2,
		0x1161: 0, 0xff21: 2, 0xff71: 1, 0x1f600: 2, 0x2764: 1, 0x231a: 2, 0x1f1e6: 1, 0x1f3fd: 2, 0x20000: 2,
		0x0600: 1, 0xe0001: 0, 0xfeff: 0, 0x2028: 0, 0x3000: 2, 0x4dc0: 2, 0x10ffff: 1,
	} {
		if got := Of(r).Columns(); got != want {
			t.Errorf("%U takes %d columns, want %d", r, got, want)
		}
	}
	if !Of(0xa1).Ambiguous() || Of('a').Ambiguous() {
		t.Error("ambiguous width is wrong")
	}
	if !Of(0x2764).HasVariations() || Of('a').HasVariations() {
		t.Error("variation sequences are wrong")
	}
}

// TestStep cuts strings into clusters; "|" marks an expected break (UAX #29, except for letters with columns of their
// own).
//
// FAULT: B27
func TestStep(t *testing.T) {
	for _, s := range []string{
		"a|b", "e\u0301|x", "\U0001F469\u200d\U0001F4BB|\U0001F469", "a\u200d|\U0001F4BB", "\U0001F469\u200d\u200d|\U0001F4BB", "\U0001F1E6\U0001F1E7|\U0001F1E8\U0001F1E9",
		"\u1100\u1161\u11a8|\u1100", "\uac00\u11a8|\uac00", "\u0915\u094d|\u0937|\u0915", "\u0915|\u0937", "\u0600|a|b",
		"\u0e01|\u0e33|x", "\u0600\u0301|a", "\u0e01\u0e35\u0e48|x", "\u200b|\u0301", "x|\u200b|y", "\U0001F44D\U0001F3FD|a", "1\ufe0f\u20e3|2",
		"\uff76|\uff9e|x", "\u30ab\u3099|x",
	} {
		var state State
		broken := true
		for _, r := range s {
			if r == '|' {
				broken = true
				continue
			}
			var joined bool
			if state, joined = Step(state, Of(r)); joined == broken {
				t.Errorf("%q: %U joined %v", s, r, joined)
			}
			broken = false
		}
	}
}

// TestClass holds the classes to what the code points are one by one.
func TestClass(t *testing.T) {
	for r := rune(0x80); r <= 0xffff; r++ {
		var buf [utf8.UTFMax]byte
		utf8.EncodeRune(buf[:], r)
		c := ClassOf2(buf[0])
		if r >= 0x800 {
			c = ClassOf3(buf[0], buf[1])
		}
		p := Of(r)
		if r >= 0xd800 && r < 0xe000 {
			c = uniform[r>>6] // encoded, it would be U+FFFD
			p = 0
		}
		if r < 0xa0 || !p.Starter() {
			p = 0
		}
		if c != 0 && c.Columns() != p.Columns() {
			t.Fatalf("%U takes %d columns, its class %d", r, p.Columns(), c.Columns())
		}
		if c != 0 && p.Ambiguous() && c&SomeAmbiguous == 0 {
			t.Fatalf("%U is ambiguous, its class not", r)
		}
	}
	for first, want := range map[byte]Class{0xc0: 0, 0xc1: 0, 0xd0: 1 | SomeAmbiguous} {
		if c := ClassOf2(first); c != want {
			t.Errorf("class of %#x is %d, want %d", first, c, want)
		}
	}
	if c := ClassOf3(0xe4, 0xb8); c != 2 {
		t.Errorf("class of Han is %d", c)
	}
	if c := ClassOf3(0xe0, 0x80); c != 0 {
		t.Errorf("class of overlong sequences is %d", c)
	}
}

// TestNarrow2 holds Narrow2 to what the code points are one by one.
func TestNarrow2(t *testing.T) {
	for r := rune(0); r < 0x800; r++ {
		p := Of(r)
		if got, want := Narrow2(byte(0xc0|r>>6), byte(0x80|r&0x3f))&1 != 0, r >= 0xa0 && p.Starter() && p.Columns() == 1; got != want {
			t.Errorf("%U is narrow: %v, want %v", r, got, want)
		}
	}
}
