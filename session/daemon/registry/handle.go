//go:build unix

package registry

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/events"
	"github.com/longterm-dev/longterm/session/daemon/sizepolicy"
	"github.com/longterm-dev/longterm/session/evidence"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/store"
)

// Handle is a session as the registry knows it: its record, and what runs. Session and device are
// set once, before ready; a handle that is not ready only holds its name.
type Handle struct {
	Session  *session.Session
	device   *device // nil when the process is gone
	inherits bool    // its program was started under another daemon
	ready    atomic.Bool
	Clients  sizepolicy.Clients // clients and whose size counts
	activity activity           // the newest command, and how it gets on

	telling sync.Mutex // held from describing it to publishing that, so that who is told last is told the newest
	unasked bool       // it was told last that nothing is asked; under telling

	secrets      secrets // of rules
	Unintegrated Unintegrated

	saving sync.Mutex // held while the record is written, so that the newest is last; before mu

	cut atomic.Bool // markCut

	noted atomic.Bool // how it ended stands beside its record, which could not be written

	toEnd atomic.Bool // somebody has it ended: it is not started again by itself

	keeperLost atomic.Pointer[time.Time] // when its keeper died under it; nil: it did not

	box atomic.Pointer[boxed] // nil: not looked for yet

	execs execRecord // what is known of executions in it

	bells  events.Bells // rung and not told of
	unread *time.Timer  // when people are told that it waits for input; of its owner; nil: it never did

	rang time.Time // when people were last told that its program rang the bell; of its owner

	agent     agentPlace   // the coding agent in it
	keptAgent *agentRecord // as written; of the agent's watch

	manifest sync.Mutex // held while the session's directory is written to or removed; before mu
	removed  bool       // guarded by manifest

	mu     sync.Mutex
	rec    store.Session
	left   []sys.Process // what it left behind when it ended, once that was looked for
	looked bool
	why    string                   // its mode is not the one asked for
	early  []func(*session.Session) // notices that came before s was there
	heir   *Handle                  // the id's next process is this one's: notices are for it
}

// NewHandle is the handle of a session that only has a record yet.
func NewHandle(rec store.Session) *Handle { return &Handle{rec: rec} }

// Inherited says that its program was started under another daemon.
func (e *Handle) Inherited() bool { return e.inherits }

// LostBefore says that its keeper had died before a time: what ended then was ended for that, and how says nothing of it.
func (e *Handle) LostBefore(t time.Time) bool {
	lost := e.keeperLost.Load()
	return lost != nil && lost.Before(t)
}

// Notify tells the session something, or keeps it until there is a session to tell.
func (e *Handle) Notify(f func(*session.Session)) {
	e.mu.Lock()
	heir := e.heir
	if heir == nil && !e.ready.Load() {
		e.early = append(e.early, f)
		e.mu.Unlock()
		return
	}
	e.mu.Unlock()
	if heir != nil {
		heir.Notify(f)
		return
	}
	f(e.Session)
}

// bequeath has what is told from now on go to another handle of the same id.
func (e *Handle) bequeath(heir *Handle) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heir = heir
}

// begin makes the handle ready with its session.
func (e *Handle) begin(s *session.Session, dev *device) {
	e.mu.Lock()
	e.Session, e.device = s, dev
	e.ready.Store(true)
	early := e.early
	e.early = nil
	e.mu.Unlock()
	for _, f := range early {
		f(s)
	}
}

// ID is the session's, for ever.
func (e *Handle) ID() string { return e.rec.ID }

// Ready says that the session is there; else only its name is taken.
func (e *Handle) Ready() bool { return e.ready.Load() }

// Adopted says that a keeper had the session's process when this daemon took it up.
func (e *Handle) Adopted() bool { return e.device != nil }

// OnPipes says that the session has pipes and no terminal.
func (e *Handle) OnPipes() bool { return e.device != nil && e.device.pipe }

// CloseInput ends a pipe session's standard input.
func (e *Handle) CloseInput(ctx context.Context) error { return e.device.closeInput(ctx) }

// Foreground is the terminal's foreground process group; 0 when there is none.
func (e *Handle) Foreground() int {
	if e.device == nil {
		return 0
	}
	return e.device.foreground()
}

// Program is the name of the program that the session's own process is now; empty: it is not known.
func (e *Handle) Program() string {
	leader := e.Session.Leader()
	if leader <= 0 {
		return ""
	}
	return programName(leader)
}

