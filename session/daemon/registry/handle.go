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
	"github.com/longterm-dev/longterm/session/daemon/anomaly"
	"github.com/longterm-dev/longterm/session/daemon/events"
	"github.com/longterm-dev/longterm/session/daemon/sizepolicy"
	"github.com/longterm-dev/longterm/session/inputdetect"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/store"
)

// Handle is a session in the registry: its record and its running parts. Session and device are set once, before ready;
// a handle that is not ready only reserves its name.
type Handle struct {
	Session   *session.Session
	device    *device // nil once the process has exited
	inherits  bool    // its program was started under another daemon
	ready     atomic.Bool
	Clients   sizepolicy.Clients // clients and whose size counts
	activity  activity           // progress of the newest command
	Anomalies anomaly.Tracker    // compares its newest command with earlier runs

	// held from describing the session to publishing that, so that the newest state is published last
	publishing    sync.Mutex
	idlePublished bool // the last published state needs no input; guarded by publishing

	secrets      secrets // secrets of response rules
	Unintegrated Unintegrated

	saving sync.Mutex // held while the record is written, so that the newest is last; before mu

	outputTruncated atomic.Bool // an answer omitted output (MarkOutputTruncated)

	endNoted atomic.Bool // its end is stored in a file, because its record could not be written

	endRequested atomic.Bool // a caller ends it: it is not restarted by policy

	keeperLost atomic.Pointer[time.Time] // when its keeper died; nil if it lives

	sandbox atomic.Pointer[sandboxInfo] // its sandbox; nil: not looked up yet

	execs execRecord // its execution checks

	bells      events.Bells // bells not yet published
	inputTimer *time.Timer  // pending input notification; used by the owner; nil before the first

	lastBell time.Time // time of the last bell notification; used by the owner

	promptAt atomic.Uint64 // output offset at which the pending prompt was recorded; 0: unknown

	ports atomic.Pointer[portList] // nil until SetPorts

	envOmitted int          // EnvOmitted; set before the handle is shared
	agent      agentSlot    // the coding agent in it
	savedAgent *agentRecord // record as written to disk; used by the agent's watch

	dirMu   sync.Mutex // held while the session's directory is written to or removed; before mu
	removed bool       // guarded by dirMu

	mu             sync.Mutex
	rec            store.Session
	leftovers      []sys.Process // leftover processes, if leftoversKnown
	leftoversKnown bool
	modeReason     string                   // why the mode differs from the requested one
	pendingNotices []func(*session.Session) // notices for the session, until it exists
	successor      *Handle                  // the next handle with this ID, which receives the notices
}

// NewHandle returns the handle of a session that only has a record.
func NewHandle(rec store.Session) *Handle { return &Handle{rec: rec} }

// IsInherited reports whether another daemon started the program.
func (e *Handle) IsInherited() bool { return e.inherits }

// LostBefore reports whether its keeper died before t. Exit statuses after that are meaningless.
func (e *Handle) LostBefore(t time.Time) bool {
	lost := e.keeperLost.Load()
	return lost != nil && lost.Before(t)
}

