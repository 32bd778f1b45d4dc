package theme

import (
	"math"
	"sync"

	"github.com/gdamore/tcell/v2"
)

// Pair is a style that can appear on the screen, and the contrast that its foreground requires.
type Pair struct {
	Name        string
	Style       tcell.Style
	MinContrast float64 // contrast
}

// Required contrasts (WCAG 2.2, 1.4.3 and 1.4.11): for text, and for lines, dots and the dimmed area around a panel.
const (
	TextContrast = 4.5
	RuleContrast = 3
)

// Pairs returns all styles of the theme, with status colours on each background on which they appear. Styles without a
// background use the terminal's, one of backgrounds.
func (t *Theme) Pairs(backgrounds ...tcell.Color) []Pair {
	list := []Pair{
		{"bar", t.Bar, TextContrast}, {"bar key", t.BarKey, TextContrast}, {"bar dim", t.BarDim, TextContrast},
		{"tab", t.Tab, TextContrast}, {"tab active", t.TabActive, TextContrast},
		{"message", t.Message, TextContrast}, {"alarm", t.Alarm, TextContrast},
		{"status", t.Status, TextContrast}, {"status focus", t.StatusFocus, TextContrast},
		{"status dim", t.StatusDim, TextContrast}, {"focus dim", t.FocusDim, TextContrast},
		{"panel", t.Panel, TextContrast}, {"panel title", t.PanelTitle, TextContrast}, {"panel key", t.PanelKey, TextContrast},
		{"panel dim", t.PanelDim, TextContrast}, {"panel selected", t.PanelSelected, TextContrast}, {"panel match", t.PanelMatch, TextContrast},
		{"panel edge", t.PanelEdge, RuleContrast},
		{"found", t.Found, TextContrast}, {"found now", t.FoundNow, TextContrast}, {"selected", t.Selected, TextContrast},
	}
	for _, bg := range backgrounds {
		list = append(list,
			Pair{"separator", onBackground(t.Separator, bg), RuleContrast}, Pair{"separator now", onBackground(t.SeparatorNow, bg), RuleContrast},
			Pair{"outside", onBackground(t.Outside, bg), RuleContrast}, Pair{"dimmed", onBackground(t.Dimmed, bg), RuleContrast},
		)
		for _, c := range []tcell.Color{t.Good, t.Bad, t.Warn, t.Busy} { // in the prompt line
			if c != tcell.ColorDefault {
				list = append(list, Pair{"a meaning on the terminal", plain.Foreground(c).Background(bg), TextContrast})
			}
		}
	}
	for _, on := range []struct {
		name  string
		style tcell.Style
	}{{"bar", t.Bar}, {"tab", t.Tab}, {"status", t.Status}, {"status focus", t.StatusFocus}, {"panel", t.Panel}} {
		for _, meaning := range []struct {
			name  string
			color tcell.Color
		}{{"good", t.Good}, {"bad", t.Bad}, {"warn", t.Warn}, {"busy", t.Busy}, {"wants", t.Wants}} {
			list = append(list, Pair{meaning.name + " on " + on.name, t.On(on.style, meaning.color), TextContrast})
		}
	}
	return list
}

// onBackground returns a style with bg as its background, unless it has one.
func onBackground(st tcell.Style, bg tcell.Color) tcell.Style {
	if _, bg, _ := st.Decompose(); bg != tcell.ColorDefault {
		return st
	}
	return st.Background(bg)
}

// Contrast returns the contrast ratio of two colours: 1 (equal) to 21 (WCAG 2.2, "contrast ratio").
func Contrast(a, b tcell.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(c tcell.Color) float64 {
	r, g, b := c.RGB()
	sum := 0.0
	for i, v := range [...]int32{r, g, b} {
		part := float64(v) / 255
		if part <= 0.04045 {
			part /= 12.92
		} else {
			part = math.Pow((part+0.055)/1.055, 2.4)
		}
		sum += part * [...]float64{0.2126, 0.7152, 0.0722}[i]
	}
	return sum
}

// On returns a style with a semantic colour as its foreground. If that is unreadable on the style's background, it is
// moved towards the style's own foreground.
func (t *Theme) On(st tcell.Style, c tcell.Color) tcell.Style {
	if c == tcell.ColorDefault {
		return st
	}
	fg, bg, _ := st.Decompose()
	if !isKnown(fg) || !isKnown(bg) || !isKnown(c) { // the terminal knows what these look like
		return st.Foreground(c)
	}
	return st.Foreground(t.readable(c, fg, bg))
}

// readableKey is the key of readableCache: the arguments of readable.
type readableKey struct {
	c, towards, bg tcell.Color
	few            bool
}

// readableCache caches results of readable: each pane's title row needs it at each drawing, and themes have few colours.
var readableCache sync.Map

// readable returns c, moved towards another colour until it is readable on a background.
func (t *Theme) readable(c, towards, bg tcell.Color) tcell.Color {
	asked := readableKey{c, towards, bg, t.is256Color}
	if found, ok := readableCache.Load(asked); ok {
		return found.(tcell.Color)
	}
	for range mixSteps {
		if Contrast(c, bg) >= TextContrast {
			break
		}
		c = mix(c, towards)
	}
	if t.is256Color {
		c = fit(c, bg, TextContrast)
	}
	readableCache.Store(asked, c)
	return c
}

// mixSteps limits the steps by which a colour is moved; the last one reaches the other colour.
const mixSteps = 12

// mix returns a colour moved a quarter of the way to another one.
func mix(from, to tcell.Color) tcell.Color {
	r, g, b := from.RGB()
	r2, g2, b2 := to.RGB()
	return tcell.NewRGBColor(r+(r2-r+sign(r2-r)*3)/4, g+(g2-g+sign(g2-g)*3)/4, b+(b2-b+sign(b2-b)*3)/4)
}

func sign(n int32) int32 {
	switch {
	case n > 0:
		return 1
	case n < 0:
		return -1
	}
	return 0
}
