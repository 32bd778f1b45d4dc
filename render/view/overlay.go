package view

import (
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/overlays"
)

// open shows an overlay in place of the current one.
func (v *viewer) open(o overlays.Overlay) {
	v.overlay, v.needsRedraw = o, true
	v.mode, v.table = modeInput, nil
}

// overlayScreen returns the screen that overlays draw on.
func (v *viewer) overlayScreen() *overlays.Screen {
	return &overlays.Screen{Canvas: &v.canvas, Theme: v.terminalTheme(), Keys: v.keys, Bar: &v.bar, Preview: v.drawPreview}
}

// overlayDone carries out an overlay's result.
func (v *viewer) overlayDone(r overlays.Result) {
	if r.Close {
		v.closeOverlay()
	}
	if r.Then != nil {
		r.Then()
	}
}

// closeOverlay closes the overlay, so that keyboard and mouse return to the panes.
func (v *viewer) closeOverlay() {
	v.overlay, v.needsRedraw = nil, true
	v.panes.StopPreview()
}

// drawPreview shows a session's live screen in a list.
func (v *viewer) drawPreview(at layout.Rect, id string) { v.panes.DrawPreview(&v.canvas, at, id) }
