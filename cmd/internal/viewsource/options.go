//go:build unix

package viewsource

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/longterm-dev/longterm/render/view"
	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/theme"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/vterm/input"
)

// Options are the viewer's options: flags, else environment variables and the configuration.
type Options struct {
	flags    Flags
	settings *config.Settings // settings at the start
	initial  view.LiveOptions // live options at the start
	load     func() (*config.File, error)
	changed  chan view.LiveOptions // newest live options; one goroutine receives
}

// NewOptions combines flags and settings. load reads the configuration again.
func NewOptions(f Flags, s *config.Settings, load func() (*config.File, error)) (*Options, error) {
	w := &Options{flags: f, settings: s, load: load, changed: make(chan view.LiveOptions, 1)}
	var err error
	w.initial, err = w.liveOptions(s)
	return w, err
}

// liveOptions returns the options that may change while the viewer runs.
func (o *Options) liveOptions(s *config.Settings) (view.LiveOptions, error) {
	l := view.LiveOptions{Predict: s.Attach.Predict, Keys: s.Chords(), Repeat: s.View.Repeat, Glyphs: s.View.Glyphs, Frames: s.View.PaneBorders, Images: s.View.Images, NoHints: !s.View.Hints, NoMouse: !s.View.Mouse, Alerts: model.Alerts{
		NoBell: !s.Alerts.Bell, NoCommand: !s.Alerts.Command, NoInput: !s.Alerts.Input, NoApproval: !s.Alerts.Approval, Long: s.Alerts.MinDuration,
	}}
	for _, name := range slices.Sorted(maps.Keys(s.Themes)) {
		t, err := theme.Custom(name, s.Themes[name])
		if err != nil {
			return l, err
		}
		l.Themes = append(l.Themes, t)
	}
	preset, err := keymap.Choose(either(o.flags.Keys, s.View.Keys), either(os.Getenv("VISUAL"), os.Getenv("EDITOR")))
	if err != nil {
		return l, err
	}
	l.Keys, l.Modes, l.Tmux = preset.With(l.Keys), preset.Modes, strings.HasPrefix(preset.Name, "tmux")
	prefix := either(o.flags.Prefix, s.View.Prefix)
	if o.flags.Prefix == "" && prefix == keymap.Leader {
		prefix = preset.Prefix
	}
	k, err := input.ParseKey(prefix)
	if err != nil {
		return l, fmt.Errorf("prefix: %w", err)
	}
	l.Prefix = k
	if name := either(o.flags.Theme, s.View.Theme); name != config.AutoTheme {
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

// layout returns the name of the first layout, or "" for the last one.
func (o *Options) layout(s *config.Settings) string {
	name := either(o.flags.Layout, s.View.Layout)
	if name == lastLayout {
		return ""
	}
	return name
}

// either returns given, or configured if that is empty.
func either(given, configured string) string {
	if given != "" {
		return given
	}
	return configured
}

// read reads the configuration again. If it has mistakes, the options stay unchanged.
func (o *Options) read() (view.LiveOptions, error) {
	f, err := o.load()
	if err != nil {
		return view.LiveOptions{}, err
	}
	return o.liveOptions(f.Settings)
}

// reload passes a configuration that the daemon has applied to the viewer. It does not wait.
func (o *Options) reload() {
	l, err := o.read()
	if err != nil {
		return // status and doctor report the mistakes
	}
	select {
	case <-o.changed:
	default:
	}
	o.changed <- l
}

// sizeOption is the size policy that the viewer sets for a session when it first shows it.
type sizeOption struct {
	policy  string
	mu      sync.Mutex      // guards applied
	applied map[string]bool // sessions whose policy was set
}

func newSizeOption(policy string) *sizeOption {
	return &sizeOption{policy: policy, applied: map[string]bool{}}
}

// first returns the size policy for a session, once per session. The default policies are not sent: they would undo
// another client's choice.
func (s *sizeOption) first(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.policy == "latest" || s.policy == "none" || s.applied[id] {
		return ""
	}
	s.applied[id] = true
	return s.policy
}

// ignoresSize reports whether the viewer has no influence on sizes.
func (s *sizeOption) ignoresSize() bool { return s.policy == "none" }

// Flags are the viewer's flags.
type Flags struct{ Theme, Prefix, Layout, Keys string }