// Notify calls f with the session, at once or when the session is ready.
func (e *Handle) Notify(f func(*session.Session)) {
	e.mu.Lock()
	heir := e.successor
	if heir == nil && !e.ready.Load() {
		e.pendingNotices = append(e.pendingNotices, f)
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

// redirectTo redirects later notices to the next handle of the same ID.
func (e *Handle) redirectTo(successor *Handle) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.successor = successor
}

// begin makes the handle ready with its session.
func (e *Handle) begin(s *session.Session, dev *device) {
	e.mu.Lock()
	e.Session, e.device = s, dev
	e.ready.Store(true)
	early := e.pendingNotices
	e.pendingNotices = nil
	e.mu.Unlock()
	for _, f := range early {
		f(s)
	}
}

// ID returns the session's permanent id.
func (e *Handle) ID() string { return e.rec.ID }

// IsReady reports whether the session exists; before that, only its name is reserved.
func (e *Handle) IsReady() bool { return e.ready.Load() }

// IsAdopted reports whether a keeper had the session's process when this daemon started.
func (e *Handle) IsAdopted() bool { return e.device != nil }

// UsesPipes reports whether the session has pipes instead of a terminal.
func (e *Handle) UsesPipes() bool { return e.device != nil && e.device.pipe }

// CloseInput ends a pipe session's standard input.
func (e *Handle) CloseInput(ctx context.Context) error { return e.device.closeInput(ctx) }

// Foreground returns the terminal's foreground process group, or 0.
func (e *Handle) Foreground() int {
	if e.device == nil {
		return 0
	}
	return e.device.foreground()
}

// Program returns the name of the program that the session's own process runs, or "".
func (e *Handle) Program() string {
	leader := e.Session.Leader()
	if leader <= 0 {
		return ""
	}
	return programName(leader)
}

// programName returns the name of the file that a process executes, or "".
func programName(pid int) string {
	exe := strings.TrimSuffix(sys.Exe(pid), " (deleted)")
	if exe == "" {
		return ""
	}
	return filepath.Base(exe)
}

// Readers returns the names of the programs that read the terminal instead of the session's own process.
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
		if st, err := sys.ReadStat(pid); err == nil && st.Group == group && !st.IsDead() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// HasNoStatus reports whether a foreground program is a REPL at this prompt, which has no exit status for a line.
func (e *Handle) HasNoStatus(prompt string) bool {
	return slices.ContainsFunc(e.foregroundPIDs(), func(pid int) bool {
		argv, err := sys.Cmdline(pid)
		return err == nil && inputdetect.HasNoStatus(programName(pid), argv, prompt)
	})
}

// maxReaders bounds the names of programs that read a terminal. manyReaders replaces further names; it matches no known
// program, so code is not attributed to the listed ones only.
const (
	maxReaders  = 8
	manyReaders = "…"
)

// withReader adds a program's name to a list without duplicates, up to maxReaders.
func withReader(names []string, name string) []string {
	if len(names) >= maxReaders {
		name = manyReaders
	}
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}

// Cgroup returns the state of the session's cgroup, or nil.
func (e *Handle) Cgroup() *api.Cgroup {
	if e.device == nil {
		return nil
	}
	return cgroupOf(e.device.cgroup)
}

// HasChildren reports whether the session's process has running children.
func (e *Handle) HasChildren() bool {
	children, _ := sys.Children(e.Session.Status().PID) // fails if the process has exited
	return len(children) > 0
}

// Activity returns the progress of the n-th command, or of the newest, or nil if it is unknown.
func (e *Handle) Activity(n int) *api.Activity {
	if e.Session != nil { // checked on every read
		if st := e.Session.Status(); st.State == session.Running && (st.Alt || st.Needs.Kind != inputdetect.None) {
			e.activity.setInteractive()
		}
	}
	return e.activity.view(n)
}

// AwaitActivity waits a limited time until Activity covers the output printed so far.
func (e *Handle) AwaitActivity(ctx context.Context) {
	if e.Session != nil {
		ctx, cancel := context.WithTimeout(ctx, readTimeout)
		defer cancel()
		_ = e.activity.awaitRead(ctx, e.outputEnd()) // late output is missing in the activity
	}
}

// ReadToEnd waits until the watcher of the newest task has read all output so far, and has left if the task has ended. It
// fails only with ctx.
func (e *Handle) ReadToEnd(ctx context.Context) error {
	return e.activity.awaitRead(ctx, e.outputEnd())
}

// portList is where a session's processes accept connections.
type portList struct {
	list []api.Port
	more int // number of further ports
}

// Ports returns the sockets on which the session's processes accept connections, as of the newest SetPorts, and how many
// more it has. The caller must not change the list.
func (e *Handle) Ports() (list []api.Port, more int) {
	if p := e.ports.Load(); p != nil {
		return p.list, p.more
	}
	return nil, 0
}

// SetPorts sets what Ports returns, and completes waits for ports. It keeps list.
func (e *Handle) SetPorts(list []api.Port, more int) {
	e.ports.Store(&portList{list, more})
	var tcp []int
	for i := range list {
		if p := list[i].Port; p > 0 {
			tcp = append(tcp, p)
		}
	}
	e.Session.SetPorts(tcp)
}

// MarkOutputTruncated records that an answer omitted output of the session: its caller may read the rest.
func (e *Handle) MarkOutputTruncated() { e.outputTruncated.Store(true) }

// Record returns a copy of the session's record.
func (e *Handle) Record() store.Session {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.rec
}

// IsTemporary reports whether the session is removed after it has ended and was read.
func (e *Handle) IsTemporary() bool { return e.Record().Temporary }

// ExitOf converts a keeper's exit message.
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
	if e.IsTemporary() {
		h.Save(e, func(r *store.Session) { r.Temporary = false })
	}
}

// PoolLabel is the label of warm shells. Its value is the key of their configuration.
const PoolLabel = "longterm.pool"

// IsPooled reports whether the session is a warm shell, ready or in use.
func (e *Handle) IsPooled() bool { return e.Record().Labels[PoolLabel] != "" }
