package ring

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Numbered input is typed once, whichever process is killed in between: the typed part is recorded in memory that
// outlives the reader. This memory is where rings of two streams have their log; those have no such memory.
//
//	512   entry: the piece that is being typed
//	      0 valid  8 key  16 number  24 before  32 total  40 at  48 bytes  56 exact
//	576   64 streams of 32 bytes
//	      0 key  8 next: number of the first input that was not fully typed  16 part: bytes typed of it  24 used
//	2624  pieces: bytes in transit to the terminal
//
// A note before or after the write could not record the typed part of a piece: if the process is killed in between, the
// note is wrong. So a piece is typed from the ring's file, by a call in which the kernel writes to the terminal and
// moves the file's position (sendfile). The position belongs to the open file, which the keeper holds too, and a kill
// takes effect before or after the call: a successor reads from the position how much was typed. Without such a call
// (exact is 0) a started piece counts as typed.
const (
	entryOffset   = 512
	streamsOffset = 576
	piecesOffset  = 2624
	maxStreams    = (piecesOffset - streamsOffset) / 32
	// MaxPiece is how many bytes are typed at a time, at most.
	MaxPiece = headerSize - piecesOffset
)

type entry struct {
	valid, key, number, before, total, at, bytes, exact atomic.Uint64
}

type stream struct {
	key, next, part, used atomic.Uint64
}

// Inputs is a ring's memory of numbered input. It may be used from any goroutine; one at a time types.
type Inputs struct {
	mu      sync.Mutex // guards the rest; not held while the terminal is written to
	page    []byte     // nil: closed
	entry   *entry
	streams *[maxStreams]stream
	used    uint64   // by the stream that was used last
	file    *os.File // the ring's file, closed with it; nil if positions are unsupported
	at      int64    // its position; -1: not known
}

// KeepFile keeps the file that carries the ring until Close, or closes it where that is of no use: what is typed is typed
// out of it.
func (r *Ring) KeepFile(f *os.File) error {
	if r.IsSeparated() || !typesFromFiles {
		return f.Close()
	}
	r.file = f
	return nil
}

// Inputs returns the record of input, with the state of an earlier reader settled. Close it before the ring. It returns
// nil for a ring of two streams.
func (r *Ring) Inputs() *Inputs {
	if r.IsSeparated() {
		return nil
	}
	page := unsafe.Slice((*byte)(unsafe.Pointer(r.hdr)), headerSize)
	in := &Inputs{
		page:    page,
		entry:   (*entry)(unsafe.Pointer(&page[entryOffset])),
		streams: (*[maxStreams]stream)(unsafe.Pointer(&page[streamsOffset])),
		file:    r.file, at: -1,
	}
	for i := range in.streams {
		in.used = max(in.used, in.streams[i].used.Load())
	}
	in.settleLocked()
	return in
}

// settleLocked takes over what a reader was typing when it ended. Done again it comes to the same.
func (in *Inputs) settleLocked() {
	if e := in.entry; e.valid.Load() == 1 {
		typed := e.bytes.Load()
		if e.exact.Load() == 1 {
			if at, err := in.seekLocked(0, io.SeekCurrent); err == nil {
				typed = min(max(uint64(at), e.at.Load())-e.at.Load(), typed)
			}
		}
		in.streamLocked(e.key.Load()).setTyped(e.number.Load(), e.before.Load()+typed, e.total.Load())
		e.valid.Store(0)
	}
	clear(in.page[piecesOffset:])
}

// setTyped records how many bytes of an input were typed, of its total. A kill between the stores leaves an entry with
// the same meaning.
func (s *stream) setTyped(number, bytes, total uint64) {
	if bytes >= total {
		number, bytes = number+1, 0
	}
	s.part.Store(bytes)
	s.next.Store(number)
}

// streamLocked returns the record of a stream. A new one replaces the least recently used one.
func (in *Inputs) streamLocked(key uint64) *stream {
	s := in.knownLocked(key)
	if s == nil {
		s = &in.streams[0]
		for i := range in.streams {
			if x := &in.streams[i]; x.used.Load() < s.used.Load() {
				s = x
			}
		}
		s.used.Store(0) // unused, until it is complete
		s.key.Store(key)
		s.next.Store(0)
		s.part.Store(0)
	}
	if used := s.used.Load(); used == 0 || used < in.used {
		in.used = max(in.used+1, 1) // in memory that makes no sense it may be the last there is
		s.used.Store(in.used)
	}
	return s
}

func (in *Inputs) knownLocked(key uint64) *stream {
	for i := range in.streams {
		if s := &in.streams[i]; s.key.Load() == key && s.used.Load() > 0 {
			return s
		}
	}
	return nil
}

