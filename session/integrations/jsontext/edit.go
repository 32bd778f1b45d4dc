package jsontext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Document is a text that is JSON, or empty.
type Document struct {
	src  string
	root *Value
}

// Parse reads JSON with comments. What is wrong is an *Error.
func Parse(src []byte) (*Document, error) {
	root, err := parse(string(src))
	return &Document{string(src), root}, err
}

func (d *Document) Bytes() []byte { return []byte(d.src) }

// Root is the value; nil: the text is empty.
func (d *Document) Root() *Value { return d.root }

// Find is the value at a path of names; nil: there is none. A name that comes twice counts as the last.
func (d *Document) Find(path ...string) *Value {
	v := d.root
	for _, name := range path {
		m := v.member(name)
		if m == nil {
			return nil
		}
		v = m.Value
	}
	return v
}

func (v *Value) member(name string) *Member {
	if v == nil || v.Kind != Object {
		return nil
	}
	for i := len(v.Members) - 1; i >= 0; i-- {
		if v.Members[i].Name == name {
			return &v.Members[i]
		}
	}
	return nil
}

// Decode is a value as Go has it, as json.Unmarshal gives it. A value with comments is read, too.
func (d *Document) Decode(v *Value) any {
	switch {
	case v == nil:
		return nil
	case v.Kind == Object:
		m := map[string]any{}
		for _, x := range v.Members {
			m[x.Name] = d.Decode(x.Value)
		}
		return m
	case v.Kind == Array:
		a := []any{}
		for _, x := range v.Elements {
			a = append(a, d.Decode(x))
		}
		return a
	}
	var x any
	_ = json.Unmarshal([]byte(d.src[v.From:v.To]), &x) // it was read
	return x
}

// Line is the line a value begins in, from 1.
func (d *Document) Line(v *Value) int { return strings.Count(d.src[:v.From], "\n") + 1 }

// become is the document with another text. A change that makes no JSON is a fault of ours, and changes nothing.
func (d *Document) become(src string) error {
	root, err := parse(src)
	if err != nil {
		return fmt.Errorf("the change would make no JSON: %w", err)
	}
	d.src, d.root = src, root
	return nil
}

// Set puts a value at a path of names, making the objects on the way. It says whether the text changed; what is there
// already and says the same stays as it is written.
func (d *Document) Set(value any, path ...string) (bool, error) {
	raw, err := marshal(value)
	if err != nil {
		return false, err
	}
	if d.root == nil {
		return true, d.become(d.src[:d.lead()] + d.lines(nest(raw, path), "") + d.newline())
	}
	v := d.root
	for i, name := range path {
		if v.Kind != Object {
			return false, fmt.Errorf("line %d: %s is no object", d.Line(v), where(path[:i]))
		}
		m := v.member(name)
		if m == nil {
			return true, d.insert(v, quote(name)+": ", nest(raw, path[i+1:]))
		}
		v = m.Value
	}
	var want any
	if err := json.Unmarshal(raw, &want); err != nil {
		return false, err
	}
	if reflect.DeepEqual(want, d.Decode(v)) {
		return false, nil
	}
	return true, d.become(d.src[:v.From] + d.lines(raw, d.indentAt(v.From)) + d.src[v.To:])
}

// Append adds an element to the array at a path, which is made if it is not there.
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
	if v.Kind != Array {
		return fmt.Errorf("line %d: %s is no array", d.Line(v), where(path))
	}
	return d.insert(v, "", raw)
}

// Remove takes the member at a path away, if it is there.
func (d *Document) Remove(path ...string) error {
	parent := d.Find(path[:len(path)-1]...)
	m := parent.member(path[len(path)-1])
	if m == nil {
		return nil
	}
	return d.cut(parent, m.From, m.Value.To)
}

// RemoveElement takes an element of the array at a path away.
func (d *Document) RemoveElement(i int, path ...string) error {
	v := d.Find(path...)
	if v == nil || v.Kind != Array || i >= len(v.Elements) {
		return nil
	}
	return d.cut(v, v.Elements[i].From, v.Elements[i].To)
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
	b, _ := marshal(s) // a text can always be written
	return string(b)
}

// nest is a value inside objects of one member each.
func nest(raw json.RawMessage, path []string) json.RawMessage {
	for i := len(path) - 1; i >= 0; i-- {
		raw = json.RawMessage("{" + quote(path[i]) + ":" + string(raw) + "}")
	}
	return raw
}

// insert adds a member or an element at the end of a value, in lines of its own where the others are.
func (d *Document) insert(in *Value, name string, raw json.RawMessage) error {
	spans := in.spans()
	closing := in.To - 1
	if len(spans) == 0 {
		if in == d.root || strings.Contains(d.src[in.From:in.To], "\n") || d.multiline() {
			outer := d.indentAt(in.From)
			head := strings.TrimRight(d.src[:closing], " \t\r\n") // the bracket, or comments behind it
			inner := outer + d.unit()
			return d.become(head + d.newline() + inner + name + d.lines(raw, inner) + d.newline() + outer + d.src[closing:])
		}
		return d.become(d.src[:in.From+1] + name + string(raw) + d.src[closing:])
	}
	last := spans[len(spans)-1]
	end, comma := last[1], false
	p := &parser{src: d.src, at: end}
	if p.space(); p.peek() == ',' {
		end, comma = p.at+1, true
	}
	if !strings.Contains(d.src[in.From:spans[0][0]], "\n") { // all on one line
		if comma {
			return d.become(d.src[:end] + " " + name + string(raw) + d.src[end:])
		}
		return d.become(d.src[:end] + ", " + name + string(raw) + d.src[end:])
	}
	indent := d.indentAt(last[0])
	at := d.lineEnd(end, closing)
	text := d.newline() + indent + name + d.lines(raw, indent)
	if comma { // the file ends its lists so
		return d.become(d.src[:at] + text + "," + d.src[at:])
	}
	return d.become(d.src[:end] + "," + d.src[end:at] + text + d.src[at:])
}

