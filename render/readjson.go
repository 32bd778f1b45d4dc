package render

import (
	"strconv"
	"unicode/utf8"
)

// ReadJSON reads a screen that AppendJSON wrote at the beginning of b, in a fraction of the time that encoding/json takes: a
// viewer reads one per frame. rest is what follows it. It knows no other order of fields and no other spelling: ok is false for
// what another program may have written, which is encoding/json's to read.
func ReadJSON(b []byte, s *Screen) (rest []byte, ok bool) {
	r := reader{b: b}
	r.screen(s)
	return r.b, !r.bad
}

// reader takes JSON from the beginning of b.
type reader struct {
	b   []byte
	bad bool
}

// is takes a text, if that comes next.
func (r *reader) is(text string) bool {
	if r.bad || len(r.b) < len(text) || string(r.b[:len(text)]) != text {
		return false
	}
	r.b = r.b[len(text):]
	return true
}

// must takes what has to come next.
func (r *reader) must(text string) { r.bad = !r.is(text) }

func (r *reader) screen(s *Screen) {
	r.must(`{"cols":`)
	s.Cols = r.int()
	r.must(`,"rows":`)
	s.Rows = r.int()
	r.must(`,"version":`)
	s.Version = r.uint()
	r.must(`,"cursor":{"x":`)
	s.Cursor.X = r.int()
	r.must(`,"y":`)
	s.Cursor.Y = r.int()
	r.must(`,"visible":`)
	s.Cursor.Visible = r.bool()
	r.must(`,"shape":`)
	s.Cursor.Shape = r.string()
	s.Cursor.Blink = r.is(`,"blink":true`)
	r.must(`},"title":`)
	s.Title = r.string()
	r.must(`,"alt":`)
	s.Alt = r.bool()
	r.must(`,"lines":`)
	s.Lines = r.lines()
	if r.is(`,"scrollback":`) {
		s.Scrollback = r.lines()
	}
	s.Delta = r.is(`,"delta":true`)
	r.must("}")
}

// list reads the elements of a list; false: there is none, which is not an empty one.
func (r *reader) list(element func()) bool {
	if r.is("null") {
		return false
	}
	r.must("[")
	if r.is("]") {
		return true
	}
	for element(); r.is(","); {
		element()
	}
	r.must("]")
	return true
}

func (r *reader) lines() (lines []Line) {
	if !r.list(func() { lines = append(lines, r.line()) }) {
		return nil
	}
	if lines == nil {
		lines = []Line{}
	}
	return lines
}

func (r *reader) line() (l Line) {
	r.must(`{"row":`)
	l.Row = r.int()
	r.must(`,"text":`)
	l.Text = r.string()
	r.must(`,"wrapped":`)
	l.Wrapped = r.bool()
	l.Size = r.opt(`,"size":`)
	r.must(`,"spans":`)
	if r.list(func() { l.Spans = append(l.Spans, Span{}); r.span(&l.Spans[len(l.Spans)-1]) }) && l.Spans == nil {
		l.Spans = []Span{}
	}
	r.must("}") // images are rare: they are left to encoding/json
	return l
}

func (r *reader) span(s *Span) {
	r.must(`{"text":`)
	s.Text = r.string()
	r.must(`,"col":`)
	s.Col = r.int()
	r.must(`,"width":`)
	s.Width = r.int()
	if r.is(`,"widths":`) {
		r.list(func() { s.Widths = append(s.Widths, r.width()) })
		r.bad = r.bad || s.Widths == nil // it is left out where it is empty
	}
	s.FG, s.BG = r.opt(`,"fg":`), r.opt(`,"bg":`)
	s.FGIndex, s.BGIndex = r.index(`,"fg_index":`), r.index(`,"bg_index":`)
	s.Bold, s.Dim, s.Italic = r.is(`,"bold":true`), r.is(`,"dim":true`), r.is(`,"italic":true`)
	s.Underline, s.ULColor = r.opt(`,"underline":`), r.opt(`,"underline_color":`)
	s.Blink, s.Inverse, s.Conceal = r.is(`,"blink":true`), r.is(`,"inverse":true`), r.is(`,"conceal":true`)
	s.Strike, s.Overline = r.is(`,"strike":true`), r.is(`,"overline":true`)
	s.Link = r.opt(`,"link":`)
	r.must("}")
}

// opt is a string that is left out where it is empty.
func (r *reader) opt(name string) string {
	if !r.is(name) {
		return ""
	}
	return r.string()
}

func (r *reader) index(name string) *uint8 {
	if !r.is(name) {
		return nil
	}
	n := r.uint()
	i := uint8(n)
	r.bad = r.bad || uint64(i) != n
	return &i
}

func (r *reader) width() int8 {
	n := r.int()
	r.bad = r.bad || int(int8(n)) != n
	return int8(n)
}

func (r *reader) bool() bool {
	if r.is("true") {
		return true
	}
	r.must("false")
	return false
}

func (r *reader) int() int {
	if r.is("-") {
		return -r.digits(20)
	}
	return r.digits(20)
}

// digits is a number of fewer digits than most: those that take them all are read by uint.
func (r *reader) digits(most int) (n int) {
	i := 0
	for ; i < len(r.b) && i < most-1 && r.b[i] >= '0' && r.b[i] <= '9'; i++ {
		n = n*10 + int(r.b[i]-'0')
	}
	if r.bad = r.bad || i == 0 || i == most-1 || i > 1 && r.b[0] == '0'; r.bad {
		return 0
	}
	r.b = r.b[i:]
	return n
}

func (r *reader) uint() uint64 {
	i := 0
	for i < len(r.b) && r.b[i] >= '0' && r.b[i] <= '9' {
		i++
	}
	n, err := strconv.ParseUint(string(r.b[:i]), 10, 64)
	if r.bad = r.bad || err != nil || i > 1 && r.b[0] == '0'; r.bad {
		return 0
	}
	r.b = r.b[i:]
	return n
}

func (r *reader) string() string {
	r.must(`"`)
	for i, c := range r.b {
		switch {
		case c == '\\':
			return r.escaped(i)
		case c == '"':
			text := r.b[:i]
			r.b = r.b[i+1:]
			r.bad = r.bad || !utf8.Valid(text)
			return string(text)
		case c < ' ':
			r.bad = true
			return ""
		}
	}
	r.bad = true
	return ""
}

// escaped is a string with something escaped behind its first bytes.
func (r *reader) escaped(plain int) string {
	text := append(make([]byte, 0, plain+32), r.b[:plain]...)
	for b := r.b[plain:]; len(b) > 0 && b[0] >= ' '; {
		switch c := b[0]; c {
		case '"':
			r.b = b[1:]
			r.bad = r.bad || !utf8.Valid(text)
			return string(text)
		case '\\':
			n := 0
			if text, n = unescape(text, b); n == 0 {
				r.bad = true
				return ""
			}
			b = b[n:]
		default:
			text, b = append(text, c), b[1:]
		}
	}
	r.bad = true
	return ""
}

// escapes are what AppendJSON writes of control characters in two.
var escapes = [256]byte{'"': '"', '\\': '\\', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape appends what b begins with, of n bytes; 0: AppendJSON does not write that.
func unescape(text, b []byte) (with []byte, n int) {
	switch {
	case len(b) < 2:
		return text, 0
	case escapes[b[1]] != 0:
		return append(text, escapes[b[1]]), 2
	case b[1] != 'u' || len(b) < 6:
		return text, 0
	}
	c, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil || c >= 0xd800 && c < 0xe000 { // halves of a pair: it writes none
		return text, 0
	}
	return utf8.AppendRune(text, rune(c)), 6
}
