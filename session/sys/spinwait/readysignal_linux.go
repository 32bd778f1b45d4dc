package spinwait

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/sys"
)

// ReadySignal reports a readable descriptor to the runtime's poller while it is enabled. The poller would otherwise wake a
// thread each time, even while another thread or process waits at the descriptor itself.
type ReadySignal struct {
	file *os.File // epoll instance, with the descriptor only while enabled
	fd   int
	isOn bool
}

// NewReadySignal returns an enabled ReadySignal. The descriptor must be in no poller, and stay open until Close.
func NewReadySignal(of int) (*ReadySignal, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil { // the runtime polls only non-blocking descriptors
		return nil, errors.Join(os.NewSyscallError("fcntl", err), unix.Close(fd))
	}
	b := &ReadySignal{file: os.NewFile(uintptr(fd), "bell"), fd: of}
	if err := b.SetEnabled(true); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// SetEnabled adds the descriptor to the epoll instance, or removes it. Adding it signals a descriptor that is already
// readable; modifying the entry would not. One goroutine at a time may call it.
func (b *ReadySignal) SetEnabled(on bool) error {
	if on == b.isOn {
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
		e := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(b.fd)}
		return os.NewSyscallError("epoll_ctl", unix.EpollCtl(fd, op, b.fd, &e))
	})
	if err == nil {
		b.isOn = on
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

// Wake makes the waiting goroutine call f once.
func (b *ReadySignal) Wake() { _ = b.file.SetReadDeadline(time.Unix(0, 1)) } // no effect after Close

// Close ends Wait.
func (b *ReadySignal) Close() error { return b.file.Close() }
