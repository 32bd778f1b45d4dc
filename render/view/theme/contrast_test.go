package theme

import (
	"math"
	"testing"

	"github.com/gdamore/tcell/v2"
)

// Usual backgrounds of terminals.
var (
	darkGrounds  = colours(0x000000, 0x1e1e1e, 0x282c34, 0x2e3440, 0x002b36)
	lightGrounds = colours(0xffffff, 0xfdf6e3, 0xeeeeee)
)

func colours(hex ...int32) (list []tcell.Color) {
	for _, h := range hex {
		list = append(list, tcell.NewHexColor(h))
	}
	return list
}

// TestContrast checks that each pair of colours that can meet on the screen is readable.
//
// FEATURES: R76
func TestContrast(t *testing.T) {
	for _, c := range []struct {
		theme   *Theme
		grounds []tcell.Color
	}{
		{Dark, darkGrounds}, {Light, lightGrounds}, {HighContrast, append(darkGrounds, lightGrounds...)},
		{Dark.Adapt(256), darkGrounds}, {Light.Adapt(256), lightGrounds}, {HighContrast.Adapt(256), append(darkGrounds, lightGrounds...)},
	} {
		seen := 0
		for _, p := range c.theme.Pairs(c.grounds...) {
			fg, bg, _ := p.Style.Decompose()
			seen++
			if got := Contrast(fg, bg); got < p.MinContrast || !isKnown(fg) || !isKnown(bg) || c.theme.is256Color && fg.IsRGB() {
				t.Errorf("%s, %s: #%06x on #%06x has a contrast of %.2f; want %.1f", c.theme.Name, p.Name, fg.Hex(), bg.Hex(), got, p.MinContrast)
			}
		}
		if seen < 50 {
			t.Errorf("%s: %d pairs", c.theme.Name, seen)
		}
	}
	for _, p := range Mono.Pairs(tcell.ColorDefault) { // the terminal chooses the look of attributes
		if fg, bg, _ := p.Style.Decompose(); fg != tcell.ColorDefault || bg != tcell.ColorDefault {
			t.Errorf("mono, %s: has colours", p.Name)
		}
	}
}

// TestContrastRatio checks that the ratio is the standard's, by its examples.
func TestContrastRatio(t *testing.T) {
	for _, c := range []struct {
		a, b int32
		want float64
	}{{0x000000, 0xffffff, 21}, {0x777777, 0xffffff, 4.48}, {0xff0000, 0xffffff, 4.00}, {0x123456, 0x123456, 1}} {
		if got := Contrast(tcell.NewHexColor(c.a), tcell.NewHexColor(c.b)); math.Abs(got-c.want) > 0.01 {
			t.Errorf("#%06x on #%06x: %.3f; want %.2f", c.a, c.b, got, c.want)
		}
	}
}

// TestMeaningsCanBeRead checks that a custom theme with unsuitable colours is still readable where colours have a
// meaning.
func TestMeaningsCanBeRead(t *testing.T) {
	th, err := Custom("x", map[string]string{"background": "#ff0000", "text": "#000000", "bad": "#fe0000", "good": "#ff0001"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []tcell.Color{th.Bad, th.Good} {
		fg, bg, _ := th.On(th.Status, c).Decompose()
		if got := Contrast(fg, bg); got < TextContrast {
			t.Errorf("#%06x on #%06x: %.2f", fg.Hex(), bg.Hex(), got)
		}
	}
}
