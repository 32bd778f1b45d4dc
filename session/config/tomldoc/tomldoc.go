// Package tomldoc parses TOML with the position of every key and value, so that messages can name them and one value can be
// changed without touching the rest. It knows no keys: its callers define them.
package tomldoc

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// Position is a position in the file, line and column from 1. The zero value is unknown.
type Position struct {
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
}

// Item is a value of the file. Path contains the index of elements of arrays of tables: matchers, 0, name.
type Item struct {
	Path     []string
	At       Position // position of the key
	ValuePos Position // position of the value
	Data     any      // string, bool, int64, float64, []any, map[string]any; nil: a date or time
	Raw      Span     // range of the value
	IsInline bool     // within an inline table
	Prefix   string   // written part of a dotted key before its name: "a." of a.b
	Line     int      // offset of the line it starts on

	elements []Span
}

// Span is a range of the file's bytes.
type Span struct{ From, To int }

// Header is a [table] or [[table]] line.
type Header struct {
	Path    []string
	At      Position
	End     int  // offset after its line
	IsArray bool // [[table]]
}

// Document is a valid TOML file; items and headers are in order.
type Document struct {
	Src     []byte
	Items   []Item
	Headers []Header
}

// Error is an error of TOML syntax.
type Error struct {
	Position
	Text string
}

func (e *Error) Error() string {
	if e.Position == (Position{}) {
		return e.Text
	}
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Text)
}

// ByteOrderMark is the mark with which some editors start UTF-8 text. It is not valid TOML.
const ByteOrderMark = "\ufeff"

// Parse parses TOML. Duplicate keys are errors, too. All errors are of type *Error.
func Parse(src []byte) (*Document, error) {
	if bytes.HasPrefix(src, []byte(ByteOrderMark)) {
		return nil, &Error{Position{1, 1}, "the file starts with a byte order mark; save it as UTF-8 without one"}
	}
	if at := findTooDeep(src); at >= 0 {
		return nil, &Error{PositionOf(src, at), fmt.Sprintf("there are more than %d open brackets; write it flatter", maxDepth)}
	}
	var all map[string]any
	if err := toml.Unmarshal(src, &all); err != nil {
		var d *toml.DecodeError
		if errors.As(err, &d) {
			line, col := d.Position()
			return nil, &Error{Position{line, col}, strings.TrimPrefix(d.Error(), "toml: ")}
		}
		return nil, &Error{Text: strings.TrimPrefix(err.Error(), "toml: ")}
	}
	r := reader{doc: Document{Src: src}, counts: map[string]int{}}
	r.parser.Reset(slices.Clip(src))
	for r.parser.NextExpression() {
		r.readExpression(r.parser.Expression())
	}
	if err := r.parser.Error(); err != nil { // Unmarshal has already reported it
		return nil, &Error{Text: err.Error()}
	}
	return &r.doc, nil
}

// maxDepth bounds the open brackets: the parser recurses for each.
const maxDepth = 500

// findTooDeep returns the offset where brackets are nested too deeply, or -1. Brackets in texts and comments do not count; the
// parser reports an unterminated text.
func findTooDeep(src []byte) int {
	depth := 0
	for i := 0; i < len(src); i++ {
		switch c := src[i]; c {
		case '[', '{':
			if depth++; depth > maxDepth {
				return i
			}
		case ']', '}':
			depth = max(0, depth-1)
		case '#':
			i += lineLength(src[i:])
		case '"', '\'':
			i += textLength(src[i:], c) - 1
		}
	}
	return -1
}

// lineLength returns the length of the first line without its end.
func lineLength(src []byte) int {
	if n := bytes.IndexByte(src, '\n'); n >= 0 {
		return n
	}
	return len(src)
}

// textLength returns the length of a quoted text with its quotation marks.
func textLength(src []byte, quote byte) int {
	if mark := bytes.Repeat([]byte{quote}, 3); bytes.HasPrefix(src, mark) {
		for i := 3; i < len(src); i++ {
			switch {
			case quote == '"' && src[i] == '\\':
				i++
			case bytes.HasPrefix(src[i:], mark): // up to two more marks belong to the text
				end := i + 3
				for end < len(src) && end < i+5 && src[end] == quote {
					end++
				}
				return end
			}
		}
		return len(src)
	}
	for i := 1; i < len(src); i++ {
		switch {
		case quote == '"' && src[i] == '\\' && i+1 < len(src) && src[i+1] != '\n':
			i++
		case src[i] == quote || src[i] == '\n':
			return i + 1
		}
	}
	return len(src)
}

// reader reads the expressions of a file.
type reader struct {
	parser    unstable.Parser
	doc       Document
	table     []string
	counts    map[string]int // elements so far of arrays of tables, by path
	countedTo int            // offset up to which lines are counted
	lines     int
}

// readExpression reads a header or a key with its value.
func (r *reader) readExpression(n *unstable.Node) {
	switch n.Kind {
	case unstable.Table, unstable.ArrayTable:
		path, raw := r.readKey(n.Key())
		h := Header{Path: path, At: r.position(raw.From), IsArray: n.Kind == unstable.ArrayTable, End: EndOfLine(r.doc.Src, raw.To)}
		r.doc.Headers = append(r.doc.Headers, h)
		r.table = r.withIndex(path, h.IsArray)
	case unstable.KeyValue:
		r.readKeyValue(n, r.table, false)
	}
}

