package render

import "testing"

// FEATURES: R25
func TestText(t *testing.T) {
	const output = "first\r\n0123456789abcde \r\nlast\r\n"
	cases := []struct {
		name string
		o    TextOptions
		want string
	}{
		{"rows", TextOptions{}, "first\n0123456789\nabcde \nlast\n"},
		{"lines", TextOptions{Unwrap: true}, "first\n0123456789abcde \nlast\n"},
		{"all rows", TextOptions{KeepEmpty: true}, "first\n0123456789\nabcde \nlast\n\n\n"},
	}
	for _, c := range cases {
		if got := string(Text(nil, screenOf(native(10, 6), output), c.o)); got != c.want {
			t.Errorf("%s: %q; want %q", c.name, got, c.want)
		}
	}
	open := screenOf(native(10, 1), "0123456789abcde")
	open.Lines[0].Wrapped = true
	if got := string(Text(nil, open, TextOptions{Unwrap: true})); got != "abcde\n" {
		t.Errorf("a last line that is continued: %q", got)
	}
	open.Scrollback = []Line{{Text: "0123456789", Wrapped: true}}
	if got := string(Text(nil, open, TextOptions{Unwrap: true})); got != "0123456789abcde\n" {
		t.Errorf("history runs into the screen: %q", got)
	}
	if got := Text(nil, screenOf(native(10, 3), ""), TextOptions{}); len(got) != 0 {
		t.Errorf("empty screen: %q", got)
	}
}

// FEATURES: R35
func TestApply(t *testing.T) {
	line := func(row int, text string) Line { return Line{Row: row, Text: text} }
	texts := func(s *Screen) (out []string) {
		for i, l := range s.Lines {
			if l.Row != i {
				t.Errorf("line %d has row %d", i, l.Row)
			}
			out = append(out, l.Text)
		}
		return out
	}
	var s Screen
	steps := []struct {
		name  string
		delta Screen
		want  []string
	}{
		{"a delta of nothing", Screen{Cols: 4, Rows: 2, Delta: true, Lines: []Line{line(1, "x")}}, []string{"", "x"}},
		{"whole", Screen{Cols: 4, Rows: 3, Lines: []Line{line(0, "a"), line(1, "b"), line(2, "c")}}, []string{"a", "b", "c"}},
		{"delta", Screen{Cols: 4, Rows: 3, Delta: true, Lines: []Line{line(1, "B"), line(9, "?"), line(-1, "?")}}, []string{"a", "B", "c"}},
		{"another size", Screen{Cols: 4, Rows: 2, Delta: true, Lines: []Line{line(0, "z")}}, []string{"z", ""}},
		{"no rows", Screen{Rows: -5}, nil},
	}
	for _, c := range steps {
		s.Apply(&c.delta)
		if got := texts(&s); len(got) != len(c.want) || s.Delta {
			t.Errorf("%s: %q; want %q", c.name, got, c.want)
		} else {
			for i := range got {
				if got[i] != c.want[i] {
					t.Errorf("%s: %q; want %q", c.name, got, c.want)
				}
			}
		}
	}
}

// FEATURES: R35
func TestApplyFollowsEngine(t *testing.T) {
	for _, e := range engines {
		eng := e.make(20, 6)
		var s Screen
		for _, output := range []string{
			"hello", "\r\n\x1b[31mred\x1b[m", "\x1b[H\x1b[2Kagain", "\r\n\n\n\n\n\n\nscrolled", "\x1b[?1049halt", "\x1b[?1049l", "",
		} {
			_, _ = eng.Write([]byte(output))
			f := deltaOf(eng, s.Version)
			var d Screen
			FromFrame(&d, f)
			s.Apply(&d)
			want := screenOf(eng, "")
			if string(AppendJSON(nil, &s)) != string(AppendJSON(nil, want)) {
				t.Errorf("%s, after %q:\n%s\nwant\n%s", e.name, output, AppendJSON(nil, &s), AppendJSON(nil, want))
			}
		}
	}
}
