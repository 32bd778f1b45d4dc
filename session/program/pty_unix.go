//go:build unix

package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/inputdetect"
	"github.com/longterm-dev/longterm/session/internal/killladder"
	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/session/sys"
)

// ptyHost is a process on a PTY of this process.
//
//	PTY master ─ pump ─▶ ring ─▶ Session        pump waits for space, never drops
//	cmd.Wait ─▶ reaped ─▶ pump drains, reports the end
type ptyHost struct {
	cmd       *exec.Cmd
	id        string // value of programEnvVar
	master    *os.File
	ring      *ring.Ring
	retention *retention
	log       *slog.Logger

	ringSpace      chan struct{} // signals free space in the ring
	reaped         atomic.Bool   // the process has exited; exit is set
	exit           session.Exit
	isMoving       atomic.Bool   // bytes may have left the PTY and not reached the ring
	exited         chan struct{} // closed when the process has exited
	tasks          sync.WaitGroup
	knownProcesses []sys.Process // living processes of the tree; only for the goroutine of terminate

	probeMu sync.Mutex // guards prober
	prober  inputdetect.Prober
}

// newHost starts the process. id identifies the processes of its tree.
func newHost(c *Cmd, id string, r *ring.Ring, keep *retention) (host, int, error) {
	cmd := exec.Command(cmp.Or(c.Path, c.Argv[0]), c.Argv[1:]...)
	cmd.Args[0] = c.Argv[0]
	cmd.Dir, cmd.Env = c.Dir, c.Env
	master, slave, err := openPTY(c.Cols, c.Rows)
	if err != nil {
		return nil, 0, fmt.Errorf("start %s: %w", c.Argv[0], err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = cmd.Start()
	_ = slave.Close()
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("start a program: %w", err), master.Close())
	}
	return &ptyHost{
		cmd: cmd, id: id, master: master, ring: r, retention: keep, log: c.Log,
		ringSpace: make(chan struct{}, 1), exited: make(chan struct{}),
	}, cmd.Process.Pid, nil
}

// openPTY opens a PTY whose master Go's poller can wait for: creack/pty leaves it in blocking mode.
func openPTY(cols, rows int) (master, slave *os.File, err error) {
	blocking, slave, err := pty.Open()
	if err != nil {
		return nil, nil, fmt.Errorf("open a PTY: %w", err)
	}
	if err := sys.SetSize(int(blocking.Fd()), cols, rows); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("size the PTY: %w", err), blocking.Close(), slave.Close())
	}
	fd, err := unix.FcntlInt(blocking.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, nil, errors.Join(os.NewSyscallError("fcntl", err), blocking.Close(), slave.Close())
	}
	if err := errors.Join(unix.SetNonblock(fd, true), blocking.Close()); err != nil {
		return nil, nil, errors.Join(err, unix.Close(fd), slave.Close())
	}
	return os.NewFile(uintptr(fd), blocking.Name()), slave, nil
}

// start implements host.
func (h *ptyHost) start(s *session.Session) {
	h.tasks.Go(func() {
		h.pump(s)
		s.Closed()
	})
	h.tasks.Go(h.reap)
}

// reap waits for the process's end and makes pump drain its remaining output.
func (h *ptyHost) reap() {
	_ = h.cmd.Wait() // the result is in ProcessState
	h.exit = newExit(h.cmd.ProcessState)
	h.reaped.Store(true)
	close(h.exited)
	_ = h.master.SetReadDeadline(time.Unix(1, 0)) // wakes pump
}

// newExit returns the exit status of a process.
func newExit(ps *os.ProcessState) session.Exit {
	e := session.Exit{Code: ps.ExitCode(), Time: time.Now(), User: ps.UserTime(), System: ps.SystemTime()}
	if ws, ok := ps.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		e.Number, e.Signal = int(ws.Signal()), unix.SignalName(ws.Signal())
	}
	if ru, ok := ps.SysUsage().(*syscall.Rusage); ok {
		e.MaxRSS = int64(ru.Maxrss) * maxRSSUnit
	}
	return e
}

