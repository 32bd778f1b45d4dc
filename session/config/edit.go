package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/config/tomldoc"
	"github.com/longterm-dev/longterm/session/pattern"
)

// Set sets a key's value in a file's content and keeps comments, order and blank lines. The file must be valid before and
// is valid afterwards.
func Set(path string, src []byte, key string, words []string) ([]byte, error) {
	if _, err := Decode(path, src); err != nil {
		return nil, err
	}
	doc, err := tomldoc.Parse(src)
	if err != nil {
		return nil, err
	}
	literal, err := literalOf(key, words)
	if err != nil {
		return nil, err
	}
	parts := strings.Split(key, ".")
	edited, err := putValue(doc, parts, literal)
	if err != nil {
		return nil, err
	}
	if _, err := Decode(path, edited); err != nil {
		if len(ProblemsOf(err)) == 1 { // the file was valid before, so the value is not
			return nil, fmt.Errorf("%s: %s", key, ProblemsOf(err)[0].Text)
		}
		return nil, fmt.Errorf("%s cannot be set here; use `longterm config edit`: %w", key, err)
	}
	return edited, nil
}

// literalOf returns a value of the command line as TOML.
func literalOf(key string, words []string) (string, error) {
	r := keySpecOf(key)
	if r == nil {
		if n := strings.Count(key, "."); strings.HasPrefix(key, "keys.") && n == 1 || strings.HasPrefix(key, "themes.") && n == 2 {
			return tomldoc.Quote(strings.Join(words, " ")), nil
		}
		_, err := Empty("").Value(key)
		if strings.HasPrefix(key, "hooks") {
			err = errors.New("hooks are several lines each; use `longterm config edit`")
		}
		if strings.HasPrefix(key, "matchers") {
			err = errors.New("problem matchers are several lines each; use `longterm config edit`")
		}
		return "", err
	}
	if r.Kind == List {
		s := Default()
		words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "" })
		for _, word := range words {
			if err := r.checkText(word); err != nil {
				return "", fmt.Errorf("%s: %w", key, err)
			}
		}
		*r.field(s).(*[]string) = words
		return r.literal(s), nil
	}
	if len(words) != 1 {
		return "", fmt.Errorf("%s takes one value; quote it when it has blanks in it", key)
	}
	s := Default()
	if err := r.setText(s, words[0]); err != nil {
		return "", fmt.Errorf("%s: %w", key, err)
	}
	if r.Kind == Bytes || r.Kind == Duration { // as the user wrote it
		return tomldoc.Quote(strings.TrimSpace(words[0])), nil
	}
	return r.literal(s), nil
}

// literal returns a row's value as TOML.
func (r *KeySpec) literal(s *Settings) string {
	switch p := r.field(s).(type) {
	case *bool, *int:
		return r.Get(s)
	case *[]string:
		quoted := make([]string, len(*p))
		for i, w := range *p {
			quoted[i] = tomldoc.Quote(w)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	return tomldoc.Quote(r.Get(s))
}

// bareKey matches keys that need no quotes.
var bareKey = pattern.Lazy(`^[A-Za-z0-9_-]+$`)

// keyTOML returns a key as TOML.
func keyTOML(s string) string {
	if bareKey.MatchString(s) {
		return s
	}
	return tomldoc.Quote(s)
}

// putValue replaces a value, or adds it to its section.
func putValue(doc *tomldoc.Document, key []string, literal string) ([]byte, error) {
	newline := "\n"
	if bytes.Contains(doc.Src, []byte("\r\n")) {
		newline = "\r\n"
	}
	section := key[:len(key)-1]
	line := func(prefix string) string { return prefix + keyTOML(key[len(key)-1]) + " = " + literal + newline }
	for i := len(doc.Items) - 1; i >= 0; i-- {
		it := &doc.Items[i]
		switch {
		case slices.Equal(it.Path, key):
			return splice(doc.Src, it.Raw, literal), nil
		case slices.Equal(it.Path[:len(it.Path)-1], section) && it.IsInline:
			return nil, fmt.Errorf("[%s] is written in one line (line %d); use `longterm config edit`", strings.Join(section, "."), it.At.Line)
		}
	}
	for i := len(doc.Items) - 1; i >= 0; i-- { // after the last item of the section
		if it := &doc.Items[i]; slices.Equal(it.Path[:len(it.Path)-1], section) {
			return insertLines(doc, tomldoc.EndOfLine(doc.Src, it.Raw.To), newline, indent(doc, it)+line(it.Prefix)), nil
		}
	}
	for _, h := range doc.Headers {
		if slices.Equal(h.Path, section) {
			return insertLines(doc, h.End, newline, line("")), nil
		}
	}
	names := make([]string, len(section))
	for i, s := range section {
		names[i] = keyTOML(s)
	}
	head := "[" + strings.Join(names, ".") + "]" + newline
	if len(bytes.TrimSpace(doc.Src)) > 0 {
		head = newline + head
	}
	return insertLines(doc, len(doc.Src), newline, head+line("")), nil
}

// indent returns the indentation of an item's line.
func indent(doc *tomldoc.Document, it *tomldoc.Item) string {
	line := doc.Src[it.Line:it.Raw.From]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// insertLines inserts lines at the start of a line, or at the end of the file.
func insertLines(doc *tomldoc.Document, at int, newline, lines string) []byte {
	if at > 0 && doc.Src[at-1] != '\n' {
		lines = newline + lines
	}
	return splice(doc.Src, tomldoc.Span{From: at, To: at}, lines)
}

// splice replaces a range of src.
func splice(src []byte, s tomldoc.Span, with string) []byte {
	return slices.Concat(src[:s.From], []byte(with), src[s.To:])
}

// Quote returns a value for display, in quotes if it is empty or has blanks.
func Quote(s string) string {
	if s == "" || strings.ContainsAny(s, " \t\"") {
		return `"` + s + `"`
	}
	return s
}

// Unset removes a key's line from a file's content, so that its default applies.
func Unset(path string, src []byte, key string) ([]byte, error) {
	f, err := Decode(path, src)
	if err != nil {
		return nil, err
	}
	if _, err := f.Value(key); err != nil {
		return nil, err
	}
	doc, err := tomldoc.Parse(src)
	if err != nil {
		return nil, err
	}
	parts := strings.Split(key, ".")
	for i := range doc.Items {
		it := &doc.Items[i]
		switch {
		case !slices.Equal(it.Path, parts):
		case it.IsInline:
			return nil, fmt.Errorf("%s stands within a line (%s:%d); use `longterm config edit`", key, path, it.At.Line)
		default:
			return splice(src, tomldoc.Span{From: it.Line, To: tomldoc.EndOfLine(src, it.Raw.To)}, ""), nil
		}
	}
	return nil, fmt.Errorf("%s is not in the file", key)
}
