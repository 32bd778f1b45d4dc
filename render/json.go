package render

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// AppendJSON appends the screen as JSON, identical to encoding/json's and several times as fast: viewers receive a
// screen per frame.
func AppendJSON(dst []byte, s *Screen) []byte {
	w := object(append(dst, '{'))
	w.int("cols", int64(s.Cols))
	w.int("rows", int64(s.Rows))
	w.key("version")
	w = strconv.AppendUint(w, s.Version, 10)
	w.key("cursor")
	w.cursor(&s.Cursor)
	w.string("title", s.Title)
	w.bool("alt", s.Alt)
	w.key("lines")
	w.lines(s.Lines)
	if len(s.Scrollback) > 0 {
		w.key("scrollback")
		w.lines(s.Scrollback)
	}
	w.flag("delta", s.Delta)
	return append(w, '}')
}

// Decode reads the JSON of a screen.
func Decode(b []byte) (*Screen, error) {
	s := &Screen{}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("decode screen: %w", err)
	}
	return s, nil
}

// object builds JSON. Inside an object it ends with '{' or a value.
type object []byte

func (w *object) key(name string) {
	b := *w
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	b = append(b, '"')
	b = append(b, name...)
	*w = append(b, '"', ':')
}

func (w *object) int(name string, v int64) {
	w.key(name)
	*w = strconv.AppendInt(*w, v, 10)
}

func (w *object) bool(name string, v bool) {
	w.key(name)
	*w = strconv.AppendBool(*w, v)
}

func (w *object) string(name, v string) {
	w.key(name)
	*w = appendString(*w, v)
}

// flag and opt omit zero values.
func (w *object) flag(name string, v bool) {
	if v {
		w.bool(name, v)
	}
}

func (w *object) opt(name, v string) {
	if v != "" {
		w.string(name, v)
	}
}

func (w *object) cursor(c *Cursor) {
	*w = append(*w, '{')
	w.int("x", int64(c.X))
	w.int("y", int64(c.Y))
	w.bool("visible", c.Visible)
	w.string("shape", c.Shape)
	w.flag("blink", c.Blink)
	*w = append(*w, '}')
}

func (w *object) lines(lines []Line) {
	if lines == nil {
		*w = append(*w, "null"...)
		return
	}
	*w = append(*w, '[')
	for i := range lines {
		if i > 0 {
			*w = append(*w, ',')
		}
		w.line(&lines[i])
	}
	*w = append(*w, ']')
}

func (w *object) line(l *Line) {
	*w = append(*w, '{')
	w.int("row", int64(l.Row))
	w.string("text", l.Text)
	w.bool("wrapped", l.Wrapped)
	w.opt("size", l.Size)
	w.key("spans")
	w.spans(l.Spans)
	if len(l.Pictures) > 0 { // rare
		w.key("pictures")
		b, _ := json.Marshal(l.Pictures) // it has numbers and a key, which is ASCII
		*w = append(*w, b...)
	}
	*w = append(*w, '}')
}

func (w *object) spans(spans []Span) {
	if spans == nil {
		*w = append(*w, "null"...)
		return
	}
	*w = append(*w, '[')
	for i := range spans {
		if i > 0 {
			*w = append(*w, ',')
		}
		w.span(&spans[i])
	}
	*w = append(*w, ']')
}

func (w *object) span(s *Span) {
	*w = append(*w, '{')
	w.string("text", s.Text)
	w.int("col", int64(s.Col))
	w.int("width", int64(s.Width))
	w.widths(s.Widths)
	w.opt("fg", s.FG)
	w.opt("bg", s.BG)
	w.index("fg_index", s.FGIndex)
	w.index("bg_index", s.BGIndex)
	w.flag("bold", s.Bold)
	w.flag("dim", s.Dim)
	w.flag("italic", s.Italic)
	w.opt("underline", s.Underline)
	w.opt("underline_color", s.ULColor)
	w.flag("blink", s.Blink)
	w.flag("inverse", s.Inverse)
	w.flag("conceal", s.Conceal)
	w.flag("strike", s.Strike)
	w.flag("overline", s.Overline)
	w.opt("link", s.Link)
	*w = append(*w, '}')
}

func (w *object) widths(widths []int8) {
	if len(widths) == 0 {
		return
	}
	w.key("widths")
	b := append(*w, '[')
	for _, n := range widths {
		b = append(strconv.AppendInt(b, int64(n), 10), ',')
	}
	b[len(b)-1] = ']'
	*w = b
}

func (w *object) index(name string, v *uint8) {
	if v != nil {
		w.int(name, int64(*v))
	}
}

const hexDigits = "0123456789abcdef"

// AppendString appends a string as JSON, as encoding/json does.
func AppendString(dst []byte, s string) []byte { return appendString(dst, s) }

// appendString escapes like encoding/json, including characters that HTML and old JavaScript misread.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&' {
				i++
				continue
			}
			dst = append(dst, s[from:i]...)
			dst = appendEscape(dst, c)
			i++
			from = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			dst = append(append(dst, s[from:i]...), `\ufffd`...)
			from = i + n
		case r == '\u2028' || r == '\u2029':
			dst = append(append(dst, s[from:i]...), `\u202`...)
			dst = append(dst, hexDigits[r&0xf])
			from = i + n
		}
		i += n
	}
	return append(append(dst, s[from:]...), '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
}
