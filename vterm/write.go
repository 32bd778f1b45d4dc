package vterm

import (
	"encoding/binary"

	"github.com/longterm-dev/longterm/vterm/internal/parse"
)

// Write implements Engine.
func (t *Terminal) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	t.version++
	for t.at = 0; t.at < len(p); {
		if t.parser.State == parse.Ground {
			t.ground(p)
			if t.at == len(p) {
				break
			}
		}
		n, event := t.parser.Next(p[t.at:])
		t.at += n
		if event != parse.None {
			t.dispatch(event)
		}
	}
	t.written += uint64(len(p))
	t.at = 0
	t.flushDirty()
	t.noticeModes()
	t.compactTables()
	return len(p), nil
}

// ground takes text and the commonest controls until something else comes.
func (t *Terminal) ground(p []byte) {
	if t.partLen > 0 && !t.printUTF8(p) {
		return
	}
	for t.at < len(p) {
		switch c := p[t.at]; {
		case c-0x20 < 0x5f:
			n := asciiRun(p[t.at:])
			t.printASCII(p[t.at : t.at+n])
			t.at += n
		case c >= 0x80:
			if !t.printUTF8(p) {
				return
			}
		case c == 0x1b:
			if !t.quickEscape(p[t.at:]) {
				return
			}
		case c == '\n' && t.modes&modeNewLine == 0:
			t.at++
			t.join = 0
			t.index()
		case c == '\r':
			t.at++
			t.join = 0
			t.carriageReturn()
		case c == 0x7f || c == 0:
			t.at++
		default:
			return
		}
	}
}

// quickEscape runs a control sequence of the common kind; false leaves it to the parser.
func (t *Terminal) quickEscape(p []byte) bool {
	if t.parser.VT52 {
		return false
	}
	if n := t.quickSGR(p); n > 0 {
		t.at += n
		t.join = 0
		return true
	}
	n := t.parser.QuickCsi(p)
	if n == 0 {
		return false
	}
	t.at += n
	t.before, t.join = t.join, 0
	t.plainCsi(&t.parser.Seq)
	return true
}

func (t *Terminal) dispatch(event parse.Event) {
	t.before, t.join = t.join, 0
	switch event {
	case parse.Csi:
		t.csi(&t.parser.Seq)
	case parse.Execute:
		t.execute(t.parser.Byte)
	case parse.Esc:
		t.escape(&t.parser.Seq)
	case parse.OscEnd:
		t.osc(t.parser.Str)
		t.parser.Release()
	case parse.DcsEnd:
		t.dcs(&t.parser.Seq, t.parser.Str)
		t.parser.Release()
	case parse.ApcEnd:
		t.apc(t.parser.Str)
		t.parser.Release()
	case parse.Discarded:
		t.emit(Event{Kind: EventLost, Name: "string", Num: 1})
	}
}

// csi runs a control sequence.
func (t *Terminal) csi(s *parse.Seq) {
	if f := lookupCsi(s.Key()); f != nil {
		f.run(t, s)
	}
}

// plainCsi runs a control sequence without prefix and intermediates. The ones that
// screens are painted with go first.
func (t *Terminal) plainCsi(s *parse.Seq) {
	switch s.Final {
	case 'm':
		t.sgr(s)
	case 'H':
		t.cursorPosition(s)
	default:
		if f := csiPlain[s.Final&0x7f]; f != nil {
			f.run(t, s)
		}
	}
}

func (t *Terminal) escape(s *parse.Seq) {
	if t.modes&modeANSI == 0 {
		t.vt52(s)
		return
	}
	if s.Inter[0] != 0 && scs(t, s) {
		return
	}
	if f := lookupEsc(s.Key()); f != nil {
		f.run(t, s)
	}
}

func (t *Terminal) execute(c byte) {
	if f := controls[c&0x1f]; f != nil {
		f(t)
	}
}

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// asciiRun is the length of the printable ASCII at the start of p, 8 bytes at a time.
func asciiRun(p []byte) int {
	i := 0
	for ; i+8 <= len(p); i += 8 {
		w := binary.LittleEndian.Uint64(p[i:])
		// A byte below 0x20 borrows, one of 0x7f or above carries into its high bit.
		if ((w-0x20*lowBits)|(w+lowBits)|w)&highBits != 0 {
			break
		}
	}
	for i < len(p) && p[i] >= 0x20 && p[i] < 0x7f {
		i++
	}
	return i
}
