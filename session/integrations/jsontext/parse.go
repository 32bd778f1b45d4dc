// Package jsontext changes JSON by its text: what is not changed stays as it is, with its comments, its order and its
// indentation. It reads JSON with comments and trailing commas, as editors write it, and knows no key.
//
//	Parse → Document → Set, Append, Remove (each makes a new text and reads it again)
//
// Offsets are of bytes. A document that was changed is read anew after each change, so that places always fit.
package jsontext

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Kind is what a value is.
type Kind byte

const (
	Object  Kind = '{'
	Array   Kind = '['
	String  Kind = '"'
	Literal Kind = '1' // a number, true, false or null
)

// Value is a value and where it stands.
type Value struct {
	Kind     Kind
	From, To int
	Members  []Member // of an object, in order
	Elements []*Value // of an array
}

// Member is a member of an object.
type Member struct {
	Name  string
	From  int // of the name
	Value *Value
}

// Error is what makes a text no JSON.
type Error struct {
	Line, Column int // from 1
	Text         string
}

func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Text)
}

// maxDepth bounds nesting: a text comes from elsewhere.
const maxDepth = 200

type parser struct {
	src string
	at  int
}

// failed carries an error out of the depth.
type failed struct{ err *Error }

func (p *parser) fail(at int, format string, args ...any) {
	before := p.src[:min(at, len(p.src))]
	line := strings.Count(before, "\n") + 1
	panic(failed{&Error{line, len(before) - strings.LastIndexByte(before, '\n'), fmt.Sprintf(format, args...)}})
}

const byteOrderMark = "\ufeff"

// parse reads a text. An empty one has no root.
func parse(src string) (root *Value, err error) {
	p := &parser{src: src}
	defer func() {
		if r := recover(); r != nil {
			f, ours := r.(failed)
			if !ours {
				panic(r)
			}
			root, err = nil, f.err
		}
	}()
	if strings.HasPrefix(src, byteOrderMark) {
		p.at = len(byteOrderMark)
	}
	if p.space(); p.at == len(src) {
		return nil, nil
	}
	root = p.value(0)
	if p.space(); p.at < len(src) {
		p.fail(p.at, "there is more behind the value")
	}
	return root, nil
}

// space skips blanks and comments.
func (p *parser) space() {
	for p.at < len(p.src) {
		rest := p.src[p.at:]
		switch {
		case strings.ContainsRune(" \t\r\n", rune(rest[0])):
			p.at++
		case strings.HasPrefix(rest, "//"):
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			p.at += n
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				p.fail(p.at, "a comment has no end")
			}
			p.at += n + 4
		default:
			return
		}
	}
}

func (p *parser) peek() byte {
	if p.at < len(p.src) {
		return p.src[p.at]
	}
	return 0
}

func (p *parser) value(depth int) *Value {
	if depth > maxDepth {
		p.fail(p.at, "nested more than %d deep", maxDepth)
	}
	switch c := p.peek(); {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		from := p.at
		p.text()
		return &Value{Kind: String, From: from, To: p.at}
	case p.at == len(p.src):
		p.fail(p.at, "it ends where a value has to be")
	}
	return p.literal()
}

func (p *parser) literal() *Value {
	from := p.at
	for p.at < len(p.src) && !strings.ContainsRune(" \t\r\n,:{}[]\"/", rune(p.src[p.at])) {
		p.at++
	}
	if word := p.src[from:p.at]; !json.Valid([]byte(word)) {
		if word == "" {
			word = p.src[from : from+1]
		}
		p.fail(from, "%.40q is no value", word)
	}
	return &Value{Kind: Literal, From: from, To: p.at}
}

func (p *parser) text() string {
	from := p.at
	for p.at++; p.at < len(p.src); p.at++ {
		switch c := p.src[p.at]; {
		case c == '\\':
			p.at++
		case c == '\n':
			p.fail(from, "a text has no end on its line")
		case c == '"':
			p.at++
			var s string
			if json.Unmarshal([]byte(p.src[from:p.at]), &s) != nil {
				p.fail(from, "%.40s is no text", p.src[from:p.at])
			}
			return s
		}
	}
	p.fail(from, "a text has no end")
	return ""
}

func (p *parser) object(depth int) *Value {
	v := &Value{Kind: Object, From: p.at}
	for p.at++; ; {
		if p.space(); p.peek() == '}' {
			break
		}
		if p.peek() != '"' {
			p.fail(p.at, "a name in quotes has to be here, or }")
		}
		m := Member{From: p.at}
		m.Name = p.text()
		if p.space(); p.peek() != ':' {
			p.fail(p.at, "a : has to follow the name %.40q", m.Name)
		}
		p.at++
		p.space()
		m.Value = p.value(depth + 1)
		v.Members = append(v.Members, m)
		if !p.comma('}') {
			break
		}
	}
	p.at++
	v.To = p.at
	return v
}

func (p *parser) array(depth int) *Value {
	v := &Value{Kind: Array, From: p.at}
	for p.at++; ; {
		if p.space(); p.peek() == ']' {
			break
		}
		v.Elements = append(v.Elements, p.value(depth+1))
		if !p.comma(']') {
			break
		}
	}
	p.at++
	v.To = p.at
	return v
}

// comma reads what follows an element, and says whether it was a comma.
func (p *parser) comma(end byte) bool {
	p.space()
	switch p.peek() {
	case ',':
		p.at++
		return true
	case end:
		return false
	}
	p.fail(p.at, "a , or %c has to be here", end)
	return false
}