// Results of moveOutput.
const (
	moveDrained = iota // all available output was moved
	moveMore           // there may be more
	moveNoSpace        // the ring is full
	moveHungUp         // no process has the terminal open
)

// reopenInterval is how often a terminal that no process has open is polled while the process lives: it may open
// /dev/tty again.
const reopenInterval = 50 * time.Millisecond

// pump moves output from the PTY to the ring until the terminal is closed.
func (h *ptyHost) pump(s *session.Session) {
	raw, err := h.master.SyscallConn()
	if err != nil {
		return
	}
	var fd int
	read := func(room []byte) (int, error) { return syscall.Read(fd, room) }
	reported := false
	for {
		reaped := h.reaped.Load() // before reading: all its output is readable then
		result, before := moveDrained, h.ring.Head()
		err := raw.Read(func(d uintptr) bool {
			fd = int(d)
			result = h.moveOutput(s, read)
			return reaped || result != moveDrained || h.ring.Head() != before
		})
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			_ = h.master.SetReadDeadline(time.Time{})
			continue
		case err != nil: // closed by terminate
			return
		}
		if h.ring.Head() != before && h.ring.ShouldNotify() {
			s.NotifyOutput()
		}
		if err := h.retention.waitForReader(int(h.ring.Head()-before), h.ring.Head()); err != nil {
			h.log.Error("forget old output", "err", err)
		}
		if reaped && !reported && (result == moveDrained || result == moveHungUp) {
			reported = true
			s.Exited(h.exit, h.ring.Head())
		}
		if !h.waitAfterMove(result, reaped) {
			return
		}
	}
}

// maxMove bounds the bytes that are moved before the session is notified.
const maxMove = 256 << 10

// moveOutput moves available output to the ring.
func (h *ptyHost) moveOutput(s *session.Session, read func(room []byte) (int, error)) int {
	h.isMoving.Store(true)
	defer h.isMoving.Store(false)
	for moved := 0; moved < maxMove; {
		n, err := s.WriteRing(read)
		switch {
		case err == syscall.EINTR:
		case err == syscall.EAGAIN:
			return moveDrained
		case errors.Is(err, session.ErrRingFull):
			return moveNoSpace
		case n <= 0: // 0, EIO: the other side is closed
			return moveHungUp
		default:
			moved += n
		}
	}
	return moveMore
}

// waitAfterMove waits until moveOutput can continue. It returns false if the terminal is closed for good.
func (h *ptyHost) waitAfterMove(result int, reaped bool) bool {
	switch result {
	case moveNoSpace:
		if !h.ring.Stall() {
			<-h.ringSpace
		}
	case moveHungUp:
		if reaped {
			return false
		}
		t := time.NewTimer(reopenInterval)
		defer t.Stop()
		select {
		case <-t.C:
		case <-h.exited:
		}
	}
	return true
}

// control calls f with the master's descriptor, which stays non-blocking.
func (h *ptyHost) control(f func(fd int) error) error {
	raw, err := h.master.SyscallConn()
	if err != nil {
		return err
	}
	return sys.Control(raw, f)
}

// Control implements Device.
func (h *ptyHost) Control(f func(fd int) error) error { return h.control(f) }

// Write implements Device.
func (h *ptyHost) Write(p []byte) (int, error) { return h.master.Write(p) }

// TryWrite implements Device.
func (h *ptyHost) TryWrite(p []byte) int {
	n := 0
	_ = h.control(func(fd int) (err error) {
		n, err = unix.Write(fd, p)
		return err
	})
	return max(n, 0)
}

// SetWriteDeadline implements Device.
func (h *ptyHost) SetWriteDeadline(t time.Time) error { return h.master.SetWriteDeadline(t) }

// Resize implements Device.
func (h *ptyHost) Resize(cols, rows int) error {
	return h.control(func(fd int) error {
		return sys.SetSize(fd, cols, rows)
	})
}

// Resume implements Device.
func (h *ptyHost) Resume() { wake(h.ringSpace) }

// Release implements Device. It has no effect: terminate closes the terminal.
func (h *ptyHost) Release() {}

// echoState returns whether the terminal, the program or neither echoes input.
func (h *ptyHost) echoState() respond.EchoState { return session.EchoOf(h) }

