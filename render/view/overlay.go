package view

import (
	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/overlays"
)

// open shows an overlay in the place of another one.
func (v *viewer) open(o overlays.Overlay) {
	v.over, v.fresh = o, true
	v.mode = modeInput
}

// overlayScreen is what overlays draw on.
func (v *viewer) overlayScreen() *overlays.Screen {
	return &overlays.Screen{Canvas: &v.canvas, Theme: v.theme, Keys: v.keys, Bar: &v.bar, Preview: v.drawPreview}
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
	v.stopPreview()
}

// preview is a session shown in a list.
type preview struct {
	p    *pane
	want string
}

// drawPreview shows a session's live screen.
func (v *viewer) drawPreview(at layout.Rect, id string) {
	if v.preview.want != id {
		v.stopPreview()
		v.preview.want = id
		if id != "" {
			v.preview.p = v.watch(id, layout.Rect{W: at.W, H: at.H + 1}, 0, 0)
		}
	}
	p := v.preview.p
	for i := range at.H {
		var line *render.Line
		if p != nil {
			line = p.row(i)
		}
		v.canvas.Line(layout.Rect{X: at.X, Y: at.Y + i, W: at.W, H: 1}, line, at.W, 0, p != nil && p.modes.ReverseVideo)
	}
}

func (v *viewer) stopPreview() {
	if v.preview.p != nil {
		v.preview.p.stream.Close()
	}
	v.preview = preview{}
}