// programName is the name of the file that a process executes; empty: it is not known.
func programName(pid int) string {
	exe := strings.TrimSuffix(sys.Exe(pid), " (deleted)")
	if exe == "" {
		return ""
	}
	return filepath.Base(exe)
}

// Readers are the names of the programs that have the terminal instead of the session's own process: they read
// what is typed.
func (e *Handle) Readers() []string {
	if group := e.Foreground(); group == e.Session.Leader() {
		return nil
	}
	var names []string
	for _, pid := range e.foregroundPIDs() {
		if name := programName(pid); name != "" {
			names = withReader(names, name)
		}
	}
	return names
}

// foregroundPIDs returns the processes of the terminal's foreground process group.
func (e *Handle) foregroundPIDs() (pids []int) {
	group, leader := e.Foreground(), e.Session.Leader()
	if group <= 0 || leader <= 0 {
		return nil
	}
	for _, pid := range append([]int{group}, sys.Descendants(leader)...) { // whose list may miss one while others end
		if st, err := sys.ReadStat(pid); err == nil && st.Group == group && !st.Ended() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// HasNoStatus reports whether a foreground program is a REPL at this prompt, which has no exit status for a line.
func (e *Handle) HasNoStatus(prompt string) bool {
	return slices.ContainsFunc(e.foregroundPIDs(), func(pid int) bool {
		argv, err := sys.Cmdline(pid)
		return err == nil && evidence.HasNoStatus(programName(pid), argv, prompt)
	})
}

// maxReaders bounds the names of programs that read a terminal. manyReaders stands for those that are more: it is the name
// of no program that is known, so that nothing is taken for code of the others only.
const (
	maxReaders  = 8
	manyReaders = "…"
)

func withReader(names []string, name string) []string {
	if len(names) >= maxReaders {
		name = manyReaders
	}
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}

// Cgroup is what the session's cgroup tells; nil when it has none.
func (e *Handle) Cgroup() *api.Cgroup {
	if e.device == nil {
		return nil
	}
	return cgroupOf(e.device.cgroup)
}

// HasChildren says that the session's process has started others that live.
func (e *Handle) HasChildren() bool {
	children, _ := sys.Children(e.Session.Status().PID) // gone: it has none
	return len(children) > 0
}

// Activity is how the n-th command gets on, or the newest; nil: nothing is known.
func (e *Handle) Activity(n int) *api.Activity {
	if e.Session != nil { // it is looked at with all that is told of it
		if st := e.Session.Status(); st.State == session.Running && (st.Alt || st.Needs.Kind != evidence.None) {
			e.activity.takesPerson()
		}
	}
	return e.activity.view(n)
}

// Looked waits, for a moment at most, until Activity tells of what the session's program has printed by now.
func (e *Handle) Looked(ctx context.Context) {
	if e.Session != nil {
		ctx, cancel := context.WithTimeout(ctx, lookTime)
		defer cancel()
		_ = e.activity.upTo(ctx, e.end()) // late output is missing in the activity
	}
}

// ReadToEnd waits until the watcher of the newest task has read all output so far, and has left if the task has ended. It
// fails only with ctx.
func (e *Handle) ReadToEnd(ctx context.Context) error { return e.activity.upTo(ctx, e.end()) }

// MarkCut notes that an answer had not all of the session's output: its caller may read the rest.
func (e *Handle) MarkCut() { e.cut.Store(true) }

// Record is the session's record, as it stands.
func (e *Handle) Record() store.Session {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.rec
}

// Temporary says that the session goes when it has ended and was read.
func (e *Handle) Temporary() bool { return e.Record().Temporary }

// ExitOf is an end as a keeper tells it.
func ExitOf(m *wire.Exited) session.Exit {
	e := session.Exit{
		Code: int(m.Code), Number: int(m.Signal), Time: time.Unix(0, m.Time),
		User: time.Duration(m.User), System: time.Duration(m.System), MaxRSS: m.MaxRSS,
	}
	if m.Signal != 0 {
		e.Signal = SignalName(int(m.Signal))
	}
	return e
}

// Keep makes a temporary session one that stays.
func (e *Handle) Keep(h *Registry) {
	if e.Temporary() {
		h.Save(e, func(r *store.Session) { r.Temporary = false })
	}
}

// PoolLabel is the label of warm shells, with the key of what they were made for.
const PoolLabel = "longterm.pool"

// Pooled says that the session is a warm shell, ready or handed out.
func (e *Handle) Pooled() bool { return e.Record().Labels[PoolLabel] != "" }
