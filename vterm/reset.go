package vterm

import "github.com/longterm-dev/longterm/vterm/internal/graphics"

// conformance is the operating level (DECSCL) and what hangs on it.
type conformance struct {
	level    int // 1 to 5
	checksum int // flags of XTCHECKSUM
}

// cursorStyle is the shape that DECSCUSR chose; whether it blinks is mode 12. chosen is false while the terminal's own style applies.
type cursorStyle struct {
	shape  CursorShape
	chosen bool
}

const levelMax = 5

// resetState sets all that RIS resets but screens, history and tables.
// Whether DECCOLM is allowed stays, as in xterm.
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

// softState is what DECSTR and RIS share (VT510, "DECSTR").
func (t *Terminal) softState() {
	t.resetMargins()
	t.pen, t.protect = Style{}, 0
	t.penChanged()
	t.charsets = charsets{gr: 2}
	t.rectExtent = 0
	t.lastRune, t.join = 0, 0
	t.updateSimple()
}

// softReset is DECSTR.
func (t *Terminal) softReset() {
	t.modes &^= modeInsert | modeOrigin | modeReverseWrap | modeReverseWrap2 | modeKeyboardLock |
		modeAppCursor | modeAppKeypad | modeNational | modeMargins
	t.modes |= modeCursorVisible | modeAutowrap
	t.guard = guardNone
	t.saved[t.slot()] = savedCursor{}
	t.softState()
}

// hardReset is RIS. Like xterm it clears the history; title and size stay.
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
	t.scr.Clear(t.erased())
	t.scrollback.Clear()
	t.syncEnded()
	t.scr.TouchAll()
	t.emit(Event{Kind: EventReset})
}

func (t *Terminal) syncEnded() {
	if t.syncing {
		t.changedSync(false)
	}
}
