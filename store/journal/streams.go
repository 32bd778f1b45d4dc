package journal

import (
	"encoding/binary"
	"fmt"
)

// Stream is the origin of output: stdout or stderr.
type Stream uint8

// Streams. Numbers are part of the format.
const (
	Stdout Stream = 0
	Stderr Stream = 1
)

// StreamRun is a number of consecutive output bytes of one stream.
type StreamRun struct {
	Stream Stream
	Bytes  int
}

// Streams records which output after its record's offset is stdout and which is stderr. Its runs are consecutive; the
// last one extends to the next mark of this kind. If two marks cover the same bytes, the later one counts: the output
// of the earlier one was never written.
//
//	0 u8 3   1 u8 flags   then for each run: uvarint bytes << 1 | stream
//
// Flag 1: unknown from here on, without runs.
type Streams struct {
	Unknown bool
	Runs    []StreamRun
}

const streamsUnknown = 1

// AppendTo appends the mark for s, to be passed to AppendMark.
func (s Streams) AppendTo(dst []byte) []byte {
	if s.Unknown {
		return append(dst, byte(MarkStreams), streamsUnknown)
	}
	dst = append(dst, byte(MarkStreams), 0)
	for _, r := range s.Runs {
		dst = binary.AppendUvarint(dst, uint64(r.Bytes)<<1|uint64(r.Stream))
	}
	return dst
}

// DecodeStreams reads a streams mark.
func DecodeStreams(mark []byte) (Streams, error) {
	if MarkKindOf(mark) != MarkStreams || len(mark) < 2 {
		return Streams{}, ErrMark
	}
	s := Streams{Unknown: mark[1]&streamsUnknown != 0}
	total := uint64(0)
	for b := mark[2:]; len(b) > 0; {
		v, n := binary.Uvarint(b)
		total += v >> 1
		if n <= 0 || v>>1 == 0 || v>>1 > maxOffset || total > maxOffset {
			return Streams{}, fmt.Errorf("%w: run of %d bytes", ErrMark, v>>1)
		}
		s.Runs = append(s.Runs, StreamRun{Stream(v & 1), int(v >> 1)})
		b = b[n:]
	}
	if s.Unknown != (len(s.Runs) == 0) {
		return Streams{}, fmt.Errorf("%w: %d runs", ErrMark, len(s.Runs))
	}
	return s, nil
}
