package copymode

import (
	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/page"
	"github.com/longterm-dev/longterm/vterm/input"
)

// jump is a motion to a character of the row, as vi's f, F, t and T have it.
type jump struct {
	asks  bool   // the next key is the character
	to    string // the character; empty: none was asked for yet
	by    int    // 1 to the right, -1 to the left
	short bool   // one column before the character
	times int
}

// jumps are the actions that count for themselves.
var jumps = []keymap.Action{"scroll-jump", "scroll-jump-back", "scroll-jump-to", "scroll-jump-to-back", "scroll-jump-again", "scroll-jump-reverse"}

// askJump has the next key say where to.
func (m *Mode) askJump(by int, short bool) {
	m.jump = jump{asks: true, to: m.jump.to, by: by, short: short, times: m.jump.times}
}

// jumpKey is the key that says where to; one that is no character gives up.
func (m *Mode) jumpKey(k input.Key) {
	m.jump.asks = false
	text := k.Text
	if text == "" && k.Mods&^input.Shift == 0 && k.Code >= ' ' && k.Code < 127 {
		text = string(rune(k.Code))
	}
	if text == "" {
		return
	}
	m.jump.to = text
	m.jumpTo(m.jump.by)
}

// jumpTo goes to the character, or stays where it is not there as often as asked.
func (m *Mode) jumpTo(by int) {
	if m.jump.to == "" {
		m.host.Say("no character was jumped to yet")
		return
	}
	at, gap := m.cursor, by
	if m.jump.short {
		gap = 2 * by // what is beside the cursor was reached already
	}
	for range m.jump.times {
		next, ok := m.page.Find(page.Pos{Row: at.Row, Col: at.Col + gap}, m.jump.to, by)
		if !ok {
			m.host.Say("not in this row: " + m.jump.to)
			return
		}
		at, gap = next, by
	}
	if m.jump.short {
		at.Col -= by
	}
	m.move(at)
}
