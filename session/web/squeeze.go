package web

import (
	"cmp"
	"strings"
)

// squeezeScript leaves out what only people read of a module: comments, and blanks that part nothing. Words are kept
// as they are but those in shorter, and so are strings, templates and patterns. Lines are joined only behind what cannot
// end a statement without a semicolon.
func squeezeScript(text string) string {
	s := squeezer{in: text}
	for s.at < len(text) {
		s.step()
	}
	return string(s.out)
}

// shorter are words that mean the same to who only runs a module.
var shorter = map[string]string{"const": "let", "true": "!0", "false": "!1"}

type squeezer struct {
	in    string
	at    int
	out   []byte
	last  byte   // written, that was no blank; 0: none
	word  string // that was written last, if last is of a word
	blank byte   // that was read since: ' ' or '\n'; 0: none
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func (s *squeezer) step() {
	c, rest := s.in[s.at], s.in[s.at:]
	switch {
	case c == '\n':
		s.blank = '\n'
		s.at++
	case c == ' ' || c == '\t' || c == '\r':
		if s.blank == 0 {
			s.blank = ' '
		}
		s.at++
	case strings.HasPrefix(rest, "//"):
		s.at += len(rest[:strings.IndexByte(rest+"\n", '\n')])
	case strings.HasPrefix(rest, "/*"):
		end := strings.Index(rest[2:], "*/")
		if end < 0 {
			end = len(rest) - 4
		}
		s.at += end + 4
		if s.blank == 0 {
			s.blank = ' '
		}
	case c == '\'' || c == '"' || c == '`':
		s.write(rest[:closing(rest, c)])
	case c == '/' && s.operand():
		s.write(rest[:regexpEnd(rest)])
	case isWord(c):
		n := 1
		for n < len(rest) && isWord(rest[n]) {
			n++
		}
		token := cmp.Or(shorter[rest[:n]], rest[:n])
		if s.last == '.' { // a name
			token = rest[:n]
		}
		s.write(token)
		s.word = token
		s.at += n - len(token)
	default:
		s.write(rest[:1])
	}
}

// write writes a token, and before it the blank that parts it from the one before.
func (s *squeezer) write(token string) {
	if first := token[0]; s.last != 0 {
		switch n := len(s.out); {
		case first == '}' && s.last == ';' && n > 1 && s.out[n-2] != ')': // behind ) it may be a loop's whole body
			s.out = s.out[:n-1]
		case s.blank == '\n' && !strings.ContainsRune("{([,;:?&|=<>", rune(s.last)):
			s.out = append(s.out, '\n')
		case s.blank != 0 && (isWord(s.last) && isWord(first) || s.last == first && strings.IndexByte("+-", first) >= 0):
			s.out = append(s.out, ' ')
		}
	}
	s.out = append(s.out, token...)
	s.last, s.word, s.blank = token[len(token)-1], "", 0
	s.at += len(token)
}

// operand says that a slash begins a pattern: there is nothing before it that could be divided.
func (s *squeezer) operand() bool {
	switch s.word {
	case "return", "typeof", "case", "in", "of":
		return true
	}
	return s.last == 0 || !isWord(s.last) && strings.IndexByte(")]}'\"`", s.last) < 0
}

// closing is where a string or template ends. What stands in braces in a template is as it was; no template here has
// another one in it (bundle looks at that by the line).
func closing(s string, quote byte) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case quote:
			return i + 1
		}
	}
	return len(s)
}

// regexpEnd is where a regular expression ends, its flags not counted.
func regexpEnd(s string) int {
	class := false
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				return i + 1
			}
		case '\n':
			return i
		}
	}
	return len(s)
}

// squeezeStyle does the same for a style sheet. Blanks around operators of selectors and sums are kept.
func squeezeStyle(text string) string {
	var out strings.Builder
	blank := false
	var last byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			blank = true
			continue
		case strings.HasPrefix(text[i:], "/*"):
			end := strings.Index(text[i:], "*/")
			if end < 0 {
				return out.String()
			}
			i += end + 1
			continue
		}
		if blank && last != 0 && strings.IndexByte("{};,:", last) < 0 && strings.IndexByte("{};,", c) < 0 {
			out.WriteByte(' ')
		}
		blank = false
		if c == '"' || c == '\'' {
			n := closing(text[i:], c)
			out.WriteString(text[i : i+n])
			i, last = i+n-1, c
			continue
		}
		out.WriteByte(c)
		last = c
	}
	return strings.ReplaceAll(out.String(), ";}", "}")
}
