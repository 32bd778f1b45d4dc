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
	"github.com/longterm-dev/longterm/session/sys/rawio"
)

// device is a session's terminal as the daemon reaches it: input and size through the
// PTY's descriptor, the rest through the keeper.
type device struct {
	id       string
	keeper   Keeper
	log      *slog.Logger
	pty      *terminal // or the write end of a pipe session's input; nil once closed
	pipe     bool
	separate bool   // stdout and stderr are separate streams
	cgroup   string // the session's own directory; empty if none

	keeperPID int // parent of the session's leftover processes; 0: unknown

	// recorded returns when the session's record is written, or cannot be. Until then the keeper keeps the exit status.
	recorded      func(context.Context) bool
	release       sync.Once
	releasing     sync.WaitGroup
	heldForRecord atomic.Bool // the keeper keeps the session only until its record is written
}

var errNoInput = errors.New("the session runs on pipes and reads no input")

// Write implements session.Device.
func (d *device) Write(p []byte) (int, error) {
	if d.pty == nil {
		return 0, errNoInput
	}
	return d.pty.Write(p)
}

// TryWrite implements session.Device: it writes without blocking and returns the number of bytes accepted.
func (d *device) TryWrite(p []byte) int { return d.TryWriteNoted(p, func() {}) }

// TryWriteNoted is TryWrite, but calls note right before the write.
func (d *device) TryWriteNoted(p []byte, note func()) int {
	n := 0
	if d.pty == nil {
		return 0
	}
	_ = d.control(func(fd int) (err error) {
		note()
		n, err = rawio.Write(fd, p)
		return err
	})
	return max(n, 0)
}

// TypePiece implements ring.Device. It needs a file; without one the input queue writes (inputqueue.pieceDevice). It uses
// sendfile, which moves the file's position by the bytes that the terminal accepted.
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
	if !wait && err != nil && !errors.Is(err, ring.ErrNoSendFile) { // it is Write's to find
		return 0, nil
	}
	return n, err
}

// SetWriteDeadline implements session.Device.
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

// Resize implements session.Device.
func (d *device) Resize(cols, rows int) error {
	if d.pipe {
		return nil
	}
	return d.control(func(fd int) error { return sys.SetSize(fd, cols, rows) })
}

// foreground returns the terminal's foreground process group, or 0.
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

// control calls f with the terminal's descriptor.
func (d *device) control(f func(fd int) error) error {
	return d.pty.control(f)
}

// Resume implements session.Device: the keeper reads output again.
func (d *device) Resume() {
	if err := d.keeper.Link().Resume(d.id); err != nil {
		d.log.Debug("resume", "session", d.id, "err", err) // it asks again when it is back
	}
}

// Release releases the session at its keeper, without blocking the owner. Only the first call acts: a later one could
// affect a session restored under the same id.
func (d *device) Release() {
	d.release.Do(func() { d.releasing.Go(d.releaseAtKeeper) })
}

// awaitRelease waits until the keeper has released the session, even if its end is not recorded.
func (d *device) awaitRelease() {
	d.Release()
	d.releasing.Wait()
	d.releaseHeld()
}

// releaseAtKeeper requests the release, once the record is written.
func (d *device) releaseAtKeeper() {
	if d.pty != nil {
		defer d.pty.Close()
	}
	if d.heldForRecord.Store(true); d.isRecorded() { // otherwise the next daemon receives the exit again
		d.releaseHeld()
	}
}

// releaseHeld releases a session that the keeper keeps only for its record.
func (d *device) releaseHeld() {
	if !d.heldForRecord.Swap(false) {
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

// isRecorded waits until the session's record is written, for at most recordTime, and reports whether it is.
func (d *device) isRecorded() bool {
	if d.recorded == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), recordTime)
	defer cancel()
	return d.recorded(ctx)
}

// terminal is the descriptor to which a session's input is written. The keeper reads output by the same file
// description: in the runtime's poller it would wake this process for all output. So it joins the poller only when a
// write has to wait.
type terminal struct {
	fd int

	mu     sync.Mutex // guards the fields below
	users  int        // users of fd: a probe can take long and must not block others
	closed bool       // fd is closed, or will be by its last user
	waiter *os.File   // for blocking writes; nil if none so far
}

// newTerminal takes ownership of a file.
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

// control calls f with the descriptor, which stays open during the call.
func (t *terminal) control(f func(fd int) error) error {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return os.ErrClosed
	}
	t.users++
	t.mu.Unlock()
	defer t.releaseUse()
	return f(t.fd)
}

// releaseUse ends a call of control.
func (t *terminal) releaseUse() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.users--; t.users == 0 && t.closed {
		_ = unix.Close(t.fd)
	}
}

// waitFile returns the file for blocking writes.
func (t *terminal) waitFile() (*os.File, error) {
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
	f, err := t.waitFile()
	if err != nil {
		return 0, err
	}
	return f.Write(p)
}

// await calls f whenever the terminal is writable, until f returns true.
func (t *terminal) await(f func(fd uintptr) (done bool)) error {
	file, err := t.waitFile()
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
	f, err := t.waitFile()
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
