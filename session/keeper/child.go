//go:build unix

package keeper

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/ring"
)

// child is one session: a process, the PTY it runs on and the ring its output goes to.
type child struct {
	id         string
	pid        int
	started    time.Time
	cols, rows uint16
	pipe       bool

	ring     *ring.Ring
	ringFile *os.File
	pty      *os.File // PTY master, or the read end of a pipe

	resume chan struct{} // the daemon made room in the ring
	done   chan struct{} // closed when the gathering goroutine has ended

	reaped atomic.Bool // the process is gone; exit is set
	// Guarded by Keeper.mu.
	exit     *wire.Exited // what the reaper found
	reported bool         // exit.Head is set: everything it printed is in the ring
	closed   bool         // no more output can come
}

// spawn starts what m asks for and registers it.
func (k *Keeper) spawn(m *wire.Spawn) (*child, error) {
	if m.ID == "" || m.Path == "" || len(m.Argv) == 0 {
		return nil, errors.New("spawn: id, path and argv are needed")
	}
	k.mu.Lock()
	_, taken := k.children[m.ID]
	k.mu.Unlock()
	if taken {
		return nil, errExists
	}
	size := ring.DefaultSize
	if m.RingBytes != 0 {
		size = int(min(m.RingBytes, ring.MaxSize))
	}
	r, rf, err := ring.Create(size)
	if err != nil {
		return nil, err
	}
	r.Begin(m.Base)
	c := &child{
		id: m.ID, ring: r, ringFile: rf, pipe: m.Pipe,
		cols: uint16(m.Cols), rows: uint16(m.Rows),
		resume: make(chan struct{}, 1), done: make(chan struct{}),
	}
	if err := k.startProcess(c, m); err != nil {
		return nil, errors.Join(err, r.Close(), rf.Close())
	}
	go k.gather(c)
	return c, nil
}

// startProcess forks under the spawning lock, so that the reaper cannot meet a pid
// that is not registered yet.
func (k *Keeper) startProcess(c *child, m *wire.Spawn) error {
	master, stdio, err := openTerminal(c)
	if err != nil {
		return err
	}
	if outOfDescriptors(master) {
		for _, f := range append(stdio, master) {
			_ = f.Close()
		}
		return fmt.Errorf("start a session: %w", syscall.EMFILE)
	}
	attr := &syscall.ProcAttr{
		Dir: m.Dir,
		Env: m.Env,
		Sys: &syscall.SysProcAttr{Setsid: true},
	}
	for _, f := range stdio {
		attr.Files = append(attr.Files, f.Fd())
	}
	if !c.pipe {
		attr.Sys.Setctty = true // of descriptor 0 in the child
	}
	k.spawning.Lock()
	defer k.spawning.Unlock()
	pid, err := syscall.ForkExec(m.Path, m.Argv, attr)
	for i, f := range stdio {
		if i == 0 || f != stdio[i-1] {
			_ = f.Close()
		}
	}
	if err != nil {
		return errors.Join(err, master.Close())
	}
	c.pid, c.pty, c.started = pid, master, time.Now()
	exposeToOOM(pid)
	k.mu.Lock()
	k.children[c.id] = c
	k.mu.Unlock()
	return nil
}

// spareDescriptors are kept for connections, and for handing sessions over.
const spareDescriptors = 16

// outOfDescriptors reports whether f, just opened, came near the limit: descriptors are
// given out from the lowest.
func outOfDescriptors(f *os.File) bool {
	var lim unix.Rlimit
	raw, err := f.SyscallConn()
	if err != nil || unix.Getrlimit(unix.RLIMIT_NOFILE, &lim) != nil {
		return false
	}
	near := false
	_ = raw.Control(func(fd uintptr) { near = uint64(fd)+spareDescriptors >= lim.Cur })
	return near
}

// openTerminal makes the child's three standard files and our end of them.
func openTerminal(c *child) (master *os.File, stdio []*os.File, err error) {
	if c.pipe {
		return openPipe()
	}
	master, slave, err := pty.Open()
	if err != nil {
		return nil, nil, fmt.Errorf("open a PTY: %w", err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Cols: c.cols, Rows: c.rows}); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("size the PTY: %w", err), master.Close(), slave.Close())
	}
	// creack/pty leaves the master in blocking mode; the poller needs a fresh file.
	polled, err := nonBlocking(master)
	if err != nil {
		return nil, nil, errors.Join(err, slave.Close())
	}
	return polled, []*os.File{slave, slave, slave}, nil
}

// nonBlocking replaces f by a file on the same terminal that the poller can wait on.
func nonBlocking(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, errors.Join(os.NewSyscallError("fcntl", err), f.Close())
	}
	if err := errors.Join(unix.SetNonblock(fd, true), f.Close()); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

func openPipe() (master *os.File, stdio []*os.File, err error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open a pipe: %w", err), null.Close())
	}
	return r, []*os.File{null, w, w}, nil
}

// release hangs the terminal up and forgets the session.
func (k *Keeper) release(c *child) {
	k.mu.Lock()
	if k.children[c.id] != c {
		k.mu.Unlock()
		return
	}
	delete(k.children, c.id)
	k.mu.Unlock()
	_ = c.pty.Close() // wakes the gathering goroutine if it waits for output,
	wake(c.resume)    // or for room
	go func() {
		<-c.done
		if err := errors.Join(c.ring.Close(), c.ringFile.Close()); err != nil {
			k.log.Error("release", "session", c.id, "err", err)
		}
	}()
	k.endIfIdle()
}

// signal sends sig to a part of the session. The process itself and its group are
// only signalled while it is not reaped: its pid cannot have been reused then.
func (k *Keeper) signal(c *child, sig syscall.Signal, scope string) error {
	if scope == wire.ScopeForeground && !c.pipe {
		pgid, err := foreground(c.pty)
		if err != nil {
			return err
		}
		return ignoreGone(syscall.Kill(-pgid, sig))
	}
	k.spawning.Lock() // excludes the reaper
	defer k.spawning.Unlock()
	switch {
	case scope == wire.ScopeAll:
		return signalSession(c.pid, sig, c.reaped.Load())
	case c.reaped.Load():
		return nil
	case scope == wire.ScopeChild:
		return ignoreGone(syscall.Kill(c.pid, sig))
	default:
		return ignoreGone(syscall.Kill(-c.pid, sig))
	}
}

func ignoreGone(err error) error {
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

// files are what an adopter needs: the ring and, while it is open, the PTY.
func (c *child) files() []*os.File {
	if c.pty == nil {
		return []*os.File{c.ringFile}
	}
	return []*os.File{c.ringFile, c.pty}
}
