//go:build unix

package registry

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/internal/killladder"
	"github.com/longterm-dev/longterm/session/keeper"
	"github.com/longterm-dev/longterm/session/sys"
)

// A killed keeper leaves its sessions' programs running: the daemon holds their terminals, and some ignore the hang-up.
// A session becomes lost, and may be restarted, only after all its processes have exited.

// orphan is a session without a keeper whose processes may still run.
type orphan struct {
	id        string
	pid       int // of the session's own process
	started   time.Time
	cgroups   []string      // directories
	live      *Handle       // handle whose terminal this daemon holds; nil: known only from records
	processes []sys.Process // its processes at the last scan
	handlers  []sys.Process // processes that got the last signal and do not ignore it
}

// orphanPoll is the interval between checks for the end of orphans.
const orphanPoll = 10 * time.Millisecond

// startTolerance is how far the clocks of a process's start and of our records may be apart.
const startTolerance = 2 * time.Second

// endOrphans kills all processes of sessions without a keeper by the kill ladder. While doing that it reads their terminals'
// output, and hangs them up.
func (h *Registry) endOrphans(ctx context.Context, list []*orphan) {
	if len(list) == 0 {
		return
	}
	defer func() {
		for _, o := range list {
			o.drain(ctx)
			o.hangUp()
			o.removeCgroups()
		}
	}()
	if h.scanner.find(list); !anyLeft(list) {
		return
	}
	if ended, _ := killladder.Climb(ctx, killladder.OrphanSteps(h.conf.GraceFor(identity.Actor{})), lostTarget{h, list}); ended {
		return
	}
	for _, o := range list {
		for _, p := range o.living() {
			h.log.Error("a process of a lost session does not end", "session", o.id, "pid", p.PID)
		}
	}
}

// lostTarget is the processes of sessions without a keeper, for the kill ladder.
type lostTarget struct {
	h    *Registry
	list []*orphan
}

// Send implements killladder.Target.
func (t lostTarget) Send(_ context.Context, s killladder.Step) (killladder.SendResult, error) {
	for _, o := range t.list {
		o.signal(s)
	}
	if !anyHandlerLives(t.list) {
		return killladder.Ignored, nil
	}
	return killladder.Delivered, nil
}

// Await implements killladder.Target. Processes that appeared since count as living.
func (t lostTarget) Await(ctx context.Context, s killladder.Step) bool {
	awaitOrphans(ctx, t.list, s)
	t.h.scanner.find(t.list)
	return !anyLeft(t.list)
}

// awaitOrphans waits until all processes that handle the step's signal have exited, for the step's time at most, and takes
// their output.
func awaitOrphans(ctx context.Context, list []*orphan, s killladder.Step) {
	deadline, sent := time.Now().Add(s.Grace), time.Now()
	for {
		isRepeat := s.RepeatAfter() > 0 && time.Since(sent) >= s.RepeatAfter()
		if isRepeat {
			sent = time.Now()
		}
		for _, o := range list {
			o.drain(ctx)
			if isRepeat {
				o.repeat(s)
			}
		}
		if !anyHandlerLives(list) || !time.Now().Before(deadline) || ctx.Err() != nil {
			return
		}
		time.Sleep(min(orphanPoll, time.Until(deadline)))
	}
}

// anyHandlerLives reports whether a process that handles the last signal still lives.
func anyHandlerLives(list []*orphan) bool {
	return slices.ContainsFunc(list, func(o *orphan) bool {
		o.handlers = sys.FilterAlive(o.handlers)
		return len(o.handlers) > 0
	})
}

// anyLeft reports whether an orphan has a living process.
func anyLeft(list []*orphan) bool {
	return slices.ContainsFunc(list, func(o *orphan) bool { return len(o.living()) > 0 })
}

// living returns the found processes that still live.
func (o *orphan) living() []sys.Process {
	o.processes = sys.FilterAlive(o.processes)
	return o.processes
}

