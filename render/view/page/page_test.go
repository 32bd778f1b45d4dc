package page

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/vterm"
)

// of is a page as an emulator shows it.
func of(cols, rows int, text string) *Page {
	e := vterm.New(vterm.Options{Cols: cols, Rows: rows})
	_, _ = e.Write([]byte(strings.ReplaceAll(text, "\n", "\r\n")))
	var f vterm.Frame
	e.Frame(&f, vterm.Query{})
	var s render.Screen
	render.FromFrame(&s, &f)
	return &Page{Lines: s.Lines, Cols: s.Cols}
}

// FEATURES: R76
func TestSelection(t *testing.T) {
	p := of(20, 8, "one two\n你好 world\n/usr/lib/x.so: no\n"+strings.Repeat("w", 25)+"\nlast")
	for _, c := range []struct {
		from, to Pos
		unit     Unit
		want     string
	}{
		{Pos{0, 4}, Pos{0, 6}, Characters, "two"},
		{Pos{0, 6}, Pos{0, 4}, Characters, "two"}, // backwards
		{Pos{0, 4}, Pos{1, 3}, Characters, "two\n你好"},
		{Pos{1, 1}, Pos{1, 2}, Characters, "好"}, // from the middle of a wide one
		{Pos{2, 3}, Pos{2, 3}, Words, "/usr/lib/x.so:"},
		{Pos{1, 7}, Pos{2, 0}, Words, "world\n/usr/lib/x.so:"},
		{Pos{0, 5}, Pos{1, 0}, Rows, "one two\n你好 world\n"},
		{Pos{3, 0}, Pos{4, 4}, Characters, strings.Repeat("w", 25)}, // wrapped
		{Pos{0, 4}, Pos{2, 6}, Block, "two\n wo\n/li"},
		{Pos{0, 0}, Pos{7, 19}, Characters, "one two\n你好 world\n/usr/lib/x.so: no\n" + strings.Repeat("w", 25) + "\nlast\n\n"},
	} {
		s := Selection{Anchor: c.from, Head: c.to, Unit: c.unit}
		if got := s.Text(p); got != c.want {
			t.Errorf("%+v: %q; want %q", s, got, c.want)
		}
	}
}

// TestSelection_GoesOverWraps checks that a double click selects a word over the end of a wrapped row, and a triple
// click the whole line, which is copied as one line.
//
// FAULT: H17
func TestSelection_GoesOverWraps(t *testing.T) {
	long := "https://example.org/" + strings.Repeat("path/", 6) // 50 cells on rows of 20
	p := of(20, 8, "see "+long+" (now)\n"+"exactly twenty cells\nnext 好好好好好好好好好好x")
	for _, c := range []struct {
		at   Pos
		unit Unit
		want string
	}{
		{Pos{0, 10}, Words, long},
		{Pos{1, 0}, Words, long},
		{Pos{2, 3}, Words, long},
		{Pos{2, 14}, Words, " "},
		{Pos{0, 1}, Words, "see"},
		{Pos{3, 19}, Words, "cells"},
		{Pos{4, 0}, Words, "next"},
		{Pos{5, 2}, Words, "好好好好好好好好好好x"},
		{Pos{1, 5}, Rows, "see " + long + " (now)\n"},
		{Pos{3, 5}, Rows, "exactly twenty cells\n"},
	} {
		s := Selection{Anchor: c.at, Head: c.at, Unit: c.unit}
		if got := s.Text(p); got != c.want {
			t.Errorf("%+v: %q; want %q", s, got, c.want)
		}
	}
}

// TestTextBesideImages checks that blocks in the place of an image are no text: they are not copied, and text after
// them is found in its place.
//
// FEATURES: R120
func TestTextBesideImages(t *testing.T) {
	p := &Page{Cols: 20, Lines: []render.Line{{Text: "ab    error", Spans: []render.Span{
		{Text: "ab", Width: 2}, {Text: "▀▀", Col: 2, Width: 2}, {Text: "▄▄", Col: 4, Width: 2}, {Text: "error", Col: 6, Width: 5},
	}, Pictures: []render.Picture{{Key: "k", Col: 2, Width: 4}}}}}
	if got := (&Selection{Head: Pos{0, 19}}).Text(p); got != "ab    error" {
		t.Errorf("%q is copied", got)
	}
	for text, col := range map[string]int{"error": 6, "b": 1, " error": 5, "   ": 2} {
		if s := NewSearch(p, text, false); len(s.Matches) != 1 || s.Matches[0].From != (Pos{0, col}) {
			t.Errorf("%q is found at %+v, want column %d", text, s.Matches, col)
		}
	}
}

