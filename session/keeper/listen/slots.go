//go:build unix

package listen

import (
	"errors"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/sys"
)

// Errors of slots.
var (
	ErrNoRoom = errors.New("too many calls wait for answers")
	ErrHeard  = errors.New("another process hears this listener")
)

// Slots are the calls that one process has taken and not answered, in memory of a file that it shares with another one.
// The kernel writes a call there in giving it away: a process that is killed has lost none, who has the file finds it.
// Their order says nothing. A slot with ID 0 is free.
type Slots struct {
	file *os.File // of a description of its own, which the lock belongs to

	mu  sync.Mutex
	mem []byte // nil: nothing was taken yet; after Close likewise
	of  map[uint64]taken
	sum int // bytes of those
	end bool
}

type taken struct{ slot, bytes int }

const slotsBytes = Most * sys.NotificationBytes

// Create makes slots, and their lock ours.
func Create() (*Slots, error) {
	f, err := memory()
	if err != nil {
		return nil, err
	}
	s := Adopt(f)
	err = f.Truncate(slotsBytes)
	if err == nil {
		err = s.Lock()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return s, nil
}

// Adopt are the slots of a file that is the caller's alone.
func Adopt(f *os.File) *Slots { return &Slots{file: f, of: map[uint64]taken{}} }

// Open are the slots of a file that another process has, too. The file stays the caller's.
func Open(f *os.File) (*Slots, error) {
	again, err := reopen(f)
	if err != nil {
		return nil, err
	}
	if st, err := again.Stat(); err != nil || st.Size() < slotsBytes {
		return nil, errors.Join(errors.New("these are no slots"), err, again.Close())
	}
	return Adopt(again), nil
}

// File is theirs.
func (s *Slots) File() *os.File { return s.file }

// Lock makes the caller the one who hears; ErrHeard: another process does. It ends with the process.
func (s *Slots) Lock() error { return s.flock(unix.LOCK_EX | unix.LOCK_NB) }

// Unlock lets another process hear.
func (s *Slots) Unlock() error { return s.flock(unix.LOCK_UN) }

func (s *Slots) flock(how int) error {
	raw, err := s.file.SyscallConn()
	if err != nil {
		return err
	}
	err = sys.Control(raw, func(fd int) error {
		for {
			if err := unix.Flock(fd, how); !errors.Is(err, unix.EINTR) {
				return err
			}
		}
	})
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrHeard
	}
	return err
}

// Take takes the next call that asks at a listener.
func (s *Slots) Take(listener int) (sys.Notification, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mapLocked(); err != nil {
		return sys.Notification{}, err
	}
	i, err := s.freeLocked()
	if err != nil {
		return sys.Notification{}, err
	}
	n, err := sys.ReceiveNotificationInto(listener, s.slot(i))
	if err == nil {
		s.of[n.ID] = taken{slot: i}
	}
	return n, err
}

func (s *Slots) mapLocked() error {
	if s.end {
		return os.ErrClosed
	}
	if s.mem != nil {
		return nil
	}
	raw, err := s.file.SyscallConn()
	if err != nil {
		return err
	}
	return sys.Control(raw, func(fd int) (err error) {
		s.mem, err = unix.Mmap(fd, 0, slotsBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		return os.NewSyscallError("mmap", err)
	})
}

// freeLocked is the first that is free: mostly one page is all that is ever used.
func (s *Slots) freeLocked() (int, error) {
	if len(s.of) >= Most || s.sum >= MostBytes {
		return 0, ErrNoRoom
	}
	for i := range Most {
		if sys.ParseNotification(s.slot(i)).ID == 0 {
			return i, nil
		}
	}
	return 0, ErrNoRoom // what another process left there that nobody has collected
}

func (s *Slots) slot(i int) []byte {
	return s.mem[i*sys.NotificationBytes : (i+1)*sys.NotificationBytes]
}

// Done frees the slot of a call that was answered, or waits no more; false: it has none.
func (s *Slots) Done(id uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, is := s.of[id]
	if is && s.mem != nil {
		clear(s.slot(t.slot))
	}
	s.sum -= t.bytes
	delete(s.of, id)
	return is
}

// Weigh says what a call that was taken counts for, in bytes.
func (s *Slots) Weigh(id uint64, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, is := s.of[id]; is {
		s.sum += bytes - t.bytes
		s.of[id] = taken{t.slot, bytes}
	}
}

// Waiting are the numbers of those that were taken and not answered.
func (s *Slots) Waiting() []uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []uint64
	for id := range s.of {
		all = append(all, id)
	}
	return all
}

// Left are the calls that stand in the slots, whoever took them.
func (s *Slots) Left() ([]sys.Notification, error) {
	b := make([]byte, slotsBytes)
	if _, err := s.file.ReadAt(b, 0); err != nil {
		return nil, err
	}
	var all []sys.Notification
	for i := range Most {
		if n := sys.ParseNotification(b[i*sys.NotificationBytes:]); n.ID != 0 {
			all = append(all, n)
		}
	}
	return all, nil
}

// Clear frees all. The caller has the lock.
func (s *Slots) Clear() error {
	_, err := s.file.WriteAt(make([]byte, slotsBytes), 0)
	return err
}

// Close lets another process hear. What was not answered stands in the slots.
func (s *Slots) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end = true
	var err error
	if s.mem != nil {
		err, s.mem = unix.Munmap(s.mem), nil
	}
	return errors.Join(err, s.file.Close())
}
