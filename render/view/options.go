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

// Options configures the viewer. The zero value is the default. Features whose field is nil are unavailable.
type Options struct {
	LiveOptions
	Changed        <-chan LiveOptions        // changed options; nil if unset
	Orders         <-chan model.Order        // layout changes from other clients; nil if unset
	Screen         tcell.Screen              // default: this process's terminal
	OpenTTY        func() (tcell.Tty, error) // opens the terminal; nil: the default
	Only           []string                  // ids of the sessions to show; empty means all running ones
	Layout         string                    // name of the first layout; "": the last one
	NoColor        bool                      // attributes only; NO_COLOR in the environment does the same
	Home           string
	History        copymode.History
	SessionManager SessionManager
	Approver       Approver
	Inbox          Inbox
	Drafts         Drafts
	Inspector      Inspector
	Editor         Editor
	Historian      Historian
	Layouts        Layouts
	Clipboard      Clipboard
	Footer         Footer
	Now            func() time.Time
	Tick           <-chan time.Time                // times at which durations are redrawn; default: once a second
	Drawn          func(d time.Duration)           // called after every frame with its duration
	Unsent         func(session string, bytes int) // called at exit with typed input that did not reach a session
	onBackground   func(theme.Background)          // receives the terminal's background
}

// LiveOptions are the options that may change while the viewer runs.
type LiveOptions struct {
	Prefix input.Key           // default Ctrl-Space
	Keys   map[string][]string // keys of actions that differ from the table
	Modes  []keymap.Mode       // keys without the prefix
	// tmux's keys are in use: keys without an action here run the tmux command, or show its replacement
	Tmux    bool
	Repeat  time.Duration  // how long keys that tmux repeats work without the prefix; 0: never
	Theme   *theme.Theme   // default: the last one, or what suits the terminal
	Themes  []*theme.Theme // besides the built-in ones
	Glyphs  string         // unicode or ascii; "": by the terminal's character set
	Frames  bool           // panes have borders
	Images  string         // blocks, sixel, kitty or iterm2; "": the best that the terminal supports
	NoHints bool           // do not show the keys that can follow
	NoMouse bool           // leave the mouse to the terminal
	Predict string         // local echo: always or never; "": on slow links
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

// keymap returns the key map with the user's changes.
func (l *LiveOptions) keymap() (*keymap.Map, error) {
	m, err := keymap.New(l.Keys, l.Modes...)
	if err != nil {
		return nil, err
	}
	m.PrefixName = keymap.KeyLabel(l.Prefix)
	return m, nil
}

// reconfigure applies changed options.
func (v *viewer) reconfigure(l LiveOptions) error {
	l.defaults()
	keys, err := l.keymap()
	if err != nil {
		return err
	}
	if l.Theme == nil {
		if _, stays := theme.ByName(v.theme.Name); !stays {
			v.theme = v.o.defaultTheme(v.background.current)
		}
	}
	v.endPrefix()
	v.locked = v.locked && keys.Mode(keymap.Locked) != nil
	v.o.LiveOptions, v.keys, v.needsRedraw, v.m.DisabledAlerts, v.m.TabsLast = l, keys, true, l.Alerts, l.Tmux
	v.canvas.UseASCII(v.o.ascii())
	v.panes.SetLocalEcho(l.Predict)
	v.setImageMode()
	if l.Theme != nil && !v.o.NoColor {
		v.theme, v.chosen = l.Theme, ""
	}
	return nil
}

// ascii reports whether the viewer's symbols use ASCII.
func (o *Options) ascii() bool {
	return o.Glyphs == "ascii" || o.Glyphs != "unicode" && o.Screen.CharacterSet() != "UTF-8"
}

// defaultTheme returns the theme that suits the terminal.
func (o *Options) defaultTheme(background theme.Background) *theme.Theme {
	return theme.Default(o.Screen.Colors(), background, os.Getenv)
}

// terminalTheme returns the theme reduced to the colours of the terminal.
func (v *viewer) terminalTheme() *theme.Theme { return v.theme.Adapt(v.o.Screen.Colors()) }

// watchOptions applies changed options as they arrive.
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

// watchOrders carries out orders as they arrive.
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
					v.needsRedraw = true
					why := v.m.ApplyOrder(&o, v.paneArea())
					if o.Answer != nil { // the reply goes to the requester; no message here
						o.Answer(why)
					}
				})
			}
		}
	})
}

// restoreTheme uses the theme of the last run, unless an option sets one.
func (v *viewer) restoreTheme(name string) {
	for _, t := range v.themes() {
		if t.Name == name && v.o.Theme == nil && !v.o.NoColor {
			v.theme, v.chosen, v.needsRedraw = t, t.Name, true
		}
	}
}

// chosenTheme returns the theme that the user chose, or "".
func (v *viewer) chosenTheme() string { return v.chosen }

// themes returns the available themes.
func (v *viewer) themes() []*theme.Theme {
	return append(slices.Clone(theme.Themes), v.o.Themes...)
}

func (o *Options) defaults() error {
	o.LiveOptions.defaults()
	o.onBackground = func(theme.Background) {}
	o.NoColor = o.NoColor || canvas.NoColor()
	var err error
	if o.Screen, err = canvas.Terminal(o.Screen, o.OpenTTY, func(g theme.Background) { o.onBackground(g) }); err != nil {
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
	v.theme, v.chosen, v.needsRedraw = t, t.Name, true
	v.message = "theme: " + t.Name
}

func nextTheme(v *viewer) {
	all := v.themes()
	i := slices.IndexFunc(all, func(t *theme.Theme) bool { return t.Name == v.theme.Name })
	v.setTheme(all[(i+1)%len(all)])
}
