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

// Options are how a person wants the viewer: by flags, else by variables and the
// configuration.
type Options struct {
	flags    Flags
	settings *config.Settings // as they were at the beginning
	begin    view.LiveOptions // of these settings
	load     func() (*config.File, error)
	changed  chan view.LiveOptions // the newest; it has one reader
}

// NewOptions are the options that flags and settings make together; load reads the configuration anew.
func NewOptions(f Flags, s *config.Settings, load func() (*config.File, error)) (*Options, error) {
	w := &Options{flags: f, settings: s, load: load, changed: make(chan view.LiveOptions, 1)}
	var err error
	w.begin, err = w.looks(s)
	return w, err
}

// looks are the options that may change while the viewer runs.
func (o *Options) looks(s *config.Settings) (view.LiveOptions, error) {
	l := view.LiveOptions{Predict: s.Attach.Predict, Keys: s.Chords(), Repeat: s.View.Repeat, Glyphs: s.View.Glyphs, Frames: s.View.Frames, Images: s.View.Images, NoHints: !s.View.Hints, NoMouse: !s.View.Mouse, Alerts: model.Alerts{
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

// layout is the one to begin with; empty: as it was last.
func (o *Options) layout(s *config.Settings) string {
	name := either(o.flags.Layout, s.View.Layout)
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
func (o *Options) read() (view.LiveOptions, error) {
	f, err := o.load()
	if err != nil {
		return view.LiveOptions{}, err
	}
	return o.looks(f.Settings)
}

// reload has the viewer take a configuration that the daemon took. It is not waited for.
func (o *Options) reload() {
	l, err := o.read()
	if err != nil {
		return // status and doctor say what is wrong
	}
	select {
	case <-o.changed:
	default:
	}
	o.changed <- l
}

// sizeOption is whose size sessions shall take from when the viewer first shows them.
type sizeOption struct {
	policy string
	mu     sync.Mutex // guards told
	told   map[string]bool
}

func newSizeOption(policy string) *sizeOption {
	return &sizeOption{policy: policy, told: map[string]bool{}}
}

// first is the policy for a session, once. The usual one needs no saying, and would undo
// what a client chose for that session.
func (s *sizeOption) first(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.policy == "latest" || s.policy == "none" || s.told[id] {
		return ""
	}
	s.told[id] = true
	return s.policy
}

// none says that the viewer has no say in sizes.
func (s *sizeOption) none() bool { return s.policy == "none" }

// Flags are how a person wants the viewer.
type Flags struct{ Theme, Prefix, Layout, Keys string }
