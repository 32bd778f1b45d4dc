//go:build unix

package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/events"
	"github.com/longterm-dev/longterm/session/daemon/settings"
	"github.com/longterm-dev/longterm/session/daemon/writequeue"
	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/store"
)

// entry is a session as the hub knows it: its record, and what runs. s and dev are
// set once, before ready; an entry that is not ready only holds its name.
type entry struct {
	s     *session.Session
	dev   *device // nil when the process is gone
	ready atomic.Bool
	seat  seating // clients and whose size counts
	work  work    // the newest command, and how it gets on

	secrets      secrets // of rules
	unintegrated Unintegrated

	saving sync.Mutex // held while the record is written, so that the newest is last; before mu

	cut atomic.Bool // markCut

	bells events.Bells // rung and not told of

	manifest sync.Mutex // held while the session's directory is written to or removed; before mu
	removed  bool       // guarded by manifest

	mu     sync.Mutex
	rec    store.Session
	left   []sys.Process // what it left behind when it ended, once somebody looked
	looked bool
	why    string                   // its mode is not the one asked for
	early  []func(*session.Session) // notices that came before s was there
}

// notify tells the session something, or keeps it until there is a session to tell.
func (e *entry) notify(f func(*session.Session)) {
	e.mu.Lock()
	if !e.ready.Load() {
		e.early = append(e.early, f)
		e.mu.Unlock()
		return
	}
	e.mu.Unlock()
	f(e.s)
}

// begin makes the entry ready with its session.
func (e *entry) begin(s *session.Session, dev *device) {
	e.mu.Lock()
	e.s, e.dev = s, dev
	e.ready.Store(true)
	early := e.early
	e.early = nil
	e.mu.Unlock()
	for _, f := range early {
		f(s)
	}
}

// ID is the session's, for ever.
func (e *entry) ID() string { return e.rec.ID }

// isReady says that the session is there; else only its name is taken.
func (e *entry) isReady() bool { return e.ready.Load() }

// adopted says that a keeper had the session's process when this daemon took it up.
func (e *entry) adopted() bool { return e.dev != nil }

// onPipes says that the session has pipes and no terminal.
func (e *entry) onPipes() bool { return e.dev != nil && e.dev.pipe }

// closeInput ends a pipe session's standard input.
func (e *entry) closeInput(ctx context.Context) error { return e.dev.closeInput(ctx) }

// foreground is the terminal's foreground process group; 0 when there is none.
func (e *entry) foreground() int {
	if e.dev == nil {
		return 0
	}
	return e.dev.foreground()
}

// cgroup is what the session's cgroup tells; nil when it has none.
func (e *entry) cgroup() *api.Cgroup {
	if e.dev == nil {
		return nil
	}
	return cgroupOf(e.dev.cgroup)
}

// hasChildren says that the session's process has started others that live.
func (e *entry) hasChildren() bool {
	children, _ := sys.Children(e.s.Status().PID) // gone: it has none
	return len(children) > 0
}

// Activity is how the n-th command gets on, or the newest; nil: nothing is known.
func (e *entry) Activity(n int) *api.Activity { return e.work.view(n) }

// markCut notes that an answer had not all of the session's output: whoever got it may read the rest.
func (e *entry) markCut() { e.cut.Store(true) }

// record is the session's record, as it stands.
func (e *entry) record() store.Session {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.rec
}

// hub is the set of sessions. Its lock guards the maps; entries have their own.
type hub struct {
	dirs    paths.Dirs
	build   string
	log     *slog.Logger
	store   *store.Store
	conf    *settings.Settings
	host    Host
	crashed bool // the daemon before this one did

	kept   map[string]bool // ids of the sessions that keepers had at the start
	silent map[string]bool // keys of keepers that ran then and did not answer

	bus        events.Bus
	rebuilding chan struct{}
	suspects   chan struct{}
	awake      *session.Awake
	writes     sync.WaitGroup  // records on their way to the disk
	restoring  sync.Mutex      // one restore at a time; before mu
	lost       []*entry        // went down with their keeper or the machine; set while loading
	unborn     map[string]bool // sessions that the daemon before did not come to start; likewise
	index      *indexer
	spawner    spawner
	walker     walker
	commands   writequeue.Queue // records of commands and sessions
	followers  *followers       // read what commands print
	terminals  terminals        // of attached clients
	forgotten  atomic.Bool      // a session was removed since the database's log was emptied

	mu     sync.RWMutex
	byid   map[string]*entry
	byname map[string]*entry
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
	Ran(e *entry, c *session.Command)
	// Leaving says that the daemon ends: what it holds is its successor's.
	Leaving() bool
	// Notice records something that was mended and that people should know.
	Notice(format string, args ...any)
}

