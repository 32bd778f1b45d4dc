package shell

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// SyntaxError is an error in a shell's declarations.
type SyntaxError struct {
	Offset  int
	Message string
}

// Error returns the message with the offset.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("declarations, byte %d: %s", e.Offset, e.Message)
}

// ParseDeclarations parses the output of "export -p" of bash, ksh, mksh, dash and zsh:
//
//	declare -x NAME="value"    export NAME='it'"'"'s'    export NAME=$'two\nlines'
//
// It omits names without a value, which are exported but not set, and arrays, which no shell exports.
func ParseDeclarations(s string) (Env, error) {
	p := declarationParser{text: s}
	env := Env{}
	for {
		p.skip(" \t\n")
		if p.atEnd() {
			return env, nil
		}
		name, value, set, err := p.parseDeclaration()
		if err != nil {
			return nil, err
		}
		if set {
			env[name] = value
		}
	}
}

// declarationParser parses text from pos on.
type declarationParser struct {
	text string
	pos  int
}

// atEnd reports whether the whole text is parsed.
func (p *declarationParser) atEnd() bool { return p.pos >= len(p.text) }

// skip skips bytes in set.
func (p *declarationParser) skip(set string) {
	for !p.atEnd() && strings.IndexByte(set, p.text[p.pos]) >= 0 {
		p.pos++
	}
}

// syntaxError returns an error at the current position.
func (p *declarationParser) syntaxError(what string) error { return &SyntaxError{p.pos, what} }

// parseDeclaration parses a command word, options, and one NAME or NAME=value. set is false without a value.
func (p *declarationParser) parseDeclaration() (name, value string, set bool, err error) {
	switch word := p.bareWord(); word {
	case "export", "declare", "typeset":
	default:
		return "", "", false, p.syntaxError("no declaration: " + strconv.Quote(truncate(word, 40)))
	}
	array := false
	for {
		p.skip(" \t")
		if p.atEnd() || p.text[p.pos] != '-' && p.text[p.pos] != '+' {
			break
		}
		array = strings.ContainsAny(p.bareWord(), "aA") || array
	}
	from := p.pos
	for !p.atEnd() && isNameByte(p.text[p.pos], p.pos > from) {
		p.pos++
	}
	if name = p.text[from:p.pos]; name == "" {
		return "", "", false, p.syntaxError("no name")
	}
	if p.atEnd() || p.text[p.pos] != '=' {
		return name, "", false, p.endLine()
	}
	p.pos++
	if array || !p.atEnd() && p.text[p.pos] == '(' {
		return name, "", false, p.skipArray()
	}
	value, err = p.parseWord()
	if err == nil {
		err = p.endLine()
	}
	return name, value, err == nil, err
}

// skipArray skips a list of words in parentheses.
func (p *declarationParser) skipArray() error {
	if p.atEnd() || p.text[p.pos] != '(' {
		if _, err := p.parseWord(); err != nil {
			return err
		}
		return p.endLine()
	}
	p.pos++
	for {
		p.skip(" \t\n")
		switch {
		case p.atEnd():
			return p.syntaxError("a list does not end")
		case p.text[p.pos] == ')':
			p.pos++
			return p.endLine()
		}
		from := p.pos
		if _, err := p.parseWord(); err != nil {
			return err
		}
		if p.pos == from { // a byte that ends words
			return p.syntaxError("a character that must be quoted")
		}
	}
}

// endLine skips blanks and returns an error unless the line ends.
func (p *declarationParser) endLine() error {
	p.skip(" \t;")
	if p.atEnd() || p.text[p.pos] == '\n' {
		return nil
	}
	return p.syntaxError("more than one declaration in a line")
}

// isNameByte reports whether c may be in a variable's name; digits only inside.
func isNameByte(c byte, inside bool) bool {
	return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || inside && c >= '0' && c <= '9'
}

// bareWord parses bytes up to white space.
func (p *declarationParser) bareWord() string {
	from := p.pos
	for !p.atEnd() && strings.IndexByte(" \t\n", p.text[p.pos]) < 0 {
		p.pos++
	}
	return p.text[from:p.pos]
}

