package theme

import (
	"sync"

	"github.com/gdamore/tcell/v2"
)

// Terminals of 256 colours show a theme's by those that come next to them, which can lose what made text stand out: of two
// greys that are near each other both can become the same. So a theme is told in the terminal's colours beforehand, by the
// nearest that stands out as well.

// fixed are the colours that look the same on all terminals of 256: a cube and greys. The first sixteen are the
// terminal's own.
func fixed() (list []tcell.Color) {
	for n := firstFixed; n < 256; n++ {
		list = append(list, tcell.PaletteColor(n))
	}
	return list
}

const firstFixed = 16

// isKnown says that it is known how a colour looks.
func isKnown(c tcell.Color) bool {
	return c.IsRGB() || c.Valid() && c >= tcell.PaletteColor(firstFixed) && c < tcell.PaletteColor(256)
}

// within are the themes that were told in 256 colours, by the theme.
var within sync.Map

// Within is the theme for a terminal with so many colours.
func (t *Theme) Within(colors int) *Theme {
	if colors != 256 || t.few {
		return t
	}
	if had, ok := within.Load(t); ok {
		return had.(*Theme)
	}
	few := *t
	few.few = true
	for _, st := range few.styles() {
		*st = inPalette(*st)
	}
	for _, c := range []*tcell.Color{&few.Good, &few.Bad, &few.Warn, &few.Busy, &few.Wants} {
		*c = ink256(*c)
	}
	had, _ := within.LoadOrStore(t, &few)
	return had.(*Theme)
}

// styles are all that a theme has.
func (t *Theme) styles() []*tcell.Style {
	list := append(append(t.barStyles(), t.panelStyles()...), t.accentStyles()...)
	return append(list, &t.Message, &t.Alarm, &t.Status, &t.StatusDim, &t.Separator, &t.SeparatorNow, &t.Veil,
		&t.Found, &t.FoundNow, &t.Selected, &t.Outside)
}

// inPalette is a style in fixed colours, as readable as it was or well enough.
func inPalette(st tcell.Style) tcell.Style {
	fg, bg, _ := st.Decompose()
	if !fg.IsRGB() {
		return st
	}
	if !bg.IsRGB() {
		return st.Foreground(ink256(fg))
	}
	ground := tcell.FindColor(bg, fixed())
	return st.Background(ground).Foreground(fit(fg, ground, min(TextContrast, Contrast(fg, bg))))
}

// ink256 is a fixed colour for what stands on the terminal's own ground: it is no nearer to that than the colour was.
func ink256(c tcell.Color) tcell.Color {
	if !c.IsRGB() {
		return c
	}
	ground := tcell.NewHexColor(0xffffff)
	if black := tcell.NewHexColor(0); Contrast(c, black) > Contrast(c, ground) {
		ground = black
	}
	return fit(c, ground, Contrast(c, ground))
}

// fit is the fixed colour next to one, of those that stand out so much from a ground.
func fit(c, ground tcell.Color, least float64) tcell.Color {
	var far []tcell.Color
	for _, f := range fixed() {
		if Contrast(f, ground) >= least {
			far = append(far, f)
		}
	}
	return tcell.FindColor(c, far)
}
