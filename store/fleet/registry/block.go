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

// A block stores several of a host's records under one key. A list of all sessions then has one message for some dozens
// of records instead of one for each, and the server one key. A change of one record writes its whole block, so blocks
// stay small.
const (
	blockRecords = 32
	blockBytes   = 16 << 10 // before it is compressed; one record alone may be larger
	// maxBlock limits the bytes of an accepted block: a registry message is smaller, and blocks of other hosts may use
	// no more memory here than blocks of this host.
	maxBlock    = 256 << 10
	maxRecords  = 32 * blockRecords // per accepted block: each record costs every watcher an entry
	blockFormat = 1
)

var errBlock = errors.New("a block that cannot be read")

// block holds the records of a block by name.
type block map[string][]byte

// size returns about how many bytes a record takes in a block.
func size(record string, value []byte) int { return len(record) + len(value) + 4 }

func (b block) size() (n int) {
	for record, value := range b {
		n += size(record, value)
	}
	return n
}

// raw returns the block's records sorted by name, so that equal blocks are equal bytes.
//
//	uvarint length of a name, name, uvarint length of a value, value; repeated for each record
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

// pack encodes a block as the value of a key: one format byte, then one zstd frame.
func pack(raw []byte) []byte {
	e := packers.Get().(*zstd.Encoder)
	defer packers.Put(e)
	return e.EncodeAll(raw, []byte{blockFormat})
}

// unpack reverses pack. The bytes are untrusted: any member may write its own host's keys.
func unpack(packed []byte) (raw []byte, err error) {
	if len(packed) == 0 || packed[0] != blockFormat {
		return nil, errBlock
	}
	d := unpackers.Get().(*zstd.Decoder)
	defer unpackers.Put(d)
	return d.DecodeAll(packed[1:], nil)
}

// records calls visit for each record of a block; name and value are slices of raw.
func records(raw []byte, visit func(name, value []byte)) error {
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
		visit(name, value)
	}
	return nil
}

// isBlock reports whether record names a block. Hosts of older versions write each record under its own key.
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
