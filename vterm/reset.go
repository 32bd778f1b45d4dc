package vterm

import "github.com/longterm-dev/longterm/vterm/internal/graphics"

// conformance is the operating level (DECSCL) and related settings.
type conformance struct {
	level    int // 1 to 5
	checksum int // flags of XTCHECKSUM
}

// cursorStyle is the shape set by DECSCUSR; mode 12 determines whether it blinks. chosen is false while the terminal's
// default style applies.
type cursorStyle struct {
	shape  CursorShape
	chosen bool
}

const levelMax = 5

// resetState resets everything that RIS resets, except screens, history and tables. As in xterm it keeps whether
// DECCOLM is allowed.
func (t *Terminal) resetState() {
	t.modes = modeDefaults | t.modes&modeAllowColumns
	if t.opts.LegacyWidth {
		t.modes &^= modeGraphemes
	}
	if t.opts.NewLine {
		t.modes |= modeNewLine
	}
	t.savedModes = nil
	t.saved = [2]savedCursor{}
	t.conform = conformance{level: levelMax}
	t.bit8, t.guard = false, guardNone
	t.kitty = [2]kittyStack{}
	t.keyFormat = keyFormat{}
	t.shape, t.pointer = cursorStyle{}, ""
	t.softState()
	t.resetTabs()
	t.moveTo(0, 0)
}

// softState resets the state that DECSTR and RIS both reset (VT510, "DECSTR").
func (t *Terminal) softState() {
	t.resetMargins()
	t.pen, t.protect = Style{}, 0
	t.penChanged()
	t.charsets = charsets{gr: 2}
	t.rectExtent = 0
	t.lastRune, t.join = 0, 0
	t.updateSimple()
}

// softReset implements DECSTR.
func (t *Terminal) softReset() {
	t.modes &^= modeInsert | modeOrigin | modeReverseWrap | modeReverseWrap2 | modeKeyboardLock |
		modeAppCursor | modeAppKeypad | modeNational | modeMargins
	t.modes |= modeCursorVisible | modeAutowrap
	t.guard = guardNone
	t.saved[t.slot()] = savedCursor{}
	t.softState()
}

// hardReset implements RIS. Like xterm it clears the history; title and size stay the same.
func (t *Terminal) hardReset() {
	if t.scr != t.primary {
		t.showAlternate(false, false)
	}
	if t.modes&modeColumns132 != 0 {
		t.requestSize(80, t.rows)
	}
	t.alternate = nil
	t.resetState()
	t.colors.Reset()
	t.title.stack, t.title.setHex, t.title.queryHex = nil, false, false
	t.sgrStack = nil
	t.images.Clear()
	t.collector = graphics.Command{}
	t.scr.Clear(t.blankCell())
	t.scrollback.Clear()
	t.endSync()
	t.scr.TouchAll()
	t.emit(Event{Kind: EventReset})
}

// endSync ends synchronized output.
func (t *Terminal) endSync() {
	if t.syncing {
		t.changedSync(false)
	}
}