// signal sends a step's signal to the found processes.
func (o *orphan) signal(s killladder.Step) {
	to, group := o.living(), 0
	if s.Foreground {
		if o.live != nil {
			group = o.live.device.foreground()
		}
		to = slices.DeleteFunc(slices.Clone(to), func(p sys.Process) bool { return group == 0 && p.PID != o.pid })
	}
	if group > 0 {
		to = inGroup(to, group)
	}
	var helpers []int
	if o.live != nil {
		helpers = o.live.sandboxHelpers()
	}
	// A process that ignores TERM is usually an interactive shell: an interrupt does not end it either.
	o.handlers = slices.DeleteFunc(slices.Clone(to), func(p sys.Process) bool {
		return slices.Contains(helpers, p.PID) || p.IgnoresSignal(s.Signal) || s.Signal == syscall.SIGINT && p.IgnoresSignal(syscall.SIGTERM)
	})
	if s.IsLast() {
		for _, dir := range o.cgroups {
			_ = os.WriteFile(filepath.Join(dir, "cgroup.kill"), []byte("1"), 0)
		}
	}
	if group > 0 { // the terminal holds the number
		_ = syscall.Kill(-group, s.Signal) // an ended one is fine
		return
	}
	for _, p := range to {
		_ = syscall.Kill(p.PID, s.Signal)
	}
}

// repeat sends the step's signal again to the session's own program, if that still handles it.
func (o *orphan) repeat(s killladder.Step) {
	if o.live != nil {
		signalPID(o.handlers, o.live.Session.Leader(), s.Signal)
	}
}

// drain reads what the programs printed since the keeper died.
func (o *orphan) drain(ctx context.Context) {
	if o.live == nil {
		return
	}
	_, _ = o.live.Session.DrainDeadTerminal(ctx, o.live.device.tryRead) // an ended session has nothing left
}

// hangUp closes the terminal: its processes get SIGHUP and no further input.
func (o *orphan) hangUp() {
	if o.live != nil && o.live.device.pty != nil {
		_ = o.live.device.pty.Close()
	}
}

// removeCgroups removes the session's cgroups. The keeper would have done so.
func (o *orphan) removeCgroups() {
	for _, dir := range o.cgroups {
		_ = os.Remove(dir)
		_ = os.Remove(filepath.Dir(dir))
	}
}

// tryRead reads from the terminal without waiting; 0 means nothing is available.
func (d *device) tryRead(p []byte) int {
	if d.pipe || d.pty == nil {
		return 0
	}
	n := 0
	_ = d.control(func(fd int) (err error) {
		n, err = unix.Read(fd, p)
		return err
	})
	return max(n, 0)
}

// find adds the processes of all sessions in one listing: members of the session's cgroup, carriers of its mark, and
// descendants of its own process. Pids are reused, so a process counts only if its start time fits the session.
func (w *scanner) find(list []*orphan) {
	seen := w.scan()
	for _, o := range list {
		pid := 0
		if started, ok := startOf(o.pid); ok && !o.started.IsZero() && started.Sub(o.started).Abs() <= startTolerance {
			pid = o.pid
		}
		for _, p := range seen.SessionProcesses(pid, o.id) {
			o.add(p)
		}
		for _, dir := range o.cgroups {
			for _, pid := range inCgroup(dir) {
				if p, ok := seen.Process(pid); ok {
					o.add(p)
				}
			}
		}
	}
}

// add adds a process that belongs to the session.
func (o *orphan) add(p sys.Process) {
	if !slices.Contains(o.processes, p) {
		o.processes = append(o.processes, p)
	}
}

// orphansOf returns the sessions that a keeper held when it died. It hangs up the terminals of those that had ended
// before.
func (h *Registry) orphansOf(key string) (orphans []*orphan, lost []*Handle) {
	for _, e := range h.All() {
		if e.device == nil || e.Record().Keeper != key {
			continue
		}
		st := e.Session.Status()
		o := &orphan{id: e.Session.ID(), pid: st.PID, started: st.Started, live: e}
		if st.State != session.Running {
			o.hangUp()
			continue
		}
		if e.device.cgroup != "" {
			o.cgroups = []string{e.device.cgroup}
		}
		orphans, lost = append(orphans, o), append(lost, e)
	}
	return orphans, lost
}

// killOrphans kills the processes of sessions that ran when keeper and daemon died, before any of these becomes lost.
// It skips sessions that a keeper has or may have; a later daemon finds them.
func (a *adoption) killOrphans(rest []*Handle) {
	var orphans []*orphan
	for _, e := range rest {
		if e.rec.State == string(session.Running) && !a.found[e.rec.ID] && !a.unanswered[e.rec.Keeper] {
			orphans = append(orphans, &orphan{
				id: e.rec.ID, pid: e.rec.PID, started: e.rec.Started, cgroups: keeper.CgroupsOf(e.rec.ID),
			})
		}
	}
	a.reg.endOrphans(context.Background(), orphans)
}
