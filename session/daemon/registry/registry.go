//go:build unix

// Package registry is the set of sessions: their records, what runs, and what is done beside them.
//
//	create, restore → spawn → adopt → begin: a Handle with a session (package session) and its device
//	a change of a session → record, event, activity; maintenance and the index look at all of them
//
// Everything about one session is done by that session's owner; what is called on an owner's
// goroutine (changed, ran, fired) queues its writes and does not wait. The registry's lock guards its
// maps and is never held while a session is asked; a handle's locks are saving or manifest, then mu.
// It knows its daemon by four methods (Host), keepers by three (Keeper), and no request.
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
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/events"
	"github.com/longterm-dev/longterm/session/daemon/settings"
	"github.com/longterm-dev/longterm/session/daemon/spawn"
	"github.com/longterm-dev/longterm/session/daemon/writequeue"
	"github.com/longterm-dev/longterm/session/evidence"
	"github.com/longterm-dev/longterm/session/internal/pace"
	"github.com/longterm-dev/longterm/session/internal/unwritten"
	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/session/notify/webhook"
	"github.com/longterm-dev/longterm/session/paths"
	masking "github.com/longterm-dev/longterm/session/secrets"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/store"
)

// Registry is the set of sessions. Its lock guards the maps; handles have their own.
type Registry struct {
	dirs    paths.Dirs
	build   string
	log     *slog.Logger
	store   *store.Store
	conf    *settings.Settings
	host    Host
	crashed bool // the daemon before this one did
	known   *masking.Vault
	post    func(webhook.Notice) error
	former  func() string

	// JobSession, if set, returns the session of a job, by the job's id or unique prefix, and whether the session was started
	// for the job. id is "" if the job is unknown or has no session.
	JobSession func(ref string) (id string, own bool)

	Bus         events.Bus
	pace        *pace.Pace
	rebuilding  chan struct{}
	suspects    chan struct{}
	awake       *session.Awake
	writes      sync.WaitGroup // records on their way to the disk
	restoring   sync.Mutex     // one restore at a time; before mu
	adoption    adoption       // of what the daemon before left
	restarts    restarts       // of what ended by itself
	Index       *Indexer
	spawner     spawn.Spawner
	walker      walker
	records     writequeue.Queue                 // records of commands and sessions
	manifests   manifests                        // sessions' own, which repeat them
	unwritten   unwritten.Set[refused, struct{}] // of both, what the disk did not take
	watchers    *watchers                        // read what commands print
	Maintenance *Maintenance
	Terminals   events.Terminals // of attached clients
	forgotten   atomic.Bool      // a session was removed since the database's log was emptied
	starting    starting         // calls that start sessions now
	unforgotten unforgotten      // removed sessions with a record still

	mu     sync.RWMutex
	byid   map[string]*Handle
	byname map[string]*Handle
	bycall map[string]string // ids of sessions by those of the calls that started them
}

// endedAwake is how many ended sessions have their screens in memory.
const endedAwake = 4

// endTime bounds what is done when a session or its keeper has ended.
const endTime = 2 * time.Second

// ReconnectTime is how long a keeper may be away (it re-executes itself in an
// upgrade) before its sessions count as lost.
const ReconnectTime = 5 * time.Second

// Host is what the set of sessions needs of the daemon that it is in.
type Host interface {
	// KeeperFor returns the connection to a keeper, starting the keeper if need be.
	KeeperFor(key string) (Keeper, error)
	// Ran is told of a command that began or ended, on the session's goroutine.
	Ran(e *Handle, c *session.Command)
	// Leaving says that the daemon ends: what it holds is its successor's.
	Leaving() bool
	// Approvals are the ids of those that commands in a session wait for. It does not wait.
	Approvals(session string) []string
	// Removed is told of a session that is not there any more.
	Removed(session string)
	// Notice records something that was mended and that people should know.
	Notice(format string, args ...any)
}

// Keeper is the connection to a keeper. It is made anew when the keeper is replaced.
type Keeper interface {
	spawn.Keeper
	Key() string
}

