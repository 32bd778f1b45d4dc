package view

import (
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/events"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/panes"
	"github.com/longterm-dev/longterm/vterm/input"
)

// mode is what the keyboard does, unless it belongs to an overlay or to copy mode.
type mode uint8

const (
	modeInput  mode = iota // keys go to the focused session
	modePrefix             // the next key is an action
)

// hintTime is how long the prefix waits before it shows what can follow.
const hintTime = 350 * time.Millisecond

// key handles a key of the person's keyboard.
func (v *viewer) key(e *tcell.EventKey) {
	if v.pasting != nil {
		v.pasting.WriteString(events.Pasted(e))
		return
	}
	v.message = ""
	v.endWelcome()
	k := events.Key(e)
	prefix := k.Code == v.o.Prefix.Code && k.Mods == v.o.Prefix.Mods
	p := v.focused()
	switch {
	case v.over != nil:
		v.overlayDone(v.over.Key(k))
	case v.mode == modePrefix && !prefix:
		v.endPrefix()
		v.command(k)
	case v.mode == modePrefix: // twice: it is meant for the session
		v.endPrefix()
		v.act(panes.Input{Key: &k})
	case prefix:
		v.beginPrefix()
	case k.Code == 0 || v.footerInput(FooterInput{Key: &k}):
	case len(v.m.Shown()) == 0: // nothing is there that could want the key
		v.emptyKey(k)
	case p != nil && p.Copying() != nil && p.Copying().Key(v.keys, k):
	default:
		v.typeKey(k)
	}
}

// endWelcome takes the card for newcomers away.
func (v *viewer) endWelcome() {
	if v.welcome {
		v.welcome, v.fresh = false, true
	}
}

func (v *viewer) beginPrefix() {
	v.mode = modePrefix
	if v.o.NoHints {
		return
	}
	v.after(hintTime, func() {
		if v.mode == modePrefix && !v.hints {
			v.hints = true
		}
	})
}

func (v *viewer) endPrefix() {
	v.mode = modeInput
	if v.hints {
		v.hints, v.fresh = false, true
	}
}

// typeKey sends a key to the focused session. One that has ended understands Enter.
func (v *viewer) typeKey(k input.Key) {
	s := v.m.Session(v.m.Focus)
	if s != nil && s.State != model.StateRunning && k.Code == input.KeyEnter && k.Mods == 0 {
		closePane(v)
		return
	}
	v.act(panes.Input{Key: &k})
}

// act does something to the focused session, or to all of the tab.
func (v *viewer) act(in panes.Input) {
	if v.m.ReadOnly {
		v.message = "read-only: nothing is sent; " + v.keys.Chord("read-only") + " ends this"
		return
	}
	targets := []string{v.m.Focus}
	if v.m.Tab().Sync {
		targets = v.m.Shown()
	}
	sent := false
	for _, id := range targets {
		if p := v.panes.Get(id); p != nil && v.m.Running(id) {
			p.Act(in)
			v.typedTo[id] = true
			sent = true
		}
	}
	if !sent && v.m.Session(v.m.Focus) != nil {
		v.message = "it has ended; Enter closes it, " + v.keys.Chord("restart") + " starts it again"
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
	v.endPrefix()
	switch {
	case text == "":
	case v.over != nil:
		v.overlayDone(v.over.Paste(text))
	case v.footerInput(FooterInput{Paste: &text}):
	default:
		if p := v.focused(); p != nil {
			p.Present()
		}
		v.act(panes.Input{Paste: &text})
	}
}
