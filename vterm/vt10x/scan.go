package vt10x

import (
	"bytes"
	"unicode/utf8"
)

// state is the state of the scanner, after Paul Williams' parser for DEC terminals
// (https://vt100.net/emu/dec_ansi_parser).
type state uint8

const (
	ground     state = iota
	escape           // after ESC
	escapeMore       // after ESC and an intermediate
	csi              // after CSI
	csiIgnore        // a CSI sequence that is too long
	str              // in OSC, DCS, APC, PM, SOS or the title string of screen (ESC k)
	strEscape        // after ESC in a string
	numStates
)

const (
	maxCSI = 1024    // bytes of a control sequence; a longer one is ignored
	maxStr = 1 << 20 // bytes of an OSC; a longer one is ignored
	maxDCS = 4096    // of a device control string: only queries are of interest
	// keepSeq is the size of the buffer kept between sequences.
	keepSeq = 512
)

// scanner holds an incomplete sequence or character.
type scanner struct {
	state state
	kind  byte   // kind of the string: the byte after ESC
	seq   []byte // bytes after the introducer
	long  bool   // the string exceeds its limit and is dropped
	part  [utf8.UTFMax]byte
	parts int // number of bytes of an incomplete character in part
}

func (s *scanner) begin(st state, kind byte) {
	if cap(s.seq) > keepSeq {
		s.seq = nil
	}
	s.state, s.kind, s.seq, s.long = st, kind, s.seq[:0], false
}

// sequence consumes bytes until the scanner is in the ground state or p ends.
func (e *Engine) sequence(p []byte) int {
	for i := 0; i < len(p); i++ {
		if e.state == str {
			n := e.collect(p[i:])
			i, e.read = i+n, e.read+uint64(n)
			if i == len(p) {
				return i
			}
		}
		e.read++
		e.step(p[i])
		if e.state == ground {
			return i + 1
		}
	}
	return len(p)
}

// collect consumes the bytes of a string up to a control that may end it.
func (e *Engine) collect(p []byte) int {
	n := bytes.IndexAny(p, "\x07\x18\x1a\x1b")
	if n < 0 {
		n = len(p)
	}
	e.addString(p[:n])
	return n
}

func (e *Engine) addString(p []byte) {
	most := 0 // APC, PM and SOS are only swallowed
	switch e.kind {
	case ']', 'k':
		most = maxStr
	case 'P':
		most = maxDCS
	}
	if e.long = e.long || len(e.seq)+len(p) > most; e.long {
		e.seq = e.seq[:0]
		return
	}
	e.seq = append(e.seq, p...)
}

// step handles one byte of a sequence. ESC starts a new one anywhere; CAN and SUB end it without effect (ECMA-48
// §8.3.6, §8.3.148).
func (e *Engine) step(b byte) {
	switch {
	case b == 0x18 || b == 0x1a:
		e.begin(ground, 0)
	case b == 0x1b && e.state == str:
		e.state = strEscape
	case b == 0x1b:
		e.begin(escape, 0)
	case e.state == str:
		e.stepString(b)
	case e.state == strEscape && b == '\\':
		e.endString()
	case e.state == strEscape: // the string is dropped, b belongs to the new sequence
		e.begin(escape, 0)
		e.stepEscape(b)
	case b < 0x20:
		e.control(b)
	case b >= 0x7f: // nothing in a sequence (DEC STD 070)
	case e.state == escape || e.state == escapeMore:
		e.stepEscape(b)
	default:
		e.stepCSI(b)
	}
}

// stepString handles a control inside a string. BEL ends OSC and ESC k only: xterm treats it as content of other
// strings.
func (e *Engine) stepString(b byte) {
	if b == 0x07 && (e.kind == ']' || e.kind == 'k') {
		e.endString()
		return
	}
	e.addString([]byte{b})
}

func (e *Engine) endString() {
	if !e.long {
		e.runString(e.kind, e.seq)
	}
	e.begin(ground, 0)
}

func (e *Engine) stepEscape(b byte) {
	switch {
	case b < 0x20 || b >= 0x7f:
		e.step(b)
	case b < 0x30:
		e.seq = append(e.seq, b)
		if e.state = escapeMore; len(e.seq) > 4 {
			e.seq = e.seq[:4] // too long for any known sequence, so not one
		}
	case e.state == escapeMore:
		e.state = ground
		e.runEscape(e.seq, b)
	default:
		e.introduce(b)
	}
}

// introduce handles the byte after ESC, or a C1 control as its 7-bit form.
func (e *Engine) introduce(b byte) {
	switch b {
	case '[':
		e.begin(csi, 0)
	case ']', 'P', '_', '^', 'X', 'k':
		e.begin(str, b)
	default:
		e.begin(ground, 0)
		e.runEscape(nil, b)
	}
}

func (e *Engine) stepCSI(b byte) {
	if b < 0x40 {
		if len(e.seq) >= maxCSI {
			e.state = csiIgnore
		} else {
			e.seq = append(e.seq, b)
		}
		return
	}
	run := e.state == csi
	e.state = ground
	if run {
		e.runCSI(e.seq, b)
	}
	e.begin(ground, 0)
}
