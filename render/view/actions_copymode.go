package view

import (
	"github.com/longterm-dev/longterm/render/view/copymode"
	"github.com/longterm-dev/longterm/render/view/panes"
	"github.com/longterm-dev/longterm/vterm/input"
)

// copyMode has a pane in copy mode, with a cursor for the keyboard.
func copyMode(p *panes.Pane) *copymode.Mode {
	m := p.CopyMode()
	m.UseKeys()
	return m
}

// startScroll begins copy mode: with PageUp a page up.
func startScroll(v *viewer, k input.Key) {
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

func startSearch(v *viewer) {
	if p := v.focused(); p != nil {
		copyMode(p).Search()
	}
}

func lastCommand(v *viewer) {
	if p := v.focused(); p != nil {
		copyMode(p).StepCommand(-1)
	}
}

// pasteCopied pastes what was copied in this viewer last.
func pasteCopied(v *viewer) {
	if v.copied == "" {
		v.message = "nothing was copied here yet"
		return
	}
	text := v.copied
	if p := v.focused(); p != nil {
		p.Present()
	}
	v.act(panes.Input{Paste: &text})
}

func copyLast(v *viewer) {
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
