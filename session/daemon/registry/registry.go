//go:build unix

// Package registry holds the daemon's sessions: their records, their processes, and the work around them.
//
//	create, restore → spawn → adopt → begin: a Handle with a session (package session) and its device
//	a session changes → record, event, activity; maintenance and the search index visit all sessions
//
// A session's owner goroutine does all work on it. Callbacks on that goroutine (onChange, onCommand, onRuleMatch) queue their
// writes and do not wait. Watchers read command output on goroutines that exist only while output arrives. The registry's lock
// guards its maps and is never held during a call to a session; a handle's locks are taken in the order saving or dirMu, then
// mu. The package knows its daemon by Host, keepers by Keeper, and no request.
package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/drafts"
	"github.com/longterm-dev/longterm/session/daemon/events"
	"github.com/longterm-dev/longterm/session/daemon/liveconfig"
	"github.com/longterm-dev/longterm/session/daemon/spawn"
	"github.com/longterm-dev/longterm/session/daemon/writequeue"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/inputdetect"
	"github.com/longterm-dev/longterm/session/internal/idlepoll"
	"github.com/longterm-dev/longterm/session/internal/retryqueue"
	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/session/notify/webhook"
	"github.com/longterm-dev/longterm/session/output/compare"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/redact"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/store"
)

// Registry is the set of sessions. Its lock guards the maps; handles have their own.
type Registry struct {
	dirs           paths.Dirs
	build          string
	log            *slog.Logger
	store          *store.Store
	conf           *liveconfig.Settings
	host           Host
	crashed        bool          // the previous daemon crashed
	known          *redact.Vault // known secret values
	post           func(webhook.Notice) error
	reusedHostName func() string // machine's name, if the fleet has replicas of an earlier machine of that name

	// JobSession, if set, returns the session of a job, by the job's id or unique prefix, and whether the session was started
	// for the job. id is "" if the job is unknown or has no session.
	JobSession func(ref string) (id string, own bool)

	// JobOf, if set, returns the id of the running job that runs command n of a session's shell, or its program if n
	// is 0. Without such a job it returns "".
	JobOf func(e *Handle, n int, line string) string

	// FindFailures, if set, returns the lines that only earlier failed runs of c printed, or nil without runs to
	// compare with. If c.N is 0, c is the session's program.
	FindFailures func(ctx context.Context, e *Handle, c *store.Command) (*compare.Failures, error)
	comparing    chan struct{} // semaphore of FindFailures

	Bus         events.Bus
	poller      *idlepoll.Poller
	rebuilding  chan struct{} // semaphore of owners that replay their journal
	suspects    chan struct{}
	emulators   *session.EmulatorCache // emulators of ended sessions in memory
	writes      sync.WaitGroup         // pending writes of records
	restoring   sync.Mutex             // one restore at a time; before mu
	adoption    adoption               // of the previous daemon's sessions
	restarts    restarts               // of sessions that ended by themselves
	Index       *Indexer
	spawner     spawn.Spawner
	scanner     scanner
	records     writequeue.Queue                      // records of commands and sessions
	drafts      drafts.Recorder                       // which command of a session changed which files
	draftCounts drafts.Counter                        // numbers of changes in drafts
	manifests   manifests                             // files in the sessions' directories that repeat their records
	retryQueue  retryqueue.Set[failedWrite, struct{}] // records and manifests whose write failed
	watchers    *watchers                             // read what commands print
	Maintenance *Maintenance
	Terminals   events.Terminals // of attached clients
	removedAny  atomic.Bool      // a session was removed since the database's log was emptied
	starting    starting         // calls that start sessions
	undeleted   undeleted        // removed sessions whose record still exists

	mu     sync.RWMutex
	byid   map[string]*Handle
	byname map[string]*Handle
	bycall map[string]string // session IDs, by ID of the call that started them
}

// maxEndedEmulators bounds the emulators of ended sessions in memory.
const maxEndedEmulators = 4

// endTime limits the work after the end of a session or its keeper.
const endTime = 2 * time.Second

// ReconnectTime is how long a keeper may be unreachable (it re-executes itself in an upgrade) before its sessions count
// as lost.
const ReconnectTime = 5 * time.Second

// Host is the part of the daemon that the registry needs.
type Host interface {
	// KeeperFor returns the connection to a keeper, starting the keeper if need be.
	KeeperFor(key string) (Keeper, error)
	// OnCommand is called when a command starts or ends, on the session's goroutine.
	OnCommand(e *Handle, c *session.Command)
	// IsStopping reports whether the daemon is stopping and its successor takes over.
	IsStopping() bool
	// Approvals returns the ids of the approvals that commands in a session wait for. It does not wait.
	Approvals(session string) []string
	// OnRemoved is called after a session was removed.
	OnRemoved(session string)
	// Notice records a repair that users should know about.
	Notice(format string, args ...any)
}

