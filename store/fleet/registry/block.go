package registry

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/longterm-dev/longterm/store/fleet"
)

// A block is what some of a host's records are under one key: a list of all has one message for some dozens of records
// instead of one for each, and the server one key. A change of one record writes its whole block, so blocks stay small.
const (
	blockRecords = 32
	blockBytes   = 16 << 10 // before it is compressed; one record alone may be larger
	// maxBlock bounds what a block is believed to hold: a message of the registry is smaller, and nobody else's blocks
	// take more room here than ours.
	maxBlock    = 256 << 10
	maxRecords  = 32 * blockRecords // of one block that is believed: each costs who watches an entry
	blockFormat = 1
)

var errBlock = errors.New("a block that cannot be read")

// block is the records of a block by their names.
type block map[string][]byte

// size is how many bytes a record takes in a block, about.
func size(record string, value []byte) int { return len(record) + len(value) + 4 }

func (b block) size() (n int) {
	for record, value := range b {
		n += size(record, value)
	}
	return n
}

// raw is the block's records, by name: equal blocks are equal bytes.
//
//	uvarint length of a name, name, uvarint length of a value, value; and so on
func (b block) raw() []byte {
	out := make([]byte, 0, b.size())
	names := make([]string, 0, len(b))
	for name := range b {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		out = append(binary.AppendUvarint(out, uint64(len(name))), name...)
		out = append(binary.AppendUvarint(out, uint64(len(b[name]))), b[name]...)
	}
	return out
}

// pack is a block's bytes as a key has them: the format, then one zstd frame.
func pack(raw []byte) []byte {
	e := packers.Get().(*zstd.Encoder)
	defer packers.Put(e)
	return e.EncodeAll(raw, []byte{blockFormat})
}

// unpack is the reverse of pack. Any member may have made the bytes, as it likes, for its own host.
func unpack(packed []byte) (raw []byte, err error) {
	if len(packed) == 0 || packed[0] != blockFormat {
		return nil, errBlock
	}
	d := unpackers.Get().(*zstd.Decoder)
	defer unpackers.Put(d)
	return d.DecodeAll(packed[1:], nil)
}

// records tells the records of a block; what it tells are parts of raw.
func records(raw []byte, tell func(name, value []byte)) error {
	text := func() (got []byte, ok bool) {
		n, k := binary.Uvarint(raw)
		if k <= 0 || n > uint64(len(raw)-k) {
			return nil, false
		}
		got, raw = raw[k:k+int(n)], raw[k+int(n):] //nolint:gosec // within raw
		return got, true
	}
	for n := 0; len(raw) > 0; n++ {
		if n == maxRecords {
			return errBlock
		}
		name, ok := text()
		if !ok || len(name) == 0 {
			return errBlock
		}
		value, ok := text()
		if !ok {
			return errBlock
		}
		tell(name, value)
	}
	return nil
}

// isBlock says that what stands below a host's name is a block, and not a record as hosts of an older version have them.
func isBlock(record string) bool { return strings.HasPrefix(record, fleet.BlockMark) }

// Used with whole buffers only, these start no goroutine.
var (
	packers = sync.Pool{New: func() any {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(32<<10),
			zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
		if err != nil {
			panic(err) // the options are wrong
		}
		return e
	}}
	unpackers = sync.Pool{New: func() any {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxBlock))
		if err != nil {
			panic(err)
		}
		return d
	}}
)
