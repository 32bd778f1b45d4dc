package theme

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gdamore/tcell/v2"
)

// Part is a part of a theme that users may colour; later parts override earlier ones.
type Part struct {
	Name, Help string
	put        func(t *Theme, c tcell.Color)
}

func foreground(c tcell.Color, styles ...*tcell.Style) {
	for _, st := range styles {
		*st = st.Foreground(c)
	}
}

func background(c tcell.Color, styles ...*tcell.Style) {
	for _, st := range styles {
		*st = st.Background(c)
	}
}

// Parts lists the parts that a custom theme may set. It inherits the others from Dark.
var Parts = []Part{
	{"background", "behind bar, status rows and panels", func(t *Theme, c tcell.Color) {
		background(c, t.barStyles()...)
		background(c, &t.Status, &t.StatusDim)
		background(c, t.panelStyles()...)
	}},
	{"bar", "behind the last row", func(t *Theme, c tcell.Color) { background(c, t.barStyles()...) }},
	{"status", "behind a pane's first row", func(t *Theme, c tcell.Color) { background(c, &t.Status, &t.StatusDim) }},
	{"panel", "behind lists and help", func(t *Theme, c tcell.Color) { background(c, t.panelStyles()...) }},
	{"text", "text on these", func(t *Theme, c tcell.Color) { foreground(c, &t.Bar, &t.Tab, &t.Status, &t.Panel) }},
	{"dim", "secondary text and borders", func(t *Theme, c tcell.Color) {
		foreground(c, &t.BarDim, &t.StatusDim, &t.PanelDim, &t.PanelEdge, &t.Separator, &t.Outside, &t.Dimmed)
	}},
	{"key", "keys in hints and help", func(t *Theme, c tcell.Color) { foreground(c, &t.BarKey, &t.PanelKey) }},
	{"accent", "behind the focused pane's status, the current tab and the chosen row", func(t *Theme, c tcell.Color) {
		background(c, t.accentStyles()...)
		foreground(c, &t.SeparatorNow)
	}},
	{"accent-text", "text on it", func(t *Theme, c tcell.Color) { foreground(c, t.accentStyles()...) }},
	{"message", "behind the viewer's messages", func(t *Theme, c tcell.Color) { background(c, &t.Message) }},
	{"alarm", "behind questions", func(t *Theme, c tcell.Color) { background(c, &t.Alarm) }},
	{"found", "behind search matches", func(t *Theme, c tcell.Color) { background(c, &t.Found, &t.FoundNow) }},
	{"selected", "behind selected text", func(t *Theme, c tcell.Color) { background(c, &t.Selected) }},
	{"good", "success", func(t *Theme, c tcell.Color) { t.Good = c }},
	{"bad", "failure", func(t *Theme, c tcell.Color) { t.Bad = c }},
	{"warn", "warnings", func(t *Theme, c tcell.Color) { t.Warn = c }},
	{"busy", "running commands", func(t *Theme, c tcell.Color) { t.Busy = c }},
	{"wants", "sessions that need input", func(t *Theme, c tcell.Color) { t.Wants = c }},
}

func (t *Theme) barStyles() []*tcell.Style {
	return []*tcell.Style{&t.Bar, &t.BarKey, &t.BarDim, &t.Tab}
}

func (t *Theme) panelStyles() []*tcell.Style {
	return []*tcell.Style{&t.Panel, &t.PanelKey, &t.PanelDim, &t.PanelMatch, &t.PanelEdge}
}

func (t *Theme) accentStyles() []*tcell.Style {
	return []*tcell.Style{&t.TabActive, &t.StatusFocus, &t.FocusDim, &t.PanelTitle, &t.PanelSelected}
}

// Custom returns a theme with colours by part: #rrggbb, #rgb, 0 to 255, default, or a name such as red or bright-blue.
func Custom(name string, colours map[string]string) (*Theme, error) {
	t := *Dark
	t.Name = name
	for part := range colours {
		if !slices.ContainsFunc(Parts, func(p Part) bool { return p.Name == part }) {
			return nil, fmt.Errorf("theme %s: unknown part %q", name, part)
		}
	}
	for _, p := range Parts {
		text, given := colours[p.Name]
		if !given {
			continue
		}
		c, ok := ParseColor(text)
		if !ok {
			return nil, fmt.Errorf("theme %s: invalid colour %q", name, text)
		}
		p.put(&t, c)
	}
	return &t, nil
}

var colorNames = []string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"}

// ParseColor parses a colour.
func ParseColor(text string) (tcell.Color, bool) {
	text = strings.ToLower(text)
	if text == "default" {
		return tcell.ColorDefault, true
	}
	if n, err := strconv.Atoi(text); err == nil {
		return tcell.PaletteColor(n), n >= 0 && n < 256
	}
	if hex, ok := strings.CutPrefix(text, "#"); ok {
		if len(hex) == 3 {
			hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
		}
		n, err := strconv.ParseUint(hex, 16, 32)
		return tcell.NewHexColor(int32(n)), err == nil && len(hex) == 6
	}
	name, bright := strings.CutPrefix(text, "bright-")
	n := slices.Index(colorNames, name)
	if bright {
		n += 8
	}
	return tcell.PaletteColor(n), slices.Contains(colorNames, name)
}
