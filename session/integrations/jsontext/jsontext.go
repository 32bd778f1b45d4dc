// Package jsontext edits JSON files of other programs: what an edit does not change keeps its comments, order and indentation.
// It reads JSON with comments and trailing commas (the JWCC format, as editors write it), and knows no key.
//
//	Parse → Document → Set, Append, Remove, RemoveAt (each packs the tree and parses it again)
//
// Offsets are of bytes, lines count from 1. Values found before an edit are not part of the document after it.
package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/tailscale/hujson"
)

const byteOrderMark = "\ufeff"

// maxDepth bounds how deep values nest: the parser recurses.
const maxDepth = 10_000

// Document is a text that is JSON, or holds only comments.
type Document struct {
	mark string // the byte order mark, or nothing
	src  string // without the mark
	root *hujson.Value
}

// Parse reads JSON with comments. The error gives line and column.
func Parse(src []byte) (*Document, error) {
	d := &Document{src: string(src)}
	if rest, ok := strings.CutPrefix(d.src, byteOrderMark); ok {
		d.mark, d.src = byteOrderMark, rest
	}
	return d, d.parse(d.src)
}

// parse sets the text and its tree, or neither.
func (d *Document) parse(src string) error {
	if depth(src) > maxDepth {
		return fmt.Errorf("values nest deeper than %d", maxDepth)
	}
	if v, err := hujson.Parse([]byte(src + "\nnull")); err == nil && v.StartOffset > len(src) {
		d.src, d.root = src, nil
		return nil
	}
	v, err := hujson.Parse([]byte(src))
	if err != nil && !strings.HasSuffix(src, "\n") { // a line comment wants its newline
		if ended, endErr := hujson.Parse([]byte(src + "\n")); endErr == nil {
			v, src, err = ended, src+"\n", nil
		}
	}
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	d.src, d.root = src, &v
	return nil
}

// depth returns an upper bound of how deep values nest: it counts brackets in strings as well.
func depth(src string) (deepest int) {
	open := 0
	for i := range len(src) {
		switch src[i] {
		case '{', '[':
			open++
			deepest = max(deepest, open)
		case '}', ']':
			open--
		}
	}
	return deepest
}

// Bytes returns the text.
func (d *Document) Bytes() []byte { return []byte(d.mark + d.src) }

// Root returns the value; nil if the text is empty.
func (d *Document) Root() *hujson.Value { return d.root }

// Members returns the members of an object, in order; none if v is no object.
func Members(v *hujson.Value) []hujson.ObjectMember {
	if v == nil {
		return nil
	}
	if o, ok := v.Value.(*hujson.Object); ok {
		return o.Members
	}
	return nil
}

// Elements returns the elements of an array, in order; none if v is no array.
func Elements(v *hujson.Value) []hujson.Value {
	if v == nil {
		return nil
	}
	if a, ok := v.Value.(*hujson.Array); ok {
		return a.Elements
	}
	return nil
}

// IsArray reports whether v is an array.
func IsArray(v *hujson.Value) bool { return v.Value.Kind() == '[' }

// HasOnlyComments reports whether v is an object or array that holds nothing but comments.
func HasOnlyComments(v *hujson.Value) bool {
	l := listOf(v)
	return l != nil && l.len() == 0 && strings.TrimSpace(string(*l.after())) != ""
}

// Name returns the name of a member.
func Name(m *hujson.ObjectMember) string {
	name, _ := m.Name.Value.(hujson.Literal)
	return name.String()
}

// Find returns the value at a path of names, or nil. Of two members with the same name it takes the last.
func (d *Document) Find(path ...string) *hujson.Value {
	v := d.root
	for _, name := range path {
		if i := memberOf(v, name); i < 0 {
			return nil
		} else {
			v = &Members(v)[i].Value
		}
	}
	return v
}

// memberOf returns the index of an object's last member with a name, or -1.
func memberOf(v *hujson.Value, name string) int {
	all := Members(v)
	for i := len(all) - 1; i >= 0; i-- {
		if Name(&all[i]) == name {
			return i
		}
	}
	return -1
}

// Decode returns a value as json.Unmarshal would; nil for no value.
func Decode(v *hujson.Value) (x any) {
	if v == nil {
		return nil
	}
	plain := v.Clone()
	plain.Standardize()
	_ = json.Unmarshal(plain.Pack(), &x) // it was parsed before
	return x
}

func (d *Document) line(v *hujson.Value) int { return strings.Count(d.src[:v.StartOffset], "\n") + 1 }

