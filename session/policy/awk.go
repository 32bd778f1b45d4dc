package policy

import "strings"

// awkReads looks at awk code outside of its strings and patterns for what writes or runs.
func awkReads(text string) bool {
	bare, ok := bareAwk(text)
	if !ok {
		return false
	}
	for _, word := range []string{"system", "getline", "close", "fflush", "@", "ENVIRON", "PROCINFO", "SYMTAB", "FUNCTAB"} {
		if strings.Contains(bare, word) {
			return false
		}
	}
	// "|" starts a program, but "||" does not; ">" after print writes, in parentheses it compares.
	bare = strings.ReplaceAll(bare, "||", "")
	if strings.Contains(bare, "|") {
		return false
	}
	for rest := bare; ; {
		i := strings.Index(rest, "print")
		if i < 0 {
			return true
		}
		rest = rest[i+5:]
		depth := 0
		for _, c := range rest {
			switch c {
			case '(', '[':
				depth++
			case ')', ']':
				depth--
			case '>':
				if depth <= 0 {
					return false
				}
			}
			if depth <= 0 && (c == ';' || c == '}') { // a statement may go on in the next line
				break
			}
		}
	}
}

// bareAwk is awk code without its comments and what is in its strings and patterns. It reports false where it is not
// clear what is one: awks differ in whether "/" within brackets ends a pattern, and after ")" and "++" only their grammar
// tells a division from a pattern.
func bareAwk(text string) (string, bool) {
	var b strings.Builder
	last := byte('\n') // the last byte that is no blank
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text) && text[i+1] == '\n':
			i++
			continue
		case c == '#':
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
			continue
		case c == '"':
			end := quotedEnd(text, i+1, '"')
			if end < 0 {
				return "", false
			}
			b.WriteString(`""`)
			i, last = end, '"'
			continue
		case c == '/' && (last == ')' || last == '+' || last == '-'):
			if strings.Contains(text[i+1:], "/") {
				return "", false
			}
		case c == '/' && !operand(last, &b):
			end := quotedEnd(text, i+1, '/')
			if end < 0 || brackets(text[i+1:end]) {
				return "", false
			}
			b.WriteString("//")
			i, last = end, '"'
			continue
		}
		b.WriteByte(c)
		if c != ' ' && c != '\t' && c != '\r' {
			last = c
		}
	}
	return b.String(), true
}

// operand reports whether what was read ends with a value, behind which "/" divides.
func operand(last byte, read *strings.Builder) bool {
	switch {
	case last == '"', last == ']', last == '_', last == '.', last >= '0' && last <= '9':
		return true
	case last >= 'a' && last <= 'z' || last >= 'A' && last <= 'Z':
		words := strings.FieldsFunc(read.String(), func(r rune) bool { return !plainName(string(r)) && (r < '0' || r > '9') })
		switch words[len(words)-1] {
		case "print", "printf", "return", "in", "case", "do", "else", "exit", "delete", "getline":
			return false
		}
		return true
	}
	return false
}

// quotedEnd is where a string or a pattern ends; -1 if it does not in its line.
func quotedEnd(text string, i int, end byte) int {
	for ; i < len(text) && text[i] != '\n'; i++ {
		switch text[i] {
		case '\\':
			i++
		case end:
			return i
		}
	}
	return -1
}

// brackets reports a pattern that would go on if "/" were allowed within brackets.
func brackets(p string) bool {
	open := false
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '[':
			if !open && i+1 < len(p) && (p[i+1] == ']' || p[i+1] == '^') {
				i++
				if p[i] == '^' && i+1 < len(p) && p[i+1] == ']' {
					i++
				}
			}
			open = true
		case ']':
			open = false
		}
	}
	return open
}
