//go:build unix

package keeper

import (
	"errors"
	"fmt"
	"math"
	"os"
	"sync/atomic"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/ring"
)

// stream is the source of a child's output: the PTY's master, or the reading end of a pipe. A session that keeps stdout
// and stderr separate has two.
type stream struct {
	file   *os.File
	id     ring.Stream
	resume chan struct{} // the daemon made room in the ring
	idle   atomic.Bool   // no output since the last check
	// Guarded by Keeper.parker.mu:
	neverPark  bool  // never park it again: its process was reaped, or it is released
	parkNumber int32 // number of the parked stream; 0: not parked
	// Guarded by Keeper.mu:
	drained bool // read until empty since the process was reaped
	closed  bool // no more output is possible
}

// newStream returns a stream that reads a file.
func newStream(f *os.File, id ring.Stream) *stream {
	return &stream{file: f, id: id, resume: make(chan struct{}, 1)}
}

// stdio holds a child's three standard files, and our ends of them.
type stdio struct {
	outputs []*stream
	input   *os.File    // writing end of standard input; nil: empty, or the PTY
	child   [3]*os.File // standard input, output and error of the child
}

// closeAll closes all files, after a failure.
func (s *stdio) closeAll() {
	s.closeChildEnds()
	for _, o := range s.outputs {
		_ = o.file.Close()
	}
	if s.input != nil {
		_ = s.input.Close()
	}
}

// closeChildEnds closes the child's ends after the fork. Some may be the same file.
func (s *stdio) closeChildEnds() {
	for i, f := range s.child {
		if f != nil && (i == 0 || f != s.child[i-1]) {
			_ = f.Close()
		}
	}
	s.child = [3]*os.File{}
}

// cellWidth and cellHeight are the size of a cell of a new terminal in pixels, as in sys.DefaultCell: emulators report
// the same.
const cellWidth, cellHeight = 8, 16

// openTerminal opens a PTY of a size.
func (k *Keeper) openTerminal(cols, rows uint16) (*stdio, error) {
	open := k.cfg.OpenPTY
	if open == nil {
		open = pty.Open
	}
	master, slave, err := open()
	if err != nil {
		return nil, fmt.Errorf("open a PTY: %w", err)
	}
	s := &stdio{child: [3]*os.File{slave, slave, slave}}
	size := &pty.Winsize{Cols: cols, Rows: rows, X: uint16(min(int(cols)*cellWidth, math.MaxUint16)), Y: uint16(min(int(rows)*cellHeight, math.MaxUint16))}
	if err := pty.Setsize(master, size); err != nil {
		s.closeAll()
		return nil, errors.Join(fmt.Errorf("size the PTY: %w", err), master.Close())
	}
	// creack/pty leaves the master in blocking mode; the poller needs a fresh file.
	polled, err := nonBlocking(master)
	if err != nil {
		s.closeAll()
		return nil, err
	}
	s.outputs = []*stream{newStream(polled, ring.Stdout)}
	return s, nil
}

// nonBlocking replaces f by a file on the same terminal that the poller can wait on.
func nonBlocking(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, errors.Join(os.NewSyscallError("fcntl", err), f.Close())
	}
	if err := errors.Join(unix.SetNonblock(fd, true), f.Close()); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// openPipes makes one pipe for all output, or one each for stdout and stderr, and one for the input if requested.
func openPipes(m *wire.Spawn) (*stdio, error) {
	s := &stdio{}
	if err := s.openPipes(m); err != nil {
		s.closeAll()
		return nil, fmt.Errorf("open a pipe: %w", err)
	}
	return s, nil
}

// openPipes opens the pipes.
func (s *stdio) openPipes(m *wire.Spawn) (err error) {
	if m.Input {
		s.child[0], s.input, err = os.Pipe()
	} else {
		s.child[0], err = os.Open(os.DevNull)
	}
	if err != nil {
		return err
	}
	for _, id := range []ring.Stream{ring.Stdout, ring.Stderr} {
		if id == ring.Stderr && !m.Separate {
			s.child[2] = s.child[1]
			break
		}
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		s.child[1+id] = w
		s.outputs = append(s.outputs, newStream(r, id))
	}
	return nil
}
