package vterm

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/vterm/internal/grid"
)

// TestText prints characters that are not one cell each. Wide characters appear once, and the cursor shows their
// columns.
//
// FEATURES: R32
func TestText(t *testing.T) {
	const off = "\x1b[?2027l"
	for _, c := range []struct{ name, input, want string }{
		{"wide", "\u4f60\u597dA", "\u4f60\u597dA @0,5"},
		{"wide wraps whole", "123456789\u4f60", "123456789/\u4f60 @1,2"},
		{"wide without autowrap", "\x1b[?7l123456789\u4f60x", "123456789x @0,9"},
		{"half overwritten", "\u4f60\u597d\x1b[2Gx", " x\u597d @0,2"},
		{"head overwritten", "\u4f60\u597d\x1b[3Gx", "\u4f60x @0,3"},
		{"combining", "e\u0301x", "e\u0301x @0,2"},
		{"combining after a wrap is due", "123456789e\u0301", "123456789e\u0301 @0,9"},
		{"combining at the start", "\u0301x", "x @0,1"},
		{"combining after a move", "ab\x1b[2G\u0301", "a\u0301b @0,1"},
		{"joined emoji", "\U0001F469\u200d\U0001F4BBx", "\U0001F469\u200d\U0001F4BBx @0,3"},
		{"skin tone", "\U0001F44D\U0001F3FDx", "\U0001F44D\U0001F3FDx @0,3"},
		{"flags", "\U0001F1E9\U0001F1EA\U0001F1EB\U0001F1F7x", "\U0001F1E9\U0001F1EA\U0001F1EB\U0001F1F7x @0,5"},
		{"VS16 widens", "\u2764\ufe0fx", "\u2764\ufe0fx @0,3"},
		{"VS16 where there is no emoji", "a\ufe0fx", "a\ufe0fx @0,2"},
		{"VS15 narrows", "\u231a\ufe0ex", "\u231a\ufe0ex @0,2"},
		{"keycap", "1\ufe0f\u20e3x", "1\ufe0f\u20e3x @0,3"},
		{"Hangul jamo", "\u1100\u1161\u11a8x", "\u1100\u1161\u11a8x @0,3"},
		{"Indic conjunct", "\u0915\u094d\u0937x", "\u0915\u094d\u0937x @0,3"},
		{"legacy: emoji apart", off + "\U0001F469\u200d\U0001F4BBx", "\U0001F469\u200d\U0001F4BBx @0,5"},
		{"legacy: combining", off + "e\u0301x", "e\u0301x @0,2"},
		{"legacy: VS16 has no width", off + "\u2764\ufe0fx", "\u2764\ufe0fx @0,2"},
		{"bad bytes", "a\xffb\xe2\x82c\xc0\x80", "a\ufffdb\ufffdc\ufffd\ufffd @0,7"},
		{"surrogates", "\xed\xa0\x80", "\ufffd\ufffd\ufffd @0,3"},
		{"C1 as characters", "a\u009b2Cb\u0085c", "a  b/c @1,1"},
		{"C1 as a bare byte", "a\x9b2C", "a\ufffd2C @0,4"},
		{"soft hyphen", "a\u00adb", "a\u00adb @0,3"},
		{"zero width space", "a\u200bb", "ab @0,2"},
		{"insert wide", "abc\x1b[1G\x1b[4h\u4f60", "\u4f60abc @0,2"},
		{"double width line", "\x1b#6\u4f60\u597d\u4f60", "\u4f60\u597d/\u4f60 @1,2"},
		{"no-break space and delete", "a\u00a0b\x7fc", "a\u00a0bc @0,4"},
	} {
		term := newTest(t, 10, 4, c.input)
		if got := seen(term); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if what := broken(term); what != "" {
			t.Errorf("%s: %s", c.name, what)
		}
	}
}

