//go:build unix

// Package ports keeps the list of the sockets on which sessions' processes accept connections, and publishes changes.
//
//	event, output, read, wait → due → look (package listeners, one table for all sessions that are due) → registry, events
//
// The kernel reports no new listener, so sessions are scanned when a change is likely: soon after a command or program has
// started or ended, after output, and when a caller reads the session or waits for a port. Scans without news become rare and
// then stop until the next of these. The pause after a scan is at least 20 times its duration, so that scans take at most 5 %
// of a core. Start's goroutine and callers scan one at a time.
package ports

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/internal/idlepoll"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/session/sys/listeners"
)

const (
	firstPause  = 100 * time.Millisecond // after a change is likely; doubles with each scan without news
	lastPause   = time.Minute            // scans stop after it, except of a session with ports
	awaitPause  = 100 * time.Millisecond // while a caller waits for a port
	newsPause   = time.Second            // after a change
	outputPause = 2 * time.Second        // between scans because of output
	maxAge      = time.Second            // age of the last scan at which a reader gets a new one
	// least interval between scans, as a multiple of a scan's duration; at most outputPause
	costFactor = 20
	maxEvents  = 16 // events of a session per scan
)

// Watch tracks the listening ports of all sessions. A nil Watch, as for replicas of another machine's sessions, does
// nothing.
type Watch struct {
	reg    *registry.Registry
	poller *idlepoll.Poller
	find   func(groups [][]int, unix bool) []listeners.GroupSockets
	alarm  *idlepoll.Alarm
	wake   chan struct{}

	scanning sync.Mutex // held during a scan; before mu

	mu       sync.Mutex
	sessions map[string]*watched // by session id
	next     time.Time           // earliest time of the next scan
}

// watched is the schedule of one session.
type watched struct {
	e           *registry.Handle
	due         time.Time // time of the next scan; zero: none
	pause       time.Duration
	minInterval time.Duration // least interval between scans, for a program that opens ports all the time
	scanned     time.Time     // time of the last scan; zero: none
	awaited     int           // callers that wait for a port
}

// New returns a watch of a registry's sessions. It scans on its own after Start.
func New(reg *registry.Registry, pace *idlepoll.Poller) *Watch {
	w := &Watch{reg: reg, poller: pace, find: listeners.Find, sessions: map[string]*watched{}, wake: make(chan struct{}, 1)}
	w.alarm = pace.Alarm(func() {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	})
	return w
}

// Start scans sessions when they are due, on one goroutine, until the caller calls stop.
func (w *Watch) Start(ctx context.Context) (stop func()) {
	if w == nil || !listeners.Supported {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { w.run(ctx) })
	return func() {
		cancel()
		running.Wait()
	}
}

// run scans sessions when they are due, until ctx ends.
func (w *Watch) run(ctx context.Context) {
	heard := w.reg.Bus.Listen()
	defer w.reg.Bus.Unsubscribe(heard)
	defer w.alarm.Stop()
	sweep := w.poller.Ticker(outputPause)
	defer sweep.Stop()
	for _, e := range w.reg.All() { // those of the daemon before
		w.scheduleSoon(e)
	}
	for {
		select {
		case <-ctx.Done():
			return
		case ev, ok := <-heard.C:
			if !ok {
				return
			}
			w.handle(&ev)
		case <-sweep.C():
			sweep.Next()
			w.sweep()
		case <-w.wake:
			w.scanDue(time.Now())
		}
	}
}

// handle schedules scans for an event's session.
func (w *Watch) handle(ev *api.Event) {
	switch {
	case ev.Kind == "lost":
		for _, e := range w.reg.All() {
			w.scheduleSoon(e)
		}
	case ev.Session == nil:
	case ev.Kind == "removed":
		w.mu.Lock()
		delete(w.sessions, ev.Session.ID)
		w.mu.Unlock()
	case slices.Contains([]string{"created", "state", "command", "shell"}, ev.Kind):
		if e := w.reg.ByID(ev.Session.ID); e != nil && e.IsReady() {
			w.scheduleSoon(e)
		}
	}
}

