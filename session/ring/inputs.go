package ring

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Input that its clients number is typed once, whoever is killed meanwhile, because what was typed of it is known in
// memory that outlives the reader. It lies where rings of two streams have their log; those have none of it.
//
//	512   entry: the piece that is being typed
//	      0 valid  8 key  16 number  24 before  32 total  40 at  48 bytes  56 exact
//	576   64 streams of 32 bytes
//	      0 key  8 next: number of the first input that was not typed as a whole  16 part: bytes typed of it  24 used
//	2624  pieces: bytes on their way to the terminal
//
// How much of a piece was typed cannot be told by a note before or behind the write: whoever is killed in between leaves
// a note that is wrong. So a piece is typed out of the ring's file, by a call in which the kernel writes to the terminal and
// moves the file's position (sendfile). The position belongs to the open file, which the keeper holds as well, and a
// process that is killed is killed before or after the call's work: a successor reads there how much was typed.
// Where there is no such call (exact is 0) a piece that was begun counts as typed.
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
	file    *os.File // that carries the ring, and is closed with it; nil: no position is told
	at      int64    // its position; -1: not known
}

// KeepFile keeps the file that carries the ring until Close, or closes it where that is of no use: what is typed is typed
// out of it.
func (r *Ring) KeepFile(f *os.File) error {
	if r.Separated() || !typesFromFiles {
		return f.Close()
	}
	r.file = f
	return nil
}

// Inputs is the memory of input, with what an earlier reader left settled. It is closed before the ring. A ring of two
// streams has none: nil.
func (r *Ring) Inputs() *Inputs {
	if r.Separated() {
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
		in.streamLocked(e.key.Load()).typed(e.number.Load(), e.before.Load()+typed, e.total.Load())
		e.valid.Store(0)
	}
	clear(in.page[piecesOffset:])
}

// typed notes that of an input so many bytes of all were typed. Who is killed between the stores leaves an entry that
// says the same.
func (s *stream) typed(number, bytes, total uint64) {
	if bytes >= total {
		number, bytes = number+1, 0
	}
	s.part.Store(bytes)
	s.next.Store(number)
}

// streamLocked is where a stream is remembered. A new one takes the place of the one that was not used for the longest
// time.
func (in *Inputs) streamLocked(key uint64) *stream {
	s := in.knownLocked(key)
	if s == nil {
		s = &in.streams[0]
		for i := range in.streams {
			if x := &in.streams[i]; x.used.Load() < s.used.Load() {
				s = x
			}
		}
		s.used.Store(0) // nobody's, until it is whole
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

// Next is the number of a stream's first input that was not typed as a whole, and how many of its bytes were. known is
// false for a stream of which nothing is remembered.
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
	// TypePiece types p, which is what stands at the position of f where that is a file, and says how much of it was
	// taken; it waits for the terminal to take something if it is to. ErrNoPiece: it cannot type out of files, and
	// nothing was typed.
	TypePiece(f *File, p []byte, wait bool) (int, error)
}

// ErrNoPiece is of a device that cannot type out of a file.
var ErrNoPiece = errors.New("the terminal takes nothing out of files")

// Input is one that is being typed.
type Input struct {
	in                         *Inputs
	key, number, before, total uint64
}

// Begin is what types the input of a number of a stream, of so many bytes, of which some were typed before.
func (in *Inputs) Begin(key, number, before, total uint64) *Input {
	if before >= total { // it makes no bytes, under the modes that are in force now
		in.mu.Lock()
		defer in.mu.Unlock()
		if in.page != nil {
			in.streamLocked(key).typed(number, before, total)
		}
	}
	return &Input{in: in, key: key, number: number, before: before, total: total}
}

// Type types p, the next bytes of an input, and says how much of it was taken: all of it, unless there is an error, or it does
// not wait.
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

// roomLocked has the position of the file be where a piece can stand, or gives the file up.
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
	in.streamLocked(i.key).typed(i.number, i.before, i.total)
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

// Close ends the memory's use: the ring may be unmapped. What is typed by then goes on.
func (in *Inputs) Close() {
	if in == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.file = nil
	in.page, in.entry, in.streams = nil, nil, nil
}
