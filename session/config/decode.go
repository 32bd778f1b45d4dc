package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/session/config/tomldoc"
)

// File is a configuration file that is in order.
type File struct {
	Settings *Settings
	Path     string
	places   map[string]Place // where keys were given
}

// Decode reads a file's content. Everything wrong with it comes at once, as Problems.
func Decode(path string, src []byte) (*File, error) {
	d := decoder{file: &File{Settings: Default(), Path: path, places: map[string]Place{}}}
	doc, err := tomldoc.Parse(src)
	if err != nil {
		d.problems = ProblemsOf(err)
	} else {
		d.items(doc)
	}
	if len(d.problems) > 0 {
		slices.SortStableFunc(d.problems, func(a, b Problem) int {
			if a.Line != b.Line {
				return a.Line - b.Line
			}
			return a.Column - b.Column
		})
		for i := range d.problems {
			d.problems[i].File = path
		}
		return nil, d.problems
	}
	return d.file, nil
}

// decoder checks a document against the table.
type decoder struct {
	file     *File
	problems Problems
	matchers matchers
	hooks    hooks
}

func (d *decoder) problem(at Place, key, format string, args ...any) {
	d.problems = append(d.problems, Problem{Position: at, Key: key, Text: fmt.Sprintf(format, args...)})
}

func (d *decoder) items(doc *tomldoc.Document) {
	for _, h := range doc.Headers {
		d.header(h)
	}
	for i := range doc.Items {
		it := &doc.Items[i]
		switch it.Path[0] {
		case "keys":
			d.key(it)
		case "themes":
			d.theme(it)
		case "matchers":
			d.matchers.item(d, it)
		case "hooks":
			d.hooks.item(d, it)
		default:
			d.value(it)
		}
	}
	d.matchers.finish(d)
	d.hooks.finish(d)
	d.checkTheme()
	d.checkKeys()
}

// header knows the sections; the keys of an unknown one are skipped.
func (d *decoder) header(h tomldoc.Header) {
	name := strings.Join(h.Path, ".")
	switch {
	case h.Path[0] == "matchers" && !h.Many:
		d.problem(h.At, name, "problem matchers are a list; write [[matchers]]")
	case h.Path[0] == "hooks" && !h.Many:
		d.problem(h.At, name, "hooks are a list; write [[hooks]]")
	case h.Path[0] == "hooks" || h.Path[0] == "matchers" || h.Path[0] == "themes" && len(h.Path) == 2 && !h.Many:
	case h.Path[0] == "themes":
		d.problem(h.At, name, "each theme needs a section [themes.NAME]")
	case !slices.Contains(sections(), name):
		d.problem(h.At, name, "no such section%s; there are %s", suggest(name, sections()), strings.Join(sections(), ", "))
	case h.Many:
		d.problem(h.At, name, "this is no list; write [%s]", name)
	}
}

// sections returns the names of sections.
func sections() []string {
	var names []string
	for i := range table {
		name, _, _ := strings.Cut(table[i].Key, ".")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return append(names, "keys", "themes", "matchers", "hooks")
}

func (d *decoder) value(it *tomldoc.Item) {
	key := strings.Join(it.Path, ".")
	r := rowOf(key)
	if r == nil {
		d.unknown(it, key)
		return
	}
	if err := r.take(d.file.Settings, it.Data); err != nil {
		d.problem(it.Value, key, "%v", err)
		return
	}
	d.file.places[key] = it.At
}

func (d *decoder) unknown(it *tomldoc.Item, key string) {
	section := it.Path[0]
	if _, isTable := it.Data.(map[string]any); isTable && len(it.Path) == 1 && slices.Contains(sections(), section) {
		return // its keys are separate items
	}
	if !slices.Contains(sections(), section) && len(it.Path) > 1 {
		for _, p := range d.problems { // its header was complained of
			if p.Key == section {
				return
			}
		}
	}
	var names []string
	for i := range table {
		names = append(names, table[i].Key)
	}
	if near := suggest(key, names); near != "" {
		d.problem(it.At, key, "no such key%s", near)
		return
	}
	var here []string
	for _, n := range names {
		if name, ok := strings.CutPrefix(n, section+"."); ok {
			here = append(here, name)
		}
	}
	if len(here) == 0 {
		d.problem(it.At, key, "no such key; there are the sections %s", strings.Join(sections(), ", "))
		return
	}
	d.problem(it.At, key, "no such key; [%s] has %s", section, strings.Join(here, ", "))
}

// take gives a value of the file.
func (r *Row) take(s *Settings, data any) error {
	switch v := data.(type) {
	case bool:
		if r.Kind == Bool {
			return r.set(s, strconv.FormatBool(v))
		}
	case int64:
		if r.Kind == Int || r.Kind == Bytes || r.Kind == Duration && v == 0 {
			return r.set(s, strconv.FormatInt(v, 10))
		}
		if r.Kind == Duration {
			return fmt.Errorf(`a time has a unit, as in "%ds"; %s`, v, r.AllowedText())
		}
	case string:
		if r.Kind != Bool && r.Kind != Int && r.Kind != List {
			return r.set(s, v)
		}
	case []any:
		if r.Kind == List {
			return r.takeList(s, v)
		}
	}
	return fmt.Errorf("found %s, want %s", tomldoc.TypeName(data), r.typeText())
}

func (r *Row) takeList(s *Settings, list []any) error {
	texts := []string{}
	for _, v := range list {
		t, ok := v.(string)
		if !ok {
			return fmt.Errorf("list contains %s, want %s", tomldoc.TypeName(v), r.typeText())
		}
		if err := r.checkText(t); err != nil {
			return err
		}
		texts = append(texts, t)
	}
	p, ok := r.at(s).(*[]string)
	if !ok {
		return fmt.Errorf("want %s", r.typeText())
	}
	*p = texts
	return nil
}

// typeText describes the value to write.
func (r *Row) typeText() string {
	switch r.Kind {
	case Bool:
		return "true or false, without quotes"
	case Int:
		return "a number, " + r.AllowedText()
	case List:
		return `a list of texts, as in ["a", "b"]`
	case Choice:
		return "one of " + r.AllowedText() + ", in quotes"
	case Bytes, Duration:
		return r.AllowedText()
	}
	return r.AllowedText() + ", in quotes"
}
