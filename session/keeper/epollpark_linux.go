package keeper

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// epollParker holds the streams that have been idle for a while. They have no goroutine, whose stack would be most of
// their memory: one goroutine waits for all of them and restarts theirs.
type epollParker struct {
	mu         sync.Mutex
	file       *os.File               // an epoll instance; nil before first use
	streams    map[int32]parkedStream // by number
	lastNumber int32                  // newest number of a parked stream
}

// parkedStream is a parked stream and the function that restarts its goroutine.
type parkedStream struct {
	stream *stream
	resume func() // restarts the stream's goroutine
}

// park calls on, once, as soon as a stream is readable or closed. The caller must no longer use the stream. It returns
// false if the caller must wait itself.
func (r *epollParker) park(o *stream, on func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o.neverPark || r.openLocked() != nil {
		return false
	}
	o.parkNumber = r.freeNumberLocked()
	r.streams[o.parkNumber] = parkedStream{o, on}
	if r.controlLocked(o, unix.EPOLL_CTL_ADD) == nil {
		return true
	}
	delete(r.streams, o.parkNumber)
	o.parkNumber = 0
	return false
}

// freeNumberLocked returns an unused stream number; numbers wrap around after very many parks.
func (r *epollParker) freeNumberLocked() int32 {
	for {
		r.lastNumber++
		if _, taken := r.streams[r.lastNumber]; !taken && r.lastNumber != 0 {
			return r.lastNumber
		}
	}
}

// unpark restarts a stream's goroutine. forever: the stream never parks again.
func (r *epollParker) unpark(o *stream, forever bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o.neverPark = o.neverPark || forever
	r.unparkLocked(o)
}

// unparkLocked restarts a stream's goroutine. The caller holds mu.
func (r *epollParker) unparkLocked(o *stream) {
	s, ok := r.streams[o.parkNumber]
	if !ok || o.parkNumber == 0 {
		return
	}
	// The daemon has the terminal too: a descriptor closed here stays in the instance unless it is removed.
	_ = r.controlLocked(o, unix.EPOLL_CTL_DEL)
	delete(r.streams, o.parkNumber)
	o.parkNumber = 0
	go s.resume()
}

// controlLocked adds or removes a stream at the epoll instance.
func (r *epollParker) controlLocked(o *stream, op int) (err error) {
	raw, err := r.file.SyscallConn()
	if err != nil {
		return err
	}
	of, err := o.file.SyscallConn()
	if err != nil {
		return err
	}
	rerr := raw.Control(func(epoll uintptr) {
		oerr := of.Control(func(fd uintptr) {
			err = unix.EpollCtl(int(epoll), op, int(fd), &unix.EpollEvent{Events: unix.EPOLLIN, Fd: o.parkNumber})
		})
		if oerr != nil {
			err = oerr
		}
	})
	if rerr != nil {
		return rerr
	}
	return err
}

// openLocked opens the epoll instance and starts its goroutine.
func (r *epollParker) openLocked() error {
	if r.file != nil {
		return nil
	}
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return err
	}
	r.file, r.streams = os.NewFile(uintptr(fd), "parked streams"), map[int32]parkedStream{}
	go r.wait(r.file)
	return nil
}

// wait is the goroutine that waits for all parked streams.
func (r *epollParker) wait(f *os.File) {
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	var events [16]unix.EpollEvent
	for {
		n := 0
		if err := raw.Read(func(fd uintptr) bool {
			n, _ = unix.EpollWait(int(fd), events[:], 0)
			return n > 0
		}); err != nil {
			return
		}
		r.mu.Lock()
		for _, e := range events[:n] {
			if s, ok := r.streams[e.Fd]; ok {
				r.unparkLocked(s.stream)
			}
		}
		r.mu.Unlock()
	}
}
