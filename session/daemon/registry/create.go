//go:build unix

package registry

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/spawn"
	masking "github.com/longterm-dev/longterm/session/secrets"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/store"
)

// Create starts a session: checked first, recorded second, spawned third, so that a
// daemon killed in between leaves a record without a process, never the reverse.
func (h *Registry) Create(ctx context.Context, n api.NewSession) (*Handle, error) {
	return h.create(ctx, n, Call{}, func(*Handle) error { return nil })
}

// errReplacedMeanwhile is for who asked for something that the daemon's successor may have.
func errReplacedMeanwhile() error {
	return api.Errorf(api.CodeUnavailable, "the daemon was replaced during the request").WithHint("look whether it was done before you repeat it")
}

// Replaced is for who comes while the daemon leaves.
func Replaced() error {
	return api.Errorf(api.CodeUnavailable, "the daemon is being replaced").WithHint("ask again").AgainSoon()
}

// spawnTime bounds how long a keeper may take to start a process.
const spawnTime = 30 * time.Second

// CreateRecorded is create for a job, which has something of its own to record before the process is started.
func (h *Registry) CreateRecorded(ctx context.Context, n api.NewSession, job string, record func(*Handle) error) (*Handle, error) {
	return h.create(ctx, n, Call{ID: job, outlives: true}, record)
}

// create is Create for a call; the zero Call: it has no id. record is called before the process is started.
func (h *Registry) create(ctx context.Context, n api.NewSession, of Call, record func(*Handle) error) (*Handle, error) {
	if h.host.Leaving() {
		return nil, Replaced()
	}
	agent := actor.Of(ctx).Agent
	n = spawn.WithMode(n, agent != "", &h.conf.Get().Shells)
	if agent == "" {
		n = h.spawner.WithAgentSocket(n)
	}
	n.Labels = ofHook(&n)
	h.known.LearnEnv(masking.Pairs(append(slices.Clone(n.Env), n.SetEnv...))) // before any of it is printed
	if agent != "" {                                                          // what it runs asks on its behalf too
		n.SetEnv = append(n.SetEnv[:len(n.SetEnv):len(n.SetEnv)], actor.Env+"="+agent)
	}
	plan, err := h.spawner.Plan(n)
	if err != nil {
		return nil, err
	}
	if err := h.withinLimits(); err != nil {
		return nil, err
	}
	plan.Record.Policy, plan.Record.Agent = n.Policy, agent
	plan.Record.Call, plan.Record.Asked = of.ID, of.Asked
	k, err := h.host.KeeperFor(plan.Record.Keeper)
	if err != nil {
		return nil, api.Errorf(api.CodeUnavailable, "no keeper for the session: %v", err).
			WithHint("see %s", h.dirs.KeeperLog())
	}
	e := NewHandle(plan.Record)
	if err := h.reserve(ctx, e, n.Name == ""); err != nil {
		return nil, err
	}
	if err := record(e); err != nil {
		h.forget(e)
		return nil, err
	}
	if ctx.Err() != nil { // its caller is gone
		h.forget(e)
		return nil, ctx.Err()
	}
	wanted, over := h.whileWanted(ctx, of)
	defer over()
	start, err := h.spawn(wanted, e, k, plan)
	if err != nil {
		if h.host.Leaving() { // the successor finds the record, and the process if there is one
			return nil, errReplacedMeanwhile()
		}
		h.forget(e)
		return nil, err
	}
	h.beginLater(e, start)
	view := h.Describe(e, e.Session.Status())
	h.Bus.Publish("created", &view)
	return e, nil
}

