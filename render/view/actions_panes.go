package view

import (
	"fmt"
	"strings"

	"github.com/longterm-dev/longterm/render/view/overlays"
)

// moveToTab gives the pane a tab of its own, out of the one it is in, as a new tab leaves that one as it stands.
func moveToTab(v *viewer) {
	if len(v.m.Tabs) == 1 && len(v.m.Tiled(v.m.Tab())) > 1 {
		v.m.Manual(v.paneArea())
	}
	if !v.m.MoveToTab() {
		v.message = "it has a tab of its own"
	}
}

func lastPane(v *viewer) {
	if !v.m.Last() {
		v.message = "no other pane of this tab had the focus before"
	}
}

func lastTab(v *viewer) {
	if !v.m.LastTab() {
		v.message = "no other tab was shown before"
	}
}

func rearrange(v *viewer) {
	if name := v.m.Rearrange(v.paneArea()); name != "" {
		v.message = name
	}
}

// arranged gives the tab a ready-made arrangement, by its name.
func arranged(name string) action {
	return always(func(v *viewer) {
		if v.m.ArrangeAs(v.paneArea(), name) {
			v.message = name
		}
	})
}

func askPane(v *viewer) {
	v.open(&overlays.Number{Text: "go to pane", Take: v.goToPane})
}

// goToPane gives the pane of a number the focus.
func (v *viewer) goToPane(n int) {
	if n < 1 || n > len(v.m.Shown()) {
		v.message = fmt.Sprintf("no pane %d; they count from 1", n)
		return
	}
	v.m.Pick(n - 1)
}

// goToTab shows the tab of a number or a name.
func (v *viewer) goToTab(name string) {
	i, why := v.tabCalled(name)
	if why != "" {
		v.message = why
		return
	}
	v.m.Show(i)
}

func askTabName(v *viewer) {
	t, shown := v.m.Tab(), v.m.Title(v.m.Current)
	v.open(overlays.NewPrompt("name of the tab: ", shown, func(name string) {
		if name = strings.TrimSpace(name); name == shown && t.Name == "" {
			return // it goes on being called as what it shows
		}
		t.Name = name
	}))
}
