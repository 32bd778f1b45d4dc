package rulebook

import (
	"fmt"
	"log/slog"
	"slices"

	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/spelling"
)

// Options say where a Book's files are.
type Options struct {
	File   string        // the person's policy.toml
	Kept   string        // a copy of the last one that was in order; "" keeps none
	Trust  string        // directory of what the person trusts; "" trusts nothing
	Person policy.Preset // where no file says another: for persons; "" is hard
	Agents policy.Preset // and for agents; "" is hard
	Log    *slog.Logger  // nil: none
}

// Book is the rules in effect.
type Book struct {
	o Options
}

// Open reads the person's file. One with mistakes is said in Status, and is no error.
func Open(o Options) *Book {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Book{o: o}
}

// presets are their names, the laxest first.
var presets = []policy.Preset{policy.Off, policy.Hard, policy.Build, policy.ReadOnly, policy.Listed}

// Presets are the names of presets, the laxest first.
func Presets() []policy.Preset { return slices.Clone(presets) }

// Known says whether a name that --policy gives is a preset or a section of the person's file.
func (b *Book) Known(name string) error {
	var names []string
	for _, p := range presets {
		names = append(names, string(p))
	}
	if slices.Contains(names, name) {
		return nil
	}
	hint := "; there are the presets off, hard, build, readonly and listed"
	if near := spelling.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return fmt.Errorf("there is no policy %q%s", name, hint)
}

// For are the rules for a subject.
func (b *Book) For(s Subject) (*policy.Engine, *Sources) {
	src := &Sources{Preset: b.o.Person, soft: s.person()}
	if s.Agent != "" {
		src.Preset = b.o.Agents
	}
	if s.Policy != "" {
		src.Preset, src.From = policy.Preset(s.Policy), "--policy"
	}
	if src.Preset == "" {
		src.Preset = policy.Hard
	}
	e, err := policy.New(policy.Options{Preset: src.Preset})
	if err != nil { // Known would have said so: nothing is allowed unasked
		src.Preset = policy.Listed
		e, _ = policy.New(policy.Options{Preset: policy.Listed})
	}
	return e, src
}