// ofHook are the labels of a session that is to be started: what a hook starts, or what that starts, is its own, so that what
// comes of it runs no hook, which would do the same again.
func ofHook(n *api.NewSession) map[string]string {
	if n.Labels[api.HookLabel] != "" {
		return n.Labels
	}
	hook := ""
	for _, set := range slices.Concat(n.Env, n.SetEnv) {
		if v, ok := strings.CutPrefix(set, api.HookEnv+"="); ok {
			hook = v
		}
	}
	if hook == "" {
		return n.Labels
	}
	labels := map[string]string{}
	maps.Copy(labels, n.Labels)
	labels[api.HookLabel] = hook
	return labels
}

func (h *Registry) withinLimits() error {
	running := 0
	for _, e := range h.unordered() {
		if e.Session.Status().State == session.Running {
			running++
		}
	}
	if limit := h.conf.Get().Limits.Sessions; running >= limit {
		return api.Errorf(api.CodeLimit, "%d sessions are running, the limit is %d", running, limit).
			WithHint("end some with `longterm kill`, or raise limits.sessions (`longterm config set`)")
	}
	if descriptorsLeft() < spareDescriptors {
		return spawn.NoDescriptors(syscall.EMFILE)
	}
	return nil
}

// spareDescriptors are kept for clients' connections and files.
const spareDescriptors = 16

// descriptorsLeft is how many files this process may still open.
func descriptorsLeft() int {
	f, err := os.Open(os.DevNull)
	if err != nil {
		return 0
	}
	defer f.Close()
	left, err := sys.DescriptorsLeft(f)
	if err != nil {
		return spareDescriptors
	}
	return left
}

// reserve takes the name, makes the directory and records the session.
func (h *Registry) reserve(ctx context.Context, e *Handle, makeName bool) error {
	base := e.rec.Name
	if makeName {
		base = spawn.NameFor(e.rec.Argv)
		e.rec.Name = base
	}
	h.freeName(base)
	for i := 2; ; i++ {
		err := h.add(e)
		if err == nil {
			break
		}
		if !makeName {
			return err
		}
		e.rec.Name = base + "-" + strconv.Itoa(i)
	}
	full := h.forgetAgain(ctx) // their names are free
	dir := h.dirs.Session(e.rec.ID)
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = h.store.CreateSession(ctx, e.rec)
	}
	if full != nil && errors.Is(err, store.ErrNameTaken) { // by one that was removed
		err = full
	}
	if err != nil {
		h.forget(e)
		return spawn.StorageError(err, h.dirs.State)
	}
	return nil
}

// answering is how long who asked for a session is given to take the answer.
const answering = 3 * time.Millisecond

// beginLater has a new session's owner begin and its pid be recorded once who asked for it has the answer. Both are as much work
// as all that is done before it, and would have the processors that its client needs to read it. Whoever wants something of the
// owner has it begin at once, and the keeper knows the pid.
func (h *Registry) beginLater(e *Handle, start func()) {
	h.writes.Go(func() {
		time.Sleep(answering)
		start()
		h.Save(e, func(*store.Session) {})
	})
}

// whileWanted is a context that ends with its caller's: who goes before there is an answer finds no session later. A daemon that
// leaves has its callers go, too, and its successor finds what was started. A job's is its job's: that ends it, or lets it go on.
func (h *Registry) whileWanted(ctx context.Context, of Call) (wanted context.Context, over context.CancelFunc) {
	wanted, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if of.outlives {
		return wanted, cancel
	}
	stop := context.AfterFunc(ctx, func() {
		if !h.host.Leaving() {
			cancel()
		}
	})
	return wanted, func() {
		stop()
		cancel()
	}
}

// A keeper that is stopped (SIGSTOP) is connected to and written to all the same, and answers nothing.
const (
	keeperLate = 3 * time.Second // an answer is, and the keeper is looked at
	keeperLook = 500 * time.Millisecond
	// stoppedLooks is how often in a row it is seen stopped: one that a debugger has in its hands goes on soon.
	stoppedLooks = 4
)

