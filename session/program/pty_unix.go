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
//	PTY master ─ pump ─▶ ring ─▶ Session        pump waits for room, never drops
//	cmd.Wait ─▶ reaped ─▶ pump drains, reports the end
type ptyHost struct {
	cmd    *exec.Cmd
	mark   string // programMark of everything it starts
	master *os.File
	ring   *ring.Ring
	keep   *retention
	log    *slog.Logger

	room   chan struct{} // the session made room in the ring
	reaped atomic.Bool   // the process has exited; exit is set
	exit   session.Exit
	moving atomic.Bool // bytes may have left the PTY and not reached the ring
	gone   chan struct{}
	tasks  sync.WaitGroup
	found  []sys.Process // the living of the tree, as tree found them; for the goroutine of end

	probing sync.Mutex
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
		cmd: cmd, mark: id, master: master, ring: r, keep: keep, log: c.Log,
		room: make(chan struct{}, 1), gone: make(chan struct{}),
	}, cmd.Process.Pid, nil
}

// openPTY opens a terminal whose master the poller can wait on: creack/pty leaves it in
// blocking mode.
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

func (h *ptyHost) begin(s *session.Session) {
	h.tasks.Go(func() {
		h.pump(s)
		s.Closed()
	})
	h.tasks.Go(h.reap)
}

// reap waits for the process's end and has pump drain what it left.
func (h *ptyHost) reap() {
	_ = h.cmd.Wait() // how it ended is in ProcessState
	h.exit = exitOf(h.cmd.ProcessState)
	h.reaped.Store(true)
	close(h.gone)
	_ = h.master.SetReadDeadline(time.Unix(1, 0)) // wakes pump
}

func exitOf(ps *os.ProcessState) session.Exit {
	e := session.Exit{Code: ps.ExitCode(), Time: time.Now(), User: ps.UserTime(), System: ps.SystemTime()}
	if ws, ok := ps.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		e.Number, e.Signal = int(ws.Signal()), unix.SignalName(ws.Signal())
	}
	if ru, ok := ps.SysUsage().(*syscall.Rusage); ok {
		e.MaxRSS = int64(ru.Maxrss) * maxRSSUnit
	}
	return e
}

// Why a move ended.
const (
	movedAll  = iota // nothing more to read now
	movedSome        // there may be more
	noRoom
	hungUp // no process has the terminal open
)

// reopenCheck is how often a terminal that no process has open is polled while the process
// lives: it may open /dev/tty again.
const reopenCheck = 50 * time.Millisecond

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
		reaped := h.reaped.Load() // before reading: what it printed is readable by now
		why, before := movedAll, h.ring.Head()
		err := raw.Read(func(d uintptr) bool {
			fd = int(d)
			why = h.move(s, read)
			return reaped || why != movedAll || h.ring.Head() != before
		})
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			_ = h.master.SetReadDeadline(time.Time{})
			continue
		case err != nil: // closed by end
			return
		}
		if h.ring.Head() != before && h.ring.Notice() {
			s.Notice()
		}
		if err := h.keep.waitForReader(int(h.ring.Head()-before), h.ring.Head()); err != nil {
			h.log.Error("forget old output", "err", err)
		}
		if reaped && !reported && (why == movedAll || why == hungUp) {
			reported = true
			s.Exited(h.exit, h.ring.Head())
		}
		if !h.afterMove(why, reaped) {
			return
		}
	}
}

// maxMove bounds the bytes moved before a notice goes out.
const maxMove = 256 << 10

func (h *ptyHost) move(s *session.Session, read func(room []byte) (int, error)) int {
	h.moving.Store(true)
	defer h.moving.Store(false)
	for moved := 0; moved < maxMove; {
		n, err := s.WriteRing(read)
		switch {
		case err == syscall.EINTR:
		case err == syscall.EAGAIN:
			return movedAll
		case errors.Is(err, session.ErrNoRoom):
			return noRoom
		case n <= 0: // 0, EIO: the other side is closed
			return hungUp
		default:
			moved += n
		}
	}
	return movedSome
}

