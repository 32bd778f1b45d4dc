// Package parse splits a terminal's output into controls, escape sequences and strings.
//
// It does not handle text in the ground state: the caller prints runs of text itself and calls Next at the first
// control byte. Next consumes up to and including one sequence and returns its kind. It allocates only the buffer of
// strings.
//
// Bytes can be split anywhere between two calls. Parameters are returned as on the wire, neither 0- nor 1-based; empty
// ones are Omitted.
package parse

//go:generate go run gen.go

import "math/bits"

// State is a state of the parser.
type State uint8

// Event is the kind of item that Next found.
type Event uint8

// Events.
const (
	None      Event = iota // nothing is complete yet
	Execute                // C0 control in Parser.Byte
	Esc                    // escape sequence in Parser.Seq
	Csi                    // control sequence in Parser.Seq
	OscEnd                 // string in Parser.Str
	DcsEnd                 // header in Parser.Seq, string in Parser.Str
	ApcEnd                 // string in Parser.Str
	Discarded              // a string that was too long has ended; Parser.StrState is its kind
)

// Limits of collected data. A sequence with more parameters keeps the first ones, as xterm does; a longer string is
// dropped as a whole.
const (
	MaxParams   = 64
	MaxParam    = 65535
	MaxOsc      = 1 << 20
	MaxDcs      = 16 << 20
	keepStrings = 4096 // capacity of the string buffer kept between strings
)

// Omitted is the value of an omitted parameter.
const Omitted = -1

// Seq is an escape or control sequence, or the header of a device control string.
type Seq struct {
	Prefix byte // one of < = > ?, or 0
	Inter  [2]byte
	Final  byte
	N      int    // number of parameters
	Subs   uint64 // bit i: parameter i followed a ":"
	Params [MaxParams]int32

	inters   int
	overflow bool // parameters or intermediates were dropped
}

// Param returns parameter i, or def if it is omitted.
func (s *Seq) Param(i, def int) int {
	if i < s.N && s.Params[i] >= 0 {
		return int(s.Params[i])
	}
	return def
}

// Count returns parameter i as a count: 0 or an omitted one means 1.
func (s *Seq) Count(i int) int {
	if i < s.N && s.Params[i] > 0 {
		return int(s.Params[i])
	}
	return 1
}

// Sub reports whether parameter i is a sub-parameter.
func (s *Seq) Sub(i int) bool { return s.Subs>>uint(i)&1 != 0 }

// Key returns a value that identifies the function: prefix, intermediates and final byte.
func (s *Seq) Key() uint32 {
	return uint32(s.Prefix)<<24 | uint32(s.Inter[0])<<16 | uint32(s.Inter[1])<<8 | uint32(s.Final)
}

func (s *Seq) clear() {
	s.Prefix, s.Inter, s.Final, s.N, s.Subs, s.inters, s.overflow = 0, [2]byte{}, 0, 0, 0, 0, false
}

// Parser holds the state between two bytes. The zero Parser is in the ground state.
type Parser struct {
	State State
	Byte  byte // the control of an Execute event
	Seq   Seq
	Str   []byte // valid until the next call
	// Bell is set if BEL ended the string: the answer ends in the same way.
	Bell bool

	// VT52 selects VT52 escape sequences: one letter, and two bytes after Y.
	VT52 bool
	// awaited is how many bytes are still to come of ESC Y, or of a character above ASCII
	// that ends a sequence (afterC2 for one that may be a C1 control).
	awaited int

	escaped  bool  // an ESC was read inside a string
	tooLong  bool  // the current string exceeds its limit
	StrState State // kind of the last ended string
}

// Ground reports whether the parser is between sequences.
func (p *Parser) Ground() bool { return p.State == Ground }

// Reset drops an incomplete sequence.
func (p *Parser) Reset() { p.State, p.escaped, p.awaited = Ground, false, 0 }

// C1 feeds a C1 control (0x80–0x9f) that arrived decoded: it is ESC and the byte 0x40
// below (ECMA-48 §5.3).
func (p *Parser) C1(c byte) Event {
	p.Seq.clear()
	p.State = Escape
	_, e := p.Next([]byte{c - 0x40})
	return e
}

// Next consumes bytes until an item is complete. It returns None if b ends first, or if a sequence without effect ended
// and text may follow.
func (p *Parser) Next(b []byte) (int, Event) {
	if p.VT52 {
		return p.nextVT52(b)
	}
	for i := 0; i < len(b); i++ {
		if p.State >= Dcs {
			n, e := p.collect(b[i:])
			i += n - 1
			if e != None || p.State == Ground {
				return i + 1, e
			}
			continue
		}
		c := b[i]
		if (c >= 0x80 || p.awaited > 0) && p.State <= CsiIgnore {
			n, e := p.handleNonASCII(c)
			i += n - 1
			if e != None || p.State == Ground {
				return i + 1, e
			}
			continue
		}
		t := table[p.State][c]
		p.State = State(t)
		if e := p.act(int(t>>8), c); e != None || p.State == Ground {
			return i + 1, e
		}
	}
	return len(b), None
}

