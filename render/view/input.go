package view

import (
	"strings"

	"github.com/gdamore/tcell/v2"
)

// key handles a key of the person's keyboard.
func (v *viewer) key(e *tcell.EventKey) {
	if v.pasting != nil {
		v.pasted(e)
		return
	}
	v.m.message = ""
	k := keyOf(e)
	prefix := k.Code == v.o.Prefix.Code && k.Mods == v.o.Prefix.Mods
	switch mode := v.m.mode; {
	case mode == modeHelp:
		v.setMode(modeInput)
	case mode == modeConfirm:
		v.setMode(modeInput)
		if e.Rune() == 'y' || e.Rune() == 'Y' {
			v.kill()
		}
	case mode == modePrefix && !prefix:
		v.setMode(modeInput)
		v.command(keyName(k))
	case mode == modePrefix: // twice: it is meant for the session
		v.setMode(modeInput)
		v.act(Input{Key: &k})
	case prefix:
		v.setMode(modePrefix)
	case len(v.m.visible()) == 0: // nothing is there that could want the key
		v.emptyKey(keyName(k))
	case k.Code != 0:
		v.act(Input{Key: &k})
	}
}

// setMode changes what the keyboard does. The help covers the panes: they are drawn
// anew.
func (v *viewer) setMode(m mode) {
	if (m == modeHelp) != (v.m.mode == modeHelp) {
		v.fresh = true
	}
	v.m.mode = m
}

// act does something to the focused session.
func (v *viewer) act(in Input) {
	p := v.m.focused()
	switch {
	case p == nil:
	case v.m.running(v.m.focus):
		p.stream.Act(in)
	default:
		v.m.message = "it has ended; " + keyName(v.o.Prefix) + " c closes it, n starts another"
	}
}

// paste collects what the terminal marks as pasted, to be delivered as one paste.
func (v *viewer) paste(start bool) {
	if start {
		v.pasting = &strings.Builder{}
		return
	}
	if v.pasting == nil {
		return
	}
	text := v.pasting.String()
	v.pasting = nil
	v.setMode(modeInput)
	if text != "" {
		v.act(Input{Paste: &text})
	}
}

// pasted adds a character. What stays of other control characters in a paste is none of
// a program's business.
func (v *viewer) pasted(e *tcell.EventKey) {
	switch e.Key() {
	case tcell.KeyRune:
		v.pasting.WriteRune(e.Rune())
	case tcell.KeyEnter, tcell.KeyCtrlM:
		v.pasting.WriteByte('\r')
	case tcell.KeyCtrlJ, tcell.KeyLF:
		v.pasting.WriteByte('\n')
	case tcell.KeyTab, tcell.KeyCtrlI:
		v.pasting.WriteByte('\t')
	}
}
