package checkpoint

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
)

// A checkpoint of a series:
//
//	0   magic "LTCKPT2\n"
//	8   u32  CRC-32C of bytes 12–39, the head
//	12  u64  offset: bytes of output the snapshot has seen
//	20  i64  time, Unix ns
//	28  u32  length of the snapshot when decoded
//	32  u32  length of the engine's name
//	36  u32  CRC-32C of all that follows
//	40  the engine's name, then the snapshot, a zstd frame
const (
	seriesMagic = "LTCKPT2\n"
	seriesHead  = 40
	// maxScreen bounds a snapshot, maxName an engine's name, bytes.
	maxScreen = 64 << 20
	maxName   = 256
)

// head is the fixed part before name and snapshot.
type head struct {
	offset uint64
	time   time.Time
	length int    // of the decoded snapshot, in bytes
	name   int    // length of the engine's name
	sum    uint32 // checksum of all bytes after the head
}

var encoders = sync.Pool{New: func() any {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true),
		zstd.WithWindowSize(1<<20), zstd.WithEncoderCRC(false))
	if err != nil {
		panic(err) // the options are wrong
	}
	return e
}}

var decoders = sync.Pool{New: func() any {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(maxScreen), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic(err)
	}
	return d
}}

// EncodeCompressed returns the content of a series' file.
func EncodeCompressed(c Checkpoint) []byte {
	le := binary.LittleEndian
	b := make([]byte, seriesHead, seriesHead+len(c.Engine)+len(c.Snapshot)/4+64)
	copy(b, seriesMagic)
	b = append(b, c.Engine...)
	e := encoders.Get().(*zstd.Encoder)
	b = e.EncodeAll(c.Snapshot, b)
	encoders.Put(e)
	le.PutUint64(b[12:], c.Offset)
	le.PutUint64(b[20:], uint64(c.Time.UnixNano()))
	le.PutUint32(b[28:], uint32(len(c.Snapshot)))
	le.PutUint32(b[32:], uint32(len(c.Engine)))
	le.PutUint32(b[36:], crc32.Checksum(b[seriesHead:], castagnoli()))
	le.PutUint32(b[8:], crc32.Checksum(b[12:seriesHead], castagnoli()))
	return b
}

func decodeHead(b []byte) (head, error) {
	le := binary.LittleEndian
	if len(b) < seriesHead || string(b[:8]) != seriesMagic ||
		crc32.Checksum(b[12:seriesHead], castagnoli()) != le.Uint32(b[8:]) {
		return head{}, ErrInvalid
	}
	length, name := le.Uint32(b[28:]), le.Uint32(b[32:])
	if length > maxScreen || name > maxName {
		return head{}, fmt.Errorf("%w: a snapshot of %d bytes by an engine of %d letters", ErrInvalid, length, name)
	}
	return head{
		offset: le.Uint64(b[12:]), time: time.Unix(0, int64(le.Uint64(b[20:]))),
		length: int(length), name: int(name), sum: le.Uint32(b[36:]),
	}, nil
}

// DecodeCompressed reads the content of a series' file.
func DecodeCompressed(b []byte) (Checkpoint, error) {
	h, err := decodeHead(b)
	if err != nil {
		return Checkpoint{}, err
	}
	rest := b[seriesHead:]
	if h.name > len(rest) || crc32.Checksum(rest, castagnoli()) != h.sum {
		return Checkpoint{}, fmt.Errorf("%w: checksum", ErrInvalid)
	}
	d := decoders.Get().(*zstd.Decoder)
	defer decoders.Put(d)
	snapshot, err := d.DecodeAll(rest[h.name:], make([]byte, 0, h.length))
	if err != nil {
		return Checkpoint{}, fmt.Errorf("%w: snapshot: %w", ErrInvalid, err)
	}
	if len(snapshot) != h.length {
		return Checkpoint{}, fmt.Errorf("%w: a snapshot of %d bytes, not %d", ErrInvalid, len(snapshot), h.length)
	}
	return Checkpoint{Engine: string(rest[:h.name]), Offset: h.offset, Time: h.time, Snapshot: snapshot}, nil
}