// spans are the members or elements of a value, as they stand.
func (v *Value) spans() (all [][2]int) {
	for _, m := range v.Members {
		all = append(all, [2]int{m.From, m.Value.To})
	}
	for _, e := range v.Elements {
		all = append(all, [2]int{e.From, e.To})
	}
	return all
}

// lineEnd is the end of what stands on the line behind an offset as far as it is blank or comment.
func (d *Document) lineEnd(at, limit int) int {
	for i := at; i < limit; {
		rest := d.src[i:limit]
		switch {
		case rest[0] == ' ' || rest[0] == '\t':
			i++
			continue
		case strings.HasPrefix(rest, "//"):
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				return at
			}
			return i + len(strings.TrimRight(rest[:n], "\r"))
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 || strings.Contains(rest[:n+4], "\n") {
				return at
			}
			i += n + 4
			at = i
			continue
		}
		break
	}
	return at
}

// cut takes a member or an element away, with its comma and, where it has lines of its own, these.
func (d *Document) cut(in *Value, from, to int) error {
	p := &parser{src: d.src, at: to}
	p.space()
	switch {
	case p.peek() == ',':
		to = p.at + 1
	default: // the last one: the comma before it goes
		head := strings.TrimRight(d.src[in.From+1:from], " \t\r\n")
		if strings.HasSuffix(head, ",") {
			from = in.From + len(head)
			break
		}
		if before := d.lastBefore(in, from); before >= 0 { // a comment stands between them
			q := &parser{src: d.src, at: before}
			q.space()
			if q.peek() == ',' {
				src := d.src[:q.at] + d.src[q.at+1:]
				return d.cutLines(src, from-1, to-1)
			}
		}
	}
	if len(in.spans()) == 1 { // nothing is left: no empty lines in it
		if strings.TrimSpace(d.src[in.From+1:from]+d.src[to:in.To-1]) == "" {
			return d.become(d.src[:in.From+1] + d.src[in.To-1:])
		}
	}
	return d.cutLines(d.src, from, to)
}

// lastBefore is where the element before an offset ends; -1: there is none.
func (d *Document) lastBefore(in *Value, from int) int {
	end := -1
	for _, s := range in.spans() {
		if s[1] <= from {
			end = s[1]
		}
	}
	return end
}

// cutLines takes a range away, and its line when nothing else is on it.
func (d *Document) cutLines(src string, from, to int) error {
	start := strings.LastIndexByte(src[:from], '\n') + 1
	end := strings.IndexByte(src[to:], '\n')
	if strings.TrimSpace(src[start:from]) == "" && end >= 0 && strings.TrimSpace(src[to:to+end]) == "" {
		from, to = start, to+end+1
	} else if strings.TrimSpace(src[start:from]) != "" && src[from] != ',' && src[from] != '\r' && src[from] != '\n' {
		for to < len(src) && (src[to] == ' ' || src[to] == '\t') { // in a line: {"a":1, "b":2} less a
			to++
		}
	}
	return d.become(src[:from] + src[to:])
}

// lines is a value as text, over several lines, each but the first behind an indent.
func (d *Document) lines(raw json.RawMessage, indent string) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, indent, d.unit()) != nil {
		return string(raw)
	}
	if d.newline() == "\r\n" {
		return strings.ReplaceAll(b.String(), "\n", "\r\n")
	}
	return b.String()
}

func (d *Document) newline() string {
	if strings.Contains(d.src, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

func (d *Document) multiline() bool { return strings.Contains(strings.TrimSpace(d.src), "\n") }

// unit is one step of indentation, as the file's first member has it.
func (d *Document) unit() string {
	if d.root != nil {
		for _, s := range d.root.spans() {
			if indent := d.indentAt(s[0]); indent != "" && strings.TrimSpace(d.src[strings.LastIndexByte(d.src[:s[0]], '\n')+1:s[0]]) == "" {
				return indent
			}
		}
	}
	return "  "
}

// indentAt is what the line of an offset begins with.
func (d *Document) indentAt(at int) string {
	line := d.src[strings.LastIndexByte(d.src[:at], '\n')+1 : at]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// lead is the length of what stands before the value of an empty text.
func (d *Document) lead() int {
	if d.src != "" && !strings.HasSuffix(d.src, "\n") && strings.TrimSpace(strings.TrimPrefix(d.src, byteOrderMark)) != "" {
		d.src += "\n" // a comment
	}
	if strings.TrimSpace(strings.TrimPrefix(d.src, byteOrderMark)) == "" {
		return len(d.src) - len(strings.TrimPrefix(d.src, byteOrderMark))
	}
	return len(d.src)
}

// RemoveAt takes an element of an array away that was found in this document.
func (d *Document) RemoveAt(array *Value, i int) error {
	return d.cut(array, array.Elements[i].From, array.Elements[i].To)
}
