package view

import (
	"context"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/picture"
)

// queryGraphics queries which images the terminal can draw. Until it answers, images are drawn as blocks.
func (v *viewer) queryGraphics() {
	v.canvas.SetAsync(func(work func() func()) { v.runAsync(func(context.Context) func() { return work() }) })
	v.setImageMode()
	if v.o.NoColor {
		return
	}
	said := make(chan picture.Support, 16)
	canvas.QueryImageSupport(v.o.Screen, func(m picture.Support) {
		select {
		case said <- m:
		default: // more reports than a terminal sends
		}
	})
	v.spawn(func() {
		for {
			select {
			case m := <-said:
				v.later(func() {
					v.imageSupport = m
					v.setImageMode()
				})
			case <-v.ctx.Done():
				return
			}
		}
	})
}

// setImageMode sets how images are drawn: as configured, else by the best method that the terminal supports.
func (v *viewer) setImageMode() {
	m := v.imageSupport
	if k, ok := picture.ByName(v.o.Images); ok {
		m.Kind = k
	}
	if v.o.NoColor {
		m.Kind = picture.None
	}
	v.canvas.SetImageSupport(m)
}
