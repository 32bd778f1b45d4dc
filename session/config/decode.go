package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/session/config/tomldoc"
)

// File is a valid configuration file.
type File struct {
	Settings  *Settings
	Path      string
	positions map[string]Place // of the keys in the file
}

// Decode decodes a file's content. The error contains all problems, as Problems.
func Decode(path string, src []byte) (*File, error) {
	d := decoder{file: &File{Settings: Default(), Path: path, positions: map[string]Place{}}}
	doc, err := tomldoc.Parse(src)
	if err != nil {
		d.problems = ProblemsOf(err)
	} else {
		d.readItems(doc)
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

// decoder checks a document against the table of keys.
type decoder struct {
	file     *File
	problems Problems
	matchers matcherDecoder
	hooks    hookDecoder
}

// addProblem records a problem of a key.
func (d *decoder) addProblem(at Place, key, format string, args ...any) {
	d.problems = append(d.problems, Problem{Position: at, Key: key, Text: fmt.Sprintf(format, args...)})
}

// readItems reads all headers and items of a document.
func (d *decoder) readItems(doc *tomldoc.Document) {
	for _, h := range doc.Headers {
		d.checkHeader(h)
	}
	for i := range doc.Items {
		it := &doc.Items[i]
		switch it.Path[0] {
		case "keys":
			d.readKeyBinding(it)
		case "themes":
			d.readThemeColour(it)
		case "matchers":
			d.matchers.readItem(d, it)
		case "hooks":
			d.hooks.readItem(d, it)
		default:
			d.readValue(it)
		}
	}
	d.matchers.compileAll(d)
	d.hooks.checkAll(d)
	d.checkTheme()
	d.checkKeys()
}

// checkHeader checks a section's header. Keys of an unknown section are skipped.
func (d *decoder) checkHeader(h tomldoc.Header) {
	name := strings.Join(h.Path, ".")
	switch {
	case h.Path[0] == "matchers" && !h.IsArray:
		d.addProblem(h.At, name, "problem matchers are a list; write [[matchers]]")
	case h.Path[0] == "hooks" && !h.IsArray:
		d.addProblem(h.At, name, "hooks are a list; write [[hooks]]")
	case h.Path[0] == "hooks" || h.Path[0] == "matchers" || h.Path[0] == "themes" && len(h.Path) == 2 && !h.IsArray:
	case h.Path[0] == "themes":
		d.addProblem(h.At, name, "each theme needs a section [themes.NAME]")
	case !slices.Contains(sections(), name):
		d.addProblem(h.At, name, "no such section%s; there are %s", suggest(name, sections()), strings.Join(sections(), ", "))
	case h.IsArray:
		d.addProblem(h.At, name, "this is no list; write [%s]", name)
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

// readValue sets the value of a key of the table.
func (d *decoder) readValue(it *tomldoc.Item) {
	key := strings.Join(it.Path, ".")
	r := keySpecOf(key)
	if r == nil {
		d.reportUnknown(it, key)
		return
	}
	if err := r.setFromFile(d.file.Settings, it.Data); err != nil {
		d.addProblem(it.ValuePos, key, "%v", err)
		return
	}
	d.file.positions[key] = it.At
}

// reportUnknown records an unknown key, with the key that was probably meant.
func (d *decoder) reportUnknown(it *tomldoc.Item, key string) {
	section := it.Path[0]
	if _, isTable := it.Data.(map[string]any); isTable && len(it.Path) == 1 && slices.Contains(sections(), section) {
		return // its keys are separate items
	}
	if !slices.Contains(sections(), section) && len(it.Path) > 1 {
		for _, p := range d.problems { // its header was reported
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
		d.addProblem(it.At, key, "no such key%s", near)
		return
	}
	var here []string
	for _, n := range names {
		if name, ok := strings.CutPrefix(n, section+"."); ok {
			here = append(here, name)
		}
	}
	if len(here) == 0 {
		d.addProblem(it.At, key, "no such key; there are the sections %s", strings.Join(sections(), ", "))
		return
	}
	d.addProblem(it.At, key, "no such key; [%s] has %s", section, strings.Join(here, ", "))
}

// setFromFile sets a value from the file.
func (r *KeySpec) setFromFile(s *Settings, data any) error {
	switch v := data.(type) {
	case bool:
		if r.Kind == Bool {
			return r.setText(s, strconv.FormatBool(v))
		}
	case int64:
		if r.Kind == Int || r.Kind == Bytes || r.Kind == Duration && v == 0 {
			return r.setText(s, strconv.FormatInt(v, 10))
		}
		if r.Kind == Duration {
			return fmt.Errorf(`a time has a unit, as in "%ds"; %s`, v, r.AllowedText())
		}
	case string:
		if r.Kind != Bool && r.Kind != Int && r.Kind != List {
			return r.setText(s, v)
		}
	case []any:
		if r.Kind == List {
			return r.setList(s, v)
		}
	}
	return fmt.Errorf("found %s, want %s", tomldoc.TypeName(data), r.expectedText())
}

// setList sets a list from the file.
func (r *KeySpec) setList(s *Settings, list []any) error {
	texts := []string{}
	for _, v := range list {
		t, ok := v.(string)
		if !ok {
			return fmt.Errorf("list contains %s, want %s", tomldoc.TypeName(v), r.expectedText())
		}
		if err := r.checkText(t); err != nil {
			return err
		}
		texts = append(texts, t)
	}
	p, ok := r.field(s).(*[]string)
	if !ok {
		return fmt.Errorf("want %s", r.expectedText())
	}
	*p = texts
	return nil
}

// expectedText describes the value to write.
func (r *KeySpec) expectedText() string {
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
