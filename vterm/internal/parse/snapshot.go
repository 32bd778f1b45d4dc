package parse

import "encoding/binary"

// Flags of a snapshot.
const (
	snapBell = 1 << iota
	snapEscaped
	snapTooLong
	snapOverflow
	snapVT52
)

// AppendSnapshot appends the state, including an incomplete sequence.
func (p *Parser) AppendSnapshot(dst []byte) []byte {
	flags := byte(0)
	for i, on := range []bool{p.Bell, p.escaped, p.tooLong, p.Seq.overflow, p.VT52} {
		if on {
			flags |= 1 << i
		}
	}
	s := &p.Seq
	dst = append(dst, byte(p.State), flags, byte(p.awaited), s.Prefix, s.Inter[0], s.Inter[1], byte(s.inters), s.Final, byte(s.N))
	dst = binary.AppendUvarint(dst, s.Subs)
	for _, v := range s.Params[:min(s.N, MaxParams)] {
		dst = binary.AppendVarint(dst, int64(v))
	}
	str := p.Str
	if p.State < Dcs {
		str = nil
	}
	dst = binary.AppendUvarint(dst, uint64(len(str)))
	return append(dst, str...)
}

// Restore reads a state that AppendSnapshot wrote and returns the remaining bytes. It returns false for invalid data.
func (p *Parser) Restore(b []byte) ([]byte, bool) {
	*p = Parser{}
	if len(b) < 9 || b[0] >= byte(numStates) || b[2] > afterC2 || b[6] > 2 || b[8] > MaxParams+1 {
		return nil, false
	}
	flags := b[1]
	p.State, p.awaited = State(b[0]), int(b[2])
	p.Bell, p.escaped, p.tooLong = flags&snapBell != 0, flags&snapEscaped != 0, flags&snapTooLong != 0
	p.VT52 = flags&snapVT52 != 0
	s := &p.Seq
	s.Prefix, s.Inter, s.inters, s.Final, s.N = b[3], [2]byte{b[4], b[5]}, int(b[6]), b[7], int(b[8])
	s.overflow = flags&snapOverflow != 0
	b = b[9:]
	var n int
	if s.Subs, n = binary.Uvarint(b); n <= 0 {
		return nil, false
	}
	b = b[n:]
	for i := range min(s.N, MaxParams) {
		v, n := binary.Varint(b)
		if n <= 0 || v < Omitted || v > MaxParam {
			return nil, false
		}
		s.Params[i], b = int32(v), b[n:]
	}
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) || size > MaxDcs {
		return nil, false
	}
	if p.VT52 && (p.awaited > 2 || p.State > Escape || p.State == Escape && p.awaited > 0 && s.N > 1) {
		return nil, false
	}
	p.Str = append(p.Str, b[n:n+int(size)]...)
	return b[n+int(size):], true
}