// Keeper is the connection to a keeper. It reconnects when the keeper is replaced.
type Keeper interface {
	spawn.Keeper
	Key() string // Key returns the keeper's placement key.
}

// Config holds the dependencies of a registry.
type Config struct {
	Dirs     paths.Dirs
	Build    string
	Log      *slog.Logger
	Store    *store.Store
	Settings *liveconfig.Settings
	Crashed  bool // the previous daemon crashed
	Host     Host
	Known    *redact.Vault // known secret values
	// CheckRestart decides whether a session's program may be restarted by policy, and stores in req which file that is; nil:
	// always.
	CheckRestart func(ctx context.Context, e *Handle, req *api.Restore) error
	// Post queues notices for webhooks; nil: they are posted once, at once.
	Post func(webhook.Notice) error
	// ReusedHostName returns this machine's name in a fleet that has replicas of an earlier machine of that name; nil if none.
	ReusedHostName func() string
	// IsReplica means that the sessions are replicas of another machine's: no process here belongs to them.
	IsReplica bool
	// Poller controls the polling intervals; nil: always the shortest.
	Poller *idlepoll.Poller
}

// New returns an empty registry; Load reads the records.
func New(c Config) *Registry {
	h := &Registry{
		dirs: c.Dirs, build: c.Build, log: c.Log, store: c.Store, conf: c.Settings, host: c.Host, crashed: c.Crashed, known: c.Known, post: c.Post, reusedHostName: c.ReusedHostName,
		records: writequeue.Queue{Log: c.Log}, byid: map[string]*Handle{}, byname: map[string]*Handle{}, bycall: map[string]string{},
		rebuilding: make(chan struct{}, 2), suspects: make(chan struct{}, 1), comparing: make(chan struct{}, 1),
		spawner:   spawn.Spawner{Dirs: c.Dirs, Log: c.Log, Conf: c.Settings},
		emulators: session.NewEmulatorCache(maxEndedEmulators),
		poller:    cmp.Or(c.Poller, new(idlepoll.Poller)),
	}
	h.draftCounts = drafts.Counter{Drafts: h.Drafts, Log: h.log, OnChange: h.publishDraftCount}
	if c.IsReplica {
		h.scanner.read = func() *sys.Table { return &sys.Table{} }
	}
	h.adoption = adoption{reg: h, found: map[string]bool{}, unanswered: map[string]bool{}, keeperSince: map[string]time.Time{}, neverStarted: map[string]bool{}}
	h.restarts = restarts{reg: h, check: c.CheckRestart, backoff: map[string]time.Duration{}, pending: map[*Handle]time.Time{}, after: func(d time.Duration, f func()) { time.AfterFunc(d, f) }}
	h.watchers, h.Maintenance = newWatchers(h), &Maintenance{reg: h, packed: map[string]uint64{}}
	return h
}

// Dirs returns the directories of the instance.
func (h *Registry) Dirs() paths.Dirs { return h.dirs }

// PendingStartDir returns the directory with the marks of commands that are about to start.
func (h *Registry) PendingStartDir() string { return h.dirs.PendingStarts() }

// Secrets returns the currently known secret values.
func (h *Registry) Secrets() *redact.Set { return h.known.Set() }

// Flush waits until all pending records are written.
func (h *Registry) Flush(ctx context.Context) { h.records.Flush(ctx) }

// WasNeverStarted reports whether the previous daemon recorded a session without starting it.
func (h *Registry) WasNeverStarted(id string) bool { return h.adoption.neverStarted[id] }

// ByID returns a session's handle, ready or not, or nil.
func (h *Registry) ByID(id string) *Handle {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.byid[id]
}

// LabelsOf returns a session's labels and whether it outlives one command or line. It returns none for unknown
// sessions.
func (h *Registry) LabelsOf(id string) (labels map[string]string, lasting bool) {
	if e := h.ByID(id); e != nil {
		r := e.Record()
		return r.Labels, !r.Temporary && r.Labels[api.KeptRunLabel] == "" && r.Labels[api.OneLineLabel] != api.OneLine
	}
	return nil, false
}

