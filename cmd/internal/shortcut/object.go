package shortcut

import (
	"strconv"
	"unicode/utf8"
)

// object is a JSON object that is being written.
type object struct {
	b     []byte
	wrong bool // something of it is not UTF-8
}

// end is the object; not ok: something of it is not UTF-8.
func (o *object) end() (string, bool) {
	if o.b == nil {
		return "{}", true
	}
	return string(append(o.b, '}')), !o.wrong
}

func (o *object) key(k string) {
	if o.b == nil {
		o.b = append(make([]byte, 0, 1<<10), '{')
	} else {
		o.b = append(o.b, ',')
	}
	o.b = append(quote(o.b, k), ':')
}

func (o *object) value(v string) {
	o.b = quote(o.b, v)
	o.wrong = o.wrong || !utf8.ValidString(v)
}

func (o *object) text(k, v string) {
	o.key(k)
	o.value(v)
}

func (o *object) number(k string, n int) {
	o.key(k)
	o.b = strconv.AppendInt(o.b, int64(n), 10)
}

// flag is a member that is there when it is true.
func (o *object) flag(k string, v bool) {
	if v {
		o.key(k)
		o.b = append(o.b, "true"...)
	}
}

func (o *object) list(k string, values []string) {
	o.key(k)
	o.b = append(o.b, '[')
	for i, v := range values {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.value(v)
	}
	o.b = append(o.b, ']')
}

// objects is a list of objects that are written already.
func (o *object) objects(k string, values []string) {
	o.key(k)
	o.b = append(o.b, '[')
	for i, v := range values {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = append(o.b, v...)
	}
	o.b = append(o.b, ']')
}

// quote appends s as a JSON string (RFC 8259, 7).
func quote(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' {
			b = append(b, `\u00`...)
			b = append(b, hex[c>>4], hex[c&15])
		} else {
			b = append(b, c)
		}
	}
	return append(b, '"')
}

const hex = "0123456789abcdef"
