// Package theme holds the styles of the viewer's own parts: status bar, title rows, panels. Sessions keep the colours
// of their programs.
package theme

import (
	"strings"

	"github.com/gdamore/tcell/v2"
)

// Theme is a set of styles. Semantic colours (Good, Bad, …) are foregrounds for any background.
type Theme struct {
	Name string

	Bar, BarKey, BarDim tcell.Style // last row
	Tab, TabActive      tcell.Style
	Message, Alarm      tcell.Style // messages and questions

	Status, StatusFocus     tcell.Style // a pane's first row
	StatusDim, FocusDim     tcell.Style
	Separator, SeparatorNow tcell.Style // next to the focused pane

	Panel, PanelTitle, PanelKey, PanelDim, PanelSelected, PanelMatch tcell.Style
	PanelEdge, Dimmed                                                tcell.Style // a panel's border, and what lies below it

	Found, FoundNow, Selected tcell.Style
	Outside                   tcell.Style // area that a session's screen does not cover

	Good, Bad, Warn, Busy, Wants tcell.Color // semantic colours; ColorDefault: the surrounding foreground

	is256Color bool // converted to 256 colours
}

var plain = tcell.StyleDefault

// Themes lists the built-in themes, in the order of Next.
var Themes = []*Theme{Dark, Light, HighContrast, Terminal, Mono}

func hex(fg, bg int32) tcell.Style {
	return plain.Foreground(tcell.NewHexColor(fg)).Background(tcell.NewHexColor(bg))
}

func ink(fg int32) tcell.Style { return plain.Foreground(tcell.NewHexColor(fg)) }

// Dark is for dark terminals with many colours.
var Dark = &Theme{
	Name: "dark",
	Bar:  hex(0xb8c0d0, 0x1b2029), BarKey: hex(0x7fb4ff, 0x1b2029).Bold(true), BarDim: hex(0x8e97a8, 0x1b2029),
	Tab: hex(0xa4adbf, 0x1b2029), TabActive: hex(0xffffff, 0x35507f).Bold(true),
	Message: hex(0x10141b, 0xe0c06a), Alarm: hex(0xffffff, 0xb3404a).Bold(true),
	Status: hex(0xb4bdcc, 0x252b36), StatusFocus: hex(0xffffff, 0x35507f).Bold(true),
	StatusDim: hex(0x97a0b1, 0x252b36), FocusDim: hex(0xc6d5ee, 0x35507f),
	Separator: ink(0x757e90), SeparatorNow: ink(0x78a6f0).Bold(true),
	Panel: hex(0xd2d8e4, 0x20262f), PanelTitle: hex(0xffffff, 0x35507f).Bold(true), PanelKey: hex(0x7fb4ff, 0x20262f).Bold(true),
	PanelDim: hex(0x98a2b4, 0x20262f), PanelSelected: hex(0xffffff, 0x35507f), PanelMatch: hex(0xe0c06a, 0x20262f).Bold(true),
	PanelEdge: hex(0x6f8fc8, 0x20262f), Dimmed: ink(0x757e90),
	Found: hex(0x10141b, 0xb59a4c), FoundNow: hex(0x10141b, 0xffb454).Bold(true), Selected: hex(0xffffff, 0x3f5f99),
	Outside: ink(0x757e90),
	Good:    tcell.NewHexColor(0x8bd48b), Bad: tcell.NewHexColor(0xff7a7a), Warn: tcell.NewHexColor(0xf0c060),
	Busy: tcell.NewHexColor(0x7fc8ff), Wants: tcell.NewHexColor(0xffb454),
}

// Light is for light terminals with many colours.
var Light = &Theme{
	Name: "light",
	Bar:  hex(0x3a4252, 0xe4e8ef), BarKey: hex(0x1f5fbf, 0xe4e8ef).Bold(true), BarDim: hex(0x566072, 0xe4e8ef),
	Tab: hex(0x4a5365, 0xe4e8ef), TabActive: hex(0xffffff, 0x2566c0).Bold(true),
	Message: hex(0x201a00, 0xf2d27a), Alarm: hex(0xffffff, 0xc0303c).Bold(true),
	Status: hex(0x384152, 0xdbe1ea), StatusFocus: hex(0x0b2a5c, 0xaecbfa).Bold(true),
	StatusDim: hex(0x525c6e, 0xdbe1ea), FocusDim: hex(0x2c4a80, 0xaecbfa),
	Separator: ink(0x7d8595), SeparatorNow: ink(0x2566c0).Bold(true),
	Panel: hex(0x222833, 0xf3f5f9), PanelTitle: hex(0xffffff, 0x2566c0).Bold(true), PanelKey: hex(0x1f5fbf, 0xf3f5f9).Bold(true),
	PanelDim: hex(0x5c6678, 0xf3f5f9), PanelSelected: hex(0xffffff, 0x2566c0), PanelMatch: hex(0x9a5400, 0xf3f5f9).Bold(true),
	PanelEdge: hex(0x4a7cc4, 0xf3f5f9), Dimmed: ink(0x7d8595),
	Found: hex(0x201a00, 0xf2d27a), FoundNow: hex(0x201a00, 0xffa640).Bold(true), Selected: hex(0x10203f, 0xb8d2ff),
	Outside: ink(0x7d8595),
	Good:    tcell.NewHexColor(0x107a30), Bad: tcell.NewHexColor(0xb01020), Warn: tcell.NewHexColor(0x8a5a00),
	Busy: tcell.NewHexColor(0x0a5fa8), Wants: tcell.NewHexColor(0xa04a00),
}

