package attach

import (
	"bytes"
	"slices"
)

// Modes that must not reach the terminal that shows a session (set or reset by CSI ? … h/l).
var (
	// neverModes are answered by the session's emulator. A terminal in mode 2048 would answer too.
	neverModes = []string{"2048"}
	// screenModes change or clear the whole screen. A client that shows the session on its alternate screen leaves that screen
	// itself.
	screenModes = []string{"3", "47", "1047", "1049"}
)

// contain returns the part of a control sequence that may reach the terminal, and whether a redraw is needed instead of
// the rest.
func (f *Filter) contain(seq []byte) (kept []byte, redraw bool) {
	body := seq[2:]
	final := body[len(body)-1]
	switch {
	case body[0] == '?' && (final == 'h' || final == 'l' || final == 's' || final == 'r'): // XTSAVE, XTRESTORE
		return f.containModes(seq)
	case final == 't' && bytes.HasPrefix(body, []byte("22")): // XTWINOPS: the saved titles are the client's
		return nil, false
	case final == 't' && bytes.HasPrefix(body, []byte("23")):
		return nil, true
	case f.Contain && final == 'J' && string(body) == "3J": // the terminal's own scrollback
		return nil, false
	}
	return seq, false
}

// containModes removes modes from a sequence that sets or resets several.
func (f *Filter) containModes(seq []byte) (kept []byte, redraw bool) {
	final := seq[len(seq)-1]
	params := bytes.Split(seq[3:len(seq)-1], []byte(";"))
	n := len(params)
	params = slices.DeleteFunc(params, func(p []byte) bool {
		p = bytes.TrimLeft(p, "0")
		if f.Contain && slices.Contains(screenModes, string(p)) {
			redraw = redraw || final != 's'
			return true
		}
		if f.FollowsScheme && string(p) == "2031" {
			return true
		}
		return (final == 'h' || final == 'r') && slices.Contains(neverModes, string(p))
	})
	switch len(params) {
	case n:
		return seq, false
	case 0:
		return nil, redraw
	}
	kept = append([]byte("\x1b[?"), bytes.Join(params, []byte(";"))...)
	return append(kept, final), redraw
}

// TakeRedraw reports, once, whether a whole-screen change was removed, so that the terminal must be redrawn.
func (f *Filter) TakeRedraw() bool {
	r := f.redraw
	f.redraw = false
	return r
}

// Prime moves the filter into the middle of a stream; before contains the available bytes up to there. It returns the
// bytes to send first, the start of a character. A started sequence is sent once complete. The rest of a long string is
// dropped.
func (f *Filter) Prime(before []byte) []byte {
	*f = Filter{Contain: f.Contain, FollowsScheme: f.FollowsScheme}
	f.Append(nil, before)
	f.redraw = false
	f.isMuted = f.state == stateLongString || f.state == stateLongStringEscape
	if f.state != stateGround {
		return nil
	}
	return partialRune(before)
}

// partialRune returns the incomplete UTF-8 character at the end of text.
func partialRune(text []byte) []byte {
	for n := 1; n <= min(3, len(text)); n++ {
		c := text[len(text)-n]
		if c&0xc0 == 0x80 { // within a character
			continue
		}
		if c >= 0xc0 && n < 2+boolInt(c >= 0xe0)+boolInt(c >= 0xf0) {
			return text[len(text)-n:]
		}
		break
	}
	return nil
}

// boolInt returns 1 for true.
func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