// parseWord parses a shell word of quoted and bare pieces, without expansions.
func (p *declarationParser) parseWord() (string, error) {
	var b strings.Builder
	for !p.atEnd() {
		rest := p.text[p.pos:]
		var err error
		switch {
		case rest[0] == '\'':
			err = p.singleQuoted(&b)
		case rest[0] == '"':
			err = p.doubleQuoted(&b)
		case strings.HasPrefix(rest, "$'"):
			err = p.ansiQuoted(&b)
		case rest[0] == '\\':
			err = p.escapedByte(&b)
		case strings.IndexByte(" \t\n;()", rest[0]) >= 0:
			return b.String(), nil
		default:
			b.WriteByte(rest[0])
			p.pos++
		}
		if err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// singleQuoted parses '…' and appends the text to b.
func (p *declarationParser) singleQuoted(b *strings.Builder) error {
	text, _, ok := strings.Cut(p.text[p.pos+1:], "'")
	if !ok {
		return p.syntaxError("' is not closed")
	}
	b.WriteString(text)
	p.pos += len(text) + 2
	return nil
}

// escapedByte parses a backslash outside of quotes; with a newline it joins lines.
func (p *declarationParser) escapedByte(b *strings.Builder) error {
	if p.pos+1 >= len(p.text) {
		return p.syntaxError("nothing after \\")
	}
	if c := p.text[p.pos+1]; c != '\n' {
		b.WriteByte(c)
	}
	p.pos += 2
	return nil
}

// doubleQuoted parses "…" and appends the text to b.
func (p *declarationParser) doubleQuoted(b *strings.Builder) error {
	for i := p.pos + 1; i < len(p.text); i++ {
		c := p.text[i]
		switch {
		case c == '"':
			p.pos = i + 1
			return nil
		case c == '\\' && i+1 < len(p.text) && strings.IndexByte("$`\"\\\n", p.text[i+1]) >= 0:
			if i++; p.text[i] != '\n' {
				b.WriteByte(p.text[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return p.syntaxError(`" is not closed`)
}

// ansiEscapes are the one-letter escapes of $'…'.
var ansiEscapes = map[byte]byte{
	'a': 7, 'b': 8, 'e': 27, 'E': 27, 'f': 12, 'n': 10, 'r': 13, 't': 9, 'v': 11,
	'\\': '\\', '\'': '\'', '"': '"', '?': '?',
}

// ansiQuoted parses $'…' and appends the text to b.
func (p *declarationParser) ansiQuoted(b *strings.Builder) error {
	for i := p.pos + 2; i < len(p.text); {
		c := p.text[i]
		switch {
		case c == '\'':
			p.pos = i + 1
			return nil
		case c == '\\' && i+1 < len(p.text):
			i += ansiEscape(b, p.text[i:])
		default:
			b.WriteByte(c)
			i++
		}
	}
	return p.syntaxError("$' is not closed")
}

// ansiEscape decodes the escape at the start of s and returns its length. It copies an unknown escape unchanged.
func ansiEscape(b *strings.Builder, s string) int {
	switch c := s[1]; {
	case c >= '0' && c <= '7':
		n, size := parseDigits(s[1:], 8, 3)
		b.WriteByte(byte(n))
		return 1 + size
	case c == 'x':
		if n, size := parseDigits(s[2:], 16, 2); size > 0 {
			b.WriteByte(byte(n))
			return 2 + size
		}
	case c == 'u' || c == 'U':
		most := 4
		if c == 'U' {
			most = 8
		}
		if n, size := parseDigits(s[2:], 16, most); size > 0 {
			b.WriteString(string(utf8.AppendRune(nil, rune(n&0x7fffffff))))
			return 2 + size
		}
	case c == 'c' && len(s) > 2:
		b.WriteByte(s[2] & 0x1f)
		return 3
	case ansiEscapes[c] != 0:
		b.WriteByte(ansiEscapes[c])
		return 2
	}
	b.WriteString(s[:2])
	return 2
}

// parseDigits parses up to most digits of a base.
func parseDigits(s string, base, most int) (n, size int) {
	for size < most && size < len(s) {
		d, err := strconv.ParseUint(s[size:size+1], base, 8)
		if err != nil {
			break
		}
		n = n*base + int(d)
		size++
	}
	return n, size
}

// truncate returns at most the first most bytes of s.
func truncate(s string, most int) string { return s[:min(len(s), most)] }