// HighContrast uses pure colours and many attributes.
var HighContrast = &Theme{
	Name: "high-contrast",
	Bar:  hex(0xffffff, 0x000000), BarKey: hex(0xffff00, 0x000000).Bold(true), BarDim: hex(0xffffff, 0x000000),
	Tab: hex(0xffffff, 0x000000), TabActive: hex(0x000000, 0xffff00).Bold(true),
	Message: hex(0x000000, 0xffffff).Bold(true), Alarm: hex(0xffffff, 0xd00000).Bold(true),
	Status: hex(0xffffff, 0x303030), StatusFocus: hex(0x000000, 0xffff00).Bold(true),
	StatusDim: hex(0xffffff, 0x303030), FocusDim: hex(0x000000, 0xffff00),
	Separator: hex(0xffffff, 0x000000), SeparatorNow: hex(0xffff00, 0x000000).Bold(true),
	PanelEdge: hex(0xffffff, 0x000000), Dimmed: hex(0xb0b0b0, 0x000000),
	Panel: hex(0xffffff, 0x000000), PanelTitle: hex(0x000000, 0xffff00).Bold(true), PanelKey: hex(0xffff00, 0x000000).Bold(true),
	PanelDim: hex(0xffffff, 0x000000), PanelSelected: hex(0x000000, 0xffffff).Bold(true), PanelMatch: hex(0x00ffff, 0x000000).Bold(true).Underline(true),
	Found: hex(0x000000, 0x00ffff), FoundNow: hex(0x000000, 0xffff00).Bold(true).Underline(true), Selected: hex(0x000000, 0xffffff),
	Outside: hex(0xffffff, 0x000000),
}

func index(fg, bg int) tcell.Style {
	return plain.Foreground(tcell.PaletteColor(fg)).Background(tcell.PaletteColor(bg))
}

// Terminal uses the terminal's own sixteen colours.
var Terminal = &Theme{
	Name: "terminal",
	Bar:  plain.Reverse(true).Dim(true), BarKey: plain.Reverse(true).Bold(true), BarDim: plain.Reverse(true).Dim(true),
	Tab: plain.Reverse(true).Dim(true), TabActive: index(15, 4).Bold(true),
	Message: index(0, 3), Alarm: index(15, 1).Bold(true),
	Status: plain.Reverse(true).Dim(true), StatusFocus: index(15, 4).Bold(true),
	StatusDim: plain.Reverse(true).Dim(true), FocusDim: index(15, 4),
	Separator: plain.Dim(true), SeparatorNow: plain.Foreground(tcell.PaletteColor(4)),
	// A panel has the terminal's own background: dim text on a reversed one is a box of another colour.
	PanelEdge: plain, Dimmed: plain.Dim(true),
	Panel: plain, PanelTitle: index(15, 4).Bold(true), PanelKey: plain.Bold(true),
	PanelDim: plain.Dim(true), PanelSelected: index(15, 4).Bold(true), PanelMatch: plain.Bold(true).Underline(true),
	Found: index(0, 3), FoundNow: index(0, 11).Bold(true), Selected: index(15, 4),
	Outside: plain.Dim(true),
}

// Mono uses attributes only.
var Mono = &Theme{
	Name: "mono",
	Bar:  plain.Dim(true), BarKey: plain.Bold(true), BarDim: plain.Dim(true),
	Tab: plain.Dim(true), TabActive: plain.Reverse(true).Bold(true),
	Message: plain.Reverse(true).Bold(true), Alarm: plain.Reverse(true).Bold(true),
	Status: plain.Reverse(true).Dim(true), StatusFocus: plain.Reverse(true).Bold(true),
	StatusDim: plain.Reverse(true).Dim(true), FocusDim: plain.Reverse(true),
	Separator: plain.Dim(true), SeparatorNow: plain.Bold(true),
	PanelEdge: plain.Reverse(true), Dimmed: plain.Dim(true),
	Panel: plain.Reverse(true), PanelTitle: plain.Bold(true).Underline(true), PanelKey: plain.Reverse(true).Bold(true),
	PanelDim: plain.Reverse(true).Dim(true), PanelSelected: plain.Bold(true), PanelMatch: plain.Reverse(true).Bold(true).Underline(true),
	Found: plain.Reverse(true), FoundNow: plain.Reverse(true).Bold(true).Underline(true), Selected: plain.Reverse(true),
	Outside: plain.Dim(true),
}

// ByName finds a theme.
func ByName(name string) (*Theme, bool) {
	for _, t := range Themes {
		if t.Name == name {
			return t, true
		}
	}
	return nil, false
}

// Names returns the names of the built-in themes.
func Names() []string {
	var out []string
	for _, t := range Themes {
		out = append(out, t.Name)
	}
	return out
}

// Next returns the theme after another.
func Next(t *Theme) *Theme {
	for i := range Themes {
		if Themes[i] == t {
			return Themes[(i+1)%len(Themes)]
		}
	}
	return Themes[0]
}

// Default returns the theme for a terminal with a number of colours. The background that the terminal reported counts
// first, then COLORFGBG in its environment.
func Default(colors int, background Background, env func(string) string) *Theme {
	_, bg, known := strings.Cut(env("COLORFGBG"), ";")
	bg = bg[strings.LastIndex(bg, ";")+1:]
	switch {
	case env("NO_COLOR") != "":
		return Mono
	case colors < 256:
		return Terminal
	case background == LightBackground, background == UnknownBackground && known && (bg == "7" || bg == "15"):
		return Light
	}
	return Dark
}
