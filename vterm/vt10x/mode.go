package vt10x

import (
	vt "github.com/hinshun/vt10x"

	"github.com/longterm-dev/longterm/vterm"
)

// mode is a row of the mode tables. get reports whether the mode is set; a mode without set cannot be changed. Both run
// after a flush of the library.
type mode struct {
	n   int
	get func(e *Engine) bool
	set func(e *Engine, on bool)
}

var (
	ansiModes = []mode{
		{4, func(e *Engine) bool { return e.insert }, func(e *Engine, on bool) { e.insert = on }}, // IRM
		flag(20, func(m *vterm.Modes) *bool { return &m.NewLine }, "\x1b[20"),                     // LNM
	}
	decModes = []mode{
		flag(1, func(m *vterm.Modes) *bool { return &m.AppCursor }, ""),    // DECCKM
		flag(5, func(m *vterm.Modes) *bool { return &m.ReverseVideo }, ""), // DECSCNM
		{6, (*Engine).origin, func(e *Engine, on bool) { e.setLibraryMode("\x1b[?6", on) }},
		{7, (*Engine).autowrap, func(e *Engine, on bool) { e.setLibraryMode("\x1b[?7", on) }},
		mouse(9),
		{12, func(e *Engine) bool { return e.cursor.Blink }, func(e *Engine, on bool) { e.cursor.Blink = on }},
		{25, func(e *Engine) bool { return e.cursor.Visible }, func(e *Engine, on bool) { e.cursor.Visible = on }},
		{47, (*Engine).inAlt, (*Engine).setAlt},
		flag(66, func(m *vterm.Modes) *bool { return &m.AppKeypad }, ""),   // DECNKM
		flag(67, func(m *vterm.Modes) *bool { return &m.BackarrowBS }, ""), // DECBKM
		mouse(1000), mouse(1002), mouse(1003),
		flag(1004, func(m *vterm.Modes) *bool { return &m.FocusEvents }, ""),
		encoding(1005), encoding(1006),
		flag(1007, func(m *vterm.Modes) *bool { return &m.AltScroll }, ""),
		encoding(1015), encoding(1016),
		{1047, (*Engine).inAlt, (*Engine).setAlt},
		{1048, func(*Engine) bool { return true }, (*Engine).setSaveCursor},
		{1049, (*Engine).inAlt, (*Engine).setAltKeepingCursor},
		flag(2004, func(m *vterm.Modes) *bool { return &m.BracketedPaste }, ""),
		{2026, func(e *Engine) bool { return e.modes.Sync }, (*Engine).setSync},
		flag(2031, func(m *vterm.Modes) *bool { return &m.SchemeReports }, ""),
		{2048, func(e *Engine) bool { return e.modes.InBandResize }, (*Engine).setInBandResize},
	}
)

// flag returns a mode stored in vterm.Modes. lib is the start of the sequence that sets it in the library, if needed.
func flag(n int, field func(*vterm.Modes) *bool, lib string) mode {
	return mode{n,
		func(e *Engine) bool { return *field(&e.modes) },
		func(e *Engine, on bool) {
			if lib != "" {
				e.setLibraryMode(lib, on)
			}
			e.changeModes(func(m *vterm.Modes) { *field(m) = on })
		}}
}

// mouse returns a tracking mode. The last one set is active; resetting any of them ends tracking, as in xterm.
func mouse(t vterm.MouseTracking) mode {
	return mode{int(t),
		func(e *Engine) bool { return e.modes.Mouse == t },
		func(e *Engine, on bool) {
			e.changeModes(func(m *vterm.Modes) {
				m.Mouse = vterm.MouseOff
				if on {
					m.Mouse = t
				}
			})
		}}
}

// encoding returns a mode for an encoding of mouse reports. The last one set is active.
func encoding(c vterm.MouseEncoding) mode {
	return mode{int(c),
		func(e *Engine) bool { return e.modes.MouseEncoding == c },
		func(e *Engine, on bool) {
			e.changeModes(func(m *vterm.Modes) {
				switch {
				case on:
					m.MouseEncoding = c
				case m.MouseEncoding == c:
					m.MouseEncoding = vterm.MouseEncodingX10
				}
			})
		}}
}

// setLibraryMode sets or resets a mode of the library.
func (e *Engine) setLibraryMode(start string, on bool) {
	if on {
		e.put(start + "h")
	} else {
		e.put(start + "l")
	}
	e.flush()
}

// changeModes changes the modes and emits an event if they differ.
func (e *Engine) changeModes(f func(*vterm.Modes)) {
	was := e.modes
	if f(&e.modes); e.modes != was {
		e.emit(vterm.Event{Kind: vterm.EventModes})
	}
}

// setModes implements SM, RM, DECSET and DECRST.
func (e *Engine) setModes(p *params, table []mode, on bool) {
	for i := range p.n {
		if m := findMode(table, p.get(i, 0)); m != nil {
			m.set(e, on)
		}
	}
}

func findMode(table []mode, n int) *mode {
	for i := range table {
		if table[i].n == n {
			return &table[i]
		}
	}
	return nil
}

func (e *Engine) origin() bool   { return e.grid.cur.State&cursorOrigin != 0 }
func (e *Engine) autowrap() bool { return *e.grid.mode&vt.ModeWrap != 0 }
func (e *Engine) inAlt() bool    { return e.modes.AltScreen }

func (e *Engine) setAppKeypad(on bool) {
	e.changeModes(func(m *vterm.Modes) { m.AppKeypad = on })
}

// setSaveCursor implements mode 1048.
func (e *Engine) setSaveCursor(on bool) {
	if on {
		e.saveCursor()
	} else {
		e.restoreCursor()
	}
}

// setAlt implements modes 47 and 1047. The library swaps screens whenever a mode is reset, on either screen.
func (e *Engine) setAlt(on bool) {
	switch {
	case on == e.modes.AltScreen:
	case on:
		e.put("\x1b[?47h")
		e.altChanged(true)
	default:
		e.leaveAlt()
	}
}

func (e *Engine) setAltKeepingCursor(on bool) {
	if on {
		e.saveCursor()
		e.setAlt(true)
		e.penErase()
		e.put("\x1b[2J")
		return
	}
	e.setAlt(false)
	e.restoreCursor()
}

func (e *Engine) leaveAlt() {
	e.setPen(0, kindErased) // the library clears the screen it leaves
	e.put("\x1b[?47l")
	e.altChanged(false)
}

func (e *Engine) altChanged(on bool) {
	e.flush()
	e.bothScreens = true
	e.changeModes(func(m *vterm.Modes) { m.AltScreen = on })
	e.emit(vterm.Event{Kind: vterm.EventAltScreen, Num: bit(on)})
}

func bit(on bool) int {
	if on {
		return 1
	}
	return 0
}

func (e *Engine) setSync(on bool) {
	if on != e.modes.Sync {
		e.changeModes(func(m *vterm.Modes) { m.Sync = on })
		e.emit(vterm.Event{Kind: vterm.EventSync, Num: bit(on)})
	}
}

// setInBandResize implements mode 2048: setting it reports the size at once.
func (e *Engine) setInBandResize(on bool) {
	e.changeModes(func(m *vterm.Modes) { m.InBandResize = on })
	if on {
		e.reportSize()
	}
}
