package view

import (
	"fmt"
	"os"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/theme"
	"github.com/longterm-dev/longterm/vterm"
)

// Options configure the viewer. The zero value is the default; what is nil cannot be
// done.
type Options struct {
	Screen    tcell.Screen // default: this process's terminal
	Prefix    vterm.Key    // default Ctrl-Space
	Keys      map[string][]string
	Only      []string // ids of the sessions to show; default: all that run
	Layout    string   // name of the layout to begin with; default: the last one
	Theme     *theme.Theme
	NoColor   bool // attributes only; NO_COLOR in the environment does the same
	Home      string
	History   History
	Steward   Steward
	Layouts   Layouts
	Clipboard Clipboard
	Footer    Footer
	Now       func() time.Time
	Tick      <-chan time.Time      // when durations are drawn anew; default: once a second
	Drawn     func(d time.Duration) // told of every frame: how long it took
}

func (o *Options) defaults() error {
	o.NoColor = o.NoColor || os.Getenv("NO_COLOR") != ""
	if o.Screen == nil {
		s, err := tcell.NewScreen()
		if err != nil {
			return fmt.Errorf("the terminal: %w", err)
		}
		o.Screen = s
	}
	if o.Prefix.Code == 0 {
		o.Prefix = vterm.Key{Code: ' ', Mods: vterm.Ctrl}
	}
	if o.Prefix.Code == vterm.KeySpace {
		o.Prefix.Code = ' '
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
