package wire

import (
	"strings"
	"testing"
)

// TestThin_Typing checks that a typed key takes a few bytes, also at the line's end and at the next prompt, and the
// page shows the screen.
//
// FEATURES: R83 R112
func TestThin_Typing(t *testing.T) {
	s := newTestPage(t, 200, 60)
	s.view.Thin = true
	const prompt = "\x1b[1;32muser@host\x1b[0m:\x1b[1;34m~/src/project\x1b[0m (\x1b[33mmain\x1b[0m) $ "
	s.frame()
	s.print(prompt)
	s.frame()
	if s.checkSame("the first prompt"); s.thin != 1 || len(s.last) > 160 {
		t.Errorf("the first prompt: %q", s.last)
	}
	for round := range 80 { // which scrolls at the end
		for _, k := range []struct {
			typed string
			most  int
		}{{"l", 3}, {"s", 3}, {" ", 3}, {"/", 3}, {"\b \b", 15}, {"\b\x1b[K", 9}, {"é", 4}, {"\r\n", 15}, {"/\r\n" + prompt, 24}} {
			s.print("%s", k.typed)
			before := s.n
			s.frame()
			s.checkSame(k.typed)
			if s.n != before && len(s.last) > k.most {
				t.Fatalf("round %d: %q takes %d bytes: %.300q", round, k.typed, len(s.last), s.last)
			}
		}
	}
	if s.thin < 80*8 {
		t.Errorf("%d thin frames", s.thin)
	}
}

// TestThin_OnlyIfSupported checks that a page that does not support thin frames gets none, and rows that are not plain
// are sent in full frames.
//
// FEATURES: R112
func TestThin_OnlyIfSupported(t *testing.T) {
	s := newTestPage(t, 40, 4)
	s.print("$ ")
	s.frame()
	s.print("l")
	if s.frame(); s.thin != 0 || !strings.HasPrefix(s.last, "{") {
		t.Errorf("%q", s.last)
	}
	s.view.Thin = true
	for _, p := range []string{"漢", "e\u0301", "\x1b[?25l", "\x1b]0;title\x07", strings.Repeat("wraps ", 10)} {
		s.print("%s", p)
		s.frame()
		s.checkSame(p)
		if s.thin != 0 {
			t.Errorf("%q: got a thin frame %q", p, s.last)
		}
	}
}

// TestStyleNumbers_OfOtherTable checks that rows with styles of the previous style table are sent again.
//
// FEATURES: R83
func TestStyleNumbers_OfOtherTable(t *testing.T) {
	s := newTestPage(t, 40, 4)
	s.print("\x1b[31mrow\x1b[m\x1b[4H")
	s.frame()
	s.styles.reserve(maxStyles+1, true)
	s.print("\x1b[H\x1b[32mrow\x1b[m\x1b[4H")
	s.frame()
	s.checkSame("after the table began anew")
}

// FuzzThin checks that a mirror applies any frame or returns an error.
func FuzzThin(f *testing.F) {
	for _, s := range []string{
		"1\x06l", "1\x012\x020,3,1\x033,2\x042,0\x051\x06ab\x06c", "1\x041,0", "1\x05z\x06a", "1\x04-1,0\x06a", "1\x020,1,5", "zz\x06\x06", "1\x04z,zzzzzz\x06a",
		"1\x04zzzzzzzzzz,1", "{}", "1\x05", "1\x012\x01", "0\x06a", "1\x041,2\x06a", "1\x040,3", "1\x041,2,0\x06x", "1\x041,2,2", "1\x040,0,z", "1\x07[2,{\"fi\":3}],[3,{}]\x052\x06a", "1\x07[1,{}]", "1\x07", "1\x051\x07[4,{}]",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m := Mirror{Cols: 8, Rows: 4, Lines: make([]MirrorLine, 4), Cursor: [5]any{1.0, 0.0}}
		m.Lines[0].Spans = []MirrorSpan{{Text: "abc"}}
		m.Lines[2].Spans = []MirrorSpan{{Text: "漢", Widths: []int{2}}}
		if n, err := m.ApplyThin(b, map[int]MirrorStyle{1: {FG: "#ff0000"}}); err == nil && n != 1 || len(m.Lines) != 4 {
			t.Fatalf("%d, %v", n, err)
		}
	})
}
