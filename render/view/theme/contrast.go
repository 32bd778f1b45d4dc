package theme

import (
	"math"
	"sync"

	"github.com/gdamore/tcell/v2"
)

// Pair is a look that can be on the screen: what is drawn with it, and how far its foreground has to stand out.
type Pair struct {
	Name  string
	Style tcell.Style
	Least float64 // contrast
}

// Contrasts that are asked for (WCAG 2.2, 1.4.3 and 1.4.11): of text, and of lines, dots and what lies below a panel.
const (
	TextContrast = 4.5
	RuleContrast = 3
)

// Pairs are all looks that a theme can put on the screen, the colours with a meaning on each ground that they
// come on. Looks without a background stand on the terminal's own, which is one of grounds.
func (t *Theme) Pairs(grounds ...tcell.Color) []Pair {
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
	for _, bg := range grounds {
		list = append(list,
			Pair{"separator", over(t.Separator, bg), RuleContrast}, Pair{"separator now", over(t.SeparatorNow, bg), RuleContrast},
			Pair{"outside", over(t.Outside, bg), RuleContrast}, Pair{"veil", over(t.Veil, bg), RuleContrast},
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

// over is a style on a ground, if it has none of its own.
func over(st tcell.Style, ground tcell.Color) tcell.Style {
	if _, bg, _ := st.Decompose(); bg != tcell.ColorDefault {
		return st
	}
	return st.Background(ground)
}

// Contrast is how far two colours are apart: 1, not at all, to 21 (WCAG 2.2, "contrast ratio").
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

// On puts a meaning's colour on a style. On a ground on which it could not be read, it is moved towards the style's own
// foreground until it can.
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

// moving is what readable is asked.
type moving struct {
	c, towards, bg tcell.Color
	few            bool
}

// moved is what readable found, by what it was asked: each pane's first row asks at each drawing, and themes have few colours.
var moved sync.Map

// readable is a colour, moved towards another one until it can be read on a ground.
func (t *Theme) readable(c, towards, bg tcell.Color) tcell.Color {
	asked := moving{c, towards, bg, t.few}
	if found, ok := moved.Load(asked); ok {
		return found.(tcell.Color)
	}
	for range mixSteps {
		if Contrast(c, bg) >= TextContrast {
			break
		}
		c = mix(c, towards)
	}
	if t.few {
		c = fit(c, bg, TextContrast)
	}
	moved.Store(asked, c)
	return c
}

// mixSteps bound how often a colour is moved: after so many it is the other one.
const mixSteps = 12

// mix is a colour moved a quarter of the way to another one.
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
