// Package ring is the shared memory between the keeper, which reads a PTY, and the daemon, which journals the output.
// Each session has one ring with one writer and one reader.
//
//	page 0 (4096 bytes)                      then capacity bytes of data
//	0    magic "LTRING1\n"
//	8    capacity, bytes, a power of two
//	64   head: bytes ever written   (writer stores, after the bytes)
//	128  tail: bytes acknowledged   (reader stores, after they are journaled)
//	192  noticed: a notice was sent and the reader has not read since
//	196  stalled: the writer found no room and waits for a wake-up
//	200  floor: acknowledged bytes before it were released (Trim)
//	256  separate: 1 if the writer keeps two streams separate (streams.go)
//	264  switches: switches ever logged (writer stores, after the entry)
//	320  typing: the reader's note of the input that it types (typing.go); unused by the writer
//	512  log: 448 switches of 8 bytes, offset << 1 | stream; number k at k mod 448.
//	     In rings of one stream: the reader's record of input (inputs.go)
//
// Integers are in the machine's byte order: a ring never leaves its machine. Byte number n of the stream (counted from
// 0, never reset) is at data[n mod capacity].
//
// Ownership: bytes in [tail, head) belong to the reader and are never overwritten. The rest belongs to the writer,
// which writes at most MaxWrite bytes past head before it publishes them. Due to that bound CopyAt can read
// acknowledged bytes optimistically. Only the writer moves head and only the reader moves tail; a writer that finds an
// invalid tail continues with the last valid one.
package ring

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"
)

// Sizes in bytes.
const (
	headerSize  = 4096
	DefaultSize = 1 << 20
	MinSize     = 64 << 10
	MaxSize     = 1 << 30
	// MaxWrite bounds the written bytes that the writer has not yet published.
	MaxWrite = 16 << 10
)

// magic is the start of each ring.
var magic = [8]byte{'L', 'T', 'R', 'I', 'N', 'G', '1', '\n'}

// ErrFormat is returned for memory that is not a ring.
var ErrFormat = errors.New("not a longterm ring")

// header is the layout of page 0, as in the package comment.
type header struct {
	magic       [8]byte
	capacity    uint64
	_           [48]byte
	head        atomic.Uint64
	_           [56]byte
	tail        atomic.Uint64
	_           [56]byte
	noticed     atomic.Uint32
	stalled     atomic.Uint32
	floor       atomic.Uint64
	_           [48]byte
	isSeparated atomic.Uint32
	switches    atomic.Uint64
	_           [48]byte
	typing      struct {
		noted, at, kind atomic.Uint64
		id              [2]atomic.Uint64
	}
	_   [152]byte
	log [logEntries]atomic.Uint64
}

// Ring is the mapping of a ring by one of its sides.
type Ring struct {
	hdr      *header
	data     []byte
	mem      []byte   // the whole mapping; nil for a Local ring
	file     *os.File // the ring's file (AdoptFile), or nil
	lastTail uint64   // newest valid tail that the writer has read
}

// Create returns a ring of at least size bytes in shared memory, and the file to pass to another process.
func Create(size int) (*Ring, *os.File, error) {
	size = roundSize(size)
	f, err := sharedFile(int64(headerSize + size))
	if err != nil {
		return nil, nil, fmt.Errorf("create ring of %d bytes: %w", size, err)
	}
	mem, err := mapFile(f, headerSize+size)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("map ring: %w", err), f.Close())
	}
	r := ringInMemory(mem)
	r.mem = mem
	r.hdr.capacity = uint64(size)
	r.hdr.magic = magic
	return r, f, nil
}

// SetBase sets the offset of the next written byte. It may be called only before any write and before the ring is
// passed on.
func (r *Ring) SetBase(off uint64) {
	r.hdr.floor.Store(off)
	r.hdr.tail.Store(off)
	r.hdr.head.Store(off)
	r.lastTail = off
}

// Map maps a ring that another process created. It checks its format.
func Map(f *os.File) (*Ring, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("map ring: %w", err)
	}
	size := st.Size()
	if size < headerSize+MinSize || size > headerSize+MaxSize {
		return nil, fmt.Errorf("%w: file of %d bytes", ErrFormat, size)
	}
	mem, err := mapFile(f, int(size))
	if err != nil {
		return nil, fmt.Errorf("map ring: %w", err)
	}
	r := ringInMemory(mem)
	r.mem = mem
	if r.hdr.magic != magic || r.hdr.capacity != uint64(len(r.data)) || !isPowerOfTwo(len(r.data)) {
		return nil, errors.Join(ErrFormat, unmap(mem))
	}
	r.lastTail = r.Tail()
	return r, nil
}

// Local returns a ring in this process's own memory, for sessions without a keeper.
func Local(size int) *Ring {
	size = roundSize(size)
	words := make([]uint64, (headerSize+size)/8) // aligned for the atomics
	r := ringInMemory(unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), headerSize+size))
	r.hdr.capacity = uint64(size)
	r.hdr.magic = magic
	return r
}

// ringInMemory returns the ring whose header is at the start of mem.
func ringInMemory(mem []byte) *Ring {
	return &Ring{hdr: (*header)(unsafe.Pointer(&mem[0])), data: mem[headerSize:]}
}

// roundSize returns the smallest capacity of at least n bytes, within the limits.
func roundSize(n int) int {
	size := MinSize
	for size < n && size < MaxSize {
		size *= 2
	}
	return size
}

// isPowerOfTwo reports whether n is a power of two.
func isPowerOfTwo(n int) bool { return n > 0 && n&(n-1) == 0 }

// Close unmaps the ring. Slices into it become invalid.
func (r *Ring) Close() error {
	if r.mem == nil {
		return nil
	}
	mem, f := r.mem, r.file
	r.mem, r.data, r.hdr, r.file = nil, nil, nil, nil
	if f != nil {
		return errors.Join(unmap(mem), f.Close())
	}
	return unmap(mem)
}

// Cap returns the capacity in bytes.
func (r *Ring) Cap() int { return len(r.data) }

// Head returns the number of bytes ever written.
func (r *Ring) Head() uint64 { return r.hdr.head.Load() }

// Tail returns the number of bytes acknowledged.
func (r *Ring) Tail() uint64 { return r.hdr.tail.Load() }

// slot returns the index in data of an offset.
func (r *Ring) slot(off uint64) int { return int(off & uint64(len(r.data)-1)) }
