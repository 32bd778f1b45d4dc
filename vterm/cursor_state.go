package vterm

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/internal/color"
	"github.com/longterm-dev/longterm/vterm/internal/parse"
	"github.com/longterm-dev/longterm/vterm/internal/width"
)

// settingModes lists the modes that AppendSettings writes. Frames, AppendOutputState and Modes cover the others.
var settingModes = []int{42, 45, 80, 1010, 1011, 1034, 1036, 1037, 1039, 1040, 1045, 1070, 2027, 8452}

// screenModes are the modes that AppendSettings does not save on another terminal: they switch screens, or only this terminal
// handles them.
var screenModes = []int{3, 47, 1047, 1048, 1049, 2026, 2048}

// AppendSettings appends sequences that give another terminal the settings that no frame shows: colours, tab stops, the
// mouse pointer, saved modes, and modes for the handling of output. It omits settings that equal those after a reset.
// The sequences move the cursor: modes, screen, keyboard and AppendOutputState must follow them.
func (t *Terminal) AppendSettings(dst []byte) []byte {
	for _, n := range slices.Sorted(maps.Keys(t.savedModes)) {
		if !slices.Contains(screenModes, n) {
			dst = fmt.Appendf(dst, "\x1b[?%d%c\x1b[?%ds", n, setFinal(t.savedModes[n]), n)
		}
	}
	for _, n := range settingModes {
		m := findMode(n, false)
		if _, saved := t.savedModes[n]; saved || (t.modes^modeDefaults)&m.bit != 0 {
			dst = fmt.Appendf(dst, "\x1b[?%d%c", n, setFinal(t.modes&m.bit != 0))
		}
	}
	if t.keyFormat.formatOther != 0 {
		dst = append(dst, "\x1b[>4;1f"...)
	}
	if t.pointer != "" {
		dst = fmt.Appendf(dst, "\x1b]22;%s\x1b\\", t.pointer)
	}
	return t.appendTabs(t.colors.appendChanged(dst))
}

func setFinal(on bool) byte {
	if on {
		return 'h'
	}
	return 'l'
}

// appendTabs appends all tab stops, or nothing if they are at every eighth column.
func (p *page) appendTabs(dst []byte) []byte {
	var stops []byte
	isDefault := true
	for col := 1; col < p.cols; col++ {
		at := p.tabs.isSet(col)
		isDefault = isDefault && at == (col%8 == 0)
		if at {
			stops = fmt.Appendf(stops, "\x1b[%dG\x1bH", col+1)
		}
	}
	if isDefault {
		return dst
	}
	return append(append(dst, "\x1b[?6l\x1b[?69l\x1b[3g"...), stops...)
}

// appendChanged appends the colours that differ from the defaults.
func (c *colors) appendChanged(dst []byte) []byte {
	for i, v := range c.Palette.Colors {
		if v != color.Defaults.Colors[i] {
			dst = fmt.Appendf(dst, "\x1b]4;%d;%s\x1b\\", i, color.Format(v))
		}
	}
	var defaults color.Table
	defaults.Reset()
	for i, v := range c.Special {
		if v != defaults.Special[i] {
			dst = fmt.Appendf(dst, "\x1b]5;%d;%s\x1b\\", i, color.Format(v))
		}
	}
	for i, v := range c.Dynamic {
		if v != defaults.Dynamic[i] {
			dst = fmt.Appendf(dst, "\x1b]%d;%s\x1b\\", 10+i, color.Format(v))
		}
	}
	return dst
}

// AppendKeyStack appends sequences that give another terminal the kitty keyboard flags of t's primary or alternate
// screen, with the stack of pushed flags, for the screen that it shows.
func (t *Terminal) AppendKeyStack(dst []byte, alternate bool) []byte {
	k := &t.kitty[boolInt(alternate)]
	dst = fmt.Appendf(dst, "\x1b[<%du\x1b[=%d;1u", kittyDepth, k.entries[0])
	for i := 1; i <= k.n; i++ {
		dst = fmt.Appendf(dst, "\x1b[>%du", k.entries[i])
	}
	return dst
}

// AppendOutputState appends sequences for a real terminal on which this screen was just painted: they set the state that no
// frame shows and on which further output depends. It consists of margins, insert, wrap and origin mode, character
// sets, the saved cursor, and the pen; usually only the pen.
func (t *Terminal) AppendOutputState(dst []byte) []byte {
	n := len(dst)
	dst = t.appendSavedCursor(dst)
	dst = t.appendMargins(dst)
	if len(dst) > n { // margins and the saved cursor moved it
		row, col := t.cur.Row, t.cur.Col
		if t.modes&modeOrigin != 0 {
			row, col = row-t.top, col-t.left
		}
		dst = fmt.Appendf(dst, "\x1b[%d;%dH", row+1, col+1)
	}
	dst = appendCharsets(dst, &t.charsets)
	if t.pen != (Style{}) {
		dst = fmt.Appendf(dst, "\x1b[%sm", sgrString(t.pen))
	}
	return dst
}

