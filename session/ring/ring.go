// Package ring is the shared memory between the keeper, which reads a PTY, and the
// daemon, which journals what was read. One ring per session, one writer, one reader.
//
//	page 0 (4096 bytes)                      then capacity bytes of data
//	0    magic "LTRING1\n"
//	8    capacity, bytes, a power of two
//	64   head: bytes ever written   (writer stores, after the bytes)
//	128  tail: bytes acknowledged   (reader stores, after they are journalled)
//	192  noticed: a notice is out and the reader has not looked yet
//	196  stalled: the writer found no room and waits to be told
//	200  floor: acknowledged bytes before it were released (Trim)
//	256  separate: 1 when the writer keeps two streams separate (streams.go)
//	264  switches: switches ever logged (writer stores, after the entry)
//	320  typing: the reader's note of the input it types (typing.go); nothing to the writer
//	512  log: 448 switches of 8 bytes, offset << 1 | stream; number k at k mod 448.
//	     In rings of one stream: what is known of input being typed, the reader's (inputs.go)
//
// Integers are in the machine's byte order: a ring never leaves its machine. Byte
// number n of the stream (counted from 0, never reset) lives at data[n mod capacity].
//
// Ownership: bytes in [tail, head) belong to the reader and are never overwritten;
// the rest belongs to the writer, which touches at most MaxWrite bytes past head
// before it publishes them. That bound is what lets CopyAt read acknowledged bytes
// optimistically. Only the writer moves head and only the reader moves tail; a writer
// that finds a tail it cannot believe goes on with the last one it could.
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
	// MaxWrite bounds what a writer holds written and unpublished.
	MaxWrite = 16 << 10
)

var magic = [8]byte{'L', 'T', 'R', 'I', 'N', 'G', '1', '\n'}

// ErrFormat is returned for memory that is not a ring.
var ErrFormat = errors.New("not a longterm ring")

type header struct {
	magic    [8]byte
	capacity uint64
	_        [48]byte
	head     atomic.Uint64
	_        [56]byte
	tail     atomic.Uint64
	_        [56]byte
	noticed  atomic.Uint32
	stalled  atomic.Uint32
	floor    atomic.Uint64
	_        [48]byte
	separate atomic.Uint32
	switches atomic.Uint64
	_        [48]byte
	typing   struct {
		noted, at, kind atomic.Uint64
		id              [2]atomic.Uint64
	}
	_   [152]byte
	log [logEntries]atomic.Uint64
}

// Ring is one side's mapping of a ring.
type Ring struct {
	hdr      *header
	data     []byte
	mem      []byte   // the whole mapping; nil for a Local ring
	file     *os.File // that carries it (KeepFile); nil: it is not kept
	lastTail uint64   // writer's: the newest tail it believed
}

// Create makes a ring of at least size bytes in memory that can be passed to another
// process, and returns the file that carries it.
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
	r := over(mem)
	r.mem = mem
	r.hdr.capacity = uint64(size)
	r.hdr.magic = magic
	return r, f, nil
}

// SetBase makes the next byte written number off of the stream. It may be called only before
// anything was written or the ring was passed on.
func (r *Ring) SetBase(off uint64) {
	r.hdr.floor.Store(off)
	r.hdr.tail.Store(off)
	r.hdr.head.Store(off)
	r.lastTail = off
}

// Map maps a ring that another process created.
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
	r := over(mem)
	r.mem = mem
	if r.hdr.magic != magic || r.hdr.capacity != uint64(len(r.data)) || !powerOfTwo(len(r.data)) {
		return nil, errors.Join(ErrFormat, unmap(mem))
	}
	r.lastTail = r.Tail()
	return r, nil
}

// Local is a ring in this process's own memory, for sessions without a keeper.
func Local(size int) *Ring {
	size = roundSize(size)
	words := make([]uint64, (headerSize+size)/8) // aligned for the atomics
	r := over(unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), headerSize+size))
	r.hdr.capacity = uint64(size)
	r.hdr.magic = magic
	return r
}

func over(mem []byte) *Ring {
	return &Ring{hdr: (*header)(unsafe.Pointer(&mem[0])), data: mem[headerSize:]}
}

func roundSize(n int) int {
	size := MinSize
	for size < n && size < MaxSize {
		size *= 2
	}
	return size
}

func powerOfTwo(n int) bool { return n > 0 && n&(n-1) == 0 }

// Close unmaps the ring. Slices into it must not be used any more.
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

// Cap is the capacity in bytes.
func (r *Ring) Cap() int { return len(r.data) }

// Head is the number of bytes ever written.
func (r *Ring) Head() uint64 { return r.hdr.head.Load() }

// Tail is the number of bytes acknowledged.
func (r *Ring) Tail() uint64 { return r.hdr.tail.Load() }

func (r *Ring) slot(off uint64) int { return int(off & uint64(len(r.data)-1)) }
