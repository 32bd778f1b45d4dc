//go:build unix

package keeper

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/session/sys"
)

// child is one session: a process, the PTY it runs on and the ring its output goes to.
type child struct {
	id         string
	pid        int
	started    time.Time
	cols, rows uint16
	pipe       bool
	cgroup     string // separate cgroup directory; empty: none

	ring     *ring.Ring
	ringFile *os.File
	outs     []*stream
	moving   sync.Mutex    // held by the stream that writes to the ring
	trimmed  atomic.Uint64 // head when the ring was last trimmed
	seen     uint64        // head at the last check for idle streams; only Run's goroutine uses it
	order    order         // which of two streams was written to first

	pumping atomic.Int32  // number of goroutines that read streams
	done    chan struct{} // closed when the last of them has ended

	reaped atomic.Bool // the process has exited; exit is set
	// Guarded by Keeper.mu:
	exit     *wire.Exited // what the reaper found
	reported bool         // exit.Head is set: everything it printed is in the ring
	closed   bool         // no more output is possible
	input    *os.File     // write end of standard input; nil: none, or closed
	bound    bool         // wire.Bound

	shim int // our end of the socket to a shim until its program was executed; -1: none
}

// spawn starts the requested program and registers it.
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
	r.SetBase(m.Base)
	if m.Pipe && m.Separate {
		r.Separate()
	}
	c := &child{
		id: m.ID, ring: r, ringFile: rf, pipe: m.Pipe,
		cols: uint16(m.Cols), rows: uint16(m.Rows), bound: m.Bound,
		done: make(chan struct{}), shim: -1,
	}
	if err := k.startProcess(c, m); err != nil {
		return nil, errors.Join(err, r.Close(), rf.Close())
	}
	k.pumpAll(c)
	return c, nil
}

// pumpAll starts a goroutine for each stream that is open.
func (k *Keeper) pumpAll(c *child) {
	for _, o := range c.outs {
		if !o.closed {
			c.pumping.Add(1)
		}
	}
	if c.pumping.Load() == 0 {
		c.closed = true
		close(c.done)
		return
	}
	for _, o := range c.outs {
		if !o.closed {
			go k.pump(c, o)
		}
	}
}

// wakeAll wakes all streams that wait for room.
func (c *child) wakeAll() {
	for _, o := range c.outs {
		wake(o.resume)
	}
}

// startProcess forks under the spawning lock, so that the reaper cannot meet a pid
// that is not registered yet.
func (k *Keeper) startProcess(c *child, m *wire.Spawn) (err error) {
	var files *stdio
	if c.pipe {
		files, err = openPipes(m)
	} else {
		files, err = k.openTerminal(c.cols, c.rows)
	}
	if err != nil {
		return err
	}
	if outOfDescriptors(files.outs[len(files.outs)-1].file) {
		files.abandon()
		return fmt.Errorf("start a session: %w", syscall.EMFILE)
	}
	attr := &syscall.ProcAttr{
		Dir: m.Dir,
		Env: m.Env,
		Sys: &syscall.SysProcAttr{Setsid: true},
	}
	for _, f := range files.child {
		attr.Files = append(attr.Files, f.Fd())
	}
	if m.Shim {
		var theirs int
		if c.shim, theirs, err = shimSocket(); err != nil {
			files.abandon()
			return err
		}
		defer func() {
			_ = syscall.Close(theirs)
			if err != nil {
				_ = syscall.Close(c.shim)
			}
		}()
		attr.Files = append(attr.Files, uintptr(theirs)) // wire.ShimFD
	}
	if !c.pipe {
		attr.Sys.Setctty = true // of descriptor 0 in the child
	}
	leave, err := k.cgroups.enter(c, m, attr.Sys)
	if err != nil {
		files.abandon()
		return err
	}
	c.order = newOrder(files.outs) // before the child can write
	k.spawning.Lock()
	defer k.spawning.Unlock()
	if m.Umask > 0 { // the whole process's, for a moment: it makes no files that depend on it
		defer syscall.Umask(syscall.Umask(int(m.Umask-1) & 0o777))
	}
	started := time.Now() // before anything the child starts: identifies leftover processes
	pid, err := syscall.ForkExec(m.Path, m.Argv, attr)
	if leave(err) {
		k.log.Warn("not started in a cgroup", "session", c.id, "err", err)
		pid, err = syscall.ForkExec(m.Path, m.Argv, attr)
	}
	if err != nil {
		files.abandon()
		c.order.close()
		return err
	}
	files.started()
	c.pid, c.outs, c.input, c.started = pid, files.outs, files.input, started
	exposeToOOM(pid)
	k.mu.Lock()
	k.children[c.id] = c
	k.mu.Unlock()
	return nil
}

// spareDescriptors are reserved for connections, and for passing sessions to adopters.
const spareDescriptors = 16

// outOfDescriptors reports whether f, just opened, came near the limit: descriptors are
// given out from the lowest.
func outOfDescriptors(f *os.File) bool {
	left, err := sys.DescriptorsLeft(f)
	return err == nil && left <= spareDescriptors
}

// release hangs up the terminal and forgets the session. The returned channel is closed once nothing of it is left.
func (k *Keeper) release(c *child) (left chan struct{}) {
	left = make(chan struct{})
	k.mu.Lock()
	if k.children[c.id] != c {
		k.mu.Unlock()
		close(left)
		return left
	}
	delete(k.children, c.id)
	c.closeInput()
	k.mu.Unlock()
	for _, o := range c.outs {
		k.resting.wake(o, true)
		_ = o.file.Close() // wakes the pumping goroutine if it waits for output,
	}
	c.wakeAll() // or for room
	go func() {
		defer close(left)
		<-c.done
		k.cgroups.leave(c.cgroup)
		if err := errors.Join(c.ring.Close(), c.ringFile.Close()); err != nil {
			k.log.Error("release", "session", c.id, "err", err)
		}
	}()
	k.endIfIdle()
	return left
}

// signal sends sig to a part of the session. The process itself and its group are
// only signalled while it is not reaped: its pid cannot have been reused then.
func (k *Keeper) signal(c *child, sig syscall.Signal, scope string) error {
	if scope == wire.ScopeForeground && !c.pipe {
		pgid, err := foreground(c.outs[0].file)
		if err != nil {
			return err
		}
		return ignoreGone(syscall.Kill(-pgid, sig))
	}
	k.spawning.Lock() // excludes the reaper
	defer k.spawning.Unlock()
	switch {
	case scope == wire.ScopeAll:
		if done, err := signalCgroup(c.cgroup, sig); done {
			return err
		}
		return signalSession(c.pid, sig, c.reaped.Load())
	case c.reaped.Load():
		return nil
	case scope == wire.ScopeChild:
		return ignoreGone(syscall.Kill(c.pid, sig))
	default:
		return ignoreGone(syscall.Kill(-c.pid, sig))
	}
}

// ignoreGone ignores the error of a process that has exited.
func ignoreGone(err error) error {
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

// files returns the files that an adopter needs: the ring and the open input end, if any. Called with Keeper.mu held.
func (c *child) files() []*os.File {
	switch {
	case !c.pipe && c.outs[0].file != nil:
		return []*os.File{c.ringFile, c.outs[0].file}
	case c.input != nil:
		return []*os.File{c.ringFile, c.input}
	}
	return []*os.File{c.ringFile}
}

// closeInput closes our copy of the input. Called with Keeper.mu held.
func (c *child) closeInput() {
	if c.input != nil {
		_ = c.input.Close()
		c.input = nil
	}
}
