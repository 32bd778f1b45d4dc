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
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/spawn"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/redact"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/store"
)

// Create starts a session: checked first, recorded second, spawned third, so that a
// daemon killed in between leaves a record without a process, never the reverse.
func (h *Registry) Create(ctx context.Context, n api.NewSession) (*Handle, error) {
	return h.create(ctx, n, Call{}, func(*Handle) error { return nil })
}

// errReplacedMeanwhile returns the error for a request that the next daemon may have carried out.
func errReplacedMeanwhile() error {
	return api.Errorf(api.CodeUnavailable, "the daemon was replaced during the request").WithHint("check whether it was done before you repeat it")
}

// ErrReplaced returns the error for requests to a stopping daemon.
func ErrReplaced() error {
	return api.Errorf(api.CodeUnavailable, "the daemon is being replaced").WithHint("ask again").Retryable()
}

// spawnTime bounds how long a keeper may take to start a process.
const spawnTime = 30 * time.Second

// CreateRecorded creates a job's session and calls record before the process is started.
func (h *Registry) CreateRecorded(ctx context.Context, n api.NewSession, job string, record func(*Handle) error) (*Handle, error) {
	return h.create(ctx, n, Call{ID: job, outlives: true}, record)
}

// create creates the session of a call; a zero Call has no id. It calls record before the process is started.
func (h *Registry) create(ctx context.Context, n api.NewSession, of Call, record func(*Handle) error) (*Handle, error) {
	if h.host.IsStopping() {
		return nil, ErrReplaced()
	}
	agent := identity.Of(ctx).Agent
	h.known.LearnEnv(redact.EnvPairs(append(slices.Clone(n.Env), n.SetEnv...))) // before any of it is printed, also what is omitted
	n, envOmitted := spawn.WithMode(n, agent != "", h.conf.Get())
	if agent == "" {
		n = h.spawner.WithAgentSocket(n)
	}
	n.Labels = labelsFor(&n)
	if agent != "" { // what it runs asks on its behalf too
		n.SetEnv = append(n.SetEnv[:len(n.SetEnv):len(n.SetEnv)], identity.Env+"="+agent)
	}
	plan, err := h.spawner.Plan(n)
	if err != nil {
		return nil, err
	}
	if err := h.checkLimits(); err != nil {
		return nil, err
	}
	plan.Record.Policy, plan.Record.Agent = n.Policy, agent
	plan.Record.Call, plan.Record.RequestDigest = of.ID, of.RequestDigest
	k, err := h.host.KeeperFor(plan.Record.Keeper)
	if err != nil {
		return nil, api.Errorf(api.CodeUnavailable, "no keeper for the session: %v", err).
			WithHint("see %s", h.dirs.KeeperLog())
	}
	e := NewHandle(plan.Record)
	e.envOmitted = envOmitted
	if err := h.reserve(ctx, e, n.Name == ""); err != nil {
		return nil, err
	}
	if err := record(e); err != nil {
		h.forget(e)
		return nil, err
	}
	if ctx.Err() != nil { // the caller disconnected
		h.forget(e)
		return nil, ctx.Err()
	}
	wanted, over := h.withCallerContext(ctx, of)
	defer over()
	start, err := h.spawn(wanted, e, k, plan)
	if err != nil {
		if h.host.IsStopping() { // the successor finds the record, and the process if there is one
			return nil, errReplacedMeanwhile()
		}
		h.forget(e)
		return nil, err
	}
	h.startOwnerLater(e, start)
	view := h.Describe(e, e.Session.Status())
	h.Bus.Publish("created", &view)
	return e, nil
}

