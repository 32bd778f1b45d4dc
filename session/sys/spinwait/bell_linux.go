package spinwait

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/sys"
)

// ReadySignal reports a readable descriptor to the runtime's poller while it is on. The poller would otherwise wake a
// thread each time, even while another thread or process waits at the descriptor itself.
type ReadySignal struct {
	file *os.File // an epoll instance with nothing but the descriptor, as long as it is on
	of   int
	on   bool
}

// NewBell returns a ReadySignal that is on. The descriptor must be in no poller, and stay open until Close.
func NewBell(of int) (*ReadySignal, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil { // else the runtime does not poll it
		return nil, errors.Join(os.NewSyscallError("fcntl", err), unix.Close(fd))
	}
	b := &ReadySignal{file: os.NewFile(uintptr(fd), "bell"), of: of}
	if err := b.Set(true); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// Set switches it on or off. It rings when it is switched on and there is something already: a descriptor that was only
// changed would not, where it had been ready before. One goroutine at a time may call it.
func (b *ReadySignal) Set(on bool) error {
	if on == b.on {
		return nil
	}
	raw, err := b.file.SyscallConn()
	if err != nil {
		return err
	}
	op := unix.EPOLL_CTL_DEL
	if on {
		op = unix.EPOLL_CTL_ADD
	}
	err = sys.Control(raw, func(fd int) error {
		e := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(b.of)}
		return os.NewSyscallError("epoll_ctl", unix.EpollCtl(fd, op, b.of, &e))
	})
	if err == nil {
		b.on = on
	}
	return err
}

// Wait calls f until it returns true: first at once, then on each signal and Wake.
func (b *ReadySignal) Wait(f func() bool) error {
	raw, err := b.file.SyscallConn()
	if err != nil {
		return err
	}
	for {
		err := raw.Read(func(uintptr) bool { return f() })
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		if err := b.file.SetReadDeadline(time.Time{}); err != nil {
			return err
		}
	}
}

// Wake makes the waiting goroutine check once.
func (b *ReadySignal) Wake() { _ = b.file.SetReadDeadline(time.Unix(0, 1)) } // without effect after Close

// Close ends the waiting.
func (b *ReadySignal) Close() error { return b.file.Close() }
