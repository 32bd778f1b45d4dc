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
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/internal/ladder"
	"github.com/longterm-dev/longterm/session/keeper"
	"github.com/longterm-dev/longterm/session/sys"
)

// What a killed keeper leaves behind. Its programs do not end with it as long as the daemon
// holds their terminals, and some would not end by the hang-up either. A session is called
// lost, and may be started again, only once nothing of it runs any more.

// orphan is a session without a keeper whose processes may still run.
type orphan struct {
	id       string
	pid      int // of its own process
	started  time.Time
	cgroups  []string // directories
	live     *Handle  // nil: from the records, no process of ours holds its terminal
	found    []sys.Process
	handlers []sys.Process // processes that got the last signal and do not ignore it
}

// orphanPoll is how often the end of orphans is looked for.
const orphanPoll = 10 * time.Millisecond

// startTolerance is how far the clocks of a process's start and of our records may be apart.
const startTolerance = 2 * time.Second

// endOrphans ends all processes of sessions without a keeper, by the kill ladder, while it
// takes what they print on their terminals, and hangs these up.
func (h *Registry) endOrphans(ctx context.Context, list []*orphan) {
	if len(list) == 0 {
		return
	}
	defer func() {
		for _, o := range list {
			o.salvage(ctx)
			o.hangUp()
			o.removeCgroups()
		}
	}()
	if h.walker.find(list); !anyLeft(list) {
		return
	}
	if ended, _ := ladder.Climb(ctx, ladder.Lost(h.conf.GraceFor(actor.Actor{})), lostTarget{h, list}); ended {
		return
	}
	for _, o := range list {
		for _, p := range o.left() {
			h.log.Error("a process of a lost session does not end", "session", o.id, "pid", p.PID)
		}
	}
}

// lostTarget is all that runs of sessions without a keeper, for the kill ladder.
type lostTarget struct {
	h    *Registry
	list []*orphan
}

// Send implements ladder.Target.
func (t lostTarget) Send(_ context.Context, s ladder.Step) (ladder.Sent, error) {
	for _, o := range t.list {
		o.signal(s)
	}
	if !anyHandlerLives(t.list) {
		return ladder.Unheard, nil
	}
	return ladder.Heard, nil
}

// Await implements ladder.Target: who was born meanwhile has not ended.
func (t lostTarget) Await(ctx context.Context, s ladder.Step) bool {
	awaitOrphans(ctx, t.list, s)
	t.h.walker.find(t.list)
	return !anyLeft(t.list)
}

// awaitOrphans waits until all processes that handle the step's signal have exited, for the step's time at most, and takes
// their output.
func awaitOrphans(ctx context.Context, list []*orphan, s ladder.Step) {
	deadline := time.Now().Add(s.Grace)
	for {
		for _, o := range list {
			o.salvage(ctx)
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
		o.handlers = sys.Living(o.handlers)
		return len(o.handlers) > 0
	})
}

func anyLeft(list []*orphan) bool {
	return slices.ContainsFunc(list, func(o *orphan) bool { return len(o.left()) > 0 })
}

// left are the processes found that have not ended.
func (o *orphan) left() []sys.Process {
	o.found = sys.Living(o.found)
	return o.found
}

func (o *orphan) signal(s ladder.Step) {
	to, group := o.left(), 0
	if s.Foreground {
		if o.live != nil {
			group = o.live.device.foreground()
		}
		to = slices.DeleteFunc(slices.Clone(to), func(p sys.Process) bool { return group == 0 && p.PID != o.pid })
	}
	if group > 0 {
		to = inGroup(to, group)
	}
	// A process that ignores TERM is usually an interactive shell: an interrupt does not end it either.
	o.handlers = slices.DeleteFunc(slices.Clone(to), func(p sys.Process) bool {
		return p.Ignores(s.Signal) || s.Signal == syscall.SIGINT && p.Ignores(syscall.SIGTERM)
	})
	if s.Last() {
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

// salvage takes what the programs have printed since the keeper died.
func (o *orphan) salvage(ctx context.Context) {
	if o.live == nil {
		return
	}
	_, _ = o.live.Session.Salvage(ctx, o.live.device.readRest) // an ended session has nothing left
}

// hangUp closes the terminal: processes that still have it open get a SIGHUP and no more input.
func (o *orphan) hangUp() {
	if o.live != nil && o.live.device.pty != nil {
		_ = o.live.device.pty.Close()
	}
}

// removeCgroups removes what would stay otherwise: the keeper's own goes with its last session.
func (o *orphan) removeCgroups() {
	for _, dir := range o.cgroups {
		_ = os.Remove(dir)
		_ = os.Remove(filepath.Dir(dir))
	}
}

// readRest reads what a terminal holds, without waiting; 0 when that is nothing.
func (d *device) readRest(p []byte) int {
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

// find adds the processes of all sessions in one walk over the system's: members of the
// session's cgroup, carriers of its mark, and what belongs to its own process while that
// lives. Numbers of processes are used again: one that did not start when the session did
// is another's.
func (w *walker) find(list []*orphan) {
	seen := w.look()
	for _, o := range list {
		pid := 0
		if started, ok := startOf(o.pid); ok && !o.started.IsZero() && started.Sub(o.started).Abs() <= startTolerance {
			pid = o.pid
		}
		for _, p := range seen.Of(pid, o.id) {
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

func (o *orphan) add(p sys.Process) {
	if !slices.Contains(o.found, p) {
		o.found = append(o.found, p)
	}
}

// orphansOf are the sessions that a keeper held when it died. The terminals of those that
// had ended before are hung up.
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

// endLeftBehind ends what sessions have left that ran when their keeper and the daemon died.
// It returns before any of them is called lost. Those that a keeper has, or may have, are left
// alone: a later daemon finds them.
func (a *adoption) endLeftBehind(rest []*Handle) {
	var orphans []*orphan
	for _, e := range rest {
		if e.rec.State == string(session.Running) && !a.kept[e.rec.ID] && !a.silent[e.rec.Keeper] {
			orphans = append(orphans, &orphan{
				id: e.rec.ID, pid: e.rec.PID, started: e.rec.Started, cgroups: keeper.CgroupsOf(e.rec.ID),
			})
		}
	}
	a.reg.endOrphans(context.Background(), orphans)
}