// labelsFor returns the labels of a new session. What a hook starts, directly or not, carries the hook's label, so that
// its events do not run hooks again.
func labelsFor(n *api.NewSession) map[string]string {
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

// checkLimits returns an error if no session can be started: too many sessions, or too few descriptors.
func (h *Registry) checkLimits() error {
	running := 0
	for _, e := range h.snapshot() {
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

// spareDescriptors are reserved for clients' connections and files.
const spareDescriptors = 16

// descriptorsLeft returns how many more files this process may open.
func descriptorsLeft() int {
	f, err := os.Open(os.DevNull)
	if err != nil {
		return 0
	}
	defer f.Close()
	left, err := sys.FreeDescriptors(f)
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
	full := h.retryDelete(ctx) // their names are free
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

// answerTime is the delay of a new session's owner, so that its caller receives the answer first.
const answerTime = 3 * time.Millisecond

// startOwnerLater starts a new session's owner and records its pid shortly after the answer. Both take as much work as all
// before, and would delay the client on a busy machine. An operation starts the owner earlier; the keeper knows the
// pid.
func (h *Registry) startOwnerLater(e *Handle, start func()) {
	h.writes.Go(func() {
		time.Sleep(answerTime)
		start()
		h.Save(e, func(*store.Session) {})
	})
}

// withCallerContext returns a context that ends when the caller disconnects, so that no session appears later. It does
// not end with a stopping daemon, whose successor finds the session, nor for jobs, which decide themselves.
func (h *Registry) withCallerContext(ctx context.Context, of Call) (wanted context.Context, over context.CancelFunc) {
	wanted, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if of.outlives {
		return wanted, cancel
	}
	stop := context.AfterFunc(ctx, func() {
		if !h.host.IsStopping() {
			cancel()
		}
	})
	return wanted, func() {
		stop()
		cancel()
	}
}

// A keeper that is stopped (SIGSTOP) accepts connections and requests, but does not answer.
const (
	keeperLate          = 3 * time.Second // after this the keeper's process is checked
	keeperCheckInterval = 500 * time.Millisecond
	// stoppedChecks is the number of consecutive checks that must find it stopped: a debugger stops it only briefly.
	stoppedChecks = 4
)

// unlessStopped returns a context that ends if the process stays stopped.
func unlessStopped(ctx context.Context, pid func() int, isStopped func(pid int) bool) (alive context.Context, over context.CancelFunc) {
	alive, cancel := context.WithCancelCause(ctx)
	late := time.AfterFunc(keeperLate, func() {
		tick := time.NewTicker(keeperCheckInterval)
		defer tick.Stop()
		for stopped := 0; ; {
			if stopped++; !isStopped(pid()) {
				stopped = 0
			}
			if stopped == stoppedChecks {
				cancel(keeperStopped(pid()))
				return
			}
			select {
			case <-alive.Done():
				return
			case <-tick.C:
			}
		}
	})
	return alive, func() {
		late.Stop()
		cancel(nil)
	}
}

// isStopped reports whether a process is stopped by a signal.
func isStopped(pid int) bool {
	st, err := sys.ReadStat(pid)
	return err == nil && st.State == 'T'
}

// stoppedOr returns the error for a stopped keeper if that ended ctx, otherwise err.
func stoppedOr(ctx context.Context, err error) error {
	var e *api.Error
	if errors.As(context.Cause(ctx), &e) {
		return e
	}
	return err
}

// keeperStopped returns the error for a stopped keeper. Clients do not retry it.
func keeperStopped(pid int) error {
	return api.Errorf(api.CodeSpawn, "session not started: keeper (process %d) is stopped", pid).
		WithHint("resume it with `kill -CONT %d`; killing it would end its sessions", pid)
}

// spawn starts the process; start starts its owner. If ctx ends first, a process that appears later is killed.
func (h *Registry) spawn(ctx context.Context, e *Handle, k Keeper, p *spawn.Plan) (start func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, spawnTime)
	defer cancel()
	ctx, over := unlessStopped(ctx, func() int { return int(k.Link().Hello().PID) }, isStopped)
	defer over()
	old := h.ByID(e.rec.ID)
	again := old != nil && old != e
	if again { // notices of the new process go to e, which replaces old later
		old.redirectTo(e)
	}
	h.known.LearnEnv(redact.EnvPairs(p.Environ()))
	opening := make(chan openedJournal, 1) // while the keeper starts the process, which takes longer
	go func() { opening <- h.openJournal(e.rec.ID) }()
	adopted, err := h.spawner.Start(ctx, k, p)
	j := <-opening
	if err != nil {
		j.drop()
		return nil, stoppedOr(ctx, err)
	}
	e.mu.Lock() // its first execution may be judged already
	e.rec.Pipe, e.modeReason = p.Record.Pipe, p.PipeReason
	e.mu.Unlock()
	h.recordChecked(e, p.Executions, again)
	e.sandbox.Store(nil) // readers from before the start
	if adopted == nil {
		if adopted, err = requestAdoption(ctx, k, e.rec.ID); err != nil {
			j.drop()
			if !h.host.IsStopping() {
				spawn.Unspawn(k, e.rec.ID)
			}
			return nil, stoppedOr(ctx, p.NotAdopted(err))
		}
	}
	if start, err = h.mapAdopted(e, k, adopted, j); err != nil {
		if h.host.IsStopping() {
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

// forget undoes reserve.
func (h *Registry) forget(e *Handle) {
	h.hide(e)
	defer h.drop(e)
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	if err := h.store.DeleteSession(ctx, e.rec.ID); err != nil && !errors.Is(err, store.ErrNotFound) {
		h.log.Error("forget", "session", e.rec.ID, "err", err)
	}
	h.spawner.DropState(e.rec.ID)
	if h.Drafts().Has(e.rec.ID) {
		if _, err := h.Drafts().DropEmpty(ctx, e.rec.ID); err != nil {
			h.log.Error("forget the draft", "session", e.rec.ID, "err", err)
		}
	}
	if err := os.RemoveAll(h.dirs.Session(e.rec.ID)); err != nil {
		h.log.Error("forget", "session", e.rec.ID, "err", err)
	}
}
