package stream

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// kind is the type of a packet.
type kind byte

// Kinds of packets. Each has its version and kind in the first two bytes, then numbers of eight bytes, big endian.
const (
	kindOpen  kind = 1 // limit: up to where the other side may send
	kindData  kind = 2 // offset, then bytes
	kindAck   kind = 3 // offset: everything before it arrived; limit; a flag requests retransmission
	kindFin   kind = 4 // offset: where the stream ends
	kindReset kind = 5 // then why
)

// version is the version of the packet format.
const version = 1

// packet is a message between the two ends of a stream.
type packet struct {
	kind       kind
	offset     uint64
	limit      uint64
	retransmit bool // for an ack: data between is missing, retransmit it
	data       []byte
}

// maxReason limits the text of a reset, in bytes.
const maxReason = 200

var errPacket = errors.New("a packet that cannot be read")

func (p *packet) encode() []byte {
	b := make([]byte, 2, 32+len(p.data))
	b[0], b[1] = version, byte(p.kind)
	switch p.kind {
	case kindOpen:
		return binary.BigEndian.AppendUint64(b, p.limit)
	case kindData:
		return append(binary.BigEndian.AppendUint64(b, p.offset), p.data...)
	case kindAck:
		b = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, p.offset), p.limit)
		if p.retransmit {
			return append(b, 1)
		}
		return append(b, 0)
	case kindFin:
		return binary.BigEndian.AppendUint64(b, p.offset)
	}
	return append(b, p.data...)
}

// decode decodes a packet, which any member of the fleet may have made.
func decode(b []byte) (p packet, err error) {
	if len(b) < 2 {
		return p, errPacket
	}
	if b[0] != version {
		return p, fmt.Errorf("a packet of version %d; this one knows %d: update longterm on both hosts", b[0], version)
	}
	p.kind, b = kind(b[1]), b[2:]
	need := map[kind]int{kindOpen: 8, kindData: 9, kindAck: 17, kindFin: 8, kindReset: 0}
	n, known := need[p.kind]
	if !known || len(b) < n {
		return p, errPacket
	}
	switch p.kind {
	case kindOpen:
		p.limit = binary.BigEndian.Uint64(b)
	case kindData:
		p.offset, p.data = binary.BigEndian.Uint64(b), b[8:]
	case kindAck:
		p.offset, p.limit, p.retransmit = binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:]), b[16] == 1
	case kindFin:
		p.offset = binary.BigEndian.Uint64(b)
	case kindReset:
		p.data = b[:min(len(b), maxReason)]
	}
	return p, nil
}
