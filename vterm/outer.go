package vterm

import (
	"strings"

	"github.com/longterm-dev/longterm/vterm/internal/color"
)

// Outer describes the terminal that shows this one, for answers to programs. The defaults are reported for empty fields. Snapshots
// do not have it.
type Outer struct {
	// Colours as X11 specifies them (rgb:rrrr/gggg/bbbb).
	Foreground string `json:"fg,omitempty"`
	Background string `json:"bg,omitempty"`
	// Scheme is dark or light.
	Scheme string `json:"scheme,omitempty"`
	// Keys is "press" if the terminal reports neither releases of keys nor their alternates (kitty keyboard protocol), "all" if it
	// does.
	Keys string `json:"keys,omitempty"`
}

// Values of Outer.
const (
	SchemeDark, SchemeLight = "dark", "light"
	KeysPress, KeysAll      = "press", "all"
)

// SetOuter sets the answers to programs about the terminal around this one. Programs that follow the colour scheme (mode 2031)
// get a report if it changes.
func (t *Terminal) SetOuter(o Outer) {
	t.opts.outer = o
	if o.Scheme != "" {
		t.SetLightScheme(o.Scheme == SchemeLight)
	}
}

// spec returns the specification of a dynamic colour for an answer: of one that no program has set that of the outer terminal.
func (c *colors) spec(i int) string {
	if i < 2 && c.outer != nil && c.Dynamic[i] == [...]uint32{color.Defaults.Foreground, color.Defaults.Background}[i] {
		of := [...]string{c.outer.Foreground, c.outer.Background}[i]
		if v, ok := color.Parse(of); ok && strings.HasPrefix(of, "rgb") {
			return color.Format(v)
		}
	}
	return color.Format(c.Dynamic[i])
}

// reportedKitty returns the keyboard flags in force, without those that the outer terminal cannot serve.
func (t *Terminal) reportedKitty() uint8 {
	flags := t.kitty[t.slot()].flags()
	if t.opts.outer.Keys == KeysPress {
		flags &^= KittyEventTypes | KittyAlternateKeys
	}
	return flags
}