// add adds a handle. The name must be free.
func (h *Registry) add(e *Handle) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.takenLocked(e.rec.Name, nil) {
		return nameTaken(e.rec.Name)
	}
	h.byid[e.rec.ID], h.byname[e.rec.Name] = e, e
	if e.rec.Call != "" {
		h.bycall[e.rec.Call] = e.rec.ID
	}
	return nil
}

// takenLocked reports whether a name means another session than e, as its name or its full id, which has precedence.
func (h *Registry) takenLocked(name string, e *Handle) bool {
	other := h.byname[name]
	if other == nil {
		other = h.byid[name]
	}
	return other != nil && other != e
}

// hide removes a handle from lookups during its removal. Its name stays reserved until drop, because the database has
// it until then.
func (h *Registry) hide(e *Handle) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hideLocked(e)
}

// hideLocked is hide. The caller holds mu.
func (h *Registry) hideLocked(e *Handle) {
	delete(h.byid, e.rec.ID)
	if h.bycall[e.rec.Call] == e.rec.ID {
		delete(h.bycall, e.rec.Call)
	}
}

// drop releases the name of a removed session.
func (h *Registry) drop(e *Handle) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hideLocked(e)
	if h.byname[e.rec.Name] == e {
		delete(h.byname, e.rec.Name)
	}
}

// snapshot lists the sessions.
func (h *Registry) snapshot() []*Handle {
	h.mu.RLock()
	defer h.mu.RUnlock()
	list := make([]*Handle, 0, len(h.byid))
	for _, e := range h.byid {
		if e.ready.Load() {
			list = append(list, e)
		}
	}
	return list
}

// All lists the sessions, oldest first.
func (h *Registry) All() []*Handle {
	list := h.snapshot()
	slices.SortFunc(list, func(a, b *Handle) int {
		// Both fields are constant once a handle is published: no lock or copy is needed.
		if c := a.rec.Created.Compare(b.rec.Created); c != 0 {
			return c
		}
		return strings.Compare(a.rec.ID, b.rec.ID)
	})
	return list
}

// AllHandles returns all sessions in no order, including those being started or read.
func (h *Registry) AllHandles() []*Handle {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return slices.Collect(maps.Values(h.byid))
}

// Resolve finds a session by id, name or unique prefix of either, or by the id of a job that ran in it.
func (h *Registry) Resolve(ref string) (*Handle, error) { return h.resolveRef(ref, false) }

// ResolveToEnd resolves a reference for a request that ends or removes the session. A job's id names its session only if the
// session was started for that job.
func (h *Registry) ResolveToEnd(ref string) (*Handle, error) { return h.resolveRef(ref, true) }

// minJobRef is the shortest prefix of a job's id that names a session, in bytes.
const minJobRef = 4

// resolveRef finds a session; toEnd restricts job IDs as in ResolveToEnd.
func (h *Registry) resolveRef(ref string, toEnd bool) (*Handle, error) {
	e, err := h.resolve(ref)
	var missing *api.Error
	if errors.As(err, &missing) && missing.Code == api.CodeNotFound && h.JobSession != nil && len(ref) >= minJobRef {
		id, own := h.JobSession(ref)
		if e := h.ByID(id); e != nil && e.ready.Load() && (own || !toEnd) {
			return e, nil
		}
		if id != "" && own {
			return nil, api.Errorf(api.CodeNotFound, "the output of job %s was removed with its session", api.ShortID(ref)).
				WithHint("`run` keeps sessions that failed, ran for 10s or printed 16 KiB for a day; --keep keeps the session in any case")
		}
	}
	if errors.As(err, &missing) && missing.Code == api.CodeNotFound && h.reusedHostName != nil {
		if name := h.reusedHostName(); name != "" {
			missing.Hint += fmt.Sprintf("; the fleet has kept the histories of a machine that was %s before this one, and `longterm fleet restore %[1]s` has them here", name)
		}
	}
	return e, err
}

// resolve finds a session by ID, name or unique prefix of either.
func (h *Registry) resolve(ref string) (*Handle, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if e := h.byid[ref]; e != nil && e.ready.Load() {
		return e, nil
	}
	if e := h.byname[ref]; e != nil && e.ready.Load() && h.byid[e.rec.ID] == e {
		return e, nil
	}
	found := map[*Handle]string{}
	for id, e := range h.byid {
		if ref != "" && strings.HasPrefix(id, ref) && e.ready.Load() {
			found[e] = id
		}
	}
	for name, e := range h.byname {
		if ref != "" && strings.HasPrefix(name, ref) && e.ready.Load() && h.byid[e.rec.ID] == e {
			found[e] = name
		}
	}
	switch len(found) {
	case 0:
		return nil, api.Errorf(api.CodeNotFound, "no session %q", ref).
			WithHint("`longterm ls` lists the sessions%s", h.suggestLocked(ref))
	case 1:
		for e := range found {
			return e, nil
		}
	}
	var names []string
	for e, match := range found {
		if match == e.rec.Name {
			names = append(names, e.rec.Name)
		} else {
			names = append(names, match[:min(len(match), 8)]+" ("+e.rec.Name+")")
		}
	}
	slices.Sort(names)
	return nil, api.Errorf(api.CodeAmbiguous, "%q could be %s", ref, strings.Join(names, ", ")).
		WithHint("give more of the name or id")
}

