// Package notifyqueue lets two processes receive from one seccomp listener without losing calls.
//
// The kernel delivers a waiting call once. If its receiver is killed before others know of it, the caller would wait
// forever. So it is received into shared memory: the kernel stores it there on delivery. Only one process receives at a
// time, since the kernel blocks a receiver if no call waits.
package notifyqueue

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/sys"
)

const (
	size   = 4096
	first  = 64  // the header holds the numbers of the receiving process, and of the one allowed to use places
	stride = 128 // of places
	places = (size - first) / stride
)

// Errors of receivers.
var (
	ErrFull = errors.New("all places are taken")
	ErrBusy = errors.New("another process is taking")
)

// Inbox is such memory.
type Inbox struct {
	mem  []byte
	file *os.File // of the creator
}

// New makes one; File is what the other process maps.
func New() (*Inbox, error) {
	fd, err := unix.MemfdCreate("longterm-inbox", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), "longterm-inbox")
	if err = f.Truncate(size); err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return Keep(f)
}

// Keep maps one and keeps its file.
func Keep(f *os.File) (*Inbox, error) {
	b, err := Map(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	b.file = f
	return b, nil
}

// Map maps one that another process has made. The file may be closed then.
func Map(f *os.File) (*Inbox, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() != size {
		return nil, fmt.Errorf("an inbox of %d bytes instead of %d", st.Size(), size)
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	b := &Inbox{}
	return b, sys.Control(raw, func(fd int) error {
		b.mem, err = unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		return os.NewSyscallError("mmap", err)
	})
}

// File returns the creator's file.
func (b *Inbox) File() *os.File { return b.file }

// Close gives the memory up.
func (b *Inbox) Close() error {
	err := unix.Munmap(b.mem)
	if b.file != nil {
		err = errors.Join(err, b.file.Close())
	}
	return err
}

func (b *Inbox) taker() *atomic.Int32 { return (*atomic.Int32)(unsafe.Pointer(&b.mem[0])) }

func (b *Inbox) grantCounter() *atomic.Int32 { return (*atomic.Int32)(unsafe.Pointer(&b.mem[4])) }

// Grant sets the process that may Receive from now on; 0: none. A receive in progress is done when Pending answers;
// afterwards that process receives nothing. What it received is visible, however late it notices.
func (b *Inbox) Grant(pid int) { b.grantCounter().Store(int32(pid)) }

// place returns the memory of a call, which starts with its number.
func (b *Inbox) place(i int) []byte { return b.mem[first+i*stride:][:stride] }

func (b *Inbox) number(i int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&b.place(i)[0]))
}

// Receive is sys.ReceiveNotification; the result stays in a place until cleared. Only the granted process may call it.
func (b *Inbox) Receive(listener int) (n sys.Notification, err error) {
	if !b.lock() {
		return n, ErrBusy
	}
	defer b.taker().Store(0)
	if b.grantCounter().Load() != ourPID {
		return n, ErrBusy
	}
	for i := range places {
		if b.number(i).Load() == 0 {
			return sys.ReceiveNotificationInto(listener, b.place(i))
		}
	}
	return n, ErrFull
}

// Take receives a call without a place, for a process whose death loses nothing.
func (b *Inbox) Take(listener int) (n sys.Notification, err error) {
	if !b.lock() {
		return n, ErrBusy
	}
	defer b.taker().Store(0)
	return sys.ReceiveNotification(listener)
}

// ourPID is read once, not for each call.
var ourPID = int32(os.Getpid())

// lock takes the lock of receivers, also from a process that died with it. It returns false while another process holds it.
func (b *Inbox) lock() bool {
	own := ourPID
	if b.taker().CompareAndSwap(0, own) {
		return true
	}
	other := b.taker().Load()
	if other == own || other == 0 || running(int(other)) {
		return false
	}
	return b.taker().CompareAndSwap(other, own)
}

func running(pid int) bool {
	st, err := sys.ReadStat(pid)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ESRCH)
	}
	return !st.IsDead()
}

// Clear frees the place of a call that was answered, or that others know of.
func (b *Inbox) Clear(number uint64) {
	for i := range places {
		if number != 0 && b.number(i).Load() == number {
			b.clear(i)
			return
		}
	}
}

// clear clears the number last: a place without one is free, and must be empty then.
func (b *Inbox) clear(i int) {
	clear(b.place(i)[8:])
	b.number(i).Store(0)
}

// Pending returns the present calls. ErrBusy: another one may be arriving.
func (b *Inbox) Pending() (list []sys.Notification, err error) {
	if !b.lock() {
		return nil, ErrBusy
	}
	defer b.taker().Store(0)
	for i := range places {
		if b.number(i).Load() != 0 {
			list = append(list, sys.NotificationIn(b.place(i)))
		}
	}
	return list, nil
}

// Find returns a present call.
func (b *Inbox) Find(number uint64) (n sys.Notification, ok bool) {
	for i := range places {
		if number != 0 && b.number(i).Load() == number {
			return sys.NotificationIn(b.place(i)), true
		}
	}
	return n, false
}