// registryConfig is what a set of sessions is made with.
type Config struct {
	Dirs     paths.Dirs
	Build    string
	Log      *slog.Logger
	Store    *store.Store
	Settings *settings.Settings
	Crashed  bool // the daemon before this one did
	Host     Host
	Known    *masking.Vault // values that are secret
	// Again says whether a session's program may be started again by itself, and notes in req which file that is; nil: it may.
	Again func(ctx context.Context, e *Handle, req *api.Restore) error
	// Post takes what webhooks are to be told; nil: it is posted once, at once.
	Post func(webhook.Notice) error
	// Former is this machine's name in a fleet, if that has histories of another machine that had it before; nil: it has none.
	Former func() string
	// Elsewhere says that the sessions are copies of another machine's: no process here is one of theirs, whatever id it has.
	Elsewhere bool
	// Pace is how often things are looked at; nil: as often as while something happens.
	Pace *pace.Pace
}

// New is a set without sessions; Load reads those there are.
func New(c Config) *Registry {
	h := &Registry{
		dirs: c.Dirs, build: c.Build, log: c.Log, store: c.Store, conf: c.Settings, host: c.Host, crashed: c.Crashed, known: c.Known, post: c.Post, former: c.Former,
		records: writequeue.Queue{Log: c.Log}, byid: map[string]*Handle{}, byname: map[string]*Handle{}, bycall: map[string]string{},
		rebuilding: make(chan struct{}, 2), suspects: make(chan struct{}, 1),
		spawner: spawn.Spawner{Dirs: c.Dirs, Log: c.Log, Conf: c.Settings},
		awake:   session.NewAwake(endedAwake),
		pace:    cmp.Or(c.Pace, new(pace.Pace)),
	}
	if c.Elsewhere {
		h.walker.read = func() *sys.Table { return &sys.Table{} }
	}
	h.adoption = adoption{reg: h, kept: map[string]bool{}, silent: map[string]bool{}, told: map[string]time.Time{}, unborn: map[string]bool{}}
	h.restarts = restarts{reg: h, may: c.Again, pause: map[string]time.Duration{}, at: map[*Handle]time.Time{}, ask: func(d time.Duration, f func()) { time.AfterFunc(d, f) }}
	h.watchers, h.Maintenance = newWatchers(h), &Maintenance{reg: h, packed: map[string]uint64{}}
	return h
}

// WantedDir is where commands that are to be started leave a mark.
func (h *Registry) WantedDir() string { return h.dirs.Wanted() }

// Secrets are the values that are known to be secret, as of now.
func (h *Registry) Secrets() *masking.Set { return h.known.Set() }

// Flush waits until the records of what has happened are written.
func (h *Registry) Flush(ctx context.Context) { h.records.Flush(ctx) }

// WasUnborn says that the daemon before recorded a session and did not come to start it.
func (h *Registry) WasUnborn(id string) bool { return h.adoption.unborn[id] }

// ByID is a session's handle, ready or not; nil: there is none.
func (h *Registry) ByID(id string) *Handle {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.byid[id]
}

// LabelsOf are a session's labels, and whether it is there for more than one command or line; none, where it is not known any more.
func (h *Registry) LabelsOf(id string) (labels map[string]string, lasting bool) {
	if e := h.ByID(id); e != nil {
		r := e.Record()
		return r.Labels, !r.Temporary && r.Labels[api.KeptRunLabel] == "" && r.Labels[api.OneLineLabel] != api.OneLine
	}
	return nil, false
}

// add makes a handle known. The name must be free.
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

// takenLocked says that a name means another session than e: by its name, or as its whole id, which is looked for first.
func (h *Registry) takenLocked(name string, e *Handle) bool {
	other := h.byname[name]
	if other == nil {
		other = h.byid[name]
	}
	return other != nil && other != e
}

// hide makes a handle unknown while what is left of it is removed. Its name stays taken
// until drop: the database has it until then.
func (h *Registry) hide(e *Handle) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hideLocked(e)
}

