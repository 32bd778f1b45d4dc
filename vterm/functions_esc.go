package vterm

import "github.com/longterm-dev/longterm/vterm/internal/parse"

// escFunctions lists the escape sequences. C1 controls are listed in their 7-bit form.
var escFunctions = []function{
	{"ESC", "7", "DECSC: save cursor", "ESC 7", "VT510", plain((*Terminal).saveCursor)},
	{"ESC", "8", "DECRC: restore cursor", "ESC 8", "VT510", plain((*Terminal).restoreCursor)},
	{"ESC", "6", "DECBI: back index", "ESC 6", "VT510", plain((*Terminal).backIndex)},
	{"ESC", "9", "DECFI: forward index", "ESC 9", "VT510", plain((*Terminal).forwardIndex)},
	{"ESC", "=", "DECKPAM: application keypad", "ESC =", "VT510", func(t *Terminal, _ *parse.Seq) { t.setMode(modeAppKeypad, true) }},
	{"ESC", ">", "DECKPNM: numeric keypad", "ESC >", "VT510", func(t *Terminal, _ *parse.Seq) { t.setMode(modeAppKeypad, false) }},
	{"ESC", "D", "IND: index", "ESC D", "VT510", plain((*Terminal).index)},
	{"ESC", "E", "NEL: next line", "ESC E", "ECMA-48", plain((*Terminal).nextLine)},
	{"ESC", "H", "HTS: set tab stop", "ESC H", "ECMA-48", plain((*Terminal).setTab)},
	{"ESC", "M", "RI: reverse index", "ESC M", "ECMA-48", plain((*Terminal).reverseIndex)},
	{"ESC", "N", "SS2: G2 for one character", "ESC N", "ECMA-48", func(t *Terminal, _ *parse.Seq) { t.singleShift(2) }},
	{"ESC", "O", "SS3: G3 for one character", "ESC O", "ECMA-48", func(t *Terminal, _ *parse.Seq) { t.singleShift(3) }},
	{"ESC", "V", "SPA: start guarded area", "ESC V", "ECMA-48", plain((*Terminal).startGuarded)},
	{"ESC", "W", "EPA: end guarded area", "ESC W", "ECMA-48", plain((*Terminal).endGuarded)},
	{"ESC", "Z", "DECID: as DA1", "ESC Z", "VT510", (*Terminal).primaryAttributes},
	{"ESC", "c", "RIS: hard reset", "ESC c", "ECMA-48", plain((*Terminal).hardReset)},
	{"ESC", "l", "memory lock", "ESC l", "xterm", func(t *Terminal, _ *parse.Seq) { t.top = t.cur.Row }},
	{"ESC", "m", "memory unlock", "ESC m", "xterm", func(t *Terminal, _ *parse.Seq) { t.top = 0 }},
	{"ESC", "n", "LS2: G2 to the left half", "ESC n", "ECMA-48", func(t *Terminal, _ *parse.Seq) { t.lockingShift(2) }},
	{"ESC", "o", "LS3: G3 to the left half", "ESC o", "ECMA-48", func(t *Terminal, _ *parse.Seq) { t.lockingShift(3) }},
	{"ESC", "~", "LS1R: G1 to the right half", "ESC ~", "ECMA-48", func(t *Terminal, _ *parse.Seq) { t.charsets.gr = 1 }},
	{"ESC", "}", "LS2R: G2 to the right half", "ESC }", "ECMA-48", func(t *Terminal, _ *parse.Seq) { t.charsets.gr = 2 }},
	{"ESC", "|", "LS3R: G3 to the right half", "ESC |", "ECMA-48", func(t *Terminal, _ *parse.Seq) { t.charsets.gr = 3 }},
	{"ESC", " F", "S7C1T: answer with 7-bit C1", "ESC SP F", "VT510", func(t *Terminal, _ *parse.Seq) { t.bit8 = false }},
	{"ESC", " G", "S8C1T: answer with 8-bit C1", "ESC SP G", "VT510", func(t *Terminal, _ *parse.Seq) { t.bit8 = t.conform.level > 1 }},
	{"ESC", " L", "ACS: ANSI conformance level 1", "ESC SP L", "ECMA-43", ansiLevel},
	{"ESC", " M", "ACS: ANSI conformance level 2", "ESC SP M", "ECMA-43", ansiLevel},
	{"ESC", " N", "ACS: ANSI conformance level 3", "ESC SP N", "ECMA-43", ansiLevel},
	{"ESC", "#3", "DECDHL: double height, top half", "ESC # 3", "VT510", lineSize(LineDoubleTop)},
	{"ESC", "#4", "DECDHL: double height, bottom half", "ESC # 4", "VT510", lineSize(LineDoubleBottom)},
	{"ESC", "#5", "DECSWL: single width", "ESC # 5", "VT510", lineSize(LineNormal)},
	{"ESC", "#6", "DECDWL: double width", "ESC # 6", "VT510", lineSize(LineDoubleWidth)},
	{"ESC", "#8", "DECALN: alignment pattern", "ESC # 8", "VT510", plain((*Terminal).alignmentTest)},
	{"ESC", "%@", "default character set: ignored, text is UTF-8", "ESC % @", "ISO 2022", ignore},
	{"ESC", "%G", "UTF-8: as it is already", "ESC % G", "ISO 2022", ignore},
}

