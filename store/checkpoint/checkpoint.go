// Package checkpoint stores emulator states at journal offsets in files, so that only later output must be replayed:
// the newest one, with all its scrollback, for a restart (Write, Read), and a Series of past screens.
//
//	sessions/ID/checkpoint                             the newest
//	sessions/ID/checkpoints/00000000000067108864.ltc   one of the series
//
// The newest is
//
//	0   magic "LTCKPT1\n"
//	8   u32  CRC-32C of all that follows
//	12  u32  length of the engine's name, then the name
//	    u64  offset: bytes of output the snapshot has seen
//	    i64  time, Unix ns
//	    the snapshot
//
// Integers are little endian. A file with a bad checksum is ignored: the caller replays from further back. Files are
// replaced atomically, mode 0600.
package checkpoint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/store/atomicfile"
)

const (
	magic = "LTCKPT1\n"
	// Name is the file's name in a session's directory.
	Name = "checkpoint"
	// maxSize is the largest file that Read accepts, in bytes.
	maxSize = 256 << 20
)

// ErrInvalid is returned for a file that is not a complete checkpoint.
var ErrInvalid = errors.New("not a valid checkpoint")

// castagnoli returns the CRC table, which is created on first use: most verbs never need it.
var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// Checkpoint is an emulator's state at an offset.
type Checkpoint struct {
	Engine   string // engine that wrote Snapshot
	Offset   uint64
	Time     time.Time
	Snapshot []byte
}

// Encode returns the file's content.
func Encode(c Checkpoint) []byte { return append(preamble(c), c.Snapshot...) }

// preamble returns the file's content before the snapshot.
func preamble(c Checkpoint) []byte {
	b := append([]byte(nil), magic...)
	b = append(b, 0, 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(c.Engine)))
	b = append(b, c.Engine...)
	b = binary.LittleEndian.AppendUint64(b, c.Offset)
	b = binary.LittleEndian.AppendUint64(b, uint64(c.Time.UnixNano()))
	sum := crc32.Update(crc32.Checksum(b[12:], castagnoli()), castagnoli(), c.Snapshot)
	binary.LittleEndian.PutUint32(b[8:], sum)
	return b
}

// Decode decodes a file's content. The snapshot is a slice of b.
func Decode(b []byte) (Checkpoint, error) {
	if len(b) < 16 || string(b[:8]) != magic {
		return Checkpoint{}, ErrInvalid
	}
	if crc32.Checksum(b[12:], castagnoli()) != binary.LittleEndian.Uint32(b[8:]) {
		return Checkpoint{}, fmt.Errorf("%w: checksum", ErrInvalid)
	}
	n := binary.LittleEndian.Uint32(b[12:])
	rest := b[16:]
	if uint64(n)+16 > uint64(len(rest)) {
		return Checkpoint{}, fmt.Errorf("%w: engine name of %d bytes", ErrInvalid, n)
	}
	return Checkpoint{
		Engine:   string(rest[:n]),
		Offset:   binary.LittleEndian.Uint64(rest[n:]),
		Time:     time.Unix(0, int64(binary.LittleEndian.Uint64(rest[n+8:]))),
		Snapshot: rest[n+16:],
	}, nil
}

// Write replaces the checkpoint in dir. It does not sync: after a power loss an older checkpoint, or none, only costs
// replay time.
func Write(dir string, c Checkpoint) error {
	// In parts: the snapshot is too large to be copied for it.
	if err := atomicfile.Write(filepath.Join(dir, Name), atomicfile.Options{}, preamble(c), c.Snapshot); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

// Read reads the checkpoint in dir. The error is os.ErrNotExist if the directory has none.
func Read(dir string) (Checkpoint, error) {
	path := filepath.Join(dir, Name)
	st, err := os.Stat(path)
	if err != nil {
		return Checkpoint{}, err
	}
	if st.Size() > maxSize {
		return Checkpoint{}, fmt.Errorf("%w: %s has %d bytes", ErrInvalid, path, st.Size())
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return Checkpoint{}, err
	}
	return Decode(b)
}
