package keeper

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// resting is the streams from which nothing has come for a while. They have no goroutine of their own, whose stack
// would be most of what a keeper has of them: one waits for all of them, and has their own begun again.
type resting struct {
	mu      sync.Mutex
	file    *os.File // an epoll instance; nil: there is none yet
	streams map[int32]restingStream
	last    int32
}

// restingStream is a stream and what begins its goroutine.
type restingStream struct {
	o  *stream
	on func()
}

// rest has on called, once, as soon as there is something to read from a stream or it was closed. The caller has nothing to do
// with it any more; false: it has to wait by itself.
func (r *resting) rest(o *stream, on func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o.awake || r.openLocked() != nil {
		return false
	}
	o.resting = r.freeLocked()
	r.streams[o.resting] = restingStream{o, on}
	if r.controlLocked(o, unix.EPOLL_CTL_ADD) == nil {
		return true
	}
	delete(r.streams, o.resting)
	o.resting = 0
	return false
}

// freeLocked is a number that no stream has: they begin anew after some days of thousands that come to rest.
func (r *resting) freeLocked() int32 {
	for {
		r.last++
		if _, taken := r.streams[r.last]; !taken && r.last != 0 {
			return r.last
		}
	}
}

// wake has a stream's goroutine go on. forever: it does not rest any more.
func (r *resting) wake(o *stream, forever bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o.awake = o.awake || forever
	r.wakeLocked(o)
}

func (r *resting) wakeLocked(o *stream) {
	s, ok := r.streams[o.resting]
	if !ok || o.resting == 0 {
		return
	}
	// The daemon has the terminal, too: what is closed here stays in the instance if it is not taken out.
	_ = r.controlLocked(o, unix.EPOLL_CTL_DEL)
	delete(r.streams, o.resting)
	o.resting = 0
	go s.on()
}

func (r *resting) controlLocked(o *stream, op int) (err error) {
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
			err = unix.EpollCtl(int(epoll), op, int(fd), &unix.EpollEvent{Events: unix.EPOLLIN, Fd: o.resting})
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

func (r *resting) openLocked() error {
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
	r.file, r.streams = os.NewFile(uintptr(fd), "streams at rest"), map[int32]restingStream{}
	go r.wait(r.file)
	return nil
}

// wait is the goroutine that waits for all of them.
func (r *resting) wait(f *os.File) {
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
				r.wakeLocked(s.o)
			}
		}
		r.mu.Unlock()
	}
}
