// Package wire is the keeper's protocol over its Unix socket. Its clients are the daemon, and tools that start, upgrade
// or end things.
//
// A message is a frame, little endian:
//
//	0  u32  length of the payload, bytes
//	4  u16  kind
//	6  u16  number of descriptors that travel with the frame (SCM_RIGHTS)
//	8  payload: fields of u16 tag, u32 length, value
//
// Integers are 8-byte values, strings are UTF-8 bytes, a list is one field per element, an absent field is the zero
// value. Kinds and tags are never reused; readers skip unknown ones, so an old keeper and a new daemon understand each
// other, and vice versa. The bytes are pinned by golden tests.
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Version is the protocol version. It changes only if skipping unknown fields no longer suffices for older peers.
const Version = 1

// Bounds that a reader enforces.
const (
	headerSize     = 8
	MaxPayload     = 8 << 20 // argv and environment of a spawn (ARG_MAX is below)
	MaxDescriptors = 8
)

// ErrTooLarge is returned for frames over the bounds: the peer is broken or hostile.
var ErrTooLarge = errors.New("keeper protocol: frame over the size limit")

// Kind names a message.
type Kind uint16

// Frame is a message before its fields are read.
type Frame struct {
	Kind        Kind
	Payload     []byte
	Descriptors int
}

// AppendFrame appends a frame that carries msg and announces nfd descriptors.
func AppendFrame(dst []byte, msg Message, nfd int) []byte {
	start := len(dst)
	dst = append(dst, make([]byte, headerSize)...)
	dst = appendFields(dst, msg)
	h := dst[start:]
	binary.LittleEndian.PutUint32(h, uint32(len(h)-headerSize))
	binary.LittleEndian.PutUint16(h[4:], uint16(msg.kind()))
	binary.LittleEndian.PutUint16(h[6:], uint16(nfd))
	return dst
}

// ReadFrame reads one frame.
func ReadFrame(r io.Reader) (Frame, error) {
	var h [headerSize]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return Frame{}, err
	}
	f := Frame{
		Kind:        Kind(binary.LittleEndian.Uint16(h[4:])),
		Descriptors: int(binary.LittleEndian.Uint16(h[6:])),
	}
	n := binary.LittleEndian.Uint32(h[:])
	if n > MaxPayload || f.Descriptors > MaxDescriptors {
		return Frame{}, fmt.Errorf("%w: kind %d, %d bytes, %d descriptors", ErrTooLarge, f.Kind, n, f.Descriptors)
	}
	f.Payload = make([]byte, n)
	if _, err := io.ReadFull(r, f.Payload); err != nil {
		return Frame{}, fmt.Errorf("keeper protocol: frame cut short: %w", noEOF(err))
	}
	return f, nil
}

// noEOF converts an io.EOF within a frame to io.ErrUnexpectedEOF.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