// isIdle reports whether the program waits for input, by the kernel's state. A program that is blocked in a read of the
// terminal has written all its output before, and a poll of the master makes the kernel deliver it.
func (h *ptyHost) isIdle() bool {
	if !canProbe {
		return false
	}
	h.probeMu.Lock()
	defer h.probeMu.Unlock()
	head := h.ring.Head()
	for _, wait := range probePauses {
		if h.probeIdle() {
			return true
		}
		shortSleep(wait)
		if h.ring.Head() != head || h.reaped.Load() {
			return false
		}
	}
	return h.probeIdle()
}

// probePauses are the pauses between probes. A program that has just printed a prompt mostly reads within them, and
// timers are no finer than a millisecond.
var probePauses = []time.Duration{20 * time.Microsecond, 50 * time.Microsecond, 100 * time.Microsecond, 200 * time.Microsecond}

// probeIdle probes once whether the program waits for input and all its output was moved.
func (h *ptyHost) probeIdle() bool {
	idle := false
	_ = h.control(func(fd int) error {
		t, err := inputdetect.TargetOf(fd)
		if err != nil {
			return err
		}
		t.Leader = h.cmd.Process.Pid
		r := h.prober.Probe(t)
		isWaiting := r.State == inputdetect.Reading || r.State == inputdetect.Polling && r.Timeout < 0
		if !isWaiting || r.Source < inputdetect.FromWchan {
			return nil
		}
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(poll, 0)
		idle = err == nil && n == 0 && !h.isMoving.Load()
		return err
	})
	return idle
}

// signal implements host.
func (h *ptyHost) signal(sig os.Signal) error {
	s, ok := sig.(syscall.Signal)
	if !ok {
		return fmt.Errorf("signal %v: not one of this system", sig)
	}
	if h.reaped.Load() {
		return session.ErrEnded
	}
	err := h.control(func(fd int) error {
		group, err := sys.ForegroundGroup(fd)
		if err == nil && group > 0 {
			err = syscall.Kill(-group, s)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("signal %v: %w", sig, err)
	}
	return nil
}

// terminate implements host.
func (h *ptyHost) terminate(grace time.Duration) error {
	err := h.killTree(grace)
	err = errors.Join(err, h.master.Close()) // wakes pump if a process still has the terminal open
	close(h.retention.stopped)
	wake(h.ringSpace)
	h.tasks.Wait()
	return err
}

// killTree ends the remaining processes of the tree by the kill ladder.
func (h *ptyHost) killTree(grace time.Duration) error {
	if ended, _ := killladder.Climb(context.Background(), killladder.TreeSteps(grace), treeTarget{h}); ended {
		return nil
	}
	return fmt.Errorf("processes %v did not end by SIGKILL: they hang in the kernel", h.processes())
}

// treeTarget is the process tree as a target of the kill ladder.
type treeTarget struct{ host *ptyHost }

// Send implements killladder.Target.
func (t treeTarget) Send(_ context.Context, s killladder.Step) (killladder.SendResult, error) {
	living := t.host.processes()
	if len(living) == 0 && t.host.reaped.Load() {
		return killladder.Ended, nil
	}
	for _, pid := range living {
		_ = syscall.Kill(pid, s.Signal) // ignore a process that has ended
		if s.Signal == syscall.SIGHUP {
			_ = syscall.Kill(pid, syscall.SIGCONT) // a stopped process handles no signals
		}
	}
	return killladder.Delivered, nil
}

// Await implements killladder.Target: the whole tree must end.
func (t treeTarget) Await(ctx context.Context, s killladder.Step) bool {
	ctx, cancel := context.WithTimeout(ctx, s.Grace)
	defer cancel()
	for wait := 200 * time.Microsecond; ; wait = min(2*wait, 10*time.Millisecond) {
		select {
		case <-t.host.exited:
			living := t.host.processes()
			if len(living) == 0 {
				return true
			}
			if s.IsLast() { // forked during the walk
				for _, pid := range living {
					_ = syscall.Kill(pid, s.Signal)
				}
			}
		case <-ctx.Done():
			return false
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return false
		}
	}
}
