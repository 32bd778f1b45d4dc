package ring

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Numbered input is typed once, whichever process is killed meanwhile: the typed part is recorded in memory that outlives
// the reader. Rings of two streams have their log in this memory, and no record of input.
//
//	512   entry: the piece that is being typed
//	      0 valid  8 key  16 number  24 before  32 total  40 at  48 bytes  56 exact
//	576   64 streams of 32 bytes
//	      0 key  8 next: number of the first input that was not fully typed  16 part: bytes typed of it  24 used
//	2624  pieces: bytes on their way to the terminal
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
	// MaxPiece bounds the bytes that are typed by one call.
	MaxPiece = headerSize - piecesOffset
)

// pieceEntry records the piece that is being typed. valid is 1 while the other fields apply. before is the number of
// the input's bytes typed before the piece, total its length. at is the file position of the piece, bytes its length.
// exact is 1 if the file's position shows the typed part.
type pieceEntry struct {
	valid, key, number, before, total, at, bytes, exact atomic.Uint64
}

// inputStream records the input of a client. next is the number of the first input that was not fully typed, part the
// typed bytes of it. used orders the streams by their last use.
type inputStream struct {
	key, next, part, used atomic.Uint64
}

// Inputs is a ring's record of numbered input. It is safe for concurrent use, but only one goroutine at a time may
// type.
type Inputs struct {
	mu       sync.Mutex // guards the fields below; not held during writes to the terminal
	page     []byte     // nil: closed
	entry    *pieceEntry
	streams  *[maxStreams]inputStream
	lastUsed uint64   // greatest value of inputStream.used
	file     *os.File // the ring's file, closed with the ring; nil if file positions are unsupported
	filePos  int64    // position of file; -1: unknown
}

// AdoptFile stores the ring's file until Close, so that input can be typed from it. It closes the file if that is
// unsupported.
func (r *Ring) AdoptFile(f *os.File) error {
	if r.IsSeparated() || !canTypeFromFiles {
		return f.Close()
	}
	r.file = f
	return nil
}

// Inputs returns the record of input, after completing the input that an earlier reader was typing. Close it before the
// ring. It returns nil for a ring of two streams.
func (r *Ring) Inputs() *Inputs {
	if r.IsSeparated() {
		return nil
	}
	page := unsafe.Slice((*byte)(unsafe.Pointer(r.hdr)), headerSize)
	in := &Inputs{
		page:    page,
		entry:   (*pieceEntry)(unsafe.Pointer(&page[entryOffset])),
		streams: (*[maxStreams]inputStream)(unsafe.Pointer(&page[streamsOffset])),
		file:    r.file, filePos: -1,
	}
	for i := range in.streams {
		in.lastUsed = max(in.lastUsed, in.streams[i].used.Load())
	}
	in.finishInterruptedLocked()
	return in
}

