package view

import (
	"fmt"
	"strings"

	"github.com/longterm-dev/longterm/render/view/overlays"
)

// moveToTab moves the pane from its tab to a new tab. The old tab keeps its arrangement, as with newTabOf.
func moveToTab(v *viewer) {
	if len(v.m.Tabs) == 1 && len(v.m.TiledPanes(v.m.Tab())) > 1 {
		v.m.MakeManual(v.paneArea())
	}
	if !v.m.MoveToTab() {
		v.message = "pane is already alone in its tab"
	}
}

func lastPane(v *viewer) {
	if !v.m.Last() {
		v.message = "no previous pane in this tab"
	}
}

func lastTab(v *viewer) {
	if !v.m.LastTab() {
		v.message = "no previous tab"
	}
}

func rearrange(v *viewer) {
	if name := v.m.Rearrange(v.paneArea()); name != "" {
		v.message = name
	}
}

// arrangeAs returns an action that applies a built-in arrangement to the tab.
func arrangeAs(name string) action {
	return always(func(v *viewer) {
		if v.m.ArrangeAs(v.paneArea(), name) {
			v.message = name
		}
	})
}

func askPane(v *viewer) {
	v.open(&overlays.DigitPrompt{Text: "go to pane", Take: v.goToPane})
}

// goToPane focuses the pane with a number.
func (v *viewer) goToPane(n int) {
	if n < 1 || n > len(v.m.ShownPanes()) {
		v.message = fmt.Sprintf("no pane %d; panes count from 1", n)
		return
	}
	v.m.Pick(n - 1)
}

// goToTab shows the tab with a number or a name.
func (v *viewer) goToTab(name string) {
	i, why := v.tabNamed(name)
	if why != "" {
		v.message = why
		return
	}
	v.m.Show(i)
}

func askTabName(v *viewer) {
	t, shown := v.m.Tab(), v.m.Title(v.m.Current)
	v.open(overlays.NewPrompt("tab name: ", shown, func(name string) {
		if name = strings.TrimSpace(name); name == shown && t.Name == "" {
			return // an unnamed tab keeps its automatic title
		}
		t.Name = name
	}))
}
