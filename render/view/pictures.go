package view

import (
	"context"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/picture"
)

// askMeans asks which images the terminal can draw. Until it says so, and where it says nothing, they are blocks.
func (v *viewer) askMeans() {
	v.canvas.Beside(func(work func() func()) { v.beside(func(context.Context) func() { return work() }) })
	v.drawBy()
	if v.o.NoColor {
		return
	}
	said := make(chan picture.Means, 16)
	canvas.AskMeans(v.o.Screen, func(m picture.Means) {
		select {
		case said <- m:
		default: // a terminal has less to say
		}
	})
	v.spawn(func() {
		for {
			select {
			case m := <-said:
				v.later(func() {
					v.means = m
					v.drawBy()
				})
			case <-v.ctx.Done():
				return
			}
		}
	})
}

// drawBy has images drawn as the configuration wants it, else by the best means that the terminal has.
func (v *viewer) drawBy() {
	m := v.means
	if k, ok := picture.ByName(v.o.Images); ok {
		m.Kind = k
	}
	if v.o.NoColor {
		m.Kind = picture.None
	}
	v.canvas.Draws(m)
}
