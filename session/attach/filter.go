package attach

import "bytes"

// Filter takes queries out of a stream of raw output. The session's own emulator
// answers them; a real terminal that saw them would answer a second time, into the
// program's input, and every attached terminal would.
//
// It is a pure machine: any split of the same bytes gives the same output. A sequence
// is held back until it can be judged, at most maxHeld bytes.
type Filter struct {
	// Contain keeps the stream on the screen it is shown on: what would leave the
	// terminal's alternate screen, reset the terminal or clear its history is taken out.
	Contain bool
	// FollowsScheme removes changes of the mode of colour scheme reports (2031): the client sets that of its terminal itself, and
	// the session's emulator reports to programs.
	FollowsScheme bool

	state  filterState
	held   []byte
	redraw bool // a removed sequence must be replaced by a redraw
	mute   bool // in the rest of a string whose beginning the terminal did not get
}

type filterState uint8

const (
	ground     filterState = iota
	escape                 // after ESC
	control                // in CSI
	text                   // in a string (OSC, DCS, APC, PM, SOS), held
	textEscape             // after ESC in a held string
	passing                // in a string too long to be a query
	passingEsc             // after ESC in one
)

// maxHeld bounds what is held back. No query is as long.
const maxHeld = 1024

const (
	enq = 0x05
	bel = 0x07
	can = 0x18
	sub = 0x1a
	esc = 0x1b
)

// Pending returns how many bytes are held back: the start of a sequence.
func (f *Filter) Pending() int {
	switch f.state {
	case ground, passing:
		return 0
	case passingEsc:
		return 1
	}
	return len(f.held)
}

// Between reports whether the input ended between two sequences.
func (f *Filter) Between() bool { return f.state == ground }

// Append appends to dst what of p may reach a terminal.
func (f *Filter) Append(dst, p []byte) []byte {
	for len(p) > 0 {
		n := len(dst)
		if f.state == ground || f.state == passing {
			dst, p = f.bulk(dst, p)
		} else {
			dst = f.step(dst, p[0])
			p = p[1:]
		}
		if f.mute {
			dst = dst[:n]
			f.mute = f.state == passing || f.state == passingEsc
		}
	}
	return dst
}

// bulk copies up to the next byte that matters.
func (f *Filter) bulk(dst, p []byte) (rest []byte, left []byte) {
	i := bytes.IndexFunc(p, func(r rune) bool { return r == esc || r == enq || r == bel || r == can || r == sub })
	if i < 0 {
		return append(dst, p...), nil
	}
	dst = append(dst, p[:i]...)
	switch c := p[i]; {
	case c == esc && f.state == ground:
		f.state, f.held = escape, append(f.held[:0], esc)
	case c == esc:
		f.state = passingEsc
	case c == enq && f.state == ground: // a query by itself
	default:
		if f.state == passing && c != enq {
			f.state = ground
		}
		dst = append(dst, c)
	}
	return dst, p[i+1:]
}

func (f *Filter) step(dst []byte, c byte) []byte {
	switch f.state {
	case passingEsc:
		if c == '\\' { // ST
			f.state = ground
			return append(dst, esc, c)
		}
		// Any other sequence ends the string and starts.
		f.state, f.held = escape, append(f.held[:0], esc)
		return f.afterEscape(dst, c)
	case escape:
		return f.afterEscape(dst, c)
	case control:
		return f.inControl(dst, c)
	default:
		return f.inText(dst, c)
	}
}

func (f *Filter) afterEscape(dst []byte, c byte) []byte {
	f.held = append(f.held, c)
	if len(f.held) > 2 && c != esc { // after an intermediate: not the start of a query
		if c >= 0x20 && c < 0x30 && len(f.held) <= maxHeld {
			return dst
		}
		return f.emit(dst)
	}
	switch {
	case c == '[':
		f.state = control
	case c == ']' || c == 'P' || c == '_' || c == '^' || c == 'X':
		f.state = text
	case c == 'Z': // DECID
		return f.drop(dst)
	case c == 'c' && f.Contain: // RIS
		f.redraw = true
		return f.drop(dst)
	case c == esc:
		dst = append(dst, f.held[:len(f.held)-1]...)
		f.held = append(f.held[:0], esc)
	case c >= 0x20 && c < 0x30: // intermediate
	default:
		return f.emit(dst)
	}
	return dst
}

func (f *Filter) inControl(dst []byte, c byte) []byte {
	switch {
	case c == esc: // cancels the sequence and starts another
		dst = append(dst, f.held...)
		f.state, f.held = escape, append(f.held[:0], esc)
		return dst
	case c == can || c == sub:
		f.held = append(f.held, c)
		return f.emit(dst)
	case c < 0x20: // executed in the midst of the sequence
		if c != enq {
			f.held = append(f.held, c)
		}
		if len(f.held) > maxHeld {
			return f.emit(dst)
		}
		return dst
	}
	f.held = append(f.held, c)
	switch {
	case c >= 0x40 && c <= 0x7e:
		if isControlQuery(f.held) {
			return f.drop(dst)
		}
		kept, redraw := f.contain(f.held)
		f.redraw = f.redraw || redraw
		return f.drop(append(dst, kept...))
	case len(f.held) > maxHeld:
		return f.emit(dst)
	}
	return dst
}

func (f *Filter) inText(dst []byte, c byte) []byte {
	if f.state == textEscape && c != '\\' {
		// An ESC that starts no ST also ends the string.
		if !isTextQuery(f.held[:len(f.held)-1]) {
			dst = append(dst, f.held[:len(f.held)-1]...)
		}
		f.state, f.held = escape, append(f.held[:0], esc)
		return f.afterEscape(dst, c)
	}
	f.held = append(f.held, c)
	switch {
	case f.state == textEscape, c == bel && f.held[1] == ']', c == can, c == sub:
		if isTextQuery(f.held) {
			return f.drop(dst)
		}
		return f.emit(dst)
	case c == esc:
		f.state = textEscape
	case len(f.held) > maxHeld:
		dst = append(dst, f.held...)
		f.state, f.held = passing, f.held[:0]
	}
	return dst
}

func (f *Filter) emit(dst []byte) []byte {
	dst = append(dst, f.held...)
	return f.drop(dst)
}

func (f *Filter) drop(dst []byte) []byte {
	f.state, f.held = ground, f.held[:0]
	return dst
}
