package policy

import (
	"strconv"
	"strings"
)

// ansiC decodes the body of $'…', and what printf and echo -e make of backslashes.
func ansiC(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		digits := func(base, most, from int) {
			end := from
			for end < len(s) && end-from < most && isDigit(s[end], base) {
				end++
			}
			n, _ := strconv.ParseUint("0"+s[from:end], base, 32)
			switch {
			case n == 0:
			case n < 6:
				b.WriteString(hole)
			case base == 16 && most > 2:
				b.WriteRune(rune(n))
			default:
				b.WriteByte(byte(n))
			}
			i = end - 1
		}
		switch c := s[i]; {
		case c == 'x':
			digits(16, 2, i+1)
		case c == 'u':
			digits(16, 4, i+1)
		case c == 'U':
			digits(16, 8, i+1)
		case c >= '0' && c <= '7':
			most := 3
			if c == '0' {
				most = 4
			}
			digits(8, most, i)
		case strings.IndexByte("abfnrtvEe", c) >= 0:
			b.WriteByte("\a\b\f\n\r\t\v\x1b\x1b"[strings.IndexByte("abfnrtvEe", c)])
		case c == 'c' && i+1 < len(s):
			i++
			b.WriteString(notEmpty)
		case strings.IndexByte(`\'"?`, c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
	return b.String()
}

func isDigit(c byte, base int) bool {
	if base == 8 {
		return c >= '0' && c <= '7'
	}
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
