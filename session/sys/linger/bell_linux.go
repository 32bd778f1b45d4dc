package linger

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/sys"
)

// Bell tells the runtime's poller that a descriptor can be read from, as long as it is on. The poller would wake a thread
// for each time, also while another one waits at the descriptor itself, or another process does.
type Bell struct {
	file *os.File // an epoll instance with nothing but the descriptor, as long as it is on
	of   int
	on   bool
}

// NewBell is one that is on. The descriptor, which no poller has, must stay open until it is closed.
func NewBell(of int) (*Bell, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil { // else the runtime does not poll it
		return nil, errors.Join(os.NewSyscallError("fcntl", err), unix.Close(fd))
	}
	b := &Bell{file: os.NewFile(uintptr(fd), "bell"), of: of}
	if err := b.Set(true); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// Set switches it on or off. It rings when it is switched on and there is something already: a descriptor that was only
// changed would not, where it had been ready before. One goroutine at a time may call it.
func (b *Bell) Set(on bool) error {
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

// Wait calls f until it says that it has what it wants: at first, whenever the bell rings, and when it is woken.
func (b *Bell) Wait(f func() bool) error {
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

// Wake has who waits look once.
func (b *Bell) Wake() { _ = b.file.SetReadDeadline(time.Unix(0, 1)) } // one that is closed has nobody wait

// Close has nobody wait any more.
func (b *Bell) Close() error { return b.file.Close() }