// Set puts a value at a path of names and makes the missing objects. It reports whether the text changed: if an
// equal value is there already, its text stays.
func (d *Document) Set(value any, path ...string) (bool, error) {
	raw, err := marshal(value)
	if err != nil {
		return false, err
	}
	if d.root == nil {
		lead := d.src
		if strings.TrimSpace(lead) == "" {
			lead = ""
		} else if !strings.HasSuffix(lead, "\n") {
			lead += "\n" // it is a comment
		}
		return true, d.parse(lead + d.lines(nest(raw, path), "") + d.newline())
	}
	v := d.root
	for i, name := range path {
		if v.Value.Kind() != '{' {
			return false, fmt.Errorf("line %d: %s is no object", d.line(v), where(path[:i]))
		}
		at := memberOf(v, name)
		if at < 0 {
			return true, d.insert(v, name, nest(raw, path[i+1:]))
		}
		v = &Members(v)[at].Value
	}
	var want any
	if err := json.Unmarshal(raw, &want); err != nil {
		return false, err
	}
	if reflect.DeepEqual(want, Decode(v)) {
		return false, nil
	}
	put, err := hujson.Parse([]byte(d.lines(raw, d.indentAt(v.StartOffset))))
	if err != nil {
		return false, err
	}
	v.Value = put.Value
	return true, d.pack()
}

// Append adds an element to the array at a path. It makes a missing array.
func (d *Document) Append(value any, path ...string) error {
	raw, err := marshal(value)
	if err != nil {
		return err
	}
	v := d.Find(path...)
	if v == nil {
		_, err := d.Set([]json.RawMessage{raw}, path...)
		return err
	}
	if !IsArray(v) {
		return fmt.Errorf("line %d: %s is no array", d.line(v), where(path))
	}
	return d.insert(v, "", raw)
}

// Remove removes the last member at a path, if there is one.
func (d *Document) Remove(path ...string) error {
	parent := d.Find(path[:len(path)-1]...)
	if i := memberOf(parent, path[len(path)-1]); i >= 0 {
		return d.RemoveAt(parent, i)
	}
	return nil
}

// RemoveAt removes member or element i of v, a value of this document.
func (d *Document) RemoveAt(v *hujson.Value, i int) error {
	l := listOf(v)
	removed, after := string(*l.before(i)), l.after()
	wasLast, hasTrailingComma := i == l.len()-1, l.len() > 0 && l.value(l.len()-1).AfterExtra != nil
	l.remove(i)
	switch {
	case !wasLast:
		next := l.before(i)
		if strings.TrimSpace(string(*next)) == "" && !strings.Contains(string(*next), "\n") { // all on one line
			*next = hujson.Extra(removed)
		} else {
			*next = joinExtras(removed, string(*next))
		}
	case i == 0 && strings.TrimSpace(removed+string(*after)) == "":
		*after = nil
	default:
		*after = joinExtras(removed, string(*after))
		if i == 0 {
			break
		}
		last := l.value(i - 1)
		switch {
		case hasTrailingComma && last.AfterExtra == nil:
			last.AfterExtra = hujson.Extra{}
		case !hasTrailingComma:
			*after = append(append(hujson.Extra{}, last.AfterExtra...), *after...)
			last.AfterExtra = nil
		}
	}
	return d.pack()
}

// joinExtras returns the space and comments before a removed value, without the start of that value's line, and those behind it.
func joinExtras(before, behind string) hujson.Extra {
	head := strings.TrimRight(before, " \t")
	if strings.HasPrefix(strings.TrimLeft(behind, " \t"), "\n") || strings.HasPrefix(behind, "\r\n") || strings.TrimSpace(head) == "" {
		head = strings.TrimSuffix(strings.TrimSuffix(head, "\n"), "\r")
	}
	return hujson.Extra(head + behind)
}

// insert adds a member (an element if name is empty) at the end of v, on separate lines where the others are.
func (d *Document) insert(v *hujson.Value, name string, raw json.RawMessage) error {
	l := listOf(v)
	n, after := l.len(), l.after()
	outer, isMultiline, indent := d.indentAt(v.StartOffset), false, ""
	if n > 0 {
		isMultiline = strings.Contains(string(*l.before(0)), "\n")
		last := string(*l.before(n - 1))
		indent = last[strings.LastIndexByte(last, '\n')+1:]
		indent = indent[:len(indent)-len(strings.TrimLeft(indent, " \t"))]
	} else {
		isMultiline = v == d.root || strings.Contains(string(*after), "\n") || strings.Contains(strings.TrimSpace(d.src), "\n")
		indent = outer + d.unit()
	}
	text, before := string(raw), ""
	switch {
	case isMultiline && n > 0:
		end := lineEnd(string(*after))
		before = string((*after)[:end]) + d.newline() + indent
		*after = (*after)[end:]
	case isMultiline:
		before = strings.TrimRight(string(*after), " \t\r\n") + d.newline() + indent
		*after = hujson.Extra(d.newline() + outer)
	case n > 0:
		before = " "
	}
	if isMultiline {
		text = d.lines(raw, indent)
	}
	put, err := hujson.Parse([]byte(text))
	if err != nil {
		return err
	}
	if n > 0 && l.value(n-1).AfterExtra != nil { // the file ends its lists with a comma
		put.AfterExtra = hujson.Extra{}
	}
	l.add(name, before, put)
	return d.pack()
}

