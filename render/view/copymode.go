package view

import (
	"context"

	"github.com/longterm-dev/longterm/render/view/copymode"
	"github.com/longterm-dev/longterm/render/view/overlays"
	"github.com/longterm-dev/longterm/render/view/panes"
	"github.com/longterm-dev/longterm/vterm/input"
)

// copyHost is what copy mode may do with the viewer.
type copyHost struct{ v *viewer }

func (h copyHost) Beside(work func(ctx context.Context) func()) {
	h.v.spawn(func() {
		if then := work(h.v.ctx); then != nil {
			h.v.later(then)
		}
	})
}

func (h copyHost) Say(text string)        { h.v.message = text }
func (h copyHost) Ask(p *overlays.Prompt) { h.v.open(p) }
func (h copyHost) Copy(text string)       { h.v.copy(text) }

// copyMode has a pane in copy mode, with a cursor for the keyboard.
func copyMode(p *panes.Pane) *copymode.Mode {
	m := p.CopyMode()
	m.UseKeys()
	return m
}

// startScroll begins copy mode: with PageUp a page up.
func (v *viewer) startScroll(k input.Key) {
	p := v.focused()
	if p == nil {
		return
	}
	m := copyMode(p)
	if k.Code == input.KeyPageUp {
		m.PageUp()
	}
	m.Fetch(nil)
	if !m.Loaded() && v.o.History == nil {
		v.message = "no history is kept here"
	}
}

func (v *viewer) startSearch() {
	if p := v.focused(); p != nil {
		copyMode(p).Search()
	}
}

func (v *viewer) lastCommand() {
	if p := v.focused(); p != nil {
		copyMode(p).StepCommand(-1)
	}
}

func (v *viewer) copyLast() {
	p := v.focused()
	if p == nil {
		return
	}
	if m := p.Copying(); m != nil {
		m.CopyOutput()
		return
	}
	copymode.CopyOutput(copyHost{v}, v.o.History, p.ID, 0)
}
