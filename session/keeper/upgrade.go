//go:build unix

package keeper

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/keeper/launch"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/session/sys/unixsock"
)

// An upgrade in place: the process executes a new binary over itself with the same pid, so that the children stay its
// children and the descriptors stay open. State for the new execution is written as protocol frames to an unnamed file
// that it inherits.

// HandoffFlag is the argument with the descriptor of the handoff. The verb that runs keepers accepts it.
const HandoffFlag = "--handoff-fd"

// handleUpgrade re-executes the keeper from another binary.
func handleUpgrade(k *Keeper, c *conn, m *wire.Upgrade, files []*os.File) error {
	if len(files) != 1 {
		c.send(doneMessage(m.Req, errors.New("upgrade: the new executable's descriptor is missing")))
		return nil
	}
	err := k.upgrade(files[0])
	c.send(doneMessage(m.Req, err)) // reached only after a failure
	k.log.Error("upgrade failed; continuing with the old version", "err", err)
	return nil
}

// upgrade executes another binary in place. It returns only if that fails.
func (k *Keeper) upgrade(exe *os.File) error {
	path, _ := sys.OwnFilePath(exe.Fd())
	if err := k.probe(path); err != nil {
		return fmt.Errorf("upgrade: the new executable does not run: %w", err)
	}
	k.shimMu.Lock() // each shim is complete or absent
	defer k.shimMu.Unlock()
	// From here no byte is between a PTY and its ring, and no child is being started.
	k.freezeMu.Lock()
	defer k.freezeMu.Unlock()
	k.spawnMu.Lock()
	defer k.spawnMu.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()

	handoff, err := handoffFile()
	if err != nil {
		return fmt.Errorf("upgrade: handoff: %w", err)
	}
	defer handoff.Close()
	kept, err := k.writeHandoff(handoff)
	if err != nil {
		return fmt.Errorf("upgrade: handoff: %w", err)
	}
	for _, fd := range kept {
		setInherited(fd, true)
	}
	k.log.Info("executing the new keeper", "sessions", len(k.children))
	err = syscall.Exec(path, handoffArgs(os.Args, int(handoff.Fd())), os.Environ())
	for _, fd := range kept {
		setInherited(fd, false)
	}
	return fmt.Errorf("upgrade: exec: %w", err)
}

// probe runs the new executable once: a binary for another machine, or one that crashes at its start, must not replace a
// working keeper.
func (k *Keeper) probe(path string) error {
	result := make(chan syscall.WaitStatus, 1)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	k.spawnMu.Lock()
	pid, err := syscall.ForkExec(path, []string{"longterm", "version"}, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{null.Fd(), null.Fd(), null.Fd()},
	})
	if err == nil {
		k.mu.Lock()
		k.helpers[pid] = func(st syscall.WaitStatus) { result <- st }
		k.mu.Unlock()
	}
	k.spawnMu.Unlock()
	if err != nil {
		return err
	}
	select {
	case st := <-result:
		if st.ExitStatus() != 0 {
			return fmt.Errorf("`longterm version`: %s", describeStatus(st))
		}
		return nil
	case <-time.After(10 * time.Second):
		_ = syscall.Kill(pid, syscall.SIGKILL)
		return errors.New("`longterm version` did not end within 10 s")
	}
}

// handoffArgs returns argv with the handoff's descriptor replaced or appended.
func handoffArgs(argv []string, fd int) []string {
	args := []string{argv[0]}
	for i := 1; i < len(argv); i++ {
		if argv[i] == HandoffFlag || argv[i] == launch.ReadyFlag {
			i++
			continue
		}
		args = append(args, argv[i])
	}
	return append(args, HandoffFlag, strconv.Itoa(fd))
}

// setInherited sets whether a descriptor survives execve.
func setInherited(fd int, yes bool) {
	flags := unix.FD_CLOEXEC
	if yes {
		flags = 0
	}
	_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETFD, flags)
}

// writeHandoff describes the keeper and returns the descriptors to inherit.
func (k *Keeper) writeHandoff(w io.Writer) (kept []int, err error) {
	keep := func(f syscall.Conn) int64 {
		fd := -1
		if raw, rerr := f.SyscallConn(); rerr == nil {
			_ = raw.Control(func(p uintptr) { fd = int(p) })
		}
		if fd >= 0 {
			kept = append(kept, fd)
		}
		return int64(fd)
	}
	stateLock := int64(0)
	if k.stateLock != nil {
		stateLock = keep(k.stateLock)
	}
	buf := wire.AppendFrame(nil, &wire.HandoffKeeper{
		StateLock:  stateLock,
		ListenerFD: keep(k.listener.File()), LockFD: keep(k.lock),
		Started: k.started.UnixNano(), Executions: k.execCount,
		DaemonPID: k.daemonChildLocked(), Restarts: k.supervisor.restarts, LastError: k.supervisor.lastError,
		Cgroups: k.cgroups.dir, Limits: strings.Join(k.cgroups.controllers, " "),
	}, 0)
	for _, c := range k.children {
		h := &wire.Handoff{
			ID: c.id, PID: int64(c.pid), Started: c.started.UnixNano(),
			Cols: uint64(c.cols), Rows: uint64(c.rows), Pipe: c.onPipes,
			RingFD: keep(c.ringFile), PTYFD: -1, Exited: c.exit != nil, Cgroup: c.cgroup, Restricted: c.restricted,
		}
		if c.input != nil {
			h.InputFD = keep(c.input)
		}
		for i, fd := range []*int64{&h.PTYFD, &h.ErrFD} {
			if i < len(c.outputs) {
				*fd = -1
				if o := c.outputs[i]; !o.closed {
					*fd = keep(o.file)
				}
			}
		}
		if e := c.exit; e != nil {
			h.Code, h.Signal, h.Time = e.Code, e.Signal, e.Time
			h.User, h.System, h.MaxRSS, h.Head = e.User, e.System, e.MaxRSS, e.Head
		}
		buf = wire.AppendFrame(buf, h, 0)
	}
	for _, l := range k.listeners {
		h := &wire.HandoffListener{ID: l.id, Run: l.number, FD: keep(l.file), LeaderPID: l.leaderPID}
		if l.inbox != nil {
			h.Inbox = keep(l.inbox.File())
		}
		buf = wire.AppendFrame(buf, h, 0)
		for _, e := range l.waiting {
			buf = wire.AppendFrame(buf, e, 0)
		}
	}
	_, err = w.Write(buf)
	return kept, err
}