// lineEnd returns the length of the first line of space and comments; 0 if a comment continues behind that line.
func lineEnd(extra string) int {
	end := strings.IndexByte(extra, '\n')
	if end < 0 || strings.Count(extra[:end], "/*") != strings.Count(extra[:end], "*/") {
		return 0
	}
	return len(strings.TrimRight(extra[:end], " \t\r"))
}

// pack replaces the document's text by that of the changed tree.
func (d *Document) pack() error {
	if err := d.parse(string(d.root.Pack())); err != nil {
		return fmt.Errorf("the change would make no JSON: %w", err)
	}
	return nil
}

// list is an object or an array: exactly one field is set.
type list struct {
	object *hujson.Object
	array  *hujson.Array
}

// listOf returns nil if v is neither an object nor an array.
func listOf(v *hujson.Value) *list {
	switch c := v.Value.(type) {
	case *hujson.Object:
		return &list{object: c}
	case *hujson.Array:
		return &list{array: c}
	}
	return nil
}

func (l *list) len() int {
	if l.object != nil {
		return len(l.object.Members)
	}
	return len(l.array.Elements)
}

// after returns the space and comments before the closing bracket.
func (l *list) after() *hujson.Extra {
	if l.object != nil {
		return &l.object.AfterExtra
	}
	return &l.array.AfterExtra
}

// before returns the space and comments before member or element i.
func (l *list) before(i int) *hujson.Extra {
	if l.object != nil {
		return &l.object.Members[i].Name.BeforeExtra
	}
	return &l.array.Elements[i].BeforeExtra
}

func (l *list) value(i int) *hujson.Value {
	if l.object != nil {
		return &l.object.Members[i].Value
	}
	return &l.array.Elements[i]
}

func (l *list) remove(i int) {
	if l.object != nil {
		l.object.Members = append(l.object.Members[:i:i], l.object.Members[i+1:]...)
		return
	}
	l.array.Elements = append(l.array.Elements[:i:i], l.array.Elements[i+1:]...)
}

func (l *list) add(name, before string, v hujson.Value) {
	if l.object == nil {
		v.BeforeExtra = hujson.Extra(before)
		l.array.Elements = append(l.array.Elements, v)
		return
	}
	v.BeforeExtra = hujson.Extra(" ")
	l.object.Members = append(l.object.Members, hujson.ObjectMember{
		Name: hujson.Value{BeforeExtra: hujson.Extra(before), Value: hujson.Literal(quote(name))}, Value: v,
	})
}

func where(path []string) string {
	if len(path) == 0 {
		return "the file"
	}
	return strings.Join(path, ".")
}

func marshal(value any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(value)
	return bytes.TrimSpace(b.Bytes()), err
}

func quote(s string) string {
	b, _ := marshal(s) // a string can always be encoded
	return string(b)
}

// nest returns a value inside objects of one member each.
func nest(raw json.RawMessage, path []string) json.RawMessage {
	for i := len(path) - 1; i >= 0; i-- {
		raw = json.RawMessage("{" + quote(path[i]) + ":" + string(raw) + "}")
	}
	return raw
}

// lines formats a value over several lines, with indent before each but the first.
func (d *Document) lines(raw json.RawMessage, indent string) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, indent, d.unit()) != nil {
		return string(raw)
	}
	return strings.ReplaceAll(b.String(), "\n", d.newline())
}

func (d *Document) newline() string {
	if strings.Contains(d.src, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// unit returns one step of indentation, as the first indented member or element of the file has it.
func (d *Document) unit() string {
	if d.root == nil {
		return "  "
	}
	if l := listOf(d.root); l != nil {
		for i := range l.len() {
			before := string(*l.before(i))
			if at := strings.LastIndexByte(before, '\n'); at >= 0 && strings.TrimSpace(before[at:]) == "" && len(before) > at+1 {
				return before[at+1:]
			}
		}
	}
	return "  "
}

// indentAt returns the space at the start of an offset's line.
func (d *Document) indentAt(at int) string {
	line := d.src[strings.LastIndexByte(d.src[:at], '\n')+1 : at]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}