func (h *Registry) hideLocked(e *Handle) {
	delete(h.byid, e.rec.ID)
	if h.bycall[e.rec.Call] == e.rec.ID {
		delete(h.bycall, e.rec.Call)
	}
}

func (h *Registry) drop(e *Handle) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hideLocked(e)
	if h.byname[e.rec.Name] == e {
		delete(h.byname, e.rec.Name)
	}
}

// unordered lists the sessions.
func (h *Registry) unordered() []*Handle {
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
	list := h.unordered()
	slices.SortFunc(list, func(a, b *Handle) int {
		// Both are set once, before a handle is known: no lock, no copy of the record.
		if c := a.rec.Created.Compare(b.rec.Created); c != 0 {
			return c
		}
		return strings.Compare(a.rec.ID, b.rec.ID)
	})
	return list
}

// Known are all sessions, those that are being started or read too, in no order.
func (h *Registry) Known() []*Handle {
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
				WithHint("`run` keeps what failed or was long for a day; give --keep to keep anything")
		}
	}
	if errors.As(err, &missing) && missing.Code == api.CodeNotFound && h.former != nil {
		if name := h.former(); name != "" {
			missing.Hint += fmt.Sprintf("; the fleet has kept the histories of a machine that was %s before this one, and `longterm fleet restore %[1]s` has them here", name)
		}
	}
	return e, err
}

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
			WithHint("`longterm ls` lists the sessions%s", h.nearLocked(ref))
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

// nearLocked suggests a name that differs from ref by little.
func (h *Registry) nearLocked(ref string) string {
	for name := range h.byname {
		if strings.EqualFold(name, ref) || strings.Contains(name, ref) && ref != "" {
			return fmt.Sprintf("; did you mean %q?", name)
		}
	}
	return ""
}

func nameTaken(name string) error {
	return api.Errorf(api.CodeNameTaken, "a session named %q exists", name).
		WithHint("choose another name, or remove that one with `longterm rm %s`", name)
}

// changed is told of every change of a session's status, on its owner's goroutine.
func (h *Registry) changed(e *Handle, st session.Status, c session.Change) {
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
		h.asks(e, &st)
		h.tellWaiting(e, &st)
	case session.ChangeInputAgain: // nobody is told anew but who has waited from here on, or was told of something else meanwhile
		h.tellWaiting(e, &st)
		if !e.toldUnasked() {
			return
		}
	case session.ChangeSize:
		h.saveLater(e, func(r *store.Session) { r.Cols, r.Rows = st.Cols, st.Rows })
	}
	if c == session.ChangeBell {
		h.tellBell(e, &st)
		e.bells.Ring(func(n int) { h.publishBell(e, n) })
		return
	}
	if c == session.ChangeState {
		h.restarts.ended(e, st) // who is told that it ended is told, too, whether it comes back
	}
	h.tell(e, eventKinds[c], func() session.Status { return st })
	if c == session.ChangeState && e.Temporary() {
		h.removeSoon(e)
	}
}

// tell publishes how a session is. Its owner and those who follow its task and its agent do so each on their own goroutine:
// who describes it first publishes first.
func (h *Registry) tell(e *Handle, kind string, st func() session.Status) {
	e.telling.Lock()
	defer e.telling.Unlock()
	s := st()
	e.unasked = s.Needs.Kind == evidence.None && s.Shell.Phase != shell.PhasePrompt
	view := h.Describe(e, s)
	h.Bus.Publish(kind, &view)
}

// toldUnasked reports whether it was told last that nothing is asked.
func (e *Handle) toldUnasked() bool {
	e.telling.Lock()
	defer e.telling.Unlock()
	return e.unasked
}

// removeSoon removes a temporary session that has ended when its time has passed.
func (h *Registry) removeSoon(e *Handle) {
	inAWhile(TemporaryGrace, e, func(e *Handle) { e.Clients.IfEmpty(func() { h.RemoveEnded(e) }) })
}

