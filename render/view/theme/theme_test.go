package theme

import (
	"testing"

	"github.com/gdamore/tcell/v2"
)

// FEATURES: R76
func TestDefault(t *testing.T) {
	for _, c := range []struct {
		colors int
		ground Background
		env    map[string]string
		want   *Theme
	}{
		{1 << 24, UnknownBackground, nil, Dark}, {256, LightBackground, nil, Light}, {256, LightBackground, map[string]string{"COLORFGBG": "15;0"}, Light},
		{256, DarkBackground, map[string]string{"COLORFGBG": "0;15"}, Dark}, {16, LightBackground, nil, Terminal}, {256, UnknownBackground, map[string]string{"COLORFGBG": "15;0"}, Dark}, {256, UnknownBackground, map[string]string{"COLORFGBG": "0;15"}, Light},
		{256, UnknownBackground, map[string]string{"COLORFGBG": "0;default;15"}, Light}, {16, UnknownBackground, nil, Terminal}, {1 << 24, UnknownBackground, map[string]string{"NO_COLOR": "1"}, Mono},
	} {
		if got := Default(c.colors, c.ground, func(k string) string { return c.env[k] }); got != c.want {
			t.Errorf("%d colours, %v, %v: %s; want %s", c.colors, c.ground, c.env, got.Name, c.want.Name)
		}
	}
}

func TestMonoHasNoColour(t *testing.T) {
	for _, st := range []tcell.Style{Mono.Bar, Mono.TabActive, Mono.Alarm, Mono.StatusFocus, Mono.Panel, Mono.PanelSelected, Mono.Found, Mono.Selected, Mono.Outside, Mono.On(Mono.Bar, Mono.Bad)} {
		if fg, bg, _ := st.Decompose(); fg != tcell.ColorDefault || bg != tcell.ColorDefault {
			t.Errorf("%v on %v", fg, bg)
		}
	}
	n := Dark
	for range Themes {
		n = Next(n)
	}
	if n != Dark {
		t.Error("the cycle of themes does not end at its start")
	}
	for _, name := range Names() {
		if th, ok := ByName(name); !ok || th.Name != name {
			t.Error(name)
		}
	}
}
