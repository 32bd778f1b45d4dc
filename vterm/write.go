package vterm

import (
	"encoding/binary"

	"github.com/longterm-dev/longterm/vterm/internal/bytescan"
	"github.com/longterm-dev/longterm/vterm/internal/parse"
)

// Write implements Engine.
func (t *Terminal) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	t.tables.Version++
	for t.at = 0; t.at < len(p); {
		if t.parser.State == parse.Ground {
			t.printText(p)
			if t.at == len(p) {
				break
			}
		}
		n, event := t.parser.Next(p[t.at:])
		if s := &t.parser.Seq; event == parse.Csi && s.Final == 'm' && s.Prefix == 0 && s.Inter[0] == 0 {
			t.sgrCache.addAt(p[t.at:], n, s)
		}
		t.at += n
		if event != parse.None {
			t.dispatch(event)
		}
	}
	t.written += uint64(len(p))
	t.at = 0
	t.scr.Flush()
	t.emitModeChange()
	t.compactTables()
	return len(p), nil
}

// printText handles text and the most common controls until other input follows.
func (t *Terminal) printText(p []byte) {
	if t.decoder.Pending() && !t.printUTF8(p) {
		return
	}
	for at := t.at; at < len(p); {
		switch c := p[at]; {
		case c-0x20 < 0x5f:
			if at == 0 || p[at-1] == '\n' {
				n := t.fastLines(p[at:])
				if n == 0 && len(p)-at > 1 && p[at+1] == '\n' {
					n = t.fastSteps(p[at:])
				}
				if n > 0 {
					at += n
					continue
				}
			}
			n := 0
			if t.penStale {
				if n = t.fastTextWithoutID(p[at:]); n == 0 {
					t.freshenPen()
				}
			}
			if n == 0 {
				n = t.fastText(p[at:])
			}
			if n == 0 {
				n = bytescan.ASCII(p[at:])
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
			n := t.fastEscape(p, at)
			if n == at {
				t.at = at
				return
			}
			at = n
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

// fastEscape runs common control sequences at p[at:] and prints the text between them, until other input follows. It
// returns where it stopped; at means that the parser must handle the input there.
func (t *Terminal) fastEscape(p []byte, at int) int {
	if t.parser.VT52 {
		return at
	}
	p = p[:len(p):len(p)] // lets the compiler know that the remaining slice has the same capacity
	for len(p)-at >= keyReach {
		q := (*[keyReach]byte)(p[at:])
		if q[0] != 0x1b {
			n := 0
			if q[0]-0x20 < 0x5f { // as text does after nearly all of them
				n = t.fastText(p[at:])
			} else if q[0] >= 0x80 && t.simple {
				n = t.printRun(p[at:])
				n += t.joinRun(p[at+n:])
			}
			if n == 0 {
				return at
			}
			at += n
			continue
		}
		if q[1] != '[' {
			if q[1] != '(' || q[2] != 'B' || t.charsets.g[0] != charsetASCII {
				break
			}
			t.join = 0
			at += 3
			if q[3] == 0x1b && q[4] == '[' && q[5] == 'm' && t.pen.Link == 0 { // both are terminfo's sgr0
				t.plainPen()
				at += 3
			}
			continue
		}
		w := binary.LittleEndian.Uint64(q[2:])
		known, n, final := false, 0, byte(w)
		switch { // the CPU predicts this branch; finalByte is computed, and the next step would wait for it
		case w&0x40 != 0:
			if final == 'm' && t.pen.Link == 0 {
				t.plainPen()
				t.join = 0
				at += 3
				continue
			}
			if final == 'K' && !t.spares(false) {
				t.scr.EraseSpan(t.cur.Row, t.cur.Col, t.cols, t.blankCell())
				t.cur.Pending, t.join = false, 0
				at += 3
				continue
			}
		case w&0x404040 == 0x400000:
			n, final = 2, byte(w>>16)
		default:
			n = finalByte(w)
			final = byte(w >> (8 * n & 63))
		}
		if n < 8 {
			switch final {
			case 'm':
				known = t.knownSGR(sgrKey{a: upTo(w, n)})
			case 'H':
				if to := t.fastMoves(p, at); to > at {
					at = to
					continue
				}
			case 'h', 'l':
				if on := byte(w>>40) == 'h'; upTo(w, n)|'l'<<40 == endsSync {
					t.at, known = at+8, true
					t.changeMode(syncMode, on)
				}
			}
			n += 3
		} else {
			if t.sgrCache.seldom() {
				if n := t.runColorSGRs(p[at:]); n > 0 {
					at += n
					continue
				}
			}
			var key sgrKey
			key, n = readKey(q)
			known = n > 0 && q[n-1] == 'm' && t.knownSGR(key)
		}
		if !known {
			break
		}
		t.join = 0
		at += n
	}
	if at < len(p) && p[at] == 0x1b {
		at += t.plainEscape(p[at:], at)
	}
	return at
}

// endsSync is the text after "ESC [" that ends a synchronised update, the first byte lowest. A start has h instead of
// l, and h has no bit that l lacks.
const endsSync = '?' | '2'<<8 | '0'<<16 | '2'<<24 | '6'<<32 | 'l'<<40

// plainEscape is fastEscape for unknown and rarer sequences.
func (t *Terminal) plainEscape(p []byte, at int) (n int) {
	switch {
	case len(p) < 3:
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

// dispatch runs a parsed item.
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
		t.emit(Event{Kind: EventDropped, Name: "string", Num: 1})
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

// execute runs a C0 control.
func (t *Terminal) execute(c byte) {
	if f := controls[c&0x1f]; f != nil {
		f(t)
	}
}
