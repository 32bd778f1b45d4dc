//go:build unix

package registry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/session/sys/nowait"
)

// device is a session's terminal as the daemon reaches it: input and size through the
// PTY's descriptor, the rest through the keeper.
type device struct {
	id       string
	keeper   Keeper
	log      *slog.Logger
	pty      *terminal // or what writes to a pipe session's input; nil when that is gone
	pipe     bool
	separate bool   // stdout and stderr are told apart
	cgroup   string // the session's own, directory; empty: none

	keeperPID int // the parent of what a session's processes left behind; 0: not known

	// recorded returns when the session's record is written, or cannot be: the keeper keeps its exit status until then.
	recorded  func(context.Context) bool
	release   sync.Once
	releasing sync.WaitGroup
	kept      atomic.Bool // at the keeper, though it could be let go but for its record
}

var errNoInput = errors.New("the session runs on pipes and reads no input")

func (d *device) Write(p []byte) (int, error) {
	if d.pty == nil {
		return 0, errNoInput
	}
	return d.pty.Write(p)
}

func (d *device) TryWrite(p []byte) int { return d.TryWriteNoted(p, func() {}) }

// TryWriteNoted is TryWrite; note is called right before it.
func (d *device) TryWriteNoted(p []byte, note func()) int {
	n := 0
	if d.pty == nil {
		return 0
	}
	_ = d.control(func(fd int) (err error) {
		note()
		n, err = nowait.Write(fd, p)
		return err
	})
	return max(n, 0)
}

// TypePiece implements ring.Device, where there is a file; without one the queue writes (typing.pieces). What is typed out of it
// is typed by sendfile, which moves the file's position by what the terminal took.
func (d *device) TypePiece(f *ring.File, p []byte, wait bool) (n int, err error) {
	if d.pty == nil {
		return 0, errNoInput
	}
	from, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	piece := func(fd int) error {
		return sys.Control(from, func(file int) (err error) {
			n, err = ring.SendPiece(fd, file, len(p))
			return err
		})
	}
	if !wait {
		err = d.pty.control(piece)
	} else if outer := d.pty.await(func(fd uintptr) bool {
		err = piece(int(fd))
		return !errors.Is(err, unix.EAGAIN)
	}); outer != nil {
		return 0, outer
	}
	if !wait && err != nil && !errors.Is(err, ring.ErrNoPiece) { // it is Write's to find
		return 0, nil
	}
	return n, err
}

func (d *device) SetWriteDeadline(t time.Time) error {
	if d.pty == nil {
		return errNoInput
	}
	return d.pty.SetWriteDeadline(t)
}

// closeInput ends a pipe session's standard input, here and at the keeper.
func (d *device) closeInput(ctx context.Context) error {
	if d.pty != nil {
		_ = d.pty.Close() // a second time is fine
	}
	return d.keeper.Link().CloseInput(ctx, d.id)
}

func (d *device) Resize(cols, rows int) error {
	if d.pipe {
		return nil
	}
	return d.control(func(fd int) error { return sys.SetSize(fd, cols, rows) })
}

// foreground is the terminal's foreground process group; 0 when there is none.
func (d *device) foreground() int {
	pgid := 0
	if d.pipe || d.pty == nil {
		return 0
	}
	_ = d.control(func(fd int) (err error) {
		pgid, err = sys.ForegroundGroup(fd)
		return err
	})
	return pgid
}

// Control implements session.Device.
func (d *device) Control(f func(fd int) error) error {
	if d.pipe || d.pty == nil {
		return errNoInput
	}
	return d.control(f)
}

func (d *device) control(f func(fd int) error) error {
	return d.pty.control(f)
}

func (d *device) Resume() {
	if err := d.keeper.Link().Resume(d.id); err != nil {
		d.log.Debug("resume", "session", d.id, "err", err) // it asks again when it is back
	}
}

// Release runs aside: it must not hold the session's owner up. Only the first call does
// something: a later one could hit a session that was restored under the same id.
func (d *device) Release() {
	d.release.Do(func() { d.releasing.Go(d.letGo) })
}

