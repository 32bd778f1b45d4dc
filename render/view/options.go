package view

import (
	"os"
	"slices"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/copymode"
	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/theme"
	"github.com/longterm-dev/longterm/vterm/input"
)

// Options configure the viewer. The zero value is the default; what is nil cannot be
// done.
type Options struct {
	LiveOptions
	Changed   <-chan LiveOptions        // changed options, as they come; nil: never
	Orders    <-chan model.Order        // how others want sessions to stand; nil: nobody does
	Screen    tcell.Screen              // default: this process's terminal
	OpenTTY   func() (tcell.Tty, error) // how that is opened; nil: as usual
	Only      []string                  // ids of the sessions to show; default: all that run
	Layout    string                    // name of the layout to begin with; default: the last one
	NoColor   bool                      // attributes only; NO_COLOR in the environment does the same
	Home      string
	History   copymode.History
	Steward   Steward
	Approver  Approver
	Inspector Inspector
	Editor    Editor
	Historian Historian
	Layouts   Layouts
	Clipboard Clipboard
	Footer    Footer
	Now       func() time.Time
	Tick      <-chan time.Time                // when durations are drawn anew; default: once a second
	Drawn     func(d time.Duration)           // told of every frame: how long it took
	Unsent    func(session string, bytes int) // told at the end of what was typed and did not reach a session
	tell      func(theme.Ground)              // takes what the terminal says of its background
}

// LiveOptions are the options that may change while the viewer runs.
type LiveOptions struct {
	Prefix  input.Key           // default Ctrl-Space
	Keys    map[string][]string // of actions, instead of the table's
	Modes   []keymap.Mode       // keys without the prefix
	Tmux    bool                // they are tmux's: what it does besides its keys is done as there, or it is said what does it
	Repeat  time.Duration       // how long keys that tmux repeats go on without the prefix, with its keys; 0: they do not
	Theme   *theme.Theme        // default: as it was last, or what suits the terminal
	Themes  []*theme.Theme      // besides the built-in ones
	Glyphs  string              // unicode, ascii; else as the terminal's character set has it
	Frames  bool                // panes have borders
	Images  string              // how images are drawn: blocks, sixel, kitty, iterm2; else as the terminal can
	NoHints bool                // the keys that can follow are not shown
	NoMouse bool                // the terminal keeps the mouse
	Predict string              // when what is typed is drawn before its echo comes: always, never, else where the link is slow
	Alerts  model.Alerts
}

func (l *LiveOptions) defaults() {
	if l.Prefix.Code == 0 {
		l.Prefix = input.Key{Code: ' ', Mods: input.Ctrl}
	}
	if l.Prefix.Code == input.KeySpace {
		l.Prefix.Code = ' '
	}
	if l.Alerts.Long == 0 {
		l.Alerts.Long = model.DefaultLong
	}
}

// keymap is the map of keys with the person's own ones.
func (l *LiveOptions) keymap() (*keymap.Map, error) {
	m, err := keymap.New(l.Keys, l.Modes...)
	if err != nil {
		return nil, err
	}
	m.PrefixName = keymap.KeyLabel(l.Prefix)
	return m, nil
}

// reconfigure takes other options.
func (v *viewer) reconfigure(l LiveOptions) error {
	l.defaults()
	keys, err := l.keymap()
	if err != nil {
		return err
	}
	if l.Theme == nil {
		if _, stays := theme.ByName(v.theme.Name); !stays {
			v.theme = v.o.fitting(v.ground.now)
		}
	}
	v.endPrefix()
	v.locked = v.locked && keys.Mode(keymap.Locked) != nil
	v.o.LiveOptions, v.keys, v.fresh, v.m.Quiet, v.m.TabsLast = l, keys, true, l.Alerts, l.Tmux
	v.canvas.UseASCII(v.o.ascii())
	v.panes.Predict(l.Predict)
	v.drawBy()
	if l.Theme != nil && !v.o.NoColor {
		v.theme, v.chosen = l.Theme, ""
	}
	return nil
}

// ascii reports whether the viewer's own signs are ASCII's.
func (o *Options) ascii() bool {
	return o.Glyphs == "ascii" || o.Glyphs != "unicode" && o.Screen.CharacterSet() != "UTF-8"
}

// fitting is the theme that suits the terminal.
func (o *Options) fitting(ground theme.Ground) *theme.Theme {
	return theme.Default(o.Screen.Colors(), ground, os.Getenv)
}

// look is the theme in colours that the terminal has.
func (v *viewer) look() *theme.Theme { return v.theme.Within(v.o.Screen.Colors()) }

// watchOptions takes changed options as they come.
func (v *viewer) watchOptions() {
	if v.o.Changed == nil {
		return
	}
	v.spawn(func() {
		for {
			select {
			case <-v.ctx.Done():
				return
			case l, ok := <-v.o.Changed:
				if !ok {
					return
				}
				v.later(func() {
					if err := v.reconfigure(l); err != nil {
						v.message = err.Error()
					}
				})
			}
		}
	})
}

// watchOrders takes orders as they come.
func (v *viewer) watchOrders() {
	if v.o.Orders == nil {
		return
	}
	v.spawn(func() {
		for {
			select {
			case <-v.ctx.Done():
				return
			case o := <-v.o.Orders:
				v.later(func() {
					v.fresh = true
					why := v.m.Obey(&o, v.paneArea())
					if o.Answer != nil { // who asked is told, and not who sits here
						o.Answer(why)
					}
				})
			}
		}
	})
}

// restoreTheme uses the theme that was chosen last, unless another one was asked for.
func (v *viewer) restoreTheme(name string) {
	for _, t := range v.themes() {
		if t.Name == name && v.o.Theme == nil && !v.o.NoColor {
			v.theme, v.chosen, v.fresh = t, t.Name, true
		}
	}
}

// chosenTheme is the theme that the person chose; empty: none.
func (v *viewer) chosenTheme() string { return v.chosen }

// themes are those to choose from.
func (v *viewer) themes() []*theme.Theme {
	return append(slices.Clone(theme.Themes), v.o.Themes...)
}

func (o *Options) defaults() error {
	o.LiveOptions.defaults()
	o.tell = func(theme.Ground) {}
	o.NoColor = o.NoColor || canvas.NoColor()
	var err error
	if o.Screen, err = canvas.Terminal(o.Screen, o.OpenTTY, func(g theme.Ground) { o.tell(g) }); err != nil {
		return err
	}
	if o.Home == "" {
		o.Home, _ = os.UserHomeDir() // without one paths stay long
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Tick == nil {
		o.Tick = time.Tick(time.Second)
	}
	return nil
}

func (v *viewer) setTheme(t *theme.Theme) {
	v.theme, v.chosen, v.fresh = t, t.Name, true
	v.message = "theme: " + t.Name
}

func nextTheme(v *viewer) {
	all := v.themes()
	i := slices.IndexFunc(all, func(t *theme.Theme) bool { return t.Name == v.theme.Name })
	v.setTheme(all[(i+1)%len(all)])
}