// daemonChildLocked returns the daemon's pid if it is a child, otherwise 0: other daemons reconnect by themselves.
func (k *Keeper) daemonChildLocked() int64 {
	if _, ours := k.helpers[k.supervisor.pid]; ours {
		return int64(k.supervisor.pid)
	}
	return 0
}

// restoreHandoff continues from the handoff of the previous execution.
func (k *Keeper) restoreHandoff(f *os.File) error {
	defer f.Close()
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("handoff: %w", err)
	}
	r := bufio.NewReader(f)
	for {
		frame, err := wire.ReadFrame(r)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("handoff: %w", err)
		}
		switch frame.Kind {
		case wire.KindHandoffKeeper:
			err = k.resumeKeeper(frame.Payload)
		case wire.KindHandoff:
			err = k.resumeChild(frame.Payload)
		case wire.KindHandoffListener:
			err = k.resumeListener(frame.Payload)
		case wire.KindExecution:
			err = k.resumeExecution(frame.Payload)
		}
		if err != nil { // to lose one session is better than to lose all
			k.log.Error("handoff", "err", err)
		}
	}
	if k.listener == nil || k.lock == nil {
		return errors.New("handoff: no listener")
	}
	k.serveListeners()
	if state, err := k.lockState(); err != nil { // the execution before had no state lock
		k.log.Error("another keeper holds the state directory", "err", err)
	} else {
		k.stateLock = state
	}
	return nil
}

// adoptFile returns the file of an inherited descriptor.
func adoptFile(fd int64, name string) *os.File {
	setInherited(int(fd), false)
	return os.NewFile(uintptr(fd), name)
}

// resumeKeeper restores the keeper's own state from a handoff.
func (k *Keeper) resumeKeeper(payload []byte) error {
	var h wire.HandoffKeeper
	if err := wire.Decode(payload, &h); err != nil {
		return err
	}
	k.started, k.execCount = time.Unix(0, h.Started), h.Executions+1
	k.lock = adoptFile(h.LockFD, "lock")
	if h.StateLock > 0 {
		k.stateLock = adoptFile(h.StateLock, "lock")
	}
	setInherited(int(h.ListenerFD), false)
	l, err := unixsock.AdoptListener(uintptr(h.ListenerFD))
	if err != nil {
		return err
	}
	k.listener = l
	k.supervisor.restarts, k.supervisor.lastError = h.Restarts, h.LastError
	k.cgroups.dir, k.cgroups.controllers = h.Cgroups, strings.Fields(h.Limits)
	if h.DaemonPID > 0 { // still our child, still running
		pid := int(h.DaemonPID)
		k.supervisor.pid, k.supervisor.isWanted, k.supervisor.startedAt, k.supervisor.oomKills = pid, true, time.Now(), sys.OOMKills()
		k.helpers[pid] = func(st syscall.WaitStatus) { k.daemonEnded(pid, st) }
	}
	return nil
}

// resumeChild restores a session from a handoff.
func (k *Keeper) resumeChild(payload []byte) error {
	var h wire.Handoff
	if err := wire.Decode(payload, &h); err != nil {
		return err
	}
	c := &child{
		id: h.ID, pid: int(h.PID), started: time.Unix(0, h.Started),
		cols: uint16(h.Cols), rows: uint16(h.Rows), onPipes: h.Pipe, cgroup: h.Cgroup, restricted: h.Restricted,
		pumpsDone: make(chan struct{}), shimSocket: -1,
		ringFile: adoptFile(h.RingFD, "ring"),
	}
	var err error
	if c.ring, err = ring.Map(c.ringFile); err != nil {
		return fmt.Errorf("session %s: %w", h.ID, err)
	}
	if h.Exited {
		c.exit = &wire.Exited{
			ID: h.ID, Code: h.Code, Signal: h.Signal, Time: h.Time,
			User: h.User, System: h.System, MaxRSS: h.MaxRSS, Head: h.Head,
		}
		c.reaped.Store(true)
		c.exitReported = h.Head != 0 || h.PTYFD < 0 && h.ErrFD <= 0
	}
	k.children[c.id] = c
	// Non-blocking already: the flag belongs to the open file, not the descriptor.
	if h.InputFD > 0 {
		c.input = adoptFile(h.InputFD, "input")
	}
	c.outputs = []*stream{adoptStream(h.PTYFD, ring.Stdout)}
	if h.ErrFD != 0 {
		c.outputs = append(c.outputs, adoptStream(h.ErrFD, ring.Stderr))
	}
	c.order = newPipeOrder(c.outputs)
	k.pumpAll(c)
	return nil
}

// adoptStream continues a stream; a closed one has no file.
func adoptStream(fd int64, s ring.Stream) *stream {
	if fd < 0 {
		o := newStream(nil, s)
		o.closed = true
		return o
	}
	return newStream(adoptFile(fd, "output"), s)
}
