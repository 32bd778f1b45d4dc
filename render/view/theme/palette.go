package theme

import (
	"sync"

	"github.com/gdamore/tcell/v2"
)

// Terminals of 256 colours replace a theme's colours by the nearest of theirs, which can lose contrast: two similar
// greys may become the same. The theme is therefore converted beforehand to the nearest colours of equal contrast.

// fixedColors returns the colours that look the same on all 256-colour terminals: a cube and greys. Users may change
// the first sixteen.
func fixedColors() (list []tcell.Color) {
	for n := firstFixed; n < 256; n++ {
		list = append(list, tcell.PaletteColor(n))
	}
	return list
}

const firstFixed = 16

// isKnown reports whether the appearance of a colour is known.
func isKnown(c tcell.Color) bool {
	return c.IsRGB() || c.Valid() && c >= tcell.PaletteColor(firstFixed) && c < tcell.PaletteColor(256)
}

// adapted caches the themes converted to 256 colours, by theme.
var adapted sync.Map

// Adapt returns the theme adapted to a terminal with a number of colours.
func (t *Theme) Adapt(colors int) *Theme {
	if colors != 256 || t.is256Color {
		return t
	}
	if had, ok := adapted.Load(t); ok {
		return had.(*Theme)
	}
	few := *t
	few.is256Color = true
	for _, st := range few.styles() {
		*st = inPalette(*st)
	}
	for _, c := range []*tcell.Color{&few.Good, &few.Bad, &few.Warn, &few.Busy, &few.Wants} {
		*c = ink256(*c)
	}
	had, _ := adapted.LoadOrStore(t, &few)
	return had.(*Theme)
}

// styles returns all styles of a theme.
func (t *Theme) styles() []*tcell.Style {
	list := append(append(t.barStyles(), t.panelStyles()...), t.accentStyles()...)
	return append(list, &t.Message, &t.Alarm, &t.Status, &t.StatusDim, &t.Separator, &t.SeparatorNow, &t.Dimmed,
		&t.Found, &t.FoundNow, &t.Selected, &t.Outside)
}

// inPalette returns a style in fixed colours, with the same or sufficient contrast.
func inPalette(st tcell.Style) tcell.Style {
	fg, bg, _ := st.Decompose()
	if !fg.IsRGB() {
		return st
	}
	if !bg.IsRGB() {
		return st.Foreground(ink256(fg))
	}
	fixed := tcell.FindColor(bg, fixedColors())
	return st.Background(fixed).Foreground(fit(fg, fixed, min(TextContrast, Contrast(fg, bg))))
}

// ink256 returns a fixed colour for text on the terminal's own background, with at least the contrast that c has.
func ink256(c tcell.Color) tcell.Color {
	if !c.IsRGB() {
		return c
	}
	bg := tcell.NewHexColor(0xffffff)
	if black := tcell.NewHexColor(0); Contrast(c, black) > Contrast(c, bg) {
		bg = black
	}
	return fit(c, bg, Contrast(c, bg))
}

// fit returns the fixed colour nearest to c that has a minimum contrast to a background.
func fit(c, bg tcell.Color, least float64) tcell.Color {
	var far []tcell.Color
	for _, f := range fixedColors() {
		if Contrast(f, bg) >= least {
			far = append(far, f)
		}
	}
	return tcell.FindColor(c, far)
}