// Keeper is the connection to a keeper. It is made anew when the keeper is replaced.
type Keeper interface {
	SpawnKeeper
	Key() string
}

// registryConfig is what a set of sessions is made with.
type registryConfig struct {
	Dirs     paths.Dirs
	Build    string
	Log      *slog.Logger
	Store    *store.Store
	Settings *settings.Settings
	Crashed  bool // the daemon before this one did
	Host     Host
}

func newHub(c registryConfig) *hub {
	return &hub{
		dirs: c.Dirs, build: c.Build, log: c.Log, store: c.Store, conf: c.Settings, host: c.Host, crashed: c.Crashed,
		kept: map[string]bool{}, silent: map[string]bool{}, unborn: map[string]bool{},
		commands: writequeue.Queue{Log: c.Log}, byid: map[string]*entry{}, byname: map[string]*entry{},
		rebuilding: make(chan struct{}, 2), suspects: make(chan struct{}, 1),
		spawner: spawner{dirs: c.Dirs, log: c.Log, conf: c.Settings},
		awake:   session.NewAwake(endedAwake), followers: newFollowers(),
	}
}

// flush waits until the records of what has happened are written.
func (h *hub) flush(ctx context.Context) { h.commands.Flush(ctx) }

// wasUnborn says that the daemon before recorded a session and did not come to start it.
func (h *hub) wasUnborn(id string) bool { return h.unborn[id] }

func (h *hub) byID(id string) *entry {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.byid[id]
}

// add makes an entry known. The name must be free.
func (h *hub) add(e *entry) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, taken := h.byname[e.rec.Name]; taken {
		return nameTaken(e.rec.Name)
	}
	h.byid[e.rec.ID], h.byname[e.rec.Name] = e, e
	return nil
}

// hide makes an entry unknown while what is left of it is removed. Its name stays taken
// until drop: the database has it until then.
func (h *hub) hide(e *entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.byid, e.rec.ID)
}

func (h *hub) drop(e *entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.byid, e.rec.ID)
	if h.byname[e.rec.Name] == e {
		delete(h.byname, e.rec.Name)
	}
}

// unordered lists the sessions.
func (h *hub) unordered() []*entry {
	h.mu.RLock()
	defer h.mu.RUnlock()
	list := make([]*entry, 0, len(h.byid))
	for _, e := range h.byid {
		if e.ready.Load() {
			list = append(list, e)
		}
	}
	return list
}

// all lists the sessions, oldest first.
func (h *hub) all() []*entry {
	list := h.unordered()
	slices.SortFunc(list, func(a, b *entry) int {
		// Both are set once, before an entry is known: no lock, no copy of the record.
		if c := a.rec.Created.Compare(b.rec.Created); c != 0 {
			return c
		}
		return strings.Compare(a.rec.ID, b.rec.ID)
	})
	return list
}