// Next returns the number of a stream's first input that was not fully typed, and how many of its bytes were. known is
// false for an unknown stream.
func (in *Inputs) Next(key uint64) (next, part uint64, known bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.page == nil {
		return 0, 0, false
	}
	s := in.knownLocked(key)
	if s == nil {
		return 0, 0, false
	}
	return s.next.Load(), s.part.Load(), true
}

// File is what carries a ring.
type File = os.File

// Device is what is typed into.
type Device interface {
	// TypePiece types p, which is also at the position of f, and returns how many bytes were accepted. With wait it
	// waits for the terminal to accept some. It returns ErrNoPiece if it cannot type from files; nothing was typed
	// then.
	TypePiece(f *File, p []byte, wait bool) (int, error)
}

// ErrNoPiece is of a device that cannot type out of a file.
var ErrNoPiece = errors.New("the terminal takes nothing out of files")

// Input is one that is being typed.
type Input struct {
	in                         *Inputs
	key, number, before, total uint64
}

// Begin returns the handle for typing a stream's input with a number and a total length, with before bytes typed
// already.
func (in *Inputs) Begin(key, number, before, total uint64) *Input {
	if before >= total { // it makes no bytes, under the modes that are in force now
		in.mu.Lock()
		defer in.mu.Unlock()
		if in.page != nil {
			in.streamLocked(key).setTyped(number, before, total)
		}
	}
	return &Input{in: in, key: key, number: number, before: before, total: total}
}

// Type types p, the next bytes of an input, and returns how many were accepted: all, unless there is an error, or wait
// is false.
func (i *Input) Type(d Device, p []byte, wait bool) (n int, err error) {
	for n < len(p) && err == nil {
		piece, took := p[n:min(len(p), n+MaxPiece)], 0
		took, err = i.piece(d, piece, wait)
		if n += took; took < len(piece) && !wait {
			break
		}
	}
	return n, err
}

func (i *Input) piece(d Device, p []byte, wait bool) (n int, err error) {
	f := i.lay(p)
	if n, err = d.TypePiece(f, p, wait); errors.Is(err, ErrNoPiece) && f != nil {
		i.in.giveUp()
		i.lay(p)
		n, err = d.TypePiece(nil, p, wait)
	}
	i.took(n, len(p))
	return n, err
}

// lay notes a piece that is about to be typed, and puts it where the position of the file is that it is typed out of.
func (i *Input) lay(p []byte) (f *os.File) {
	in := i.in
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.page == nil {
		return nil
	}
	// What was typed before is in its stream by now: its entry may go, and the position be another.
	in.entry.valid.Store(0)
	in.roomLocked(len(p))
	at, exact := uint64(0), uint64(0)
	if in.file != nil {
		at, exact = uint64(in.at), 1
		copy(in.page[at:], p)
	}
	e := in.entry
	e.key.Store(i.key)
	e.number.Store(i.number)
	e.before.Store(i.before)
	e.total.Store(i.total)
	e.at.Store(at)
	e.bytes.Store(uint64(len(p)))
	e.exact.Store(exact)
	e.valid.Store(1)
	return in.file
}

// roomLocked moves the file's position to where a piece fits, or stops using the file.
func (in *Inputs) roomLocked(n int) {
	if in.file == nil || in.at >= piecesOffset && in.at+int64(n) <= headerSize {
		return
	}
	clear(in.page[piecesOffset:])
	var err error
	if in.at, err = in.seekLocked(piecesOffset, io.SeekStart); err != nil {
		in.file = nil
	}
}

// took notes how much of the piece that was laid was typed.
func (i *Input) took(n, of int) {
	in := i.in
	in.mu.Lock()
	defer in.mu.Unlock()
	i.before += uint64(n)
	if in.page == nil {
		return
	}
	if in.file != nil {
		clear(in.page[in.at : in.at+int64(of)]) // it may be a password
		in.at += int64(n)
	}
	in.streamLocked(i.key).setTyped(i.number, i.before, i.total)
	in.entry.valid.Store(0)
}

func (in *Inputs) seekLocked(off int64, whence int) (int64, error) {
	if in.file == nil {
		return 0, os.ErrInvalid
	}
	return in.file.Seek(off, whence)
}

func (in *Inputs) giveUp() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.file = nil
}

// Close ends the use of the ring's memory, so that the ring may be unmapped. Writes in progress continue.
func (in *Inputs) Close() {
	if in == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.file = nil
	in.page, in.entry, in.streams = nil, nil, nil
}
