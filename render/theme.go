package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/vterm"
)

// Theme holds the colours of a picture, 0xRRGGBB.
type Theme struct {
	Name      string
	FG, BG    uint32     // text and background that the program did not set
	Cursor    uint32     // the cursor's cell or line
	Selection uint32     // background of selected text, in viewers
	Colors    [16]uint32 // palette entries 0–15 that the program did not change
}

// SessionTheme is the name of the theme that consists of a session's own colours.
const SessionTheme = "session"

var themes = []Theme{
	{
		Name: "dark", FG: 0xd8dee9, BG: 0x16191d, Cursor: 0xd8dee9, Selection: 0x3b4a61,
		Colors: [16]uint32{
			0x363c47, 0xe0606a, 0x8cc265, 0xe3b45f, 0x3f7fd0, 0xc27fe0, 0x4bb8c4, 0xc8ced9,
			0x67707f, 0xff7b86, 0xa5e075, 0xf5cf7d, 0x82bbff, 0xdb9cf7, 0x6ad6e2, 0xffffff,
		},
	},
	{ // as far from white as from black, for programs that print both on colours and colours on the background
		Name: "light", FG: 0x24292f, BG: 0xffffff, Cursor: 0x24292f, Selection: 0xb6d7ff,
		Colors: [16]uint32{
			0x000000, 0xdd342e, 0x1d8740, 0xa16b00, 0x1371eb, 0xa650c5, 0x108190, 0x6e7781,
			0x57606a, 0xe35854, 0x219b49, 0xb87a00, 0x3586ef, 0xb269cd, 0x1294a5, 0x8c959f,
		},
	},
	{
		Name: "high-contrast", FG: 0xffffff, BG: 0x000000, Cursor: 0xffff00, Selection: 0x0050a0,
		Colors: [16]uint32{
			0x000000, 0xff5c5c, 0x33ff33, 0xffff33, 0x6ea8ff, 0xff6eff, 0x33ffff, 0xffffff,
			0xa0a0a0, 0xff8c8c, 0x8cff8c, 0xffff8c, 0xa0c8ff, 0xffa0ff, 0x8cffff, 0xffffff,
		},
	},
}

// ThemeNames returns the names of longterm's themes; the first is the default. ThemeFor also accepts CommonThemeNames.
func ThemeNames() []string {
	var names []string
	for i := range themes {
		names = append(names, themes[i].Name)
	}
	return append(names, SessionTheme)
}

// CommonThemeNames returns the names of themes that most terminals have.
func CommonThemeNames() []string {
	var names []string
	for i := range commonThemes {
		names = append(names, commonThemes[i].Name)
	}
	return names
}

// ThemeFor returns a theme by name ("" is the default) for a screen with a palette. Colours set by the program (OSC 4,
// 10–12) override the theme's, as in a terminal; the session theme uses only the palette. Case, blanks and hyphens in a
// name are ignored.
func ThemeFor(name string, p *vterm.Palette) (Theme, error) {
	if p == nil {
		p = defaultPalette
	}
	key := themeKey(name)
	if key == SessionTheme {
		t := Theme{Name: SessionTheme, FG: p.Foreground, BG: p.Background, Cursor: p.Cursor, Selection: 0x3b4a61}
		copy(t.Colors[:], p.Colors[:])
		return t, nil
	}
	for _, t := range slices.Concat(themes, commonThemes) {
		if themeKey(t.Name) == key || name == "" {
			t.adopt(p)
			return t, nil
		}
	}
	return Theme{}, fmt.Errorf("unknown theme %q; there are %s", name, strings.Join(append(ThemeNames(), CommonThemeNames()...), ", "))
}

// adopt copies the colours that the program changed from a palette.
func (t *Theme) adopt(p *vterm.Palette) {
	set := func(own *uint32, now, start uint32) {
		if now != start {
			*own = now
		}
	}
	set(&t.FG, p.Foreground, defaultPalette.Foreground)
	set(&t.BG, p.Background, defaultPalette.Background)
	set(&t.Cursor, p.Cursor, defaultPalette.Cursor)
	for i := range t.Colors {
		set(&t.Colors[i], p.Colors[i], defaultPalette.Colors[i])
	}
}

// ReverseVideo returns the theme with text and background swapped (DECSCNM). The cursor takes the old background, to stay
// visible.
func (t Theme) ReverseVideo() Theme {
	t.FG, t.BG, t.Cursor = t.BG, t.FG, t.BG
	return t
}

// Paint holds the final colours of a span's cells, after inverse, dim and conceal.
type Paint struct {
	FG, BG uint32
	// UL is the colour of the underline.
	UL uint32
	// Filled is set if the background differs from the screen's.
	Filled bool
	// Hidden is set if the text must be invisible (conceal).
	Hidden bool
}

// Paint returns a span's final colours.
func (t *Theme) Paint(s *Span) Paint {
	p := Paint{FG: t.color(s.FG, s.FGIndex, t.FG), BG: t.color(s.BG, s.BGIndex, t.BG), Hidden: s.Conceal}
	p.Filled = s.BG != "" || s.Inverse
	if s.Inverse {
		p.FG, p.BG = p.BG, p.FG
	}
	if s.Dim {
		p.FG = mix(p.FG, p.BG, 0.4)
	}
	p.UL = p.FG
	if s.ULColor != "" {
		p.UL = t.color(s.ULColor, nil, p.FG)
	}
	return p
}

// color returns a colour of a span. The theme replaces palette entries 0–15 by index, unless the span's value shows
// that the program changed the entry.
func (t *Theme) color(hex string, index *uint8, def uint32) uint32 {
	var rgb uint32
	if len(hex) != 7 || hex[0] != '#' {
		return def
	}
	for _, c := range []byte(hex[1:]) {
		d := hexDigit(c)
		if d < 0 {
			return def
		}
		rgb = rgb<<4 | uint32(d)
	}
	if index != nil && *index < 16 && rgb == defaultPalette.Colors[*index] {
		return t.Colors[*index]
	}
	return rgb
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// mix returns a colour between two others.
func mix(from, to uint32, part float64) uint32 {
	var out uint32
	for shift := 16; shift >= 0; shift -= 8 {
		a, b := float64(from>>shift&0xff), float64(to>>shift&0xff)
		out |= uint32(a+(b-a)*part+0.5) << shift
	}
	return out
}
