package view

import (
	"github.com/longterm-dev/longterm/render/view/copymode"
	"github.com/longterm-dev/longterm/render/view/panes"
	"github.com/longterm-dev/longterm/vterm/input"
)

// copyMode enters copy mode in a pane, with a cursor for the keyboard.
func copyMode(p *panes.Pane) *copymode.Mode {
	m := p.CopyMode()
	m.UseKeys()
	return m
}

// startScroll enters copy mode; with PageUp it also scrolls up a page.
func startScroll(v *viewer, k input.Key) {
	p := v.focusedPane()
	if p == nil {
		return
	}
	m := copyMode(p)
	if k.Code == input.KeyPageUp {
		m.PageUp()
	}
	m.Fetch(nil)
	if !m.HasHistory() && v.o.History == nil {
		v.message = "no history available"
	}
}

func startSearch(v *viewer) {
	if p := v.focusedPane(); p != nil {
		copyMode(p).Search()
	}
}

func lastCommand(v *viewer) {
	if p := v.focusedPane(); p != nil {
		copyMode(p).StepCommand(-1)
	}
}

// pasteCopied pastes the text that was last copied in this viewer.
func pasteCopied(v *viewer) {
	if v.copied == "" {
		v.message = "nothing copied yet"
		return
	}
	text := v.copied
	if p := v.focusedPane(); p != nil {
		p.LeaveCopyMode()
	}
	v.sendInput(panes.Input{Paste: &text})
}

func copyLast(v *viewer) {
	p := v.focusedPane()
	if p == nil {
		return
	}
	if m := p.Copying(); m != nil {
		m.CopyOutput()
		return
	}
	copymode.CopyOutput(copyHost{v}, v.o.History, p.ID, 0)
}
