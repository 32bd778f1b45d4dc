package copymode

import (
	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/page"
	"github.com/longterm-dev/longterm/vterm/input"
)

// jump is a motion to a character in the row, like vi's f, F, t and T.
type jump struct {
	waiting   bool   // waits for the character: the next key
	to        string // the character; "" means no jump yet
	direction int    // 1 to the right, -1 to the left
	short     bool   // stop one column before the character
	times     int    // number of repetitions
}

// jumps lists the actions that interpret a count themselves.
var jumps = []keymap.Action{"scroll-jump", "scroll-jump-back", "scroll-jump-to", "scroll-jump-to-back", "scroll-jump-again", "scroll-jump-reverse"}

// askJump makes the next key the target of a jump.
func (m *Mode) askJump(by int, short bool) {
	m.jump = jump{waiting: true, to: m.jump.to, direction: by, short: short, times: m.jump.times}
}

// jumpKey jumps to the character of a key. Other keys cancel the jump.
func (m *Mode) jumpKey(k input.Key) {
	m.jump.waiting = false
	text := k.Text
	if text == "" && k.Mods&^input.Shift == 0 && k.Code >= ' ' && k.Code < 127 {
		text = string(rune(k.Code))
	}
	if text == "" {
		return
	}
	m.jump.to = text
	m.jumpTo(m.jump.direction)
}

// jumpTo moves to the character, or does not move if it does not occur often enough.
func (m *Mode) jumpTo(by int) {
	if m.jump.to == "" {
		m.host.ShowMessage("no jump to repeat")
		return
	}
	at, gap := m.cursor, by
	if m.jump.short {
		gap = 2 * by // the cursor is already next to it
	}
	for range m.jump.times {
		next, ok := m.page.Find(page.Pos{Row: at.Row, Col: at.Col + gap}, m.jump.to, by)
		if !ok {
			m.host.ShowMessage("not in this row: " + m.jump.to)
			return
		}
		at, gap = next, by
	}
	if m.jump.short {
		at.Col -= by
	}
	m.move(at)
}