// TestWords checks that words start and end where tmux 3.3a stops its cursor in copy mode (next-word, next-word-end,
// previous-word, next-space, next-space-end and previous-space, read by copy_cursor_y and copy_cursor_x), over wrapped
// rows, empty ones, and wide characters.
//
// FEATURES: R76 R120
func TestWords(t *testing.T) {
	p := of(30, 9, "git log --oneline -n5 a.b.c foo_bar-baz x\n\n  (f[0]) = \"q\";  \n日本 語,x é.e\nend")
	p.Lines = p.Lines[:6] // the session's output
	from, to := Pos{}, Pos{5, 2}
	for _, c := range []struct {
		name  string
		at    Pos
		move  func(Pos) Pos
		stops string
	}{
		{"w", from, func(at Pos) Pos { return p.NextWord(at, Word) }, "0,4 0,8 0,10 0,18 0,19 0,22 0,23 0,24 0,25 0,26 0,28 1,5 1,6 1,10 3,2 3,3 3,4 3,5 3,6 3,9 3,11 3,12 3,13 4,0 4,5 4,7 4,8 4,10 4,11 4,12 5,0"},
		{"e", from, func(at Pos) Pos { return p.WordEnd(at, Word) }, "0,2 0,6 0,9 0,16 0,18 0,20 0,22 0,23 0,24 0,25 0,26 1,4 1,5 1,8 1,10 3,2 3,3 3,4 3,5 3,7 3,9 3,11 3,12 3,14 4,3 4,6 4,7 4,8 4,10 4,11 4,12 5,2"},
		{"b", to, func(at Pos) Pos { return p.WordBefore(at, Word) }, "5,0 4,12 4,11 4,10 4,8 4,7 4,5 4,0 3,13 3,12 3,11 3,9 3,6 3,5 3,4 3,3 3,2 1,10 1,6 1,5 0,28 0,26 0,25 0,24 0,23 0,22 0,19 0,18 0,10 0,8 0,4 0,0"},
		{"W", from, func(at Pos) Pos { return p.NextWord(at, BigWord) }, "0,4 0,8 0,18 0,22 0,28 1,10 3,2 3,9 3,11 4,0 4,5 4,10 5,0"},
		{"E", from, func(at Pos) Pos { return p.WordEnd(at, BigWord) }, "0,2 0,6 0,16 0,20 0,26 1,8 1,10 3,7 3,9 3,14 4,3 4,8 4,12 5,2"},
		{"B", to, func(at Pos) Pos { return p.WordBefore(at, BigWord) }, "5,0 4,10 4,5 4,0 3,11 3,9 3,2 1,10 0,28 0,22 0,18 0,8 0,4 0,0"},
		{"emacs' M-f", from, func(at Pos) Pos { return p.AfterWord(at, Word) }, "0,3 0,7 0,10 0,17 0,19 0,21 0,23 0,24 0,25 0,26 0,27 1,5 1,6 1,9 1,11 3,3 3,4 3,5 3,6 3,8 3,10 3,12 3,13 3,15 4,4 4,7 4,8 4,9 4,11 4,12 4,13 5,3"},
	} {
		at := c.at
		for i, want := range strings.Fields(c.stops) {
			at = c.move(at)
			if got := fmt.Sprintf("%d,%d", at.Row, at.Col); got != want {
				t.Errorf("%s, %d times: %s; want %s", c.name, i+1, got, want)
				break
			}
		}
		if again := c.move(at); p.Line(again.Row) == nil || again.Col > p.Cols-1 {
			t.Errorf("%s leads from %v to %v", c.name, at, again)
		}
	}
	if at := (&Page{}).NextWord(Pos{}, Word); at != (Pos{}) {
		t.Errorf("a page without rows: %v", at)
	}
}

// FEATURES: R76
func TestSearch(t *testing.T) {
	p := of(10, 6, "Error one\nerror 你error\nabcdefghijklmnop\nERR")
	for _, c := range []struct {
		pattern string
		re      bool
		want    []Match
	}{
		{"error", false, []Match{{Pos{0, 0}, Pos{0, 4}}, {Pos{1, 0}, Pos{1, 4}}, {Pos{1, 8}, Pos{2, 2}}}},
		{"Error", false, []Match{{Pos{0, 0}, Pos{0, 4}}}},
		{"ijkl", false, []Match{{Pos{3, 8}, Pos{4, 1}}}}, // over a wrap
		{"^e\\w+or|op$", true, []Match{{Pos{0, 0}, Pos{0, 4}}, {Pos{1, 0}, Pos{1, 4}}, {Pos{4, 4}, Pos{4, 5}}}},
		{".", false, nil},
		{"x*", true, nil}, // empty matches do not count
	} {
		s := NewSearch(p, c.pattern, c.re)
		if !reflect.DeepEqual(s.Matches, c.want) || s.Err != nil {
			t.Errorf("%q: %v %v; want %v", c.pattern, s.Matches, s.Err, c.want)
		}
	}
	if s := NewSearch(p, "(", true); s.Err == nil || len(s.Matches) > 0 {
		t.Error("( is a regular expression")
	}

	s := NewSearch(p, "error", false)
	s.SelectNear(Pos{1, 3})
	if s.Current != 1 || s.Count() != "2/3" {
		t.Errorf("near 1,3: match %s", s.Count())
	}
	var rows []int
	for range 3 {
		m, _ := s.Step(-1)
		rows = append(rows, m.From.Row)
	}
	if !reflect.DeepEqual(rows, []int{0, 1, 1}) {
		t.Errorf("backwards: rows %v", rows)
	}
	if m := s.Marks(nil, 2, p.Line(2)); !reflect.DeepEqual(m, []Mark{{0, 3, false}}) {
		t.Errorf("marks of row 2: %v", m)
	}
}