// afterMove waits for what a move has to wait for; false ends pump.
func (h *ptyHost) afterMove(why int, reaped bool) bool {
	switch why {
	case noRoom:
		if !h.ring.Stall() {
			<-h.room
		}
	case hungUp:
		if reaped {
			return false
		}
		t := time.NewTimer(reopenCheck)
		defer t.Stop()
		select {
		case <-t.C:
		case <-h.gone:
		}
	}
	return true
}

// control calls f with the master's descriptor and leaves it non-blocking.
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
func (h *ptyHost) Resume() { wake(h.room) }

// Release implements Device: end closes the terminal.
func (h *ptyHost) Release() {}

// echo reports whether the terminal, the program or neither shows input.
func (h *ptyHost) echo() respond.EchoState { return session.EchoOf(h) }

// idle reports whether the program waits for input, by the kernel's state. A program that is blocked in a read of the
// terminal has written all its output before, and a poll of the master makes the kernel deliver it.
func (h *ptyHost) idle() bool {
	if !canProbe {
		return false
	}
	h.probing.Lock()
	defer h.probing.Unlock()
	head := h.ring.Head()
	for _, wait := range probeWaits {
		if h.idleNow() {
			return true
		}
		shortSleep(wait)
		if h.ring.Head() != head || h.reaped.Load() {
			return false
		}
	}
	return h.idleNow()
}

// probeWaits are the pauses between looks: what just printed its question mostly waits for the
// answer within them, and timers are no finer than a millisecond.
var probeWaits = []time.Duration{20 * time.Microsecond, 50 * time.Microsecond, 100 * time.Microsecond, 200 * time.Microsecond}

func (h *ptyHost) idleNow() bool {
	idle := false
	_ = h.control(func(fd int) error {
		t, err := inputdetect.TargetOf(fd)
		if err != nil {
			return err
		}
		t.Leader = h.cmd.Process.Pid
		r := h.prober.Probe(t)
		reads := r.State == inputdetect.Reading || r.State == inputdetect.Polling && r.Timeout < 0
		if !reads || r.Source < inputdetect.FromWchan {
			return nil
		}
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(poll, 0)
		idle = err == nil && n == 0 && !h.moving.Load()
		return err
	})
	return idle
}

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

func (h *ptyHost) end(grace time.Duration) error {
	err := h.endTree(grace)
	err = errors.Join(err, h.master.Close()) // wakes pump if anything still holds the terminal
	close(h.keep.over)
	wake(h.room)
	h.tasks.Wait()
	return err
}

// endTree ends the remaining processes of the tree by the kill ladder.
func (h *ptyHost) endTree(grace time.Duration) error {
	if ended, _ := killladder.Climb(context.Background(), killladder.Tree(grace), tree{h}); ended {
		return nil
	}
	return fmt.Errorf("processes %v did not end by SIGKILL: they hang in the kernel", h.tree())
}

// tree is all that runs of the program, for the kill ladder.
type tree struct{ h *ptyHost }

// Send implements ladder.Target.
func (t tree) Send(_ context.Context, s killladder.Step) (killladder.Sent, error) {
	left := t.h.tree()
	if len(left) == 0 && t.h.reaped.Load() {
		return killladder.Ended, nil
	}
	for _, pid := range left {
		_ = syscall.Kill(pid, s.Signal) // gone already is fine
		if s.Signal == syscall.SIGHUP {
			_ = syscall.Kill(pid, syscall.SIGCONT) // what is stopped hears nothing
		}
	}
	return killladder.Heard, nil
}

// Await implements ladder.Target: the whole tree has to end.
func (t tree) Await(ctx context.Context, s killladder.Step) bool {
	ctx, cancel := context.WithTimeout(ctx, s.Grace)
	defer cancel()
	for wait := 200 * time.Microsecond; ; wait = min(2*wait, 10*time.Millisecond) {
		select {
		case <-t.h.gone:
			left := t.h.tree()
			if len(left) == 0 {
				return true
			}
			if s.Last() { // forked during the walk
				for _, pid := range left {
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
