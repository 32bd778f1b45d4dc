package theme

import (
	"testing"

	"github.com/gdamore/tcell/v2"
)

// FEATURES: R76
func TestCustom(t *testing.T) {
	th, err := Custom("night", map[string]string{"background": "#102030", "bar": "bright-blue", "accent": "200", "bad": "default", "text": "#fff"})
	if err != nil {
		t.Fatal(err)
	}
	ground := func(st tcell.Style) tcell.Color { _, bg, _ := st.Decompose(); return bg }
	for _, c := range []struct{ got, want tcell.Color }{
		{ground(th.Status), tcell.NewHexColor(0x102030)}, {ground(th.Panel), tcell.NewHexColor(0x102030)},
		{ground(th.Bar), tcell.PaletteColor(12)}, {ground(th.TabActive), tcell.PaletteColor(200)}, {th.Bad, tcell.ColorDefault}, {th.Good, Dark.Good},
	} {
		if c.got != c.want {
			t.Errorf("%v; want %v", c.got, c.want)
		}
	}
	if Dark.Bad == tcell.ColorDefault || th.Name != "night" || Next(th) != Dark {
		t.Error("dark is another one now")
	}
	for part, colour := range map[string]string{"ceiling": "red", "bar": "blurple", "panel": "#12345", "dim": "256"} {
		if _, err := Custom("x", map[string]string{part: colour}); err == nil {
			t.Errorf("%s = %s is accepted", part, colour)
		}
	}
}
