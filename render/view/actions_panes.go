package view

import (
	"strings"

	"github.com/longterm-dev/longterm/render/view/overlays"
)

// moveToTab gives the pane a tab of its own.
func moveToTab(v *viewer) {
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

func grow(v *viewer, stacked bool, by int) {
	if !v.m.Grow(v.paneArea(), stacked, by) {
		v.message = "there is no border to move"
	}
}

func rearrange(v *viewer) {
	if name := v.m.Rearrange(v.paneArea()); name != "" {
		v.message = name
	}
}

func askTabName(v *viewer) {
	t := v.m.Tab()
	v.open(overlays.NewPrompt("name of the tab: ", t.Name, func(name string) {
		t.Name = strings.TrimSpace(name)
	}))
}
