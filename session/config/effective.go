package config

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/longterm-dev/longterm/render/view/keymap"
)

// Value is a value in effect and where it came from.
type Value struct {
	Key     string `json:"key"`
	Value   string `json:"value"`
	Default string `json:"default"`
	Source  string `json:"source"` // default, file, env or flag
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Env     string `json:"env,omitempty"` // variable that set it
	By      string `json:"by,omitempty"`  // key whose value determines this one
}

// SourceText returns the source as text.
func (v *Value) SourceText() string {
	where := v.Source
	switch v.Source {
	case "file":
		where = fmt.Sprintf("%s:%d", v.File, v.Line)
	case "env":
		where = "$" + v.Env
	}
	if v.By != "" {
		where += ", with " + v.By
	}
	return where
}

// ApplyEnv overrides keys by environment variables. It skips invalid ones and returns them as problems.
func (f *File) ApplyEnv(getenv func(string) string) error {
	var wrong Problems
	for i := range table {
		r := &table[i]
		text := ""
		if r.Env != "" {
			text = getenv(r.Env)
		}
		if text == "" {
			continue
		}
		kept := *f.Settings
		if err := r.setText(f.Settings, text); err != nil {
			*f.Settings = kept
			wrong = append(wrong, Problem{Key: "$" + r.Env, Text: err.Error()})
			continue
		}
		f.positions[r.Key] = Place{Line: -1} // from the environment
	}
	if len(wrong) > 0 {
		return wrong
	}
	return nil
}

// Values returns all values in effect, in the table's order, then keys, themes, matchers and hooks.
func (f *File) Values() []Value {
	var list []Value
	for i := range table {
		r := &table[i]
		list = append(list, f.effectiveValue(r.Key, r.Get(f.Settings), r))
		if prefix := f.Settings.presetPrefix(); r.Key == "view.prefix" && prefix != "" {
			list[i].Value, list[i].By = prefix, "view.keys"
		}
	}
	for _, name := range sortedKeys(f.Settings.Keys) {
		list = append(list, f.effectiveValue("keys."+name, f.Settings.Keys[name], nil))
	}
	for _, theme := range sortedKeys(f.Settings.Themes) {
		for _, name := range sortedKeys(f.Settings.Themes[theme]) {
			list = append(list, f.effectiveValue("themes."+theme+"."+name, f.Settings.Themes[theme][name], nil))
		}
	}
	if len(f.Settings.Matchers) > 0 {
		var names []string
		for _, m := range f.Settings.Matchers {
			names = append(names, m.Name)
		}
		list = append(list, f.effectiveValue("matchers", strings.Join(names, ", "), nil))
	}
	if len(f.Settings.Hooks) > 0 {
		var names []string
		for i := range f.Settings.Hooks {
			names = append(names, f.Settings.Hooks[i].Name)
		}
		list = append(list, f.effectiveValue("hooks", strings.Join(names, ", "), nil))
	}
	return list
}

// presetPrefix returns the prefix of another program's key preset, or "" if it has none or the user chose one.
func (s *Settings) presetPrefix() string {
	preset, err := keymap.Choose(s.View.Keys, "")
	if err != nil || s.View.Prefix != keymap.Leader || preset.Prefix == keymap.Leader {
		return ""
	}
	return preset.Prefix
}

// effectiveValue returns a value with its default and source.
func (f *File) effectiveValue(key, text string, r *KeySpec) Value {
	v := Value{Key: key, Value: text, Source: "default"}
	if r != nil {
		v.Default = r.Get(defaults())
	}
	switch at := f.positions[key]; {
	case at.Line < 0:
		v.Source, v.Env = "env", r.Env
	case at.Line > 0:
		v.Source, v.File, v.Line, v.Column = "file", f.Path, at.Line, at.Column
	}
	return v
}

// defaults are computed on first use: every command pays for initialization before main.
var defaults = sync.OnceValue(Default)

// Empty returns the settings for a missing file.
func Empty(path string) *File {
	return &File{Settings: Default(), Path: path, positions: map[string]Place{}}
}

// Value returns one value in effect.
func (f *File) Value(key string) (Value, error) {
	values := f.Values()
	if i := slices.IndexFunc(values, func(v Value) bool { return v.Key == key }); i >= 0 {
		return values[i], nil
	}
	names := make([]string, len(values))
	for i := range values {
		names[i] = values[i].Key
	}
	return Value{}, fmt.Errorf("no key %q%s; `longterm config` lists them", key, suggest(key, names))
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
