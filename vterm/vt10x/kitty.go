package vt10x

import "github.com/longterm-dev/longterm/vterm"

// maxKitty limits the stack of keyboard flags. The oldest entry is dropped first, as the protocol requires
// (https://sw.kovidgoyal.net/kitty/keyboard-protocol/).
const maxKitty = 8

// kittyStack holds the keyboard flags of one screen: the active ones and the pushed ones.
type kittyStack struct {
	active uint8 // active flags
	pushed [maxKitty]uint8
	n      uint8
}

func (k *kittyStack) top() uint8 { return k.active & vterm.KittyFlagsAll }

func (k *kittyStack) push(flags uint8) {
	if k.n == maxKitty {
		copy(k.pushed[:], k.pushed[1:])
		k.n--
	}
	k.pushed[k.n] = k.active
	k.n++
	k.active = flags
}

func (k *kittyStack) pop(n int) {
	for range min(n, maxKitty+1) {
		if k.active = 0; k.n > 0 {
			k.n--
			k.active = k.pushed[k.n]
		}
	}
}

// kittyNow returns the flags of the shown screen.
func (e *Engine) kittyNow() *kittyStack { return &e.kitty[bit(e.modes.AltScreen)] }

// setKitty pushes (>), pops (<) or changes (=) the flags of the screen shown.
func (e *Engine) setKitty(p *params) {
	k := e.kittyNow()
	was, flags := k.active, uint8(p.get(0, 0))&vterm.KittyFlagsAll
	switch p.prefix {
	case '>':
		k.push(flags)
	case '<':
		k.pop(p.count(0))
	default:
		switch p.get(1, 1) {
		case 1:
			k.active = flags
		case 2:
			k.active |= flags
		case 3:
			k.active &^= flags
		}
	}
	if k.active != was {
		e.emit(vterm.Event{Kind: vterm.EventModes})
	}
}

// modifyOtherKeys implements XTMODKEYS (CSI > 4 ; level m), its reset (CSI > 4 n) and XTFMTKEYS (CSI > 4 ; format f).
// Only resource 4 is supported.
func (e *Engine) modifyOtherKeys(p *params, final byte) {
	if p.n > 0 && p.get(0, 0) != 4 {
		return
	}
	value := 0
	if p.n > 0 && final != 'n' {
		value = p.get(1, 0)
	}
	e.changeModes(func(m *vterm.Modes) {
		if final == 'f' {
			m.FormatOtherKeys = uint8(min(value, 1))
		} else {
			m.ModifyOtherKeys = uint8(min(value, 2))
		}
	})
}