// scheduleSoon schedules scans of a session whose ports have likely changed.
func (w *Watch) scheduleSoon(e *registry.Handle) { w.schedule(e, firstPause) }

// schedule sets the next scan of a session to after a pause, unless it is due earlier.
func (w *Watch) schedule(e *registry.Handle, pause time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.sessionLocked(e)
	now := time.Now()
	s.pause = pause
	if due := latest(now.Add(pause), s.scanned.Add(s.minInterval)); s.due.IsZero() || due.Before(s.due) {
		s.due = due
	}
	w.setLocked()
}

// latest returns the later of two times.
func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// sessionLocked returns a session's schedule, created if needed.
func (w *Watch) sessionLocked(e *registry.Handle) *watched {
	s := w.sessions[e.ID()]
	if s == nil || s.e != e { // restored: another handle
		awaited := 0
		if s != nil {
			awaited = s.awaited
		}
		s = &watched{e: e, awaited: awaited}
		w.sessions[e.ID()] = s
	}
	return s
}

// setLocked sets the alarm for the first session that is due.
func (w *Watch) setLocked() {
	var first time.Time
	for _, s := range w.sessions {
		if !s.due.IsZero() && (first.IsZero() || s.due.Before(first)) {
			first = s.due
		}
	}
	if first.IsZero() {
		w.alarm.Stop()
		return
	}
	w.alarm.Set(latest(first, w.next))
}

// sweep schedules scans of sessions that have printed since their last scan. At a prompt the output is mostly the echo
// of typed keys.
func (w *Watch) sweep() {
	var printed []*registry.Handle
	w.mu.Lock()
	for _, s := range w.sessions {
		if s.due.IsZero() || time.Until(s.due) > outputPause {
			st := s.e.Session.Status()
			if st.LastOutput.After(s.scanned) && st.Shell.Phase != shell.PhasePrompt {
				printed = append(printed, s.e)
			}
		}
	}
	w.mu.Unlock()
	for _, e := range printed {
		w.scheduleSoon(e)
	}
}

// scanDue scans all sessions that are due, and those that soon are.
func (w *Watch) scanDue(now time.Time) {
	var due []*registry.Handle
	unix, awaited := false, false
	w.mu.Lock()
	for _, s := range w.sessions {
		if !s.due.IsZero() && s.due.Sub(now) <= firstPause/2 {
			due = append(due, s.e)
			unix, awaited = unix || s.awaited == 0, awaited || s.awaited > 0
		}
	}
	w.mu.Unlock()
	if awaited {
		w.poller.NoteActivity() // looks would come at the beat of an idle daemon
	}
	w.scan(due, unix)
	w.mu.Lock()
	w.setLocked()
	w.mu.Unlock()
}

// scan finds the ports of sessions and publishes changes. Without unix the Unix sockets stay as they were.
func (w *Watch) scan(of []*registry.Handle, unix bool) {
	if len(of) == 0 {
		return
	}
	w.scanning.Lock()
	defer w.scanning.Unlock()
	began := time.Now()
	pids := w.reg.PIDs(of)
	found := w.find(pids, unix)
	w.mu.Lock()
	w.next = time.Now().Add(min(costFactor*time.Since(began), outputPause)) // a busy machine makes looks long
	w.mu.Unlock()
	for i, e := range of {
		was, _ := e.Ports()
		now := describe(found[i].Sockets, was, unix)
		opened, closed := missing(now, was), missing(was, now)
		if len(opened)+len(closed) > 0 || !slices.Equal(now, was) {
			e.SetPorts(now, found[i].Omitted)
		}
		w.reschedule(e, began, len(opened)+len(closed) > 0, len(pids[i]), len(now))
		for _, p := range first(closed, maxEvents) {
			w.reg.PublishPort(e, "port-closed", p)
		}
		for _, p := range first(opened, maxEvents-len(closed)) {
			w.reg.PublishPort(e, "port-open", p)
		}
	}
}

// first returns up to n ports.
func first(list []api.Port, n int) []api.Port { return list[:max(0, min(n, len(list)))] }

