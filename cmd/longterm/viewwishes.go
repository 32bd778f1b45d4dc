//go:build unix

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/longterm-dev/longterm/render/view"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/theme"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/vterm/input"
)

// wishes are how a person wants the viewer: by flags, else by variables and the
// configuration.
type wishes struct {
	flags   viewFlags
	changed chan view.Looks // the newest; of its readers there is one
}

// looks are the wishes that may change while the viewer runs.
func (w *wishes) looks(s *config.Settings) (view.Looks, error) {
	l := view.Looks{Keys: s.Chords(), NoHints: !s.View.Hints, NoMouse: !s.View.Mouse, Alerts: model.Alerts{
		NoBell: !s.Alerts.Bell, NoCommand: !s.Alerts.Command, NoInput: !s.Alerts.Input, Long: s.Alerts.MinDuration,
	}}
	for _, name := range slices.Sorted(maps.Keys(s.Themes)) {
		t, err := theme.Custom(name, s.Themes[name])
		if err != nil {
			return l, err
		}
		l.Themes = append(l.Themes, t)
	}
	prefix := either(w.flags.prefix, s.View.Prefix)
	k, err := input.ParseKey(prefix)
	if err != nil {
		return l, fmt.Errorf("prefix: %w", err)
	}
	l.Prefix = k
	if name := either(w.flags.theme, s.View.Theme); name != config.AutoTheme {
		all := append(slices.Clone(theme.Themes), l.Themes...)
		i := slices.IndexFunc(all, func(t *theme.Theme) bool { return t.Name == name })
		if i < 0 {
			var names []string
			for _, t := range all {
				names = append(names, t.Name)
			}
			return l, fmt.Errorf("no theme is called %q; there are %s", name, strings.Join(names, ", "))
		}
		l.Theme = all[i]
	}
	return l, nil
}

// lastLayout is the configuration's name of the layout the viewer keeps by itself.
const lastLayout = "last"

// layout is the one to begin with; empty: as it was last.
func (w *wishes) layout(s *config.Settings) string {
	name := either(w.flags.layout, s.View.Layout)
	if name == lastLayout {
		return ""
	}
	return name
}

func either(given, configured string) string {
	if given != "" {
		return given
	}
	return configured
}

// read reads the configuration anew. With mistakes in it, all stays as it is.
func (w *wishes) read() (view.Looks, error) {
	f, err := readConfig()
	if err != nil {
		return view.Looks{}, err
	}
	return w.looks(f.Settings)
}

// tell has the viewer take a configuration that the daemon took. It is not waited for.
func (w *wishes) tell() {
	l, err := w.read()
	if err != nil {
		return // status and doctor say what is wrong
	}
	select {
	case <-w.changed:
	default:
	}
	w.changed <- l
}

// sizeWish is whose size sessions shall take from when the viewer first shows them.
type sizeWish struct {
	policy string
	mu     sync.Mutex // guards told
	told   map[string]bool
}

func newSizeWish(policy string) *sizeWish { return &sizeWish{policy: policy, told: map[string]bool{}} }

// first is the wish for a session, once. The usual one needs no saying, and would undo
// what somebody chose for that session.
func (s *sizeWish) first(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.policy == "latest" || s.policy == "none" || s.told[id] {
		return ""
	}
	s.told[id] = true
	return s.policy
}

// none says that the viewer has no say in sizes.
func (s *sizeWish) none() bool { return s.policy == "none" }