// TestOlder checks that rows that are loaded later are searched too, and that known matches keep their places.
func TestOlder(t *testing.T) {
	line := func(s string) render.Line {
		return render.Line{Text: s, Spans: []render.Span{{Text: s, Width: len(s)}}}
	}
	p := &Page{First: 10, Cols: 20, Lines: []render.Line{line("x needle"), line("y")}}
	s := NewSearch(p, "needle", false)
	s.SelectNear(Pos{11, 0})
	older := []render.Line{line("a needle"), line("b"), line("needle needle")}
	p.Prepend(older)
	s.AddOlder(p, len(older))
	want := []Match{{Pos{7, 2}, Pos{7, 7}}, {Pos{9, 0}, Pos{9, 5}}, {Pos{9, 7}, Pos{9, 12}}, {Pos{10, 2}, Pos{10, 7}}}
	if !reflect.DeepEqual(s.Matches, want) || s.Count() != "4/4" || p.First != 7 {
		t.Errorf("%v %s, first %d", s.Matches, s.Count(), p.First)
	}
}

// FEATURES: R76
func TestCommands(t *testing.T) {
	p := of(30, 20, strings.Join([]string{
		"user@host:~$ ls", "tools", "false", "user@host:~$ echo ls", "ls", "❯ make all      12:30", "cc -c a.c",
		"user@host:~$ cat <<EOF", "> x", "> EOF", "x", "user@host:~$ echo a very long line that is wrapped", "a very", "user@host:~$ ls", "tools", "user@host:~$",
	}, "\n"))
	got := Commands(p, []Command{{1, "ls"}, {2, "echo ls"}, {3, "make all"}, {4, "cat <<EOF\nx\nEOF"}, {5, "cleared away"}, {6, "echo a very long line that is wrapped"}, {7, "ls"}})
	want := []Place{{0, 1}, {3, 2}, {5, 3}, {7, 4}, {11, 6}, {14, 7}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v; want %v", got, want)
	}
}

func FuzzPage(f *testing.F) {
	f.Add("a你\x1b[31mb\u0301\x1b[9Cx\n", "b", 3, 7)
	f.Fuzz(func(t *testing.T, text, pattern string, row, col int) {
		p := of(17, 9, text)
		for _, re := range []bool{false, true} {
			s := NewSearch(p, pattern, re)
			for _, m := range s.Matches {
				if m.To.Before(m.From) || m.From != p.Clamp(m.From) || m.To != p.Clamp(m.To) {
					t.Fatalf("match %v", m)
				}
			}
			s.SelectNear(Pos{row, col})
			s.Step(1)
			for r := range p.Lines {
				for _, m := range s.Marks(nil, r, p.Line(r)) {
					if m.From < 0 || m.To > p.Cols || m.From >= m.To {
						t.Fatalf("mark %v", m)
					}
				}
			}
		}
		at := p.Clamp(Pos{row, col})
		for unit := Characters; unit <= Block; unit++ {
			s := Selection{Anchor: Pos{}, Head: at, Unit: unit}
			if strings.ContainsAny(s.Text(p), "\x1b\x00\r") {
				t.Fatalf("control characters in %q", s.Text(p))
			}
		}
		for _, of := range []WordKind{Word, BigWord} {
			for _, to := range []Pos{p.NextWord(at, of), p.WordBefore(at, of), p.WordEnd(at, of), p.AfterWord(at, of)} {
				if to != p.Clamp(to) {
					t.Fatalf("from %v to %v", at, to)
				}
			}
		}
		Commands(p, []Command{{1, pattern}, {2, text}})
	})
}

func BenchmarkSearch(b *testing.B) {
	p := &Page{Cols: 80}
	for i := range 100_000 {
		text := fmt.Sprintf("2026-01-02 03:04:05 worker %d finished job in %d ms without an incident", i%7, i)
		p.Lines = append(p.Lines, render.Line{Text: text, Spans: []render.Span{{Text: text, Width: len(text)}}})
	}
	for b.Loop() {
		NewSearch(p, "worker 3 finished job in 9999", false)
	}
}