// afterC2 means that 0xc2 was read: the next byte completes a C1 control or a character.
const afterC2 = 4

// handleNonASCII handles a non-ASCII byte within a sequence. Such a character ends the sequence and is lost with it (as in
// xterm); a C1 control starts another.
func (p *Parser) handleNonASCII(c byte) (int, Event) {
	switch {
	case p.awaited == 0 && c == 0xc2:
		p.awaited = afterC2
	case p.awaited == 0 && c > 0xc2 && c < 0xf5:
		p.awaited = bits.LeadingZeros8(^c) - 1
	case p.awaited == 0:
		p.State = Ground
	case c&0xc0 != 0x80: // the character was cut short
		p.State, p.awaited = Ground, 0
		return 0, None
	case p.awaited == afterC2 && c < 0xa0:
		p.awaited = 0
		return 1, p.C1(c)
	case p.awaited == afterC2 || p.awaited == 1:
		p.State, p.awaited = Ground, 0
	default:
		p.awaited--
	}
	return 1, None
}

func (p *Parser) act(action int, c byte) Event {
	switch action {
	case actExecute:
		p.Byte = c
		return Execute
	case actClear:
		p.Seq.clear()
	case actCollect:
		p.Seq.collect(c)
	case actPrefix:
		p.Seq.Prefix = c
	case actParam:
		p.Seq.param(c)
	case actEsc:
		p.Seq.Final = c
		if !p.Seq.overflow {
			return Esc
		}
	case actCsi:
		p.Seq.Final = c
		p.Seq.N = min(p.Seq.N, MaxParams)
		if !p.Seq.overflow {
			return Csi
		}
	case actString:
		p.Seq.Final = c
		p.Seq.N = min(p.Seq.N, MaxParams)
		p.Str, p.tooLong, p.escaped, p.Bell = p.Str[:0], false, false, false
	}
	return None
}

func (s *Seq) collect(c byte) {
	if s.inters == len(s.Inter) {
		s.overflow = true
		return
	}
	s.Inter[s.inters] = c
	s.inters++
}

func (s *Seq) param(c byte) {
	if s.N == 0 {
		s.N, s.Params[0] = 1, Omitted
	}
	if c == ';' || c == ':' {
		if s.N <= MaxParams {
			s.N++
		}
		if s.N <= MaxParams {
			s.Params[s.N-1] = Omitted
			if c == ':' {
				s.Subs |= 1 << uint(s.N-1)
			}
		}
		return
	}
	if s.N > MaxParams {
		return
	}
	v := max(s.Params[s.N-1], 0)*10 + int32(c-'0')
	s.Params[s.N-1] = min(v, MaxParam)
}

// FastCsi parses a control sequence into Seq if b, starting with ESC, contains it completely and it consists of digits
// and semicolons only, like nearly all sequences. It returns 0 if Next must parse it. The parser must be in the ground
// state.
func (p *Parser) FastCsi(b []byte) int {
	if len(b) < 3 || b[1] != '[' || p.VT52 {
		return 0
	}
	return p.fastCsi(b, 2, 0)
}

// FastPrivate is FastCsi for a sequence with a "?" before its parameters.
func (p *Parser) FastPrivate(b []byte) int {
	if len(b) < 4 || b[1] != '[' || b[2] != '?' || p.VT52 {
		return 0
	}
	return p.fastCsi(b, 3, '?')
}

// fastCsi reads the parameters from first on.
func (p *Parser) fastCsi(b []byte, first int, prefix byte) int {
	s := &p.Seq
	n, v := 0, int32(0)
	for i := first; i < len(b); i++ {
		c := b[i]
		if d := c - '0'; d < 10 {
			v = v*10 + int32(d)
			continue
		}
		switch {
		case n == MaxParams || i-first > maxDigits || v > MaxParam:
			return 0
		case i == first:
			v = Omitted
		}
		s.Params[n] = v
		n++
		if c == ';' {
			v, first = 0, i+1
			continue
		}
		if c < 0x40 || c > 0x7e {
			return 0
		}
		if n == 1 && i == first {
			n = 0
		}
		s.Prefix, s.Inter, s.Final, s.N, s.Subs = prefix, [2]byte{}, c, n, 0
		return i + 1
	}
	return 0
}

