package fastpath

import (
	"strconv"
	"unicode/utf8"
)

// object builds a JSON object.
type object struct {
	b       []byte
	invalid bool // a string in it is not valid UTF-8
}

// end closes and returns the object. It returns false if a string is not valid UTF-8.
func (o *object) end() (string, bool) {
	if o.b == nil {
		return "{}", true
	}
	return string(append(o.b, '}')), !o.invalid
}

// key adds a member name.
func (o *object) key(k string) {
	if o.b == nil {
		o.b = append(make([]byte, 0, 1<<10), '{')
	} else {
		o.b = append(o.b, ',')
	}
	o.b = append(quote(o.b, k), ':')
}

// value adds a string value.
func (o *object) value(v string) {
	o.b = quote(o.b, v)
	o.invalid = o.invalid || !utf8.ValidString(v)
}

// text adds a string member, unless v is empty.
func (o *object) text(k, v string) {
	o.key(k)
	o.value(v)
}

// number adds an integer member.
func (o *object) number(k string, n int) {
	o.key(k)
	o.b = strconv.AppendInt(o.b, int64(n), 10)
}

// flag adds a member only if v is true.
func (o *object) flag(k string, v bool) {
	if v {
		o.key(k)
		o.b = append(o.b, "true"...)
	}
}

// list adds a list of strings.
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

// objects adds a list of encoded objects.
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
