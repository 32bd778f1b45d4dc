package view

import (
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/overlays"
)

// open shows an overlay in the place of another one.
func (v *viewer) open(o overlays.Overlay) {
	v.over, v.fresh = o, true
	v.mode, v.table = modeInput, nil
}

// overlayScreen is what overlays draw on.
func (v *viewer) overlayScreen() *overlays.Screen {
	return &overlays.Screen{Canvas: &v.canvas, Theme: v.look(), Keys: v.keys, Bar: &v.bar, Preview: v.drawPreview}
}

// overlayDone does what an overlay wants done.
func (v *viewer) overlayDone(r overlays.Result) {
	if r.Close {
		v.closeOverlay()
	}
	if r.Do != nil {
		r.Do()
	}
}

// closeOverlay gives keyboard and mouse back.
func (v *viewer) closeOverlay() {
	v.over, v.fresh = nil, true
	v.panes.StopPreview()
}

// drawPreview shows a session's live screen in a list.
func (v *viewer) drawPreview(at layout.Rect, id string) { v.panes.DrawPreview(&v.canvas, at, id) }