// ansiLevel puts ASCII in G0 and Latin-1 in G1 (levels 1 and 2), or ASCII in G0 alone.
func ansiLevel(t *Terminal, s *parse.Seq) {
	t.designate(0, "B", false)
	if s.Final != 'N' {
		t.designate(1, "A", true)
		t.charsets.gl, t.charsets.gr = 0, 1
	}
	t.updateSimple()
}

// lineSize returns the handler that sets the size of the cursor's line (VT510, "DECDWL"). Text that no longer fits is
// not shown.
func lineSize(size LineSize) func(*Terminal, *parse.Seq) {
	return func(t *Terminal, _ *parse.Seq) {
		if t.modes&modeMargins != 0 {
			return
		}
		r := t.scr.MutableRow(t.cur.Row)
		r.Size = size
		if size != LineNormal {
			t.cur.Col = min(t.cur.Col, max(0, t.cols/2-1))
			t.cur.Pending = false
		}
	}
}

// scs runs a designation (SCS): the intermediate names the slot, the rest the set.
func scs(t *Terminal, s *parse.Seq) bool {
	name := string(rune(s.Final))
	if s.Inter[1] != 0 {
		name = string(rune(s.Inter[1])) + name
	}
	switch i := s.Inter[0]; i {
	case '(', ')', '*', '+':
		t.designate(int(i-'('), name, false)
	case '-', '.', '/':
		t.designate(int(i-'-')+1, name, true)
	default:
		return false
	}
	return true
}

// vt52 runs a VT52 escape sequence (DECANM reset; VT510, appendix A). The parser returns the two bytes of ESC Y as
// parameters.
func (t *Terminal) vt52(s *parse.Seq) {
	if f := vt52Functions[s.Final&0x7f]; f != nil && s.Inter[0] == 0 {
		f(t, s)
	}
}

var vt52Functions = [128]func(*Terminal, *parse.Seq){
	'A': func(t *Terminal, _ *parse.Seq) { t.up(1) },
	'B': func(t *Terminal, _ *parse.Seq) { t.down(1) },
	'C': func(t *Terminal, _ *parse.Seq) { t.forward(1) },
	'D': func(t *Terminal, _ *parse.Seq) { t.backward(1) },
	'F': func(t *Terminal, _ *parse.Seq) { t.charsets.g[0] = charsetGraphics; t.lockingShift(0) },
	'G': func(t *Terminal, _ *parse.Seq) { t.charsets.g[0] = charsetASCII; t.lockingShift(0) },
	'H': func(t *Terminal, _ *parse.Seq) { t.moveTo(0, 0) },
	'I': func(t *Terminal, _ *parse.Seq) { t.reverseIndex() },
	'J': func(t *Terminal, _ *parse.Seq) { t.eraseDisplay(&parse.Seq{}) },
	'K': func(t *Terminal, _ *parse.Seq) { t.eraseLine(&parse.Seq{}) },
	'Y': func(t *Terminal, s *parse.Seq) { t.moveTo(s.Param(0, 0), s.Param(1, 0)) },
	'Z': func(t *Terminal, _ *parse.Seq) { t.replies = append(t.replies, "\x1b/Z"...) },
	'=': func(t *Terminal, _ *parse.Seq) { t.setMode(modeAppKeypad, true) },
	'>': func(t *Terminal, _ *parse.Seq) { t.setMode(modeAppKeypad, false) },
	'<': func(t *Terminal, _ *parse.Seq) { t.changeMode(findMode(2, false), true) },
}