// resolve finds a session by id, name or unique prefix of either.
func (h *hub) resolve(ref string) (*entry, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if e := h.byid[ref]; e != nil && e.ready.Load() {
		return e, nil
	}
	if e := h.byname[ref]; e != nil && e.ready.Load() && h.byid[e.rec.ID] == e {
		return e, nil
	}
	found := map[*entry]string{}
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
func (h *hub) nearLocked(ref string) string {
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
func (h *hub) changed(e *entry, st session.Status, c session.Change) {
	switch c {
	case session.ChangeState:
		h.saveEnd(e, st)
		h.programEnded(e, st)
		if st.State != session.Running {
			h.writes.Go(func() { h.spawner.dropState(e.rec.ID) })
		}
	case session.ChangeCwd:
		h.saveLater(e, func(r *store.Session) { r.Cwd = st.Cwd })
	case session.ChangeSize:
		h.saveLater(e, func(r *store.Session) { r.Cols, r.Rows = st.Cols, st.Rows })
	}
	if c == session.ChangeBell {
		e.bells.Ring(func(n int) { h.publishBell(e, n) })
		return
	}
	view := h.describe(e, st)
	h.bus.Publish(eventKinds[c], &view)
	if c == session.ChangeState && e.temporary() {
		h.removeSoon(e)
	}
}

// removeSoon removes a temporary session that has ended when its time has passed.
func (h *hub) removeSoon(e *entry) {
	time.AfterFunc(temporaryGrace, func() { e.seat.ifEmpty(func() { h.removeEnded(e) }) })
}

// temporaryGrace is how long a temporary session stays after its end for whoever
// started it to read the result. They remove it themselves when they have.
const temporaryGrace = time.Minute

var eventKinds = map[session.Change]string{
	session.ChangeState: "state", session.ChangeSize: "size", session.ChangeTitle: "title",
	session.ChangeCwd: "cwd", session.ChangeBell: "bell", session.ChangeAlt: "alt",
	session.ChangeProgress: "progress", session.ChangeHistory: "history", session.ChangeShell: "shell",
	session.ChangeCommand: "command", session.ChangeInput: "input", session.ChangeQuarantine: "quarantine",
}

func (e *entry) temporary() bool { return e.record().Temporary }

// keeperLost ends what a keeper that died left running, and then marks its sessions.
func (h *hub) keeperLost(key string) {
	orphans, lost := h.orphansOf(key)
	h.endOrphans(context.Background(), orphans)
	for _, e := range lost {
		e.s.Lost()
	}
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	for _, e := range lost {
		h.endsWithin(ctx, e, endTime)
	}
	again, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	h.restoreAll(again, lost)
}

// resync goes on with the sessions of a keeper whose connection was made anew: their
// rings are still mapped, but notices may have been missed.
func (h *hub) resync(k Keeper) {
	for _, e := range h.all() {
		if e.dev == nil || e.record().Keeper != k.Key() || e.s.Status().State != session.Running {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), ReconnectTime)
		_, ring, pty, err := k.Link().Adopt(ctx, e.s.ID()) // has exit and close told again
		cancel()
		_, _ = ring.Close(), pty.Close() // we have both already; nil files do no harm
		if errors.Is(err, link.ErrNotFound) {
			h.log.Error("the keeper lost a session", "session", e.s.ID(), "err", err)
			e.s.Lost()
			continue
		}
		if err != nil { // the connection ended again: there will be another resync
			h.log.Warn("resync", "session", e.s.ID(), "err", err)
		}
		e.dev.Resume()
		e.s.Notice()
	}
}

// start has what is done beside the sessions done: the index and maintenance. stop ends that and waits.
func (h *hub) start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var background sync.WaitGroup
	background.Go(func() { h.index.run(ctx) })
	background.Go(func() { (&janitor{h, map[string]uint64{}}).run(ctx) })
	return func() {
		cancel()
		background.Wait()
		h.index.close()
	}
}

// stopAll ends every owner after a checkpoint.
func (h *hub) stopAll() {
	h.followers.stop()
	var wg sync.WaitGroup
	for _, e := range h.all() {
		wg.Go(e.s.Stop)
	}
	wg.Wait()
	h.commands.Flush(context.Background())
	h.writes.Wait()
}

// killAll ends every running process and waits until all are recorded.
func (h *hub) killAll() {
	ctx := context.Background() // each ends by itself
	var wg sync.WaitGroup
	for _, e := range h.all() {
		if e.s.Status().State == session.Running {
			wg.Go(func() {
				if err := h.kill(ctx, e, h.conf.Grace()); err != nil {
					h.log.Error("kill", "session", e.s.ID(), "err", err)
				}
			})
		}
	}
	wg.Wait()
}

func exitOf(m *wire.Exited) session.Exit {
	e := session.Exit{
		Code: int(m.Code), Number: int(m.Signal), Time: time.Unix(0, m.Time),
		User: time.Duration(m.User), System: time.Duration(m.System), MaxRSS: m.MaxRSS,
	}
	if m.Signal != 0 {
		e.Signal = signalName(int(m.Signal))
	}
	return e
}

// contain runs what reads a session's output beside its owner. A panic there ends that, and
// not the daemon.
func (h *hub) contain(what, id string, f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			h.log.Error("panic", "in", what, "session", id, "panic", r, "stack", string(debug.Stack()))
			err = fmt.Errorf("%s: panic: %v", what, r)
		}
	}()
	return f()
}

// keep makes a temporary session one that stays.
func (e *entry) keep(h *hub) {
	if e.temporary() {
		h.save(e, func(r *store.Session) { r.Temporary = false })
	}
}

func (h *hub) publishBell(e *entry, n int) {
	view := h.describe(e, e.s.Status())
	h.bus.Send(api.Event{Kind: "bell", Session: &view, Count: n})
}

// PoolLabel is the label of warm shells, with the key of what they were made for.
const PoolLabel = "longterm.pool"

// pooled says that the session is a warm shell, ready or handed out.
func (e *entry) pooled() bool { return e.record().Labels[PoolLabel] != "" }

// anyRuns says whether a session has a process.
func (h *hub) anyRuns() bool {
	for _, e := range h.all() {
		if e.s.Status().State == session.Running {
			return true
		}
	}
	return false
}
