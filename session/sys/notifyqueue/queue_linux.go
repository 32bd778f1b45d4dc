// Package notifyqueue lets two processes receive from one seccomp listener without losing calls.
//
// The kernel delivers a waiting call once. If its receiver is killed before other processes know of the call, its caller
// would wait forever. So a call is received into shared memory, where the kernel stores it on delivery. Only one process
// receives at a time, since the kernel blocks a receiver if no call waits.
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

// Layout of the memory, in bytes.
const (
	queueSize  = 4096
	headerSize = 64  // pids of the receiving process, and of the one allowed to use slots
	slotSize   = 128 // bytes of a slot
	slotCount  = (queueSize - headerSize) / slotSize
)

// Errors of receiving.
var (
	ErrFull = errors.New("all places are taken")
	ErrBusy = errors.New("another process is taking")
)

// Queue is shared memory for received calls, mapped by two processes.
type Queue struct {
	mem  []byte
	file *os.File // the creator's; nil for a queue mapped by Map
}

// New creates a queue. The other process maps its File.
func New() (*Queue, error) {
	fd, err := unix.MemfdCreate("longterm-inbox", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), "longterm-inbox")
	if err = f.Truncate(queueSize); err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return MapOwned(f)
}

// MapOwned maps a queue from its file f. The queue owns f; after an error f is closed.
func MapOwned(f *os.File) (*Queue, error) {
	b, err := Map(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	b.file = f
	return b, nil
}

// Map maps a queue that another process has created. The caller may close the file afterwards.
func Map(f *os.File) (*Queue, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() != queueSize {
		return nil, fmt.Errorf("an inbox of %d bytes instead of %d", st.Size(), queueSize)
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	b := &Queue{}
	return b, sys.Control(raw, func(fd int) error {
		b.mem, err = unix.Mmap(fd, 0, queueSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		return os.NewSyscallError("mmap", err)
	})
}

// File returns the creator's file.
func (b *Queue) File() *os.File { return b.file }

// Close unmaps the memory.
func (b *Queue) Close() error {
	err := unix.Munmap(b.mem)
	if b.file != nil {
		err = errors.Join(err, b.file.Close())
	}
	return err
}

// lockHolder returns the pid of the receiving process, or 0.
func (b *Queue) lockHolder() *atomic.Int32 { return (*atomic.Int32)(unsafe.Pointer(&b.mem[0])) }

// grantedPID returns the pid of the process that may use slots, or 0.
func (b *Queue) grantedPID() *atomic.Int32 { return (*atomic.Int32)(unsafe.Pointer(&b.mem[4])) }

// Grant sets the process that may Receive from now on; 0: none. A receive in progress has finished when Pending returns without
// ErrBusy; afterwards that process receives nothing. What it received is in the queue, however late it notices.
func (b *Queue) Grant(pid int) { b.grantedPID().Store(int32(pid)) }

// slot returns the memory of a slot, which starts with the id of its call.
func (b *Queue) slot(i int) []byte { return b.mem[headerSize+i*slotSize:][:slotSize] }

// slotID returns the id of the call in a slot, 0 if the slot is free.
func (b *Queue) slotID(i int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&b.slot(i)[0]))
}

// Receive receives a call into a slot, where it stays until cleared. Only the granted process may call it.
func (b *Queue) Receive(listener int) (n sys.Notification, err error) {
	if !b.lock() {
		return n, ErrBusy
	}
	defer b.lockHolder().Store(0)
	if b.grantedPID().Load() != ownPID {
		return n, ErrBusy
	}
	for i := range slotCount {
		if b.slotID(i).Load() == 0 {
			return sys.ReceiveNotificationInto(listener, b.slot(i))
		}
	}
	return n, ErrFull
}

// ReceiveUnstored receives a call without a slot, for a process whose death loses nothing.
func (b *Queue) ReceiveUnstored(listener int) (n sys.Notification, err error) {
	if !b.lock() {
		return n, ErrBusy
	}
	defer b.lockHolder().Store(0)
	return sys.ReceiveNotification(listener)
}

// ownPID is read once, since reading it costs a system call.
var ownPID = int32(os.Getpid())

// lock acquires the receivers' lock, also from a process that died with it. It returns false while another process holds it.
func (b *Queue) lock() bool {
	self := ownPID
	if b.lockHolder().CompareAndSwap(0, self) {
		return true
	}
	other := b.lockHolder().Load()
	if other == self || other == 0 || isRunning(int(other)) {
		return false
	}
	return b.lockHolder().CompareAndSwap(other, self)
}

// isRunning reports whether a process is alive, as far as known.
func isRunning(pid int) bool {
	st, err := sys.ReadStat(pid)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ESRCH)
	}
	return !st.IsDead()
}

// Clear frees the slot of a call that was answered, or that the other process knows of.
func (b *Queue) Clear(number uint64) {
	for i := range slotCount {
		if number != 0 && b.slotID(i).Load() == number {
			b.clearSlot(i)
			return
		}
	}
}

// clearSlot clears the id last: a slot without one is free, and must be empty then.
func (b *Queue) clearSlot(i int) {
	clear(b.slot(i)[8:])
	b.slotID(i).Store(0)
}

// Pending returns the calls in the queue. ErrBusy means that another one may be arriving.
func (b *Queue) Pending() (list []sys.Notification, err error) {
	if !b.lock() {
		return nil, ErrBusy
	}
	defer b.lockHolder().Store(0)
	for i := range slotCount {
		if b.slotID(i).Load() != 0 {
			list = append(list, sys.NotificationAt(b.slot(i)))
		}
	}
	return list, nil
}

// Find returns the call with a number from the queue.
func (b *Queue) Find(number uint64) (n sys.Notification, ok bool) {
	for i := range slotCount {
		if number != 0 && b.slotID(i).Load() == number {
			return sys.NotificationAt(b.slot(i)), true
		}
	}
	return n, false
}
