package vterm

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// broken names the first invariant that does not hold, or is empty.
func broken(t *Terminal) string {
	switch {
	case t.cur.Row < 0 || t.cur.Row >= t.rows || t.cur.Col < 0 || t.cur.Col >= t.cols:
		return fmt.Sprintf("cursor %+v outside %dx%d", t.cur, t.cols, t.rows)
	case t.top < 0 || t.top > t.bottom || t.bottom >= t.rows || t.left < 0 || t.left > t.right || t.right >= t.cols:
		return fmt.Sprintf("margins %d-%d %d-%d", t.top, t.bottom, t.left, t.right)
	case t.primary.Cols != t.cols || t.alternate != nil && t.alternate.Cols != t.cols:
		return "a screen has another width"
	}
	for _, s := range t.all() {
		if what := s.Check(t.rows, len(t.images.Placements)); what != "" {
			return what
		}
	}
	return ""
}

// FuzzWrite feeds anything, with changes of size in between.
func FuzzWrite(f *testing.F) {
	for _, s := range functionSeeds() {
		f.Add([]byte(s), uint16(0x1808))
	}
	f.Fuzz(func(t *testing.T, data []byte, size uint16) {
		if len(data) > 1<<14 {
			return
		}
		term := New(Options{Cols: 10, Rows: 5, ScrollbackLines: 50})
		half := len(data) / 2
		_, _ = term.Write(data[:half])
		if what := broken(term); what != "" {
			t.Fatalf("after %q: %s", data[:half], what)
		}
		term.Resize(int(size&0x3f), int(size>>8&0x1f))
		if what := broken(term); what != "" {
			t.Fatalf("resized after %q: %s", data[:half], what)
		}
		_, _ = term.Write(data[half:])
		if what := broken(term); what != "" {
			t.Fatalf("after %q: %s", data, what)
		}
		if term.cols*term.rows < 1<<14 { // writing a large screen out takes too long here
			checkRestore(t, term)
		}
	})
}

// checkRestore proves that a snapshot gives the same terminal again.
func checkRestore(t *testing.T, term *Terminal) {
	t.Helper()
	snap := term.AppendSnapshot(nil)
	again := New(term.opts)
	if err := again.Restore(snap); err != nil {
		t.Fatalf("restore: %v", err)
	}
	if what := broken(again); what != "" {
		t.Fatalf("restored: %s", what)
	}
	if x, y := state(term), state(again); x != y {
		x, y = firstDifference(x, y)
		t.Fatalf("restored state differs\n%q\n%q", x, y)
	}
	tail := []byte("\x1b[31mA\u4f60\u0301\r\nB\x1b8C\x1b[6nD")
	_, _ = term.Write(tail)
	_, _ = again.Write(tail)
	if x, y := state(term), state(again); x != y {
		x, y = firstDifference(x, y)
		t.Fatalf("restored terminal continues differently\n%q\n%q", x, y)
	}
}

// FuzzRestore reads snapshots that were tampered with.
func FuzzRestore(f *testing.F) {
	term := newTest(f, 20, 5, "hello \u4f60\u597d\r\n\x1b[1;31mred\x1b[?1049h\x1b]2;t\x07\x1b[12;")
	f.Add(term.AppendSnapshot(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		again := New(Options{Cols: 5, Rows: 5})
		if again.Restore(resum(b)) != nil {
			return
		}
		if what := broken(again); what != "" {
			t.Fatal(what)
		}
		feed(again, "x\r\n\x1b[5Sy\x1b[3J\x1b8\x1bc")
		again.Resize(7, 3)
		if what := broken(again); what != "" {
			t.Fatal(what)
		}
		historyText(again)
	})
}