// finishInterruptedLocked records how much a reader had typed of a piece when it ended. It is idempotent.
func (in *Inputs) finishInterruptedLocked() {
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
func (s *inputStream) setTyped(number, bytes, total uint64) {
	if bytes >= total {
		number, bytes = number+1, 0
	}
	s.part.Store(bytes)
	s.next.Store(number)
}

// streamLocked returns the record of a stream. A new one replaces the least recently used one.
func (in *Inputs) streamLocked(key uint64) *inputStream {
	s := in.findLocked(key)
	if s == nil {
		s = &in.streams[0]
		for i := range in.streams {
			if x := &in.streams[i]; x.used.Load() < s.used.Load() {
				s = x
			}
		}
		s.used.Store(0) // unused until the record is complete
		s.key.Store(key)
		s.next.Store(0)
		s.part.Store(0)
	}
	if used := s.used.Load(); used == 0 || used < in.lastUsed {
		in.lastUsed = max(in.lastUsed+1, 1) // invalid memory may have the greatest number: avoid 0
		s.used.Store(in.lastUsed)
	}
	return s
}

// findLocked returns the record of a stream, or nil.
func (in *Inputs) findLocked(key uint64) *inputStream {
	for i := range in.streams {
		if s := &in.streams[i]; s.key.Load() == key && s.used.Load() > 0 {
			return s
		}
	}
	return nil
}

// Next returns the number of a stream's first input that was not fully typed, and the number of its typed bytes. known
// is false for an unknown stream.
func (in *Inputs) Next(key uint64) (next, part uint64, known bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.page == nil {
		return 0, 0, false
	}
	s := in.findLocked(key)
	if s == nil {
		return 0, 0, false
	}
	return s.next.Load(), s.part.Load(), true
}

// File is the file of a ring.
type File = os.File

// Device is the terminal that input is typed into.
type Device interface {
	// TypePiece types p, which is also at the position of f, and returns how many bytes were accepted. With wait it
	// waits until the terminal accepts some. It returns ErrNoSendFile, without having typed, if it cannot type from
	// files.
	TypePiece(f *File, p []byte, wait bool) (int, error)
}

// ErrNoSendFile is returned by a Device that cannot type from a file.
var ErrNoSendFile = errors.New("the terminal takes nothing out of files")

// Input is an input that is being typed.
type Input struct {
	inputs                     *Inputs
	key, number, before, total uint64
}

// StartInput returns the handle for typing a stream's input with a number and a total length. before is the number of
// its bytes that are already typed.
func (in *Inputs) StartInput(key, number, before, total uint64) *Input {
	if before >= total { // the input has no bytes under the current terminal modes
		in.mu.Lock()
		defer in.mu.Unlock()
		if in.page != nil {
			in.streamLocked(key).setTyped(number, before, total)
		}
	}
	return &Input{inputs: in, key: key, number: number, before: before, total: total}
}

// Type types p, the next bytes of an input, and returns how many were accepted: all, unless there is an error, or wait
// is false.
func (i *Input) Type(d Device, p []byte, wait bool) (n int, err error) {
	for n < len(p) && err == nil {
		piece, accepted := p[n:min(len(p), n+MaxPiece)], 0
		accepted, err = i.typePiece(d, piece, wait)
		if n += accepted; accepted < len(piece) && !wait {
			break
		}
	}
	return n, err
}

// typePiece types a piece, from the file if the device supports that.
func (i *Input) typePiece(d Device, p []byte, wait bool) (n int, err error) {
	f := i.recordPiece(p)
	if n, err = d.TypePiece(f, p, wait); errors.Is(err, ErrNoSendFile) && f != nil {
		i.inputs.stopUsingFile()
		i.recordPiece(p)
		n, err = d.TypePiece(nil, p, wait)
	}
	i.finishPiece(n, len(p))
	return n, err
}

// recordPiece records a piece that is about to be typed, and writes it to the position of the returned file. The file
// is nil if it must not be used.
func (i *Input) recordPiece(p []byte) (f *os.File) {
	in := i.inputs
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.page == nil {
		return nil
	}
	// The piece before is recorded in its stream: its entry can be dropped, and the position changed.
	in.entry.valid.Store(0)
	in.seekForPieceLocked(len(p))
	at, exact := uint64(0), uint64(0)
	if in.file != nil {
		at, exact = uint64(in.filePos), 1
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

// seekForPieceLocked sets the file's position to where a piece of n bytes fits, or stops using the file.
func (in *Inputs) seekForPieceLocked(n int) {
	if in.file == nil || in.filePos >= piecesOffset && in.filePos+int64(n) <= headerSize {
		return
	}
	clear(in.page[piecesOffset:])
	var err error
	if in.filePos, err = in.seekLocked(piecesOffset, io.SeekStart); err != nil {
		in.file = nil
	}
}

// finishPiece records how many bytes of the piece were typed.
func (i *Input) finishPiece(n, size int) {
	in := i.inputs
	in.mu.Lock()
	defer in.mu.Unlock()
	i.before += uint64(n)
	if in.page == nil {
		return
	}
	if in.file != nil {
		clear(in.page[in.filePos : in.filePos+int64(size)]) // may be a password
		in.filePos += int64(n)
	}
	in.streamLocked(i.key).setTyped(i.number, i.before, i.total)
	in.entry.valid.Store(0)
}

// seekLocked sets or returns the position of the file.
func (in *Inputs) seekLocked(off int64, whence int) (int64, error) {
	if in.file == nil {
		return 0, os.ErrInvalid
	}
	return in.file.Seek(off, whence)
}

// stopUsingFile makes later pieces be typed without the file.
func (in *Inputs) stopUsingFile() {
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
