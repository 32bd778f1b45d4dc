package vterm

import (
	"encoding/binary"

	"github.com/longterm-dev/longterm/vterm/internal/parse"
	"github.com/longterm-dev/longterm/vterm/internal/scan"
)

// Write implements Engine.
func (t *Terminal) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	t.tables.Version++
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
	t.scr.Flush()
	t.noticeModes()
	t.compactTables()
	return len(p), nil
}

// ground takes text and the commonest controls until something else comes.
func (t *Terminal) ground(p []byte) {
	if t.decoder.Pending() && !t.printUTF8(p) {
		return
	}
	for at := t.at; at < len(p); {
		switch c := p[at]; {
		case c-0x20 < 0x5f:
			if at == 0 || p[at-1] == '\n' {
				if n := t.fastLines(p[at:]); n > 0 {
					at += n
					continue
				}
			}
			n := 0
			if t.penStale {
				if n = t.looseText(p[at:]); n == 0 {
					t.freshenPen()
				}
			}
			if n == 0 {
				n = t.fastText(p[at:])
			}
			if n == 0 {
				n = scan.ASCII(p[at:])
				t.printASCII(p[at : at+n])
			}
			at += n
		case c >= 0x80:
			t.at = at
			if !t.printUTF8(p) {
				return
			}
			at = t.at
		case c == 0x1b:
			n := t.fastEscape(p[at:], at)
			if n == 0 {
				t.at = at
				return
			}
			at += n
		case c == '\n' && t.modes&modeNewLine == 0:
			at++
			t.join = 0
			t.index()
		case c == '\r':
			at++
			t.join = 0
			t.carriageReturn()
		case c == 0x7f || c == 0:
			at++
		default:
			t.at = at
			return
		}
	}
	t.at = len(p)
}

// fastEscape runs a control sequence of the common kind at the start of p, which is where of what
// is written, and returns its length, with text behind it that was printed; 0 leaves it to the parser.
func (t *Terminal) fastEscape(p []byte, at int) int {
	if t.parser.VT52 || len(p) < keyReach || p[1] != '[' || p[2]-'<' < 4 { // a private sequence
		return t.plainEscape(p, at)
	}
	w := binary.LittleEndian.Uint64(p[2:])
	known, n := false, finalByte(w)
	if n < 8 {
		switch byte(w >> (8 * n & 63)) {
		case 'm':
			known = t.knownSGR(sgrKey{a: upTo(w, n)})
		case 'H':
			if n := t.fastMoves(p); n > 0 {
				return n
			}
		}
		n += 3
	} else {
		if t.sgrSeen.seldom() {
			if n := t.newColors(p); n > 0 {
				return n
			}
		}
		var key sgrKey
		key, n = readKey(p)
		known = n > 0 && p[n-1] == 'm' && t.knownSGR(key)
	}
	if !known {
		return t.plainEscape(p, at)
	}
	t.join = 0
	if len(p) > n && p[n]-0x20 < 0x5f { // as text does after nearly all of them
		n += t.fastText(p[n:])
	}
	return n
}

// plainEscape is fastEscape for what is not known yet and for what is rarer.
func (t *Terminal) plainEscape(p []byte, at int) (n int) {
	switch {
	case t.parser.VT52 || len(p) < 3:
		return 0
	case p[1] == '(' && p[2] == 'B':
		if t.charsets.g[0] != charsetASCII {
			t.charsets.g[0] = charsetASCII
			t.updateSimple()
		}
		t.join = 0
		return 3
	case p[1] != '[':
		return 0
	case p[2] == '?':
		n = t.parser.FastPrivate(p)
	default:
		n = t.parser.FastCsi(p)
	}
	if n == 0 {
		return 0
	}
	t.at = at + n
	t.before, t.join = t.join, 0
	s := &t.parser.Seq
	switch {
	case s.Prefix != 0:
		t.csi(s)
	case s.Final == 'm':
		t.newSGR(p, s)
	default:
		if f := csiPlain[s.Final&0x7f]; f != nil {
			f.run(t, s)
		}
	}
	return n
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
	if s.Prefix == '?' && s.Inter[0] == 0 && (s.Final == 'h' || s.Final == 'l') {
		t.changeModes(s, s.Final == 'h')
	} else if f := lookupCsi(s.Key()); f != nil {
		f.run(t, s)
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