// reschedule sets the next scan of a session, after a scan that found processes and ports.
func (w *Watch) reschedule(e *registry.Handle, scanned time.Time, changed bool, processes, ports int) {
	st := e.Session.Status()
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.sessions[e.ID()]
	if s == nil || s.e != e {
		return
	}
	s.scanned = scanned
	s.pause, s.minInterval = pauseAfter(s.pause, changed, s.awaited > 0), 2*firstPause
	if changed && s.awaited == 0 {
		s.minInterval = newsPause
	}
	// A shell at its prompt alone opens nothing.
	idle := processes <= 1 && ports == 0 && (st.State != session.Running || st.Shell.Phase == shell.PhasePrompt && s.pause > 4*firstPause)
	switch {
	case s.awaited > 0:
		s.due = scanned.Add(s.pause)
	case idle, s.pause > lastPause && ports == 0:
		s.due = time.Time{}
	default:
		s.due = scanned.Add(min(s.pause, lastPause))
	}
}

// pauseAfter returns the pause after a scan that followed a pause.
func pauseAfter(pause time.Duration, changed, awaited bool) time.Duration {
	switch {
	case awaited:
		return awaitPause
	case changed:
		return newsPause
	}
	return min(2*max(pause, firstPause), 2*lastPause)
}

// Refresh scans a session unless it was scanned within the last second, so that a reader gets its current ports.
func (w *Watch) Refresh(e *registry.Handle) {
	if w == nil {
		return
	}
	w.mu.Lock()
	s, now := w.sessionLocked(e), time.Now()
	due := listeners.Supported && now.Sub(s.scanned) > maxAge && now.After(w.next)
	w.mu.Unlock()
	if due {
		w.scan([]*registry.Handle{e}, true)
	}
}

// Await scans a session now, and often until the caller calls stop.
func (w *Watch) Await(e *registry.Handle) (stop func()) {
	if w == nil {
		return func() {}
	}
	add := func(n int) {
		w.mu.Lock()
		w.sessionLocked(e).awaited += n
		w.mu.Unlock()
	}
	add(1)
	w.scan([]*registry.Handle{e}, false)
	w.schedule(e, awaitPause)
	return func() { add(-1) }
}

// NoteListed schedules scans of sessions that were listed, if their last scans are old.
func (w *Watch) NoteListed(of []*registry.Handle) {
	if w == nil {
		return
	}
	now := time.Now()
	for _, e := range of {
		w.mu.Lock()
		s := w.sessions[e.ID()]
		old := s != nil && s.due.Sub(now) > outputPause && now.Sub(s.scanned) > outputPause
		w.mu.Unlock()
		if old {
			w.schedule(e, firstPause)
		}
	}
}

// describe returns sockets in their API form. Without unix the Unix sockets are those of before.
func describe(found []listeners.Socket, was []api.Port, unix bool) []api.Port {
	var list []api.Port
	for i := range found {
		s := &found[i]
		p := api.Port{Unix: s.Path, PID: s.PID, Inside: s.IsOtherNamespace, Program: programOf(s.PID, was)}
		if s.Path == "" {
			p.Port, p.Address = int(s.Addr.Port()), s.Addr.Addr().String()
		}
		list = append(list, p)
	}
	for i := range was {
		if !unix && was[i].Unix != "" {
			list = append(list, was[i])
		}
	}
	return list
}

// programOf returns the name of a process's program, or "".
func programOf(pid int, known []api.Port) string {
	for i := range known {
		if known[i].PID == pid && known[i].Program != "" {
			return known[i].Program
		}
	}
	exe := strings.TrimSuffix(sys.Exe(pid), " (deleted)")
	if exe == "" {
		return ""
	}
	return filepath.Base(exe)
}

// missing returns the ports of list that other does not have.
func missing(list, other []api.Port) (all []api.Port) {
	for i := range list {
		if !slices.ContainsFunc(other, func(o api.Port) bool { return o.SameSocket(&list[i]) }) {
			all = append(all, list[i])
		}
	}
	return all
}
