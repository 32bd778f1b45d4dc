package render

import (
	"strconv"
	"unicode/utf8"
)

// ReadJSON reads a screen that AppendJSON wrote at the start of b, much faster than encoding/json: a viewer reads one
// per frame. rest is the remaining input. ok is false for JSON with another order of fields or another spelling, which
// the caller must pass to encoding/json.
func ReadJSON(b []byte, s *Screen) (rest []byte, ok bool) {
	r := reader{b: b}
	r.screen(s)
	return r.b, !r.failed
}

// reader consumes JSON from the start of b.
type reader struct {
	b      []byte
	failed bool
}

// accept consumes text if it comes next, and reports whether it did.
func (r *reader) accept(text string) bool {
	if r.failed || len(r.b) < len(text) || string(r.b[:len(text)]) != text {
		return false
	}
	r.b = r.b[len(text):]
	return true
}

// require consumes text, and fails if it does not come next.
func (r *reader) require(text string) { r.failed = !r.accept(text) }

func (r *reader) screen(s *Screen) {
	r.require(`{"cols":`)
	s.Cols = r.int()
	r.require(`,"rows":`)
	s.Rows = r.int()
	r.require(`,"version":`)
	s.Version = r.uint()
	r.require(`,"cursor":{"x":`)
	s.Cursor.X = r.int()
	r.require(`,"y":`)
	s.Cursor.Y = r.int()
	r.require(`,"visible":`)
	s.Cursor.Visible = r.bool()
	r.require(`,"shape":`)
	s.Cursor.Shape = r.string()
	s.Cursor.Blink = r.accept(`,"blink":true`)
	r.require(`},"title":`)
	s.Title = r.string()
	r.require(`,"alt":`)
	s.Alt = r.bool()
	r.require(`,"lines":`)
	s.Lines = r.lines()
	if r.accept(`,"scrollback":`) {
		s.Scrollback = r.lines()
	}
	s.Delta = r.accept(`,"delta":true`)
	r.require("}")
}

// list reads the elements of a list. It returns false for null, which differs from an empty list.
func (r *reader) list(element func()) bool {
	if r.accept("null") {
		return false
	}
	r.require("[")
	if r.accept("]") {
		return true
	}
	for element(); r.accept(","); {
		element()
	}
	r.require("]")
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
	r.require(`{"row":`)
	l.Row = r.int()
	r.require(`,"text":`)
	l.Text = r.string()
	r.require(`,"wrapped":`)
	l.Wrapped = r.bool()
	l.Size = r.opt(`,"size":`)
	r.require(`,"spans":`)
	if r.list(func() { l.Spans = append(l.Spans, Span{}); r.span(&l.Spans[len(l.Spans)-1]) }) && l.Spans == nil {
		l.Spans = []Span{}
	}
	r.require("}") // images are rare: encoding/json reads them
	return l
}

func (r *reader) span(s *Span) {
	r.require(`{"text":`)
	s.Text = r.string()
	r.require(`,"col":`)
	s.Col = r.int()
	r.require(`,"width":`)
	s.Width = r.int()
	if r.accept(`,"widths":`) {
		r.list(func() { s.Widths = append(s.Widths, r.width()) })
		r.failed = r.failed || s.Widths == nil // omitted if empty
	}
	s.FG, s.BG = r.opt(`,"fg":`), r.opt(`,"bg":`)
	s.FGIndex, s.BGIndex = r.index(`,"fg_index":`), r.index(`,"bg_index":`)
	s.Bold, s.Dim, s.Italic = r.accept(`,"bold":true`), r.accept(`,"dim":true`), r.accept(`,"italic":true`)
	s.Underline, s.ULColor = r.opt(`,"underline":`), r.opt(`,"underline_color":`)
	s.Blink, s.Inverse, s.Conceal = r.accept(`,"blink":true`), r.accept(`,"inverse":true`), r.accept(`,"conceal":true`)
	s.Strike, s.Overline = r.accept(`,"strike":true`), r.accept(`,"overline":true`)
	s.Link = r.opt(`,"link":`)
	r.require("}")
}

// opt returns a string field that is omitted if empty.
func (r *reader) opt(name string) string {
	if !r.accept(name) {
		return ""
	}
	return r.string()
}

func (r *reader) index(name string) *uint8 {
	if !r.accept(name) {
		return nil
	}
	n := r.uint()
	i := uint8(n)
	r.failed = r.failed || uint64(i) != n
	return &i
}

func (r *reader) width() int8 {
	n := r.int()
	r.failed = r.failed || int(int8(n)) != n
	return int8(n)
}

func (r *reader) bool() bool {
	if r.accept("true") {
		return true
	}
	r.require("false")
	return false
}

func (r *reader) int() int {
	if r.accept("-") {
		return -r.digits(20)
	}
	return r.digits(20)
}

// digits returns a number of fewer than most digits; uint reads longer ones.
func (r *reader) digits(most int) (n int) {
	i := 0
	for ; i < len(r.b) && i < most-1 && r.b[i] >= '0' && r.b[i] <= '9'; i++ {
		n = n*10 + int(r.b[i]-'0')
	}
	if r.failed = r.failed || i == 0 || i == most-1 || i > 1 && r.b[0] == '0'; r.failed {
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
	if r.failed = r.failed || err != nil || i > 1 && r.b[0] == '0'; r.failed {
		return 0
	}
	r.b = r.b[i:]
	return n
}

func (r *reader) string() string {
	r.require(`"`)
	for i, c := range r.b {
		switch {
		case c == '\\':
			return r.escapedString(i)
		case c == '"':
			text := r.b[:i]
			r.b = r.b[i+1:]
			r.failed = r.failed || !utf8.Valid(text)
			return string(text)
		case c < ' ':
			r.failed = true
			return ""
		}
	}
	r.failed = true
	return ""
}

// escapedString returns a string with an escape after its first plain bytes.
func (r *reader) escapedString(plain int) string {
	text := append(make([]byte, 0, plain+32), r.b[:plain]...)
	for b := r.b[plain:]; len(b) > 0 && b[0] >= ' '; {
		switch c := b[0]; c {
		case '"':
			r.b = b[1:]
			r.failed = r.failed || !utf8.Valid(text)
			return string(text)
		case '\\':
			n := 0
			if text, n = unescape(text, b); n == 0 {
				r.failed = true
				return ""
			}
			b = b[n:]
		default:
			text, b = append(text, c), b[1:]
		}
	}
	r.failed = true
	return ""
}

// escapes maps the two-character escapes that AppendJSON writes.
var escapes = [256]byte{'"': '"', '\\': '\\', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape appends the escaped character at the start of b, of n bytes. n is 0 for escapes that AppendJSON does not
// write.
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
