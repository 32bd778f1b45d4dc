package journal

import (
	"errors"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Encoders and decoders are shared by the process, so that an idle journal holds none. They encode whole buffers and
// start no goroutine.
var (
	fastEncoders  = encoders(zstd.SpeedFastest)           // for appends
	denseEncoders = encoders(zstd.SpeedBetterCompression) // for compaction

	decoders = sync.Pool{New: func() any {
		d, err := zstd.NewReader(nil,
			zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(maxLength),
			zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			panic(err) // the options are wrong
		}
		return d
	}}
)

// encoders returns a pool of encoders. Frames have no checksum: the record's checksum covers them.
func encoders(level zstd.EncoderLevel) *sync.Pool {
	return &sync.Pool{New: func() any {
		e, err := zstd.NewWriter(nil,
			zstd.WithEncoderLevel(level),
			zstd.WithEncoderConcurrency(1),
			zstd.WithWindowSize(128<<10),
			zstd.WithLowerEncoderMem(true),
			zstd.WithEncoderCRC(false))
		if err != nil {
			panic(err)
		}
		return e
	}}
}

// deflate appends src as one frame to dst.
func deflate(pool *sync.Pool, dst, src []byte) []byte {
	e := pool.Get().(*zstd.Encoder)
	defer pool.Put(e)
	return e.EncodeAll(src, dst)
}

var errFrame = errors.New("compressed data: length differs from its header")

// inflate decodes the frame src, which must have n bytes when decoded, into dst's memory.
func inflate(dst, src []byte, n int) ([]byte, error) {
	if cap(dst) < n {
		dst = make([]byte, 0, n)
	}
	d := decoders.Get().(*zstd.Decoder)
	defer decoders.Put(d)
	out, err := d.DecodeAll(src, dst[:0:n])
	if err == nil && len(out) != n {
		err = errFrame
	}
	return out, err
}