// unlessStopped is a context that ends when a process is stopped and stays so.
func unlessStopped(ctx context.Context, pid func() int, isStopped func(pid int) bool) (goes context.Context, over context.CancelFunc) {
	goes, cancel := context.WithCancelCause(ctx)
	late := time.AfterFunc(keeperLate, func() {
		tick := time.NewTicker(keeperLook)
		defer tick.Stop()
		for stopped := 0; ; {
			if stopped++; !isStopped(pid()) {
				stopped = 0
			}
			if stopped == stoppedLooks {
				cancel(keeperStopped(pid()))
				return
			}
			select {
			case <-goes.Done():
				return
			case <-tick.C:
			}
		}
	})
	return goes, func() {
		late.Stop()
		cancel(nil)
	}
}

// isStopped says that a process is stopped by a signal.
func isStopped(pid int) bool {
	st, err := sys.ReadStat(pid)
	return err == nil && st.State == 'T'
}

// stoppedOr is that the keeper is stopped, where that ended ctx; else an error.
func stoppedOr(ctx context.Context, err error) error {
	var e *api.Error
	if errors.As(context.Cause(ctx), &e) {
		return e
	}
	return err
}

// keeperStopped is no error that a client asks again after.
func keeperStopped(pid int) error {
	return api.Errorf(api.CodeSpawn, "the keeper (process %d) is stopped, and starts nothing; the session was not started", pid).
		WithHint("`kill -CONT %d` has it go on; to kill it would end its sessions", pid)
}

// spawn starts the process; start begins its owner. It ends with ctx: a process that comes all the same is ended.
func (h *Registry) spawn(ctx context.Context, e *Handle, k Keeper, p *spawn.Plan) (start func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, spawnTime)
	defer cancel()
	ctx, over := unlessStopped(ctx, func() int { return int(k.Link().Hello().PID) }, isStopped)
	defer over()
	old := h.ByID(e.rec.ID)
	again := old != nil && old != e
	if again { // what the keeper tells once it is started is told to e, which takes its place later
		old.bequeath(e)
	}
	h.known.LearnEnv(masking.Pairs(p.Environ()))
	opening := make(chan opened, 1) // while the keeper starts the process, which takes longer
	go func() { opening <- h.openJournal(e.rec.ID) }()
	adopted, err := h.spawner.Start(ctx, k, p)
	j := <-opening
	if err != nil {
		j.drop()
		return nil, stoppedOr(ctx, err)
	}
	e.mu.Lock() // its first execution may be judged already
	e.rec.Pipe, e.why = p.Record.Pipe, p.Why
	e.mu.Unlock()
	h.judgedAs(e, p.Executions, again)
	e.box.Store(nil) // whoever looked before it was started
	if adopted == nil {
		if adopted, err = askToAdopt(ctx, k, e.rec.ID); err != nil {
			j.drop()
			if !h.host.Leaving() {
				spawn.Unspawn(k, e.rec.ID)
			}
			return nil, stoppedOr(ctx, p.NotAdopted(err))
		}
	}
	if start, err = h.take(e, k, adopted, j); err != nil {
		if h.host.Leaving() {
			return nil, err
		}
		spawn.Unspawn(k, e.rec.ID)
		if errors.Is(err, syscall.EMFILE) {
			return nil, spawn.NoDescriptors(err)
		}
		return nil, spawn.StorageError(err, h.dirs.State)
	}
	h.bind(e)
	return start, nil
}

// forget undoes a reservation.
func (h *Registry) forget(e *Handle) {
	h.hide(e)
	defer h.drop(e)
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	if err := h.store.DeleteSession(ctx, e.rec.ID); err != nil && !errors.Is(err, store.ErrNotFound) {
		h.log.Error("forget", "session", e.rec.ID, "err", err)
	}
	h.spawner.DropState(e.rec.ID)
	if err := os.RemoveAll(h.dirs.Session(e.rec.ID)); err != nil {
		h.log.Error("forget", "session", e.rec.ID, "err", err)
	}
}
