// Package inbox has two processes take what waits at one listener, and neither lose what the other one was given.
//
// The kernel gives a call that waits once. Who took it and is killed before others know of it would leave its caller wait
// for ever. So it is taken into memory that both share: the kernel has written it there when it has given it away. Only one
// takes at a time, since the kernel has whoever finds nothing wait.
package inbox

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
	first  = 64  // before the places there are the numbers of the process that takes, and of who may into places
	stride = 128 // of places
	places = (size - first) / stride
)

// Errors of who takes.
var (
	ErrFull = errors.New("all places are taken")
	ErrBusy = errors.New("another process is taking")
)

// Inbox is such memory.
type Inbox struct {
	mem  []byte
	file *os.File // of who made it
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

// File is that of who made it.
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

func (b *Inbox) granted() *atomic.Int32 { return (*atomic.Int32)(unsafe.Pointer(&b.mem[4])) }

// Grant says which process may Receive from now on; 0: none. One that was in the midst of it is done when Left answers, and takes
// nothing after that: what it took is seen, however late it learns that it may not.
func (b *Inbox) Grant(pid int) { b.granted().Store(int32(pid)) }

// place is memory for a call, which begins with its number.
func (b *Inbox) place(i int) []byte { return b.mem[first+i*stride:][:stride] }

func (b *Inbox) number(i int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&b.place(i)[0]))
}

// Receive is sys.ReceiveNotification: what it gives is in a place until it is cleared. It is for who was granted it.
func (b *Inbox) Receive(listener int) (n sys.Notification, err error) {
	if !b.lock() {
		return n, ErrBusy
	}
	defer b.taker().Store(0)
	if b.granted().Load() != ourPID {
		return n, ErrBusy
	}
	for i := range places {
		if b.number(i).Load() == 0 {
			return sys.ReceiveNotificationInto(listener, b.place(i))
		}
	}
	return n, ErrFull
}

// Take takes one without a place, which is for who need not be survived.
func (b *Inbox) Take(listener int) (n sys.Notification, err error) {
	if !b.lock() {
		return n, ErrBusy
	}
	defer b.taker().Store(0)
	return sys.ReceiveNotification(listener)
}

// ourPID is asked for once and not for each call that waits.
var ourPID = int32(os.Getpid())

// lock has nobody else take, not even one that ended while it did.
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
	return !st.Ended()
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

// clear has the number be the last that goes: a place is free without one, and has to be empty then.
func (b *Inbox) clear(i int) {
	clear(b.place(i)[8:])
	b.number(i).Store(0)
}

// Left are the calls that are there. ErrBusy: one may be coming.
func (b *Inbox) Left() (list []sys.Notification, err error) {
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

// Find is a call that is there.
func (b *Inbox) Find(number uint64) (n sys.Notification, ok bool) {
	for i := range places {
		if number != 0 && b.number(i).Load() == number {
			return sys.NotificationIn(b.place(i)), true
		}
	}
	return n, false
}
