package vt10x

import (
	"fmt"

	"github.com/longterm-dev/longterm/vterm"
)

// deviceAttributes reports a VT220 with colours (xterm ctlseqs "Primary DA").
const deviceAttributes = "\x1b[?62;22c"

// query answers queries about the terminal and its state, once each. The library never receives them: it would answer
// too, and partly wrong.
func (e *Engine) query(p *params, final byte) {
	switch final {
	case 'c':
		e.attributes(p)
	case 'n':
		e.status(p)
	case 't':
		e.window(p)
	case 'q':
		if p.get(0, 0) == 0 {
			e.reply("\x1bP>|longterm(vt10x)\x1b\\") // XTVERSION
		}
	case 'u':
		e.reply(fmt.Sprintf("\x1b[?%du", e.kittyNow().top()))
	}
}

func (e *Engine) attributes(p *params) {
	if p.get(0, 0) != 0 {
		return
	}
	switch p.prefix {
	case 0:
		e.reply(deviceAttributes)
	case '>':
		e.reply("\x1b[>1;10;0c")
	case '=':
		e.reply("\x1bP!|00000000\x1b\\")
	}
}

// status implements DSR (ECMA-48 §8.3.35) and DECDSR.
func (e *Engine) status(p *params) {
	switch n := p.get(0, 0); {
	case n == 5 && p.prefix == 0:
		e.reply("\x1b[0n")
	case n == 6:
		row, col := e.position()
		if p.prefix == '?' { // DECXCPR
			e.reply(fmt.Sprintf("\x1b[?%d;%d;1R", row, col))
		} else {
			e.reply(fmt.Sprintf("\x1b[%d;%dR", row, col))
		}
	case n == 15 && p.prefix == '?':
		e.reply("\x1b[?13n") // no printer
	case n == 996 && p.prefix == '?':
		e.reply(fmt.Sprintf("\x1b[?997;%dn", 1+bit(e.opts.LightScheme)))
	}
}

// position returns the cursor position, 1-based, relative to the margin in origin mode.
func (e *Engine) position() (row, col int) {
	e.flush()
	row, col = e.grid.cur.Y+1, e.grid.cur.X+1
	if e.origin() {
		row -= *e.grid.top
	}
	return row, col
}

// window implements XTWINOPS as far as possible without a window.
func (e *Engine) window(p *params) {
	op := p.get(0, 0)
	switch op {
	case 8:
		e.handleResizeRequest(orDefault(p.get(2, 0), e.cols), orDefault(p.get(1, 0), e.rows))
	case 14:
		e.reply(fmt.Sprintf("\x1b[4;%d;%dt", e.rows*e.modes.CellHeight, e.cols*e.modes.CellWidth))
	case 16:
		e.reply(fmt.Sprintf("\x1b[6;%d;%dt", e.modes.CellHeight, e.modes.CellWidth))
	case 18, 19:
		e.reply(fmt.Sprintf("\x1b[%d;%d;%dt", op-10, e.rows, e.cols))
	case 20, 21:
		if e.opts.ReportTitle {
			e.reply(fmt.Sprintf("\x1b]%c%s\x1b\\", "Ll"[op-20], e.title))
		}
	default:
		if p.n > 0 {
			e.emit(vterm.Event{Kind: vterm.EventWindow, Num: op})
		}
	}
}

// maxRequestedCells limits the screen size that output can request: a cell takes 32 bytes.
const maxRequestedCells = 1 << 20

// handleResizeRequest carries out a size requested by the program, if allowed.
func (e *Engine) handleResizeRequest(cols, rows int) {
	if !vterm.ValidSize(cols, rows) || cols*rows > maxRequestedCells {
		return
	}
	if !e.opts.FixedSize {
		e.Resize(cols, rows)
	}
	e.emit(vterm.Event{Kind: vterm.EventResize, Num: cols<<16 | rows})
}

// reportSize sends the report of mode 2048.
func (e *Engine) reportSize() {
	e.reply(fmt.Sprintf("\x1b[48;%d;%d;%d;%dt", e.rows, e.cols, e.rows*e.modes.CellHeight, e.cols*e.modes.CellWidth))
}

// reportMode implements DECRQM: 0 unknown, 1 set, 2 reset.
func (e *Engine) reportMode(p *params) {
	table, mark := ansiModes, ""
	switch p.prefix {
	case '?':
		table, mark = decModes, "?"
	case 0:
	default:
		return
	}
	e.flush()
	n, value := p.get(0, 0), 0
	if m := findMode(table, n); m != nil {
		value = 2 - bit(m.get(e))
	}
	e.reply(fmt.Sprintf("\x1b[%s%d;%d$y", mark, n, value))
}

// runDCS answers the queries DECRQSS and XTGETTCAP with "unknown", so that no program waits. It ignores other device
// control strings.
func (e *Engine) runDCS(s []byte) {
	switch {
	case len(s) >= 2 && string(s[:2]) == "$q":
		e.reply("\x1bP0$r\x1b\\")
	case len(s) >= 2 && string(s[:2]) == "+q":
		e.reply("\x1bP0+r\x1b\\")
	}
}