// suggestLocked returns a known name that differs little from ref, or "". The caller holds mu.
func (h *Registry) suggestLocked(ref string) string {
	for name := range h.byname {
		if strings.EqualFold(name, ref) || strings.Contains(name, ref) && ref != "" {
			return fmt.Sprintf("; did you mean %q?", name)
		}
	}
	return ""
}

// nameTaken returns the error for a name in use.
func nameTaken(name string) error {
	return api.Errorf(api.CodeNameTaken, "a session named %q exists", name).
		WithHint("choose another name, or use that session: `longterm attach %s`, or `longterm restore %[1]s` if it has ended", name)
}

// onChange handles every change of a session's status, on its owner's goroutine.
func (h *Registry) onChange(e *Handle, st session.Status, c session.Change) {
	switch c {
	case session.ChangeState:
		h.saveEnd(e, st)
		e.programEnded(st)
		if st.State != session.Running {
			h.writes.Go(func() { h.spawner.DropState(e.rec.ID) })
		}
	case session.ChangeCwd:
		h.saveLater(e, func(r *store.Session) { r.Cwd = st.Cwd })
	case session.ChangeInput:
		h.recordNeedsInput(e, &st)
		h.notifyInput(e, &st)
	// published only if the input was awaited since, or another state was published in between
	case session.ChangeInputKept:
		h.notifyInput(e, &st)
		if !e.lastPublishedIdle() {
			return
		}
	case session.ChangeSize:
		h.saveLater(e, func(r *store.Session) { r.Cols, r.Rows = st.Cols, st.Rows })
	}
	if c == session.ChangeBell {
		h.notifyBell(e, &st)
		e.bells.Ring(func(n int) { h.publishBell(e, n) })
		return
	}
	if c == session.ChangeState {
		h.restarts.onEnd(e, st) // the published end includes the pending restart
	}
	h.publishStatus(e, eventKinds[c], func() session.Status { return st })
	if c == session.ChangeState && e.IsTemporary() {
		h.removeSoon(e)
	}
}

// publishStatus publishes a session's state. The owner and the watchers of its task and agent call it on their own
// goroutines; the lock keeps states in order.
func (h *Registry) publishStatus(e *Handle, kind string, st func() session.Status) {
	e.publishing.Lock()
	defer e.publishing.Unlock()
	s := st()
	e.idlePublished = s.Needs.Kind == inputdetect.None && s.Shell.Phase != shell.PhasePrompt
	view := h.Describe(e, s)
	h.Bus.Publish(kind, &view)
}

// lastPublishedIdle reports whether the last published state needed no input.
func (e *Handle) lastPublishedIdle() bool {
	e.publishing.Lock()
	defer e.publishing.Unlock()
	return e.idlePublished
}

// removeSoon removes an ended temporary session after TemporaryGrace.
func (h *Registry) removeSoon(e *Handle) {
	afterDelay(TemporaryGrace, e, func(e *Handle) { e.Clients.IfEmpty(func() { h.RemoveEnded(e) }) })
}

// afterDelay calls f after a time unless the session was removed before. The timer does not keep the session in memory.
func afterDelay(d time.Duration, e *Handle, f func(*Handle)) {
	of := weak.Make(e)
	time.AfterFunc(d, func() {
		if e := of.Value(); e != nil {
			f(e)
		}
	})
}

// TemporaryGrace is how long a temporary session stays after its end, for its starter to read the result. Clients
// remove it themselves after that.
const TemporaryGrace = time.Minute

// eventKinds maps changes of a session to kinds of events.
var eventKinds = map[session.Change]string{
	session.ChangeState: "state", session.ChangeSize: "size", session.ChangeTitle: "title",
	session.ChangeCwd: "cwd", session.ChangeBell: "bell", session.ChangeAlt: "alt",
	session.ChangeProgress: "progress", session.ChangeHistory: "history", session.ChangeShell: "shell",
	session.ChangeCommand: "command", session.ChangeInput: "input", session.ChangeInputKept: "input", session.ChangeQuarantine: "quarantine",
}

