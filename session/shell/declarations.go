package shell

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// SyntaxError is an error in a shell's declarations.
type SyntaxError struct {
	Offset int
	What   string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("declarations, byte %d: %s", e.Offset, e.What)
}

// ParseDeclarations parses the output of "export -p" of bash, ksh, mksh, dash and zsh:
//
//	declare -x NAME="value"    export NAME='it'"'"'s'    export NAME=$'two\nlines'
//
// It omits names without a value, which are exported but not set, and arrays, which no shell exports.
func ParseDeclarations(s string) (Env, error) {
	p := declarations{s: s}
	env := Env{}
	for {
		p.skip(" \t\n")
		if p.end() {
			return env, nil
		}
		name, value, set, err := p.declaration()
		if err != nil {
			return nil, err
		}
		if set {
			env[name] = value
		}
	}
}

// declarations reads s from i on.
type declarations struct {
	s string
	i int
}

func (p *declarations) end() bool { return p.i >= len(p.s) }

func (p *declarations) skip(set string) {
	for !p.end() && strings.IndexByte(set, p.s[p.i]) >= 0 {
		p.i++
	}
}

func (p *declarations) fail(what string) error { return &SyntaxError{p.i, what} }

// declaration parses a command word, options, and one NAME or NAME=value.
func (p *declarations) declaration() (name, value string, set bool, err error) {
	switch word := p.bare(); word {
	case "export", "declare", "typeset":
	default:
		return "", "", false, p.fail("no declaration: " + strconv.Quote(clip(word, 40)))
	}
	array := false
	for {
		p.skip(" \t")
		if p.end() || p.s[p.i] != '-' && p.s[p.i] != '+' {
			break
		}
		array = strings.ContainsAny(p.bare(), "aA") || array
	}
	from := p.i
	for !p.end() && isNameByte(p.s[p.i], p.i > from) {
		p.i++
	}
	if name = p.s[from:p.i]; name == "" {
		return "", "", false, p.fail("no name")
	}
	if p.end() || p.s[p.i] != '=' {
		return name, "", false, p.line()
	}
	p.i++
	if array || !p.end() && p.s[p.i] == '(' {
		return name, "", false, p.array()
	}
	value, err = p.word()
	if err == nil {
		err = p.line()
	}
	return name, value, err == nil, err
}

// array skips a list of words in parentheses.
func (p *declarations) array() error {
	if p.end() || p.s[p.i] != '(' {
		if _, err := p.word(); err != nil {
			return err
		}
		return p.line()
	}
	p.i++
	for {
		p.skip(" \t\n")
		switch {
		case p.end():
			return p.fail("a list does not end")
		case p.s[p.i] == ')':
			p.i++
			return p.line()
		}
		from := p.i
		if _, err := p.word(); err != nil {
			return err
		}
		if p.i == from { // what ends a word elsewhere
			return p.fail("a character that must be quoted")
		}
	}
}

// line wants the end of the line.
func (p *declarations) line() error {
	p.skip(" \t;")
	if p.end() || p.s[p.i] == '\n' {
		return nil
	}
	return p.fail("more than one declaration in a line")
}

func isNameByte(c byte, inside bool) bool {
	return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || inside && c >= '0' && c <= '9'
}

// bare parses a run of bytes up to white space.
func (p *declarations) bare() string {
	from := p.i
	for !p.end() && strings.IndexByte(" \t\n", p.s[p.i]) < 0 {
		p.i++
	}
	return p.s[from:p.i]
}

// word parses a shell word of quoted and bare pieces, without expansions.
func (p *declarations) word() (string, error) {
	var b strings.Builder
	for !p.end() {
		rest := p.s[p.i:]
		var err error
		switch {
		case rest[0] == '\'':
			err = p.single(&b)
		case rest[0] == '"':
			err = p.double(&b)
		case strings.HasPrefix(rest, "$'"):
			err = p.ansi(&b)
		case rest[0] == '\\':
			err = p.backslash(&b)
		case strings.IndexByte(" \t\n;()", rest[0]) >= 0:
			return b.String(), nil
		default:
			b.WriteByte(rest[0])
			p.i++
		}
		if err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

func (p *declarations) single(b *strings.Builder) error {
	text, _, ok := strings.Cut(p.s[p.i+1:], "'")
	if !ok {
		return p.fail("' is not closed")
	}
	b.WriteString(text)
	p.i += len(text) + 2
	return nil
}

// backslash parses a backslash outside of quotes; with a newline it joins lines.
func (p *declarations) backslash(b *strings.Builder) error {
	if p.i+1 >= len(p.s) {
		return p.fail("nothing after \\")
	}
	if c := p.s[p.i+1]; c != '\n' {
		b.WriteByte(c)
	}
	p.i += 2
	return nil
}

func (p *declarations) double(b *strings.Builder) error {
	for i := p.i + 1; i < len(p.s); i++ {
		c := p.s[i]
		switch {
		case c == '"':
			p.i = i + 1
			return nil
		case c == '\\' && i+1 < len(p.s) && strings.IndexByte("$`\"\\\n", p.s[i+1]) >= 0:
			if i++; p.s[i] != '\n' {
				b.WriteByte(p.s[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return p.fail(`" is not closed`)
}

// ansiEscapes are the one-letter escapes of $'…'.
var ansiEscapes = map[byte]byte{
	'a': 7, 'b': 8, 'e': 27, 'E': 27, 'f': 12, 'n': 10, 'r': 13, 't': 9, 'v': 11,
	'\\': '\\', '\'': '\'', '"': '"', '?': '?',
}

func (p *declarations) ansi(b *strings.Builder) error {
	for i := p.i + 2; i < len(p.s); {
		c := p.s[i]
		switch {
		case c == '\'':
			p.i = i + 1
			return nil
		case c == '\\' && i+1 < len(p.s):
			i += ansiEscape(b, p.s[i:])
		default:
			b.WriteByte(c)
			i++
		}
	}
	return p.fail("$' is not closed")
}

// ansiEscape decodes the escape at the start of s and returns its length. It copies an unknown escape unchanged.
func ansiEscape(b *strings.Builder, s string) int {
	switch c := s[1]; {
	case c >= '0' && c <= '7':
		n, size := digits(s[1:], 8, 3)
		b.WriteByte(byte(n))
		return 1 + size
	case c == 'x':
		if n, size := digits(s[2:], 16, 2); size > 0 {
			b.WriteByte(byte(n))
			return 2 + size
		}
	case c == 'u' || c == 'U':
		most := 4
		if c == 'U' {
			most = 8
		}
		if n, size := digits(s[2:], 16, most); size > 0 {
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

// digits reads up to most digits of a base.
func digits(s string, base, most int) (n, size int) {
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

func clip(s string, most int) string { return s[:min(len(s), most)] }