// inAWhile has f called unless the session is removed before: who waits for it does not keep that in memory.
func inAWhile(d time.Duration, e *Handle, f func(*Handle)) {
	of := weak.Make(e)
	time.AfterFunc(d, func() {
		if e := of.Value(); e != nil {
			f(e)
		}
	})
}

// TemporaryGrace is how long a temporary session stays after its end for callers who
// started it to read the result. They remove it themselves when they have.
const TemporaryGrace = time.Minute

var eventKinds = map[session.Change]string{
	session.ChangeState: "state", session.ChangeSize: "size", session.ChangeTitle: "title",
	session.ChangeCwd: "cwd", session.ChangeBell: "bell", session.ChangeAlt: "alt",
	session.ChangeProgress: "progress", session.ChangeHistory: "history", session.ChangeShell: "shell",
	session.ChangeCommand: "command", session.ChangeInput: "input", session.ChangeInputAgain: "input", session.ChangeQuarantine: "quarantine",
}

// KeeperLost ends what a keeper that died left running, and then marks its sessions.
func (h *Registry) KeeperLost(key string) {
	orphans, lost := h.orphansOf(key)
	now := time.Now()
	for _, e := range lost {
		e.keeperLost.Store(&now)
	}
	h.endOrphans(context.Background(), orphans)
	for _, e := range lost {
		e.Session.Lost()
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

// Resync goes on with the sessions of a keeper whose connection was made anew: their
// rings are still mapped, but notices may have been missed.
func (h *Registry) Resync(k Keeper) {
	for _, e := range h.All() {
		if e.device == nil || e.Record().Keeper != k.Key() || e.Session.Status().State != session.Running {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), ReconnectTime)
		a, err := k.Link().Adopt(ctx, e.Session.ID()) // has exit and close told again
		cancel()
		a.Close() // we have them already
		if errors.Is(err, link.ErrNotFound) {
			h.log.Error("the keeper lost a session", "session", e.Session.ID(), "err", err)
			e.Session.Lost()
			continue
		}
		if err != nil { // the connection ended again: there will be another resync
			h.log.Warn("resync", "session", e.Session.ID(), "err", err)
		}
		h.bind(e) // the keeper may have been upgraded from a version without bound sessions
		e.device.Resume()
		e.Session.Notice()
	}
}

// Start has what is done beside the sessions done: the index and maintenance. stop ends that and waits.
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
	h.unwritten.Leave()
	h.writes.Wait()
	h.manifests.flush()
	h.tryKept() // a last time
	h.writes.Wait()
	h.manifests.flush()
}

// KillAll ends every running process and waits until all are recorded.
func (h *Registry) KillAll() {
	h.restarts.giveUp()
	if h.Index != nil {
		h.Index.resting.Store(true)
	}
	list := slices.DeleteFunc(h.All(), func(e *Handle) bool { return e.Session.Status().State != session.Running })
	for i, err := range h.KillEach(context.Background(), list, h.conf.GraceFor(actor.Actor{})) { // each ends by itself
		if err != nil {
			h.log.Error("kill", "session", list[i].ID(), "err", err)
		}
	}
}

// contain runs what reads a session's output beside its owner. A panic there ends that, and
// not the daemon.
func contain(log *slog.Logger, what, id string, f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			log.Error("panic", "in", what, "session", id, "panic", r, "stack", string(debug.Stack()))
			err = fmt.Errorf("%s: panic: %v", what, r)
		}
	}()
	return f()
}

func (h *Registry) publishBell(e *Handle, n int) {
	view := h.Describe(e, e.Session.Status())
	h.Bus.Send(api.Event{Kind: "bell", Session: &view, Count: n})
}

// publishNotification publishes a program's notification.
func (h *Registry) publishNotification(e *Handle, title, body string) {
	view := h.Describe(e, e.Session.Status())
	h.Bus.Send(api.Event{Kind: "notification", Session: &view, Title: title, Text: body})
}

// AnyRuns says whether a session has a process.
func (h *Registry) AnyRuns() bool {
	for _, e := range h.All() {
		if e.Session.Status().State == session.Running {
			return true
		}
	}
	return false
}