// maxDigits is the number of digits that FastCsi evaluates, so that v cannot overflow; the value of longer numbers is
// irrelevant.
const maxDigits = 5

// collect reads the body of a string up to its end: ST, BEL (OSC only), CAN or SUB. Any other byte than "\" after ESC
// drops the string and starts an escape sequence, as in xterm.
func (p *Parser) collect(b []byte) (int, Event) {
	if p.escaped {
		return p.afterEscape(b[0])
	}
	i := 0
	for i < len(b) && !endsString[b[i]] {
		i++
	}
	p.put(b[:i])
	if i == len(b) {
		return i, None
	}
	switch c := b[i]; {
	case c == 0x1b:
		p.escaped = true
	case c == 0x18 || c == 0x1a:
		p.State = Ground
	case c == 0x07 && p.State == Osc:
		p.Bell = true
		return i + 1, p.endString()
	case c == 0x9c && p.lastByte() == 0xc2:
		p.Str = p.Str[:max(0, len(p.Str)-1)]
		return i + 1, p.endString()
	case c >= 0x80 || p.State == Dcs:
		p.put(b[i : i+1])
	}
	return i + 1, None
}

// endsString marks the bytes that collect must handle one by one.
var endsString = func() (t [256]bool) {
	for i := range 0x20 {
		t[i] = true
	}
	t[0x9c] = true
	return t
}()

func (p *Parser) lastByte() byte {
	if len(p.Str) == 0 {
		return 0
	}
	return p.Str[len(p.Str)-1]
}

func (p *Parser) afterEscape(c byte) (int, Event) {
	p.escaped = false
	switch c {
	case '\\':
		return 1, p.endString()
	case 0x1b:
		p.escaped = true
		return 1, None
	}
	p.Seq.clear()
	t := table[Escape][c]
	p.State = State(t)
	return 1, p.act(int(t>>8), c)
}

func (p *Parser) put(b []byte) {
	if len(b) == 0 {
		return // what lastByte needs stays
	}
	limit := MaxDcs
	switch p.State {
	case Osc:
		limit = MaxOsc
	case SosPm:
		limit = 1 // only lastByte needs it
		if len(b) > 1 {
			b = b[len(b)-1:]
		}
		p.Str = p.Str[:0]
	}
	if limit == MaxOsc && len(p.Str)+len(b) > limit && p.isFile(b) {
		limit = MaxDcs
	}
	if len(p.Str)+len(b) > limit {
		// The last byte is kept, so that an ST in two bytes is still seen.
		p.tooLong = true
		p.Str = append(p.Str[:0], b[len(b)-1])
		return
	}
	p.Str = append(p.Str, b...)
}

// filePrefix is the start of an OSC with file data, which may be as long as other images.
const filePrefix = "1337;File="

// isFile reports whether the string so far, followed by more, is an OSC with file data.
func (p *Parser) isFile(more []byte) bool {
	head := append(make([]byte, 0, len(filePrefix)), p.Str[:min(len(p.Str), len(filePrefix))]...)
	return string(append(head, more[:min(len(more), len(filePrefix)-len(head))]...)) == filePrefix
}

func (p *Parser) endString() Event {
	kind := p.State
	p.State, p.StrState = Ground, kind
	switch {
	case p.tooLong:
		p.Str = nil
		return Discarded
	case kind == Osc:
		return OscEnd
	case kind == Dcs && !p.Seq.overflow:
		return DcsEnd
	case kind == Apc:
		return ApcEnd
	}
	return None
}

// Release frees the memory of a large string. Call it after reading Str.
func (p *Parser) Release() {
	if cap(p.Str) > keepStrings {
		p.Str = nil
	}
}

// nextVT52 implements Next for a VT52 (VT510, appendix A). It returns the bytes after ESC Y as parameters, minus 0x20.
func (p *Parser) nextVT52(b []byte) (int, Event) {
	for i, c := range b {
		switch {
		case c == 0x18 || c == 0x1a:
			p.State, p.awaited = Ground, 0
		case c == 0x1b:
			p.Seq.clear()
			p.State, p.awaited = Escape, 0
		case c < 0x20:
			p.Byte = c
			return i + 1, Execute
		case p.State != Escape:
			return i, None
		case p.awaited > 0:
			p.Seq.Params[p.Seq.N] = int32(c) - 0x20
			p.Seq.N++
			if p.awaited--; p.awaited == 0 {
				p.State = Ground
				return i + 1, Esc
			}
		case c == 'Y':
			p.Seq.Final, p.awaited = c, 2
		default:
			p.Seq.Final, p.State = c, Ground
			return i + 1, Esc
		}
	}
	return len(b), None
}
