package attach

import "bytes"

// Filter removes queries from a stream of raw output. The session's own emulator answers them; every attached terminal would
// answer again, into the program's input.
//
// It is a pure state machine: any split of the same bytes gives the same output. A sequence is held back until it is
// complete, at most maxHeld bytes.
type Filter struct {
	// Contain keeps the stream on the terminal's alternate screen: it also removes sequences that leave that screen, reset the
	// terminal or clear its scrollback.
	Contain bool
	// FollowsScheme removes changes of the mode of colour scheme reports (2031): the client sets that mode itself, and the
	// session's emulator reports to programs.
	FollowsScheme bool

	state   filterState
	held    []byte
	redraw  bool // a removed sequence must be replaced by a redraw
	isMuted bool // in a string whose start the terminal did not get
}

// filterState is the state of the parser.
type filterState uint8

const (
	stateGround           filterState = iota
	stateEscape                       // after ESC
	stateCSI                          // in CSI
	stateString                       // in a string (OSC, DCS, APC, PM, SOS), held
	stateStringEscape                 // after ESC in a held string
	stateLongString                   // in a string too long to be a query
	stateLongStringEscape             // after ESC in one
)

// maxHeld bounds the held-back bytes. No query is as long.
const maxHeld = 1024

// Control characters.
const (
	enq = 0x05
	bel = 0x07
	can = 0x18
	sub = 0x1a
	esc = 0x1b
)

// Pending returns the number of held-back bytes: the start of a sequence.
func (f *Filter) Pending() int {
	switch f.state {
	case stateGround, stateLongString:
		return 0
	case stateLongStringEscape:
		return 1
	}
	return len(f.held)
}

// IsBetweenSequences reports whether the input ended between two sequences.
func (f *Filter) IsBetweenSequences() bool { return f.state == stateGround }

// Append appends the part of p that may reach a terminal.
func (f *Filter) Append(dst, p []byte) []byte {
	for len(p) > 0 {
		n := len(dst)
		if f.state == stateGround || f.state == stateLongString {
			dst, p = f.copyPlain(dst, p)
		} else {
			dst = f.step(dst, p[0])
			p = p[1:]
		}
		if f.isMuted {
			dst = dst[:n]
			f.isMuted = f.state == stateLongString || f.state == stateLongStringEscape
		}
	}
	return dst
}

// copyPlain copies up to the next control character that may change the state.
func (f *Filter) copyPlain(dst, p []byte) (rest []byte, left []byte) {
	i := bytes.IndexFunc(p, func(r rune) bool { return r == esc || r == enq || r == bel || r == can || r == sub })
	if i < 0 {
		return append(dst, p...), nil
	}
	dst = append(dst, p[:i]...)
	switch c := p[i]; {
	case c == esc && f.state == stateGround:
		f.state, f.held = stateEscape, append(f.held[:0], esc)
	case c == esc:
		f.state = stateLongStringEscape
	case c == enq && f.state == stateGround: // a query by itself
	default:
		if f.state == stateLongString && c != enq {
			f.state = stateGround
		}
		dst = append(dst, c)
	}
	return dst, p[i+1:]
}

// step processes one byte outside of plain text.
func (f *Filter) step(dst []byte, c byte) []byte {
	switch f.state {
	case stateLongStringEscape:
		if c == '\\' { // ST
			f.state = stateGround
			return append(dst, esc, c)
		}
		// Any other sequence ends the string and starts.
		f.state, f.held = stateEscape, append(f.held[:0], esc)
		return f.stepEscape(dst, c)
	case stateEscape:
		return f.stepEscape(dst, c)
	case stateCSI:
		return f.stepCSI(dst, c)
	default:
		return f.stepString(dst, c)
	}
}

// stepEscape processes a byte after ESC.
func (f *Filter) stepEscape(dst []byte, c byte) []byte {
	f.held = append(f.held, c)
	if len(f.held) > 2 && c != esc { // after an intermediate: not the start of a query
		if c >= 0x20 && c < 0x30 && len(f.held) <= maxHeld {
			return dst
		}
		return f.release(dst)
	}
	switch {
	case c == '[':
		f.state = stateCSI
	case c == ']' || c == 'P' || c == '_' || c == '^' || c == 'X':
		f.state = stateString
	case c == 'Z': // DECID
		return f.resetState(dst)
	case c == 'c' && f.Contain: // RIS
		f.redraw = true
		return f.resetState(dst)
	case c == esc:
		dst = append(dst, f.held[:len(f.held)-1]...)
		f.held = append(f.held[:0], esc)
	case c >= 0x20 && c < 0x30: // intermediate
	default:
		return f.release(dst)
	}
	return dst
}

// stepCSI processes a byte of a control sequence.
func (f *Filter) stepCSI(dst []byte, c byte) []byte {
	switch {
	case c == esc: // cancels the sequence and starts another
		dst = append(dst, f.held...)
		f.state, f.held = stateEscape, append(f.held[:0], esc)
		return dst
	case c == can || c == sub:
		f.held = append(f.held, c)
		return f.release(dst)
	case c < 0x20: // executed within the sequence
		if c != enq {
			f.held = append(f.held, c)
		}
		if len(f.held) > maxHeld {
			return f.release(dst)
		}
		return dst
	}
	f.held = append(f.held, c)
	switch {
	case c >= 0x40 && c <= 0x7e:
		if isControlQuery(f.held) {
			return f.resetState(dst)
		}
		kept, redraw := f.contain(f.held)
		f.redraw = f.redraw || redraw
		return f.resetState(append(dst, kept...))
	case len(f.held) > maxHeld:
		return f.release(dst)
	}
	return dst
}

// stepString processes a byte of a string.
func (f *Filter) stepString(dst []byte, c byte) []byte {
	if f.state == stateStringEscape && c != '\\' {
		// An ESC that starts no ST also ends the string.
		if !isTextQuery(f.held[:len(f.held)-1]) {
			dst = append(dst, f.held[:len(f.held)-1]...)
		}
		f.state, f.held = stateEscape, append(f.held[:0], esc)
		return f.stepEscape(dst, c)
	}
	f.held = append(f.held, c)
	switch {
	case f.state == stateStringEscape, c == bel && f.held[1] == ']', c == can, c == sub:
		if isTextQuery(f.held) {
			return f.resetState(dst)
		}
		return f.release(dst)
	case c == esc:
		f.state = stateStringEscape
	case len(f.held) > maxHeld:
		dst = append(dst, f.held...)
		f.state, f.held = stateLongString, f.held[:0]
	}
	return dst
}

// release appends the held-back bytes.
func (f *Filter) release(dst []byte) []byte {
	dst = append(dst, f.held...)
	return f.resetState(dst)
}

// resetState discards the held-back bytes.
func (f *Filter) resetState(dst []byte) []byte {
	f.state, f.held = stateGround, f.held[:0]
	return dst
}
