package fastpath

import (
	"strconv"
	"unicode/utf8"
)

// members calls f with the names and raw values of a JSON object. It returns false if f does, or if s is not an object
// without blanks, as the daemon writes it. It splits the object without validating it.
func members(s string, f func(name, value string) bool) bool {
	return each(s, '{', '}', func(part string) (rest string, ok bool) {
		n := valueLength(part)
		if n < 2 || part[0] != '"' || n >= len(part) || part[n] != ':' {
			return "", false
		}
		name, part := part[1:n-1], part[n+1:]
		n = valueLength(part)
		return part[n:], n > 0 && f(name, part[:n])
	})
}

// elements calls f with the raw values of a JSON array, like members.
func elements(s string, f func(value string) bool) bool {
	return each(s, '[', ']', func(part string) (rest string, ok bool) {
		n := valueLength(part)
		return part[n:], n > 0 && f(part[:n])
	})
}

// each calls take for each part between two brackets. take returns the text after its part.
func each(s string, open, closing byte, take func(string) (rest string, ok bool)) bool {
	for len(s) > 0 && s[len(s)-1] == '\n' {
		s = s[:len(s)-1]
	}
	if len(s) < 2 || s[0] != open || s[len(s)-1] != closing {
		return false
	}
	s = s[1 : len(s)-1]
	for s != "" {
		rest, ok := take(s)
		switch {
		case !ok:
			return false
		case rest == "":
			return true
		case rest[0] != ',' || len(rest) == 1:
			return false
		}
		s = rest[1:]
	}
	return true
}

// valueLength returns the length of the value at the start of s, or 0 if it is incomplete.
func valueLength(s string) int {
	depth, quoted := 0, false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quoted && c == '\\':
			i++
			continue
		case c == '"':
			quoted = !quoted
		case quoted:
			continue
		case c <= ' ':
			return 0
		case c == '{', c == '[':
			depth++
		case c == '}', c == ']':
			if depth == 0 { // end of the surrounding value
				return i
			}
			depth--
		case depth > 0:
			continue
		case c == ',', c == ':':
			return i
		default: // of a number or a word
			if i+1 == len(s) {
				return i + 1
			}
			continue
		}
		if depth == 0 && !quoted {
			return i + 1
		}
	}
	return 0
}

// unquote returns the text of a JSON string (RFC 8259, 7). It returns false for other values and for a lone surrogate.
func unquote(s string) (string, bool) {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' || !utf8.ValidString(s) {
		return "", false
	}
	s = s[1 : len(s)-1]
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '"' || c < ' ' {
			return "", false
		}
		if c != '\\' {
			b = append(b, c)
			continue
		}
		if i++; i == len(s) {
			return "", false
		}
		switch c = s[i]; c {
		case '"', '\\', '/':
			b = append(b, c)
		case 'b':
			b = append(b, '\b')
		case 'f':
			b = append(b, '\f')
		case 'n':
			b = append(b, '\n')
		case 'r':
			b = append(b, '\r')
		case 't':
			b = append(b, '\t')
		case 'u':
			if i+5 > len(s) {
				return "", false
			}
			n, err := strconv.ParseUint(s[i+1:i+5], 16, 16)
			if err != nil || 0xd800 <= n && n < 0xe000 { // the daemon writes none
				return "", false
			}
			b = utf8.AppendRune(b, rune(n))
			i += 4
		default:
			return "", false
		}
	}
	return string(b), true
}
