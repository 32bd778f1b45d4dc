package view

import (
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/events"
	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/panes"
	"github.com/longterm-dev/longterm/vterm/input"
)

// mode is what the keyboard does, unless it belongs to an overlay or to copy mode.
type mode uint8

const (
	modeInput  mode = iota // keys go to the focused session
	modePrefix             // the next key is an action
	modeTable              // keys are actions of v.table, until one ends it
)

// hintTime is how long the prefix waits before it shows what can follow.
const hintTime = 350 * time.Millisecond

// key handles a key of the person's keyboard.
func (v *viewer) key(e *tcell.EventKey) {
	if v.pasting != nil {
		v.pasting.WriteString(events.Pasted(e))
		return
	}
	k := events.Key(e)
	if k.Action == input.KeyRelease || k.IsModifier() {
		v.passEvent(k)
		return
	}
	v.keyPress(k)
}

// passEvent sends the focused session the release of a key that it got, or a modifier by itself. The viewer itself has no use for them.
func (v *viewer) passEvent(k input.Key) {
	p := v.focused()
	got := v.down[k.Code]
	if k.Action == input.KeyRelease {
		delete(v.down, k.Code)
	}
	switch {
	case p == nil || !v.m.Running(p.ID) || p.Terminal().Kitty == 0 || v.m.ReadOnly:
	case got || k.IsModifier() && v.over == nil && v.mode == modeInput && p.Copying() == nil:
		v.act(panes.Input{Key: &k})
	}
}

// keyPress handles a key that is pressed, or repeats. The viewer's own commands do not distinguish keys of the keypad.
func (v *viewer) keyPress(pressed input.Key) {
	k := pressed.Plain()
	p := v.focused()
	plain := v.mode == modeInput && v.message == "" && !v.welcome && !v.hints && (p == nil || p.Copying() == nil)
	v.message = ""
	v.endWelcome()
	defer func() { v.unseen = v.unseen && plain && v.message == "" }()
	prefix := k.Is(v.o.Prefix)
	begins, again := v.keys.Begins(k), v.again(k)
	switch {
	case v.over != nil:
		v.overlayDone(v.over.Key(k))
	case v.locked && begins != nil && begins.Name == keymap.Locked: // whatever else would have it: the bar says so
		v.beginMode(begins)
	case v.locked:
		if k.Code != 0 && !v.footerInput(FooterInput{Key: &k}) && !v.copyKey(k) {
			v.typeKey(pressed)
		}
	case v.mode == modePrefix && !prefix:
		v.endPrefix()
		v.command(k)
	case v.mode == modePrefix: // twice: it is meant for the session
		v.endPrefix()
		v.act(panes.Input{Key: &pressed})
	case prefix:
		v.endPrefix()
		v.beginPrefix()
	case again:
		v.command(k)
	case v.mode == modeTable:
		v.tableKey(k, begins)
	case k.Code == 0 || v.footerInput(FooterInput{Key: &k}):
	case len(v.m.Shown()) == 0: // nothing is there that could want the key
		v.emptyKey(k)
	case v.copyKey(k):
	case begins != nil:
		v.beginMode(begins)
	case v.keys.Direct(k) != "":
		actions[v.keys.Direct(k)](v, k)
	default:
		v.typeKey(pressed)
	}
}

// again says that a key goes on with what one after the prefix has just done, as tmux's arrows do. Any other key ends that.
func (v *viewer) again(k input.Key) bool {
	goes := v.mode == modeInput && keymap.Repeats(v.keys.AfterPrefix(k)) && v.o.Now().Before(v.repeats)
	v.repeats = time.Time{}
	return goes
}

// copyKey gives a key to the focused pane's copy mode. False: there is none, or the session shall have the key.
func (v *viewer) copyKey(k input.Key) bool {
	p := v.focused()
	return p != nil && p.Copying() != nil && p.Copying().Key(v.keys, k)
}

// beginMode begins a mode, or locks the keys, or ends that.
func (v *viewer) beginMode(m *keymap.Mode) {
	v.endPrefix()
	if m.Name == keymap.Locked {
		v.locked, v.fresh = !v.locked, true
		return
	}
	v.mode, v.table, v.fresh = modeTable, m, true
	v.hintSoon()
}

// tableKey is a key while a mode is in force.
func (v *viewer) tableKey(k input.Key, begins *keymap.Mode) {
	a := v.table.Does(k)
	switch {
	case a == "" && begins != nil && begins != v.table:
		v.beginMode(begins)
		return
	case a == "" && (begins != nil || k.Code == input.KeyEscape || k.Code == input.KeyEnter):
		v.endPrefix()
		return
	case a == "":
		a = v.keys.Direct(k)
	}
	switch {
	case a == "":
		v.message = "no such key; Escape ends the mode " + v.table.Name + ", " + v.keys.Chord("help") + " lists the keys"
		return
	case !keymap.Stays(a):
		v.endPrefix()
	}
	actions[a](v, k)
}

// endWelcome takes the card for newcomers away.
func (v *viewer) endWelcome() {
	if v.welcome {
		v.welcome, v.fresh = false, true
	}
}

func (v *viewer) beginPrefix() {
	v.mode = modePrefix
	v.hintSoon()
}

// hintSoon shows what can follow, if nothing follows for a moment.
func (v *viewer) hintSoon() {
	if v.o.NoHints {
		return
	}
	mode, table := v.mode, v.table
	v.after(hintTime, func() {
		if v.mode == mode && v.table == table && !v.hints {
			v.hints = true
		}
	})
}

func (v *viewer) endPrefix() {
	v.mode, v.table = modeInput, nil
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
	if v.down == nil {
		v.down = map[rune]bool{}
	}
	v.down[k.Code] = true
	v.act(panes.Input{Key: &k})
}

// act does something to the focused session, or to all of the tab.
func (v *viewer) act(in panes.Input) {
	if v.m.ReadOnly {
		v.message = "read-only: nothing is sent; " + v.keys.Chord("read-only") + " ends this"
		return
	}
	if v.panes.Get(v.m.Focus) == nil { // it came to have the focus by a key that was read with this one
		v.arrange()
	}
	targets := []string{v.m.Focus}
	if v.m.Tab().Sync {
		targets = v.m.Shown()
	}
	sent, drawn := false, false
	for _, id := range targets {
		if p := v.panes.Get(id); p != nil && v.m.Running(id) {
			ahead := p.Act(in)
			v.typedTo[id] = true
			sent, drawn = true, drawn || ahead
		}
	}
	v.unseen = sent && !drawn && in.Key != nil && len(v.m.Alerts) == 0
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