// released waits until the keeper has forgotten the session, whether or not its end is recorded.
func (d *device) released() {
	d.Release()
	d.releasing.Wait()
	d.letGoKept()
}

func (d *device) letGo() {
	if d.pty != nil {
		defer d.pty.Close()
	}
	if d.kept.Store(true); d.isRecorded() { // else the next daemon is told the exit again
		d.letGoKept()
	}
}

// letGoKept has the keeper forget a session that is kept for its record alone.
func (d *device) letGoKept() {
	if !d.kept.Swap(false) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), ReconnectTime)
	defer cancel()
	err := d.keeper.Retry(ctx, func(l *link.Link) error { return l.Release(ctx, d.id) })
	if err != nil && !errors.Is(err, link.ErrNotFound) && !errors.Is(err, link.ErrLost) {
		d.log.Warn("release", "session", d.id, "err", err)
	}
}

// recordTime bounds how long a session's record may take to be written.
const recordTime = 30 * time.Second

func (d *device) isRecorded() bool {
	if d.recorded == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), recordTime)
	defer cancel()
	return d.recorded(ctx)
}

// terminal is what a session's input is written to. The keeper reads the session's output by the same description: a file of the
// runtime's would have this process woken by all that a program prints or reads, for nothing. So it is no such file before a
// write has to wait.
type terminal struct {
	fd int

	mu     sync.Mutex // guards the fields below
	users  int        // of fd: what is asked about a program can take long, and nobody else waits for it
	closed bool       // fd is closed, or will be by its last user
	waiter *os.File   // for writes that wait; nil: none had to
}

// newTerminal takes a file over.
func newTerminal(f *os.File) (*terminal, error) {
	defer f.Close()
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd := -1
	if outer := raw.Control(func(from uintptr) { fd, err = unix.FcntlInt(from, unix.F_DUPFD_CLOEXEC, 3) }); outer != nil {
		return nil, outer
	}
	if err != nil {
		return nil, fmt.Errorf("duplicate a terminal's descriptor: %w", err)
	}
	return &terminal{fd: fd}, nil
}

// control calls f with the descriptor, which stays open meanwhile.
func (t *terminal) control(f func(fd int) error) error {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return os.ErrClosed
	}
	t.users++
	t.mu.Unlock()
	defer t.used()
	return f(t.fd)
}

// used says that control has ended.
func (t *terminal) used() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.users--; t.users == 0 && t.closed {
		_ = unix.Close(t.fd)
	}
}

// waits is the file for writes that wait.
func (t *terminal) waits() (*os.File, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return nil, os.ErrClosed
	case t.waiter == nil:
		fd, err := unix.FcntlInt(uintptr(t.fd), unix.F_DUPFD_CLOEXEC, 3)
		if err != nil {
			return nil, fmt.Errorf("duplicate a terminal's descriptor: %w", err)
		}
		t.waiter = os.NewFile(uintptr(fd), "terminal")
	}
	return t.waiter, nil
}

// Write writes all of p, waiting for the program to read.
func (t *terminal) Write(p []byte) (int, error) {
	f, err := t.waits()
	if err != nil {
		return 0, err
	}
	return f.Write(p)
}

// await calls f until it says that it is done, whenever something can be written.
func (t *terminal) await(f func(fd uintptr) (done bool)) error {
	file, err := t.waits()
	if err != nil {
		return err
	}
	var raw syscall.RawConn
	if raw, err = file.SyscallConn(); err != nil {
		return err
	}
	return raw.Write(f)
}

// SetWriteDeadline ends writes that wait.
func (t *terminal) SetWriteDeadline(at time.Time) error {
	f, err := t.waits()
	if err != nil {
		return err
	}
	return f.SetWriteDeadline(at)
}

// Close ends writes that wait. A second time is fine.
func (t *terminal) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil
	}
	t.closed = true
	if t.waiter != nil {
		_ = t.waiter.Close()
	}
	if t.users > 0 {
		return nil
	}
	return unix.Close(t.fd)
}
