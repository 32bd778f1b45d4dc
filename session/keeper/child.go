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
	onPipes    bool   // standard streams are pipes
	cgroup     string // separate cgroup directory; empty: none

	ring        *ring.Ring
	ringFile    *os.File
	outputs     []*stream     // sources of output
	ringMu      sync.Mutex    // held by the stream that writes to the ring
	trimmedHead atomic.Uint64 // head when the ring was last trimmed
	seenHead    uint64        // head at the last check for idle streams; only Run's goroutine uses it
	order       pipeOrder     // which of two streams was written to first

	activePumps atomic.Int32  // number of goroutines that read streams
	pumpsDone   chan struct{} // closed when the last of them has ended

	reaped atomic.Bool // the process has exited; exit is set
	// Guarded by Keeper.mu:
	exit         *wire.Exited // exit status found by the reaper
	exitReported bool         // exit.Head is set: everything it printed is in the ring
	outputClosed bool         // the output has ended
	input        *os.File     // write end of standard input; nil if closed or missing
	restricted   bool         // the session is restricted (wire.Bound)

	shimSocket int // our end of the socket to a shim until its program was executed; -1: none
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
		id: m.ID, ring: r, ringFile: rf, onPipes: m.Pipe,
		cols: uint16(m.Cols), rows: uint16(m.Rows), restricted: m.Restricted,
		pumpsDone: make(chan struct{}), shimSocket: -1,
	}
	if err := k.startProcess(c, m); err != nil {
		return nil, errors.Join(err, r.Close(), rf.Close())
	}
	k.pumpAll(c)
	return c, nil
}

// pumpAll starts a goroutine for each stream that is open.
func (k *Keeper) pumpAll(c *child) {
	for _, o := range c.outputs {
		if !o.closed {
			c.activePumps.Add(1)
		}
	}
	if c.activePumps.Load() == 0 {
		c.outputClosed = true
		close(c.pumpsDone)
		return
	}
	for _, o := range c.outputs {
		if !o.closed {
			go k.pump(c, o)
		}
	}
}

// wakeAll wakes all streams that wait for room.
func (c *child) wakeAll() {
	for _, o := range c.outputs {
		setSignal(o.resume)
	}
}

// startProcess forks under the spawning lock, so that the reaper cannot meet a pid
// that is not registered yet.
func (k *Keeper) startProcess(c *child, m *wire.Spawn) (err error) {
	var files *stdio
	if c.onPipes {
		files, err = openPipes(m)
	} else {
		files, err = k.openTerminal(c.cols, c.rows)
	}
	if err != nil {
		return err
	}
	if isNearDescriptorLimit(files.outputs[len(files.outputs)-1].file) {
		files.closeAll()
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
		if c.shimSocket, theirs, err = shimSocket(); err != nil {
			files.closeAll()
			return err
		}
		defer func() {
			_ = syscall.Close(theirs)
			if err != nil {
				_ = syscall.Close(c.shimSocket)
			}
		}()
		attr.Files = append(attr.Files, uintptr(theirs)) // wire.ShimFD
	}
	if !c.onPipes {
		attr.Sys.Setctty = true // descriptor 0 in the child becomes the controlling terminal
	}
	leave, err := k.cgroups.prepareStart(c, m, attr.Sys)
	if err != nil {
		files.closeAll()
		return err
	}
	c.order = newPipeOrder(files.outputs) // before the child can write
	k.spawnMu.Lock()
	defer k.spawnMu.Unlock()
	if m.Umask > 0 { // the umask of the whole process for a moment, in which it creates no files that depend on it
		defer syscall.Umask(syscall.Umask(int(m.Umask-1) & 0o777))
	}
	started := time.Now() // before any process of the child starts: identifies leftover processes
	pid, err := syscall.ForkExec(m.Path, m.Argv, attr)
	if leave(err) {
		k.log.Warn("not started in a cgroup", "session", c.id, "err", err)
		pid, err = syscall.ForkExec(m.Path, m.Argv, attr)
	}
	if err != nil {
		files.closeAll()
		c.order.close()
		return err
	}
	files.closeChildEnds()
	c.pid, c.outputs, c.input, c.started = pid, files.outputs, files.input, started
	raiseOOMScore(pid)
	k.mu.Lock()
	k.children[c.id] = c
	k.mu.Unlock()
	return nil
}

// spareDescriptors are reserved for connections, and for passing sessions to adopters.
const spareDescriptors = 16

// isNearDescriptorLimit reports whether f, just opened, came near the limit: descriptors are assigned from the lowest.
func isNearDescriptorLimit(f *os.File) bool {
	left, err := sys.FreeDescriptors(f)
	return err == nil && left <= spareDescriptors
}

// release hangs up the terminal and forgets the session. The returned channel is closed once all of it is freed.
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
	for _, o := range c.outputs {
		k.parker.unpark(o, true)
		_ = o.file.Close() // wakes the pumping goroutine if it waits for output,
	}
	c.wakeAll() // or for room
	go func() {
		defer close(left)
		<-c.pumpsDone
		k.cgroups.removeLater(c.cgroup)
		if err := errors.Join(c.ring.Close(), c.ringFile.Close()); err != nil {
			k.log.Error("release", "session", c.id, "err", err)
		}
	}()
	k.endIfIdle()
	return left
}

// signal sends sig to a part of the session. The process itself and its group are only signaled while it is not reaped:
// a reaped pid may have been reused.
func (k *Keeper) signal(c *child, sig syscall.Signal, scope string) error {
	if scope == wire.ScopeForeground && !c.onPipes {
		pgid, err := foreground(c.outputs[0].file)
		if err != nil {
			return err
		}
		return ignoreNoProcess(syscall.Kill(-pgid, sig))
	}
	k.spawnMu.Lock() // excludes the reaper
	defer k.spawnMu.Unlock()
	switch {
	case scope == wire.ScopeAll:
		if done, err := signalCgroup(c.cgroup, sig); done {
			return err
		}
		return signalSession(c.pid, sig, c.reaped.Load())
	case c.reaped.Load():
		return nil
	case scope == wire.ScopeChild:
		return ignoreNoProcess(syscall.Kill(c.pid, sig))
	default:
		return ignoreNoProcess(syscall.Kill(-c.pid, sig))
	}
}

// ignoreNoProcess ignores the error of a process that has exited.
func ignoreNoProcess(err error) error {
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

// files returns the files that an adopter needs: the ring and the open input end, if any. Called with Keeper.mu held.
func (c *child) files() []*os.File {
	switch {
	case !c.onPipes && c.outputs[0].file != nil:
		return []*os.File{c.ringFile, c.outputs[0].file}
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