// withIndex inserts the index of the newest element after the name of each array of tables.
func (r *reader) withIndex(path []string, begins bool) []string {
	var out []string
	for i, name := range path {
		out = append(out, name)
		key := strings.Join(out, "\x00")
		if begins && i == len(path)-1 {
			r.counts[key]++
		}
		if n := r.counts[key]; n > 0 {
			out = append(out, strconv.Itoa(n-1))
		}
	}
	return out
}

// readKeyValue reads a key with its value.
func (r *reader) readKeyValue(n *unstable.Node, table []string, inline bool) {
	path, raw := r.readKey(n.Key())
	whole := n.Raw
	end := int(whole.Offset + whole.Length)
	from := raw.To
	for from < end && (r.doc.Src[from] == ' ' || r.doc.Src[from] == '\t' || r.doc.Src[from] == '=') {
		from++
	}
	it := Item{
		Path: slices.Concat(table, path), At: r.position(raw.From), ValuePos: r.position(from), Raw: Span{from, end}, IsInline: inline,
		Prefix: prefixOf(r.doc.Src[raw.From:raw.To], len(path)), Line: lineStart(r.doc.Src, raw.From),
	}
	if v := n.Value(); v.Kind == unstable.InlineTable {
		r.readInlineTable(v, it.Path)
		it.Data = map[string]any{}
	} else {
		it.Data = valueOf(v)
		it.elements = r.elementsOf(v)
	}
	r.doc.Items = append(r.doc.Items, it)
}

// elementsOf returns the ranges of an array's elements, as far as known.
func (r *reader) elementsOf(n *unstable.Node) (all []Span) {
	if n.Kind != unstable.Array {
		return nil
	}
	for it := n.Children(); it.Next(); {
		if c := it.Node(); c.Kind != unstable.Comment {
			all = append(all, Span{int(c.Raw.Offset), int(c.Raw.Offset + c.Raw.Length)})
		}
	}
	return all
}

// Element returns the position of an array element, or that of the array if unknown.
func (d *Document) Element(it *Item, i int) Position {
	if i < len(it.elements) && it.elements[i].From > it.Raw.From && it.elements[i].To <= it.Raw.To {
		return PositionOf(d.Src, it.elements[i].From)
	}
	return it.ValuePos
}

// readInlineTable reads the items of an inline table.
func (r *reader) readInlineTable(n *unstable.Node, path []string) {
	for it := n.Children(); it.Next(); {
		if c := it.Node(); c.Kind == unstable.KeyValue {
			r.readKeyValue(c, path, true)
		}
	}
}

// readKey returns a dotted key and its range.
func (r *reader) readKey(it unstable.Iterator) (path []string, at Span) {
	for it.Next() {
		k := it.Node()
		if path == nil {
			at.From = int(k.Raw.Offset)
		}
		at.To = int(k.Raw.Offset + k.Raw.Length)
		path = append(path, string(k.Data))
	}
	return path, at
}

// valueOf returns a value as a Go value. Inline tables within arrays become maps.
func valueOf(n *unstable.Node) any {
	switch n.Kind {
	case unstable.String:
		return string(n.Data)
	case unstable.Bool:
		return string(n.Data) == "true"
	case unstable.Integer:
		v, err := strconv.ParseInt(strings.ReplaceAll(string(n.Data), "_", ""), 0, 64)
		if err != nil {
			return nil
		}
		return v
	case unstable.Float:
		v, err := strconv.ParseFloat(strings.ReplaceAll(string(n.Data), "_", ""), 64)
		if err != nil {
			return nil
		}
		return v
	case unstable.Array:
		list := []any{}
		for it := n.Children(); it.Next(); {
			if it.Node().Kind != unstable.Comment {
				list = append(list, valueOf(it.Node()))
			}
		}
		return list
	case unstable.InlineTable:
		m := map[string]any{}
		for it := n.Children(); it.Next(); {
			c := it.Node()
			if c.Kind != unstable.KeyValue {
				continue
			}
			var names []string
			for k := c.Key(); k.Next(); {
				names = append(names, string(k.Node().Data))
			}
			m[strings.Join(names, ".")] = valueOf(c.Value())
		}
		return m
	}
	return nil
}

// position counts lines from the last requested offset, so that a file is read in linear time.
func (r *reader) position(offset int) Position {
	if offset < r.countedTo {
		return PositionOf(r.doc.Src, offset)
	}
	r.lines += bytes.Count(r.doc.Src[r.countedTo:offset], []byte("\n"))
	r.countedTo = offset
	return Position{r.lines + 1, offset - lineStart(r.doc.Src, offset) + 1}
}

// PositionOf returns the position of an offset.
func PositionOf(src []byte, offset int) Position {
	before := src[:offset]
	return Position{bytes.Count(before, []byte("\n")) + 1, offset - lineStart(src, offset) + 1}
}

// lineStart returns the offset of the start of a line.
func lineStart(src []byte, offset int) int { return bytes.LastIndexByte(src[:offset], '\n') + 1 }

// EndOfLine returns the offset after the end of a line.
func EndOfLine(src []byte, offset int) int {
	if i := bytes.IndexByte(src[offset:], '\n'); i >= 0 {
		return offset + i + 1
	}
	return len(src)
}

// prefixOf returns a written key without its last part: "retention." of retention.dead.
func prefixOf(written []byte, parts int) string {
	if parts < 2 {
		return ""
	}
	return string(written[:bytes.LastIndexByte(written, '.')+1])
}
