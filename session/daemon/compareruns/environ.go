//go:build unix

package compareruns

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store"
)

// Bounds of the history and the lists.
const (
	maxHistory   = 10_000 // commands of a session
	maxVariables = 50
	maxValue     = 120 // bytes
)

// variables returns the variables that differ between the starts of two runs, as far as sessions recorded changes: those
// requested at a session's start, and those that its commands made.
func (f *Finder) variables(ctx context.Context, good, failed *run) ([]api.WhyVariable, error) {
	was, err := f.environBefore(ctx, good)
	if err != nil {
		return nil, err
	}
	is, err := f.environBefore(ctx, failed)
	if err != nil {
		return nil, err
	}
	return diffVariables(was, is), nil
}

// environBefore returns the recorded changes of the environment before a run. The value is nil for a variable that was unset.
func (f *Finder) environBefore(ctx context.Context, r *run) (map[string]*string, error) {
	env := map[string]*string{}
	if r.handle == nil {
		return env, nil
	}
	for _, kv := range r.handle.Record().Env {
		if name, value, ok := strings.Cut(kv, "="); ok {
			if shell.IsSecret(name, value) {
				value = registry.Redacted
			}
			env[name] = &value
		}
	}
	if r.N <= 1 {
		return env, nil
	}
	list, err := f.Store.Commands(ctx, store.CommandQuery{Session: r.Session, Newest: true, Limit: maxHistory})
	if err != nil {
		return nil, err
	}
	for i := range slices.Backward(list) { // oldest first
		if list[i].N < r.N {
			maps.Copy(env, list[i].Env)
		}
	}
	return env, nil
}

// diffVariables returns the differences by name.
func diffVariables(was, is map[string]*string) []api.WhyVariable {
	names := map[string]bool{}
	for _, env := range []map[string]*string{was, is} {
		for name := range env {
			names[name] = true
		}
	}
	var list []api.WhyVariable
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, b := was[name], is[name]
		if a == b || a != nil && b != nil && *a == *b || strings.HasPrefix(name, "LONGTERM_") || name == "SSH_AUTH_SOCK" {
			continue
		}
		if len(list) < maxVariables {
			list = append(list, api.WhyVariable{Name: name, Before: clipValue(a), After: clipValue(b)})
		}
	}
	return list
}

// clipValue truncates a variable's value.
func clipValue(s *string) *string {
	if s == nil || len(*s) <= maxValue {
		return s
	}
	short := strings.ToValidUTF8((*s)[:maxValue], "") + "…"
	return &short
}
