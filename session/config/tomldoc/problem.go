package tomldoc

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Problem is an error of a file, with its position.
type Problem struct {
	File string `json:"file,omitempty"`
	Position
	Key  string `json:"key,omitempty"`
	Text string `json:"text"`
}

func (p Problem) Error() string {
	where := p.File
	if p.Line > 0 {
		if where != "" {
			where += ":"
		}
		where += fmt.Sprintf("%d:%d", p.Line, p.Column)
	}
	if where != "" {
		where += ": "
	}
	if p.Key != "" {
		where += p.Key + ": "
	}
	return where + p.Text
}

// Problems lists all errors of a file, in its order.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i := range p {
		lines[i] = p[i].Error()
	}
	return strings.Join(lines, "\n")
}

// ProblemsOf returns the problems of an error; other errors become one problem.
func ProblemsOf(err error) Problems {
	var list Problems
	if err == nil || errors.As(err, &list) {
		return list
	}
	var syntax *Error
	if errors.As(err, &syntax) {
		return Problems{{Position: syntax.Position, Text: syntax.Text}}
	}
	return Problems{{Text: err.Error()}}
}

// TypeName returns the name of a value's type for users.
func TypeName(data any) string {
	switch data.(type) {
	case bool:
		return "true or false"
	case int64:
		return "a number"
	case float64:
		return "a number with a fraction"
	case string:
		return "a text"
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	}
	return "a date, a time or a number out of range"
}

// Quote returns a text as TOML, as a literal string if that is more readable. Invalid UTF-8 is replaced by U+FFFD.
func Quote(s string) string {
	if strings.ContainsAny(s, `\"`) && !strings.Contains(s, "'") && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "'" + s + "'"
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
