package vterm

import "github.com/longterm-dev/longterm/vterm/internal/parse"

// vt52 runs an escape sequence of the VT52 (DECANM reset; VT510, appendix A). ESC Y is
// read by the parser with its two bytes as parameters.
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