// KeeperLost ends the programs of a dead keeper and then marks its sessions.
func (h *Registry) KeeperLost(key string) {
	orphans, lost := h.orphansOf(key)
	now := time.Now()
	for _, e := range lost {
		e.keeperLost.Store(&now)
	}
	h.endOrphans(context.Background(), orphans)
	for _, e := range lost {
		e.Session.KeeperLost()
	}
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	for _, e := range lost {
		e.endsWithin(ctx, endTime)
	}
	again, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	h.restoreAll(again, lost)
}

// Resync updates the sessions of a keeper after a reconnect: their rings are still mapped, but notices may have been
// missed.
func (h *Registry) Resync(k Keeper) {
	for _, e := range h.All() {
		if e.device == nil || e.Record().Keeper != k.Key() || e.Session.Status().State != session.Running {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), ReconnectTime)
		a, err := k.Link().Adopt(ctx, e.Session.ID()) // repeats the notices of exit and close
		cancel()
		a.Close() // we have them already
		if errors.Is(err, link.ErrNotFound) {
			h.log.Error("the keeper lost a session", "session", e.Session.ID(), "err", err)
			e.Session.KeeperLost()
			continue
		}
		if err != nil { // the connection ended again: there will be another resync
			h.log.Warn("resync", "session", e.Session.ID(), "err", err)
		}
		h.bind(e) // the keeper may have been upgraded from a version without bound sessions
		e.device.Resume()
		e.Session.NotifyOutput()
	}
}

// Start starts the index and maintenance. stop ends them and waits.
func (h *Registry) Start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var background sync.WaitGroup
	background.Go(func() { h.Index.run(ctx) })
	background.Go(func() { h.Maintenance.run(ctx) })
	return func() {
		cancel()
		background.Wait()
		h.Index.close()
	}
}

// CloseIndex closes the index of a set of sessions that was not started.
func (h *Registry) CloseIndex() { h.Index.close() }

// StopAll ends every owner after a checkpoint.
func (h *Registry) StopAll() {
	h.restarts.stop()
	h.watchers.stop()
	var wg sync.WaitGroup
	for _, e := range h.All() {
		wg.Go(e.Session.Stop)
	}
	wg.Wait()
	h.records.Flush(context.Background())
	h.retryQueue.Stop()
	h.writes.Wait()
	h.manifests.flush()
	h.retryWrites() // a last time
	h.writes.Wait()
	h.manifests.flush()
}

// KillAll ends every running process and waits until all are recorded.
func (h *Registry) KillAll() {
	h.restarts.cancelAll()
	if h.Index != nil {
		h.Index.stopping.Store(true)
	}
	list := slices.DeleteFunc(h.All(), func(e *Handle) bool { return e.Session.Status().State != session.Running })
	for i, err := range h.KillEach(context.Background(), list, h.conf.GraceFor(identity.Actor{})) { // each ends by itself
		if err != nil {
			h.log.Error("kill", "session", list[i].ID(), "err", err)
		}
	}
}

// recoverPanics runs f, which reads a session's output outside its owner. A panic ends f with an error, and not the
// daemon.
func recoverPanics(log *slog.Logger, what, id string, f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			log.Error("panic", "in", what, "session", id, "panic", r, "stack", string(debug.Stack()))
			err = fmt.Errorf("%s: panic: %v", what, r)
		}
	}()
	return f()
}

// publishBell publishes n bells as one event.
func (h *Registry) publishBell(e *Handle, n int) {
	view := h.Describe(e, e.Session.Status())
	h.Bus.Send(api.Event{Kind: "bell", Session: &view, Count: n})
}

// PublishPort publishes that a socket of a session was opened or closed.
func (h *Registry) PublishPort(e *Handle, kind string, p api.Port) {
	e.publishing.Lock() // keeps states in order
	defer e.publishing.Unlock()
	view := h.Describe(e, e.Session.Status())
	h.Bus.Send(api.Event{Kind: kind, Session: &view, Port: &p})
}

// publishNotification publishes a program's notification.
func (h *Registry) publishNotification(e *Handle, title, body string) {
	view := h.Describe(e, e.Session.Status())
	h.Bus.Send(api.Event{Kind: "notification", Session: &view, Title: title, Text: body})
}

// AnyRuns reports whether any session has a process.
func (h *Registry) AnyRuns() bool {
	for _, e := range h.All() {
		if e.Session.Status().State == session.Running {
			return true
		}
	}
	return false
}
