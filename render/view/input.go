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

// mode is the use of the keyboard, unless an overlay or copy mode has it.
type mode uint8

const (
	modeInput  mode = iota // keys go to the focused session
	modePrefix             // the next key is an action
	modeTable              // keys are actions of v.table, until one ends it
)

// hintTime is the delay after the prefix before the panel of hints appears.
const hintTime = 350 * time.Millisecond

// key handles a key of the user's keyboard.
func (v *viewer) key(e *tcell.EventKey) {
	if v.pasting != nil {
		v.pasting.WriteString(events.PastedText(e))
		return
	}
	k := events.Key(e)
	if k.Action == input.KeyRelease || k.IsModifier() {
		v.passEvent(k)
		return
	}
	v.keyPress(k)
}

// passEvent sends the focused session the release of a key that it received, or a modifier by itself. The viewer
// ignores these events.
func (v *viewer) passEvent(k input.Key) {
	p := v.focusedPane()
	got := v.pressedKeys[k.Code]
	if k.Action == input.KeyRelease {
		delete(v.pressedKeys, k.Code)
	}
	switch {
	case p == nil || !v.m.Running(p.ID) || p.Modes().Kitty == 0 || v.m.ReadOnly:
	case got || k.IsModifier() && v.overlay == nil && v.mode == modeInput && p.Copying() == nil:
		v.sendInput(panes.Input{Key: &k})
	}
}

// keyPress handles a pressed or repeated key. The viewer's own commands do not distinguish keypad keys.
func (v *viewer) keyPress(pressed input.Key) {
	k := pressed.Plain()
	p := v.focusedPane()
	plain := v.mode == modeInput && v.message == "" && !v.welcome && !v.hints && (p == nil || p.Copying() == nil)
	v.message = ""
	v.endWelcome()
	defer func() { v.onlyTyped = v.onlyTyped && plain && v.message == "" }()
	prefix := k.Is(v.o.Prefix)
	begins, again := v.keys.ModeStartedBy(k), v.repeatsLastAction(k)
	switch {
	case v.overlay != nil:
		v.overlayDone(v.overlay.Key(k))
	// before any other handling: the status bar shows this key
	case v.locked && begins != nil && begins.Name == keymap.Locked:
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
		v.sendInput(panes.Input{Key: &pressed})
	case prefix:
		v.endPrefix()
		v.beginPrefix()
	case again:
		v.command(k)
	case v.mode == modeTable:
		v.tableKey(k, begins)
	case k.Code == 0 || v.footerInput(FooterInput{Key: &k}):
	case len(v.m.ShownPanes()) == 0: // nothing is there that could want the key
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

// repeatsLastAction reports whether a key repeats the last action without the prefix, like tmux's arrow keys. Any other
// key ends the repetition.
func (v *viewer) repeatsLastAction(k input.Key) bool {
	goes := v.mode == modeInput && keymap.Repeats(v.keys.AfterPrefix(k)) && v.o.Now().Before(v.repeatUntil)
	v.repeatUntil = time.Time{}
	return goes
}

// copyKey passes a key to the focused pane's copy mode. It returns false if the pane is not in copy mode or the key is
// for the session.
func (v *viewer) copyKey(k input.Key) bool {
	p := v.focusedPane()
	return p != nil && p.Copying() != nil && p.Copying().Key(v.keys, k)
}

// beginMode starts a mode, or locks or unlocks the keys.
func (v *viewer) beginMode(m *keymap.Mode) {
	v.endPrefix()
	if m.Name == keymap.Locked {
		v.locked, v.needsRedraw = !v.locked, true
		return
	}
	v.mode, v.table, v.needsRedraw = modeTable, m, true
	v.scheduleHints()
}

// tableKey handles a key while a mode is active.
func (v *viewer) tableKey(k input.Key, begins *keymap.Mode) {
	a := v.table.ActionOf(k)
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
		v.message = "key not bound; Escape leaves mode " + v.table.Name + ", " + v.keys.Chord("help") + " lists the keys"
		return
	case !keymap.KeepsMode(a):
		v.endPrefix()
	}
	actions[a](v, k)
}

// endWelcome removes the welcome card.
func (v *viewer) endWelcome() {
	if v.welcome {
		v.welcome, v.needsRedraw = false, true
	}
}

func (v *viewer) beginPrefix() {
	v.mode = modePrefix
	v.scheduleHints()
}

// scheduleHints shows the panel of hints if no key follows the prefix soon.
func (v *viewer) scheduleHints() {
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
		v.hints, v.needsRedraw = false, true
	}
}

// typeKey sends a key to the focused session. In an ended session Enter restarts it.
func (v *viewer) typeKey(k input.Key) {
	s := v.m.Session(v.m.Focus)
	if s != nil && s.State != model.StateRunning && k.Code == input.KeyEnter && k.Mods == 0 {
		closePane(v)
		return
	}
	if v.pressedKeys == nil {
		v.pressedKeys = map[rune]bool{}
	}
	v.pressedKeys[k.Code] = true
	v.sendInput(panes.Input{Key: &k})
}

// sendInput sends input to the focused session, or to all of the tab.
func (v *viewer) sendInput(in panes.Input) {
	if v.m.ReadOnly {
		v.message = "read-only: nothing is sent; " + v.keys.Chord("read-only") + " turns it off"
		return
	}
	if v.panes.Get(v.m.Focus) == nil { // it came to have the focus by a key that was read with this one
		v.arrange()
	}
	targets := []string{v.m.Focus}
	if v.m.Tab().Sync {
		targets = v.m.ShownPanes()
	}
	sent, drawn := false, false
	for _, id := range targets {
		if p := v.panes.Get(id); p != nil && v.m.Running(id) {
			ahead := p.SendInput(in)
			v.typedTo[id] = true
			sent, drawn = true, drawn || ahead
		}
	}
	v.onlyTyped = sent && !drawn && in.Key != nil && len(v.m.Alerts) == 0
	if !sent && v.m.Session(v.m.Focus) != nil {
		v.message = "session has ended; Enter closes it, " + v.keys.Chord("restart") + " restarts it"
	}
}

// paste collects text between the terminal's paste marks and delivers it as one paste.
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
	case v.overlay != nil:
		v.overlayDone(v.overlay.Paste(text))
	case v.footerInput(FooterInput{Paste: &text}):
	default:
		if p := v.focusedPane(); p != nil {
			p.LeaveCopyMode()
		}
		v.sendInput(panes.Input{Paste: &text})
	}
}