// appendSavedCursor appends sequences that restore the cursor saved by the program (DECSC).
func (t *Terminal) appendSavedCursor(dst []byte) []byte {
	s := &t.saved[t.slot()]
	if !s.set {
		return dst
	}
	dst = appendCharsets(dst, &s.charsets)
	dst = fmt.Appendf(dst, "\x1b[%d;%dH\x1b[%sm\x1b7\x1b[m", s.cur.Row+1, s.cur.Col+1, sgrString(s.pen))
	if s.charsets.g != [4]charset{} || s.charsets.gl != 0 {
		dst = append(dst, "\x1b(B\x1b)B\x1b*B\x1b+B\x0f"...)
	}
	return dst
}

// CanDrawOver reports whether a caller may draw other text over this screen on a real terminal, with CUP, SGR, ECH and
// printable characters, and erase it without a trace: it draws the former cells again and calls AppendEndDrawing. It
// may not where more than the cells, the cursor, the pen and the character that REP repeats would change, or be
// interpreted differently: within a sequence or character, with a pending wrap, in other character sets, in VT52,
// insert or origin mode, between left and right margins, with protection or a link, and on lines of double width.
func (t *Terminal) CanDrawOver() bool {
	if t.parser.State != parse.Ground || t.decoder.Pending() || t.cur.Pending || !t.simple ||
		t.modes&(modeANSI|modeOrigin) != modeANSI || t.left > 0 || t.right < t.cols-1 || t.protect != 0 || t.pen.Link != 0 {
		return false
	}
	var l Line
	t.scr.CopyRow(&l, t.cur.Row)
	if t.join == 0 || l.Size != LineNormal {
		return l.Size == LineNormal
	}
	col, state := t.cur.Col-t.reprintedColumns(), width.Plain
	if t.modes&modeGraphemes != 0 {
		state = width.Start(width.Of(t.lastRune))
	}
	return t.join == state && t.lastRune != 0 && col >= 0 && col < len(l.Cells) && l.Cells[col].Rune() == t.lastRune &&
		t.tables.Styles.List[l.Cells[col].Style()] == t.pen
}

// reprintedColumns returns the width of the character before the cursor if a REP would repeat it now; otherwise 0.
func (t *Terminal) reprintedColumns() int {
	if t.join == 0 {
		return 0
	}
	return t.columns(width.Of(t.lastRune))
}

// AppendEndDrawing appends sequences for a terminal with the default pen after a drawing that CanDrawOver allowed: they
// restore the cursor, the pen, and the character that REP repeats, which is printed again.
func (t *Terminal) AppendEndDrawing(dst []byte) []byte {
	n := t.reprintedColumns()
	dst = fmt.Appendf(dst, "\x1b[%d;%dH", t.cur.Row+1, t.cur.Col-n+1)
	if t.pen != (Style{}) {
		dst = fmt.Appendf(dst, "\x1b[%sm", sgrString(t.pen))
	}
	if n > 0 {
		dst = utf8.AppendRune(dst, t.lastRune)
	}
	return dst
}

func (p *page) appendMargins(dst []byte) []byte {
	if p.modes&modeMargins != 0 {
		dst = fmt.Appendf(dst, "\x1b[?69h\x1b[%d;%ds", p.left+1, p.right+1)
	}
	if p.top > 0 || p.bottom < p.rows-1 {
		dst = fmt.Appendf(dst, "\x1b[%d;%dr", p.top+1, p.bottom+1)
	}
	if p.modes&modeOrigin != 0 {
		dst = append(dst, "\x1b[?6h"...)
	}
	if p.modes&modeInsert != 0 {
		dst = append(dst, "\x1b[4h"...)
	}
	if p.modes&modeAutowrap == 0 {
		dst = append(dst, "\x1b[?7l"...)
	}
	return dst
}

// appendCharsets appends designations and shifts, for a terminal with ASCII everywhere.
func appendCharsets(dst []byte, c *charsets) []byte {
	for slot, set := range c.g {
		if set == charsetASCII {
			continue
		}
		table, in := &charsetTables[set], "()*+"
		if table.size96 {
			in = " -./"
		}
		dst = append(dst, '\x1b', in[slot])
		dst = append(dst, table.names[0]...)
	}
	if c.gl > 0 {
		dst = append(dst, strings.Split("\x0f \x0e \x1bn \x1bo", " ")[c.gl]...)
	}
	return dst
}