func TestAmbiguousWide(t *testing.T) {
	term := New(Options{Cols: 10, Rows: 2, AmbiguousWide: true})
	feed(term, "\u2460\u00a1x")
	if got, want := seen(term), "\u2460\u00a1x @0,5"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestStrings ends strings in all the ways there are.
func TestStrings(t *testing.T) {
	for _, c := range []struct{ name, input, want string }{
		{"BEL", "\x1b]2;a\x07x", "x @0,1 <2  a 0>"},
		{"ST", "\x1b]2;a\x1b\\x", "x @0,1 <2  a 0>"},
		{"C1 ST", "\x1b]2;a\u009cx", "x @0,1 <2  a 0>"},
		{"C1 OSC", "\u009d2;a\x07x", "x @0,1 <2  a 0>"},
		{"bytes that look like ST", "\x1b]2;\u2702\u6d5c\x07x", "x @0,1 <2  \u2702\u6d5c 0>"},
		{"CAN", "\x1b]2;a\x18x", "x @0,1"},
		{"another escape", "\x1b]2;a\x1b[1mx", "x @0,1"},
		{"BEL in DCS", "\x1bP$qm\x07\x1b\\x", "x @0,1 ^P0$r^\\"},
		{"SOS", "\x1bXa\x07b\x1b\\x", "x @0,1"},
		{"PM", "\x1b^a\x1b\\x", "x @0,1"},
		{"APC", "\x1b_a\x1b\\x", "x @0,1"},
		{"unknown functions", "\x1b[5%~\x1b[?5z\x1b[1!!x\x1b(~\x1bi\x1b%9y", "y @0,1"},
		{"controls inside", "a\x1b[\r2Cb", "a b @0,3"},
		{"control then cancelled", "a\x1b[3\x18b", "ab @0,2"},
		{"delete inside", "a\x1b[2\x7fCb", "a  b @0,4"},
	} {
		term := newTest(t, 10, 4, c.input)
		if got := seen(term); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestVT52 is a walk through the VT52's functions.
func TestVT52(t *testing.T) {
	term := newTest(t, 10, 4, "\x1b[?2l\x1bY\x21\x22x\x1bA\x1bD\x1bBy\x1bHz\x1bZ\x1bFq\x1bG\x1b<\x1b[2C.")
	if got, want := seen(term), "z\u2500  ./  y @0,5 ^/Z"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestNoAllocations prints, paints and scrolls into the history without allocating.
func TestNoAllocations(t *testing.T) {
	for name, lines := range map[string]string{
		"log":         "plain text of a build log, long enough\r\n\x1b[1;31merror:\x1b[0m coloured \u4f60\u597d\r\n",
		"short lines": strings.Repeat("y\r\n", 100),
		"characters":  "\u0441\u043b\u043e\u0432\u043e \U0001F600\u4f60\U0001F469\u200d\U0001F4BB \u2764\ufe0f \u00fcber e\u0301\r\n",
		"full screen": "\x1b[H\x1b[2J\x1b[3;4Hx\x1b[48;5;236m\x1b[38;2;1;2;3mtext \u2502 \x1b[0m\x1b[K",
	} {
		term := New(Options{})
		for range 20_000 {
			_, _ = term.Write([]byte(lines))
		}
		data := []byte(lines)
		if n := testing.AllocsPerRun(2000, func() { _, _ = term.Write(data) }); n != 0 {
			t.Errorf("%s: %v allocations a write", name, n)
		}
	}
}

// TestTables checks that rebuilt side tables keep the visible content.
func TestTables(t *testing.T) {
	term := newTest(t, 20, 3)
	var f Frame
	for i := range 200_000 {
		feed(term, "\x1b[H\x1b[38;2;"+string(rune('0'+i%10))+";"+itoa(i/10%256)+";"+itoa(i/2560%256)+"mx\x1b[2;1He"+string(rune(0x300+i%0x60))+string(rune(0x300+i/0x60%0x60))+string(rune(0x300+i/0x2400%0x60)))
	}
	term.Frame(&f, Query{})
	if n := len(f.Styles); n > grid.StyleLimit+1 {
		t.Errorf("%d styles are kept", n)
	}
	if n := len(f.Clusters); n > grid.ClusterLimit+1 {
		t.Errorf("%d clusters are kept", n)
	}
	if got, want := f.Style(f.Lines[0].Cells[0]).FG, RGB(9, 19999%256, 78); got != want {
		t.Errorf("colour is %x, want %x", got, want)
	}
	if what := broken(term); what != "" {
		t.Error(what)
	}
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}
