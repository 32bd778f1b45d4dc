package config

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// Place is where something stands in the file, line and column from 1. The zero value is
// nowhere.
type Place struct {
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
}

// item is one value of the file. Elements of arrays of tables have their number in path:
// matchers, 0, name.
type item struct {
	path   []string
	at     Place // of the key
	value  Place
	data   any // string, bool, int64, float64, []any, map[string]any; nil: a date or time
	raw    span
	inline bool // within an inline table
	prefix string
	line   int // offset of the line it begins on
}

// span is a range of the file's bytes.
type span struct{ from, to int }

// header is a [table] or [[table]] line.
type header struct {
	path []string
	at   Place
	end  int // offset behind its line
	many bool
}

// document is a file that is TOML, in order.
type document struct {
	src     []byte
	items   []item
	headers []header
}

// parse reads TOML. Keys that come twice and the like are errors, too.
func parse(src []byte) (*document, error) {
	var all map[string]any
	if err := toml.Unmarshal(src, &all); err != nil {
		var d *toml.DecodeError
		if errors.As(err, &d) {
			line, col := d.Position()
			return nil, Problems{{Place: Place{line, col}, Text: strings.TrimPrefix(d.Error(), "toml: ")}}
		}
		return nil, Problems{{Text: strings.TrimPrefix(err.Error(), "toml: ")}}
	}
	r := reader{doc: document{src: src}, counts: map[string]int{}}
	r.p.Reset(slices.Clip(src))
	for r.p.NextExpression() {
		r.expression(r.p.Expression())
	}
	if err := r.p.Error(); err != nil { // Unmarshal would have said so
		return nil, Problems{{Text: err.Error()}}
	}
	return &r.doc, nil
}

// reader walks the expressions of a file.
type reader struct {
	p      unstable.Parser
	doc    document
	table  []string
	counts map[string]int // elements so far of arrays of tables
}

func (r *reader) expression(n *unstable.Node) {
	switch n.Kind {
	case unstable.Table, unstable.ArrayTable:
		path, raw := r.key(n.Key())
		h := header{path: path, at: r.place(raw.from), many: n.Kind == unstable.ArrayTable, end: endOfLine(r.doc.src, raw.to)}
		r.doc.headers = append(r.doc.headers, h)
		r.table = r.numbered(path, h.many)
	case unstable.KeyValue:
		r.keyValue(n, r.table, false)
	}
}

// numbered puts the number of the newest element behind the name of each array of tables.
func (r *reader) numbered(path []string, begins bool) []string {
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

func (r *reader) keyValue(n *unstable.Node, table []string, inline bool) {
	path, raw := r.key(n.Key())
	whole := n.Raw
	end := int(whole.Offset + whole.Length)
	from := raw.to
	for from < end && (r.doc.src[from] == ' ' || r.doc.src[from] == '\t' || r.doc.src[from] == '=') {
		from++
	}
	it := item{
		path: slices.Concat(table, path), at: r.place(raw.from), value: r.place(from), raw: span{from, end}, inline: inline,
		prefix: prefixOf(r.doc.src[raw.from:raw.to], len(path)), line: lineStart(r.doc.src, raw.from),
	}
	if v := n.Value(); v.Kind == unstable.InlineTable {
		r.inlineTable(v, it.path)
		it.data = map[string]any{}
	} else {
		it.data = valueOf(v)
	}
	r.doc.items = append(r.doc.items, it)
}

func (r *reader) inlineTable(n *unstable.Node, path []string) {
	for it := n.Children(); it.Next(); {
		if c := it.Node(); c.Kind == unstable.KeyValue {
			r.keyValue(c, path, true)
		}
	}
}

// key is a dotted key and where it stands.
func (r *reader) key(it unstable.Iterator) (path []string, at span) {
	for it.Next() {
		k := it.Node()
		if path == nil {
			at.from = int(k.Raw.Offset)
		}
		at.to = int(k.Raw.Offset + k.Raw.Length)
		path = append(path, string(k.Data))
	}
	return path, at
}

// valueOf is a value in Go's types. Inline tables within arrays become maps.
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

func (r *reader) place(offset int) Place { return placeOf(r.doc.src, offset) }

func placeOf(src []byte, offset int) Place {
	before := src[:offset]
	return Place{bytes.Count(before, []byte("\n")) + 1, offset - lineStart(src, offset) + 1}
}

func lineStart(src []byte, offset int) int { return bytes.LastIndexByte(src[:offset], '\n') + 1 }

// endOfLine is the offset behind the line an offset is on.
func endOfLine(src []byte, offset int) int {
	if i := bytes.IndexByte(src[offset:], '\n'); i >= 0 {
		return offset + i + 1
	}
	return len(src)
}

// prefixOf is all of a written key but its last part: "retention." of retention.dead.
func prefixOf(written []byte, parts int) string {
	if parts < 2 {
		return ""
	}
	return string(written[:bytes.LastIndexByte(written, '.')+1])
}
