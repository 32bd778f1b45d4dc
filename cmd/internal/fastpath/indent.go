package fastpath

// indentJSON returns JSON in the form of encoding/json with an indent of two blanks, as verbs print it. s has no
// blanks, as the daemon writes it. s is not validated; the result is false if s has blanks or is incomplete.
func indentJSON(s string) (string, bool) {
	for len(s) > 0 && s[len(s)-1] == '\n' {
		s = s[:len(s)-1]
	}
	b := make([]byte, 0, 2*len(s))
	depth, quoted := 0, false
	line := func() {
		b = append(b, '\n')
		for range depth {
			b = append(b, "  "...)
		}
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quoted:
			b = append(b, c)
			if c == '\\' && i+1 < len(s) {
				i++
				b = append(b, s[i])
			}
			quoted = c != '"'
			continue
		case c <= ' ', depth > 64:
			return "", false
		case c == '{', c == '[':
			b = append(b, c)
			if i+1 < len(s) && s[i+1] == c+2 { // ASCII has the closing ones two places on
				i++
				b = append(b, s[i])
				continue
			}
			depth++
			line()
			continue
		case c == '}', c == ']':
			if depth--; depth < 0 {
				return "", false
			}
			line()
		}
		b = append(b, c)
		switch c {
		case '"':
			quoted = true
		case ',':
			line()
		case ':':
			b = append(b, ' ')
		}
	}
	return string(append(b, '\n')), depth == 0 && !quoted && len(s) > 0
}