// TestHostile feeds malicious output, and expects an end, soon, with bounded memory.
//
// FEATURES: R93
func TestHostile(t *testing.T) {
	if !tier.IsFull() {
		t.Skip("large inputs")
	}
	big := func(s string) []byte { return bytes.Repeat([]byte(s), 64<<20/len(s)) }
	inputs := map[string][]byte{
		"parameters":     append([]byte("\x1b["), append(bytes.Repeat([]byte("1;"), 1e6), 'm')...),
		"long number":    append([]byte("\x1b["), append(bytes.Repeat([]byte("9"), 1e6), 'A')...),
		"endless OSC":    append([]byte("\x1b]0;"), big("a")...),
		"endless DCS":    append([]byte("\x1bPq"), big("~")...),
		"endless APC":    append([]byte("\x1b_Gm=1;"), big("A")...),
		"endless SOS":    append([]byte("\x1bX"), big("s")...),
		"combining bomb": append([]byte("a"), bytes.Repeat([]byte("\u0301"), 1e6)...),
		"joiner bomb":    bytes.Repeat([]byte("\U0001F469\u200d"), 1e6),
		"repeat bomb":    bytes.Repeat([]byte("x\x1b[65535b"), 1e3),
		"scroll bomb":    bytes.Repeat([]byte("\x1b[65535S\x1b[65535T\x1b[65535L\x1b[65535M"), 1e4),
		"insert bomb":    bytes.Repeat([]byte("\x1b[65535@\x1b[65535P\x1b[65535X\x1b[65535I\x1b[65535Z"), 1e4),
		"kitty stack":    bytes.Repeat([]byte("\x1b[>31u"), 1e5),
		"colour stack":   bytes.Repeat([]byte("\x1b[#P\x1b[#p\x1b[22t"), 1e5),
		"queries":        bytes.Repeat([]byte("\x1b[c\x1b[6n\x1bP$qm\x1b\\"), 1e5),
		"titles":         bytes.Repeat([]byte("\x1b]2;"+strings.Repeat("t", 1000)+"\x07"), 1e4),
		"bad UTF-8":      bytes.Repeat([]byte("\xff\xc0\x80\xe2\x82\xf5\xed\xa0\x80\xf4\x90"), 1e5),
		"alternate":      bytes.Repeat([]byte("\x1b[?1049h\x1b[?1049l"), 1e5),
		"columns":        append([]byte("\x1b[?40h"), bytes.Repeat([]byte("\x1b[?3h\x1b[?3l"), 1e3)...),
		"sizes":          bytes.Repeat([]byte("\x1b[8;1;1t\x1b[8;500;500t"), 300),
		"alignment":      append([]byte("\x1b[8;512;512t"), bytes.Repeat([]byte("\x1b#8"), 1e3)...),
		"huge sizes":     bytes.Repeat([]byte("\x1b[8;4096;4096t\x1b#8"), 1e4),
		"images":         bytes.Repeat([]byte("\x1b_Ga=T,f=24,s=1,v=1;AAAA\x1b\\"), 1e5),
		"sixels":         bytes.Repeat([]byte("\x1bPq!9999~\x1b\\\x1b[H"), 1e4),
		"rectangles":     bytes.Repeat([]byte("\x1b[1;1;99;99;2;2$v\x1b[88;1;1;99;99$x\x1b[1;1;99;99;1;4$r"), 1e3),
	}
	for name, data := range inputs {
		t.Run(name, func(t *testing.T) {
			term := New(Options{})
			_, _ = term.Write(data)
			feed(term, "\x1b\\\x18done")
			if what := broken(term); what != "" {
				t.Error(what)
			}
			if n := len(term.parser.Str) + len(term.collector.Data) + len(term.replies) + term.images.Bytes; n > 96<<20 {
				t.Errorf("%d bytes are held", n)
			}
		})
	}
}

// TestResizeStorm goes between the extremes.
//
// FEATURES: R10, R93
func TestResizeStorm(t *testing.T) {
	tier.Full(t)
	term := newTest(t, 80, 24)
	_, _ = term.Write(generated(t, "cjk_emoji")[:200_000])
	for i := range 60 {
		term.Resize(1, 1)
		feed(term, "\u4f60x\r\n")
		term.Resize(1000, 1000)
		feed(term, "\u4f60x\r\n")
		if what := broken(term); what != "" {
			t.Fatalf("after %d rounds: %s", i, what)
		}
	}
	if term.History().Len() == 0 {
		t.Error("the history is gone")
	}
}
