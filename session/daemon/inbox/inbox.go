//go:build unix

// Package inbox lists what needs the user's attention: approvals, questions of programs, runs that ended while no user
// looked, anomalies of running commands, messages of programs, and new ports.
//
//	approvals, sessions, records of ended runs, anomalies, messages, ports ─→ facts ─→ list (pure) ─→ numbers and marks of the store
//
// The list is derived from other records whenever it is read, so that a killed daemon loses and doubles nothing. The store
// keeps what is the inbox's own: numbers, marks (done, snoozed), messages, first openings of ports, and when a user's client last showed each
// session. A run or message is news only if it is later than that. An entry that happens again has another key, and so
// another number. Follow's goroutine collects messages and ports; other functions run on their callers' goroutines.
package inbox

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/authorize"
	"github.com/longterm-dev/longterm/session/daemon/liveconfig"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store"
)

const (
	// retention is how long ended runs and messages stay in the list.
	retention = 14 * 24 * time.Hour
	// markRetention is how long numbers and marks are kept, counted like retention: twice as long.
	markRetention = 2 * retention
	// maxRuns bounds the ended runs that are read.
	maxRuns = 1000
	// questionTime bounds the reading of a screen.
	questionTime = time.Second
)

// Set is the inbox of a daemon.
type Set struct {
	reg   *registry.Registry
	gate  *authorize.Gateway
	store *store.Store
	conf  *liveconfig.Settings
	log   *slog.Logger
}

// New returns the inbox of a daemon's sessions.
func New(reg *registry.Registry, gate *authorize.Gateway, st *store.Store, conf *liveconfig.Settings, log *slog.Logger) *Set {
	return &Set{reg: reg, gate: gate, store: st, conf: conf, log: log}
}

// Items returns all entries, also those that are done, in order.
func (s *Set) Items(ctx context.Context) ([]Item, error) {
	f, err := s.facts(ctx)
	if err != nil {
		return nil, err
	}
	items := f.list()
	var unnumbered []store.InboxEntry
	for i := range items {
		if items[i].ID == "" {
			unnumbered = append(unnumbered, items[i].entry())
		}
	}
	if len(unnumbered) == 0 {
		return items, nil
	}
	if err := s.store.NumberInbox(ctx, unnumbered); err != nil {
		return nil, err
	}
	entries, err := s.store.Inbox(ctx)
	if err != nil {
		return nil, err
	}
	numbers := make(map[string]int64, len(entries))
	for i := range entries {
		numbers[entries[i].Key] = entries[i].N
	}
	for i := range items {
		if n := numbers[items[i].key]; items[i].ID == "" && n > 0 {
			items[i].setNumber(n)
		}
	}
	return slices.DeleteFunc(items, func(it Item) bool { return it.ID == "" }), nil // its session was removed since
}

// entry returns the record of an item, without number and marks.
func (it *Item) entry() store.InboxEntry {
	e := store.InboxEntry{Key: it.key, At: it.Since}
	if !it.outlivesSession {
		e.Session = it.Session
	}
	return e
}

// Get returns the entry with an id, or an error that lists how to find one.
func (s *Set) Get(ctx context.Context, id string) (Item, error) {
	if n, err := strconv.ParseInt(strings.TrimLeft(id, "IAia"), 10, 64); err != nil || n <= 0 {
		return Item{}, api.Errorf(api.CodeNotFound, "no inbox entry %q", listedID(id)).WithHint("use an id as in A7 or I3; `longterm inbox --all` lists them")
	}
	items, err := s.Items(ctx)
	if err != nil {
		return Item{}, err
	}
	for i := range items {
		if strings.EqualFold(items[i].ID, id) {
			return items[i], nil
		}
	}
	return Item{}, api.Errorf(api.CodeNotFound, "no inbox entry %s: it was resolved, or its session was seen or removed", strings.ToUpper(id)).
		WithHint("`longterm inbox --all` lists them")
}

// listedID bounds an id of a request in a message.
func listedID(id string) string { return line(id, 20) }

// Done marks an entry as done. It stays so; if it happens again, that is another entry.
func (s *Set) Done(ctx context.Context, it Item) (Item, error) {
	if it.Kind == api.InboxApproval {
		return it, api.Errorf(api.CodeInvalid, "approval %s is pending: its program waits", it.ID).
			WithHint("answer it (`longterm inbox answer %s deny`), or hide it for a time (`longterm inbox snooze %[1]s 1h`)", it.ID)
	}
	return s.mark(ctx, it, func(e *store.InboxEntry) { e.Done = time.Now() })
}

// Snooze hides an entry for a time; 0 shows it again, also if it was done.
func (s *Set) Snooze(ctx context.Context, it Item, d time.Duration) (Item, error) {
	return s.mark(ctx, it, func(e *store.InboxEntry) {
		if d > 0 {
			e.Until = time.Now().Add(d)
		}
	})
}

func (s *Set) mark(ctx context.Context, it Item, set func(*store.InboxEntry)) (Item, error) {
	e := it.entry()
	set(&e)
	if err := s.store.MarkInbox(ctx, e); err != nil {
		return it, err
	}
	it.State, it.Until = "open", nil
	switch {
	case !e.Done.IsZero():
		it.State = "done"
	case !e.Until.IsZero():
		it.State, it.Until = "snoozed", &e.Until
	}
	s.reg.Bus.Send(api.Event{Kind: "inbox"})
	return it, nil
}

// MarkJobSeen marks the end of a job as done: a user has read it.
func (s *Set) MarkJobSeen(ctx context.Context, id string) {
	now := time.Now()
	if err := s.store.MarkInbox(ctx, store.InboxEntry{Key: jobKey(id), At: now, Done: now}); err != nil && ctx.Err() == nil {
		s.log.Warn("record that a job was read", "job", id, "err", err)
	}
}

// Version returns the version of the screen that shows the question of an item; 0 of other items.
func (it *Item) Version() uint64 { return it.version }

// facts reads what the list follows from.
func (s *Set) facts(ctx context.Context) (*facts, error) {
	now := time.Now()
	f := &facts{now: now, minRuntime: s.conf.Get().Alerts.MinDuration}
	var err error
	if f.approvals, err = s.gate.List(ctx, authorize.Query{}); err != nil {
		return nil, err
	}
	seen, err := s.store.SeenSessions(ctx)
	if err != nil {
		return nil, err
	}
	for _, e := range s.reg.All() {
		if !e.IsPooled() {
			f.sessions = append(f.sessions, s.session(ctx, e, seen[e.ID()], now))
		}
	}
	if f.ended, err = s.store.EndedRuns(ctx, now.Add(-retention), maxRuns); err != nil {
		return nil, err
	}
	f.entries, err = s.store.Inbox(ctx)
	return f, err
}

func (s *Set) session(ctx context.Context, e *registry.Handle, seen, now time.Time) sessionFacts {
	rec, st := e.Record(), e.Session.Status()
	v := sessionFacts{
		id: rec.ID, name: rec.Name, cwd: rec.Cwd, agent: rec.Agent, labels: rec.Labels, seen: seen, hook: rec.Labels[api.HookLabel] != "",
		state: e.AgentState(), output: st.LastOutput, running: noCommand,
	}
	if st.State == session.Running {
		v.ports, _ = e.Ports()
		switch {
		case st.Shell.Phase == shell.PhaseRunning:
			v.running = int(st.Shell.Number)
		case !rec.Shell:
			v.running = 0
		}
	}
	if at := e.Clients.SeenAt(now); at.After(seen) {
		v.seen = at
	}
	if p, ok := e.PromptOf(&st); ok {
		ctx, cancel := context.WithTimeout(ctx, questionTime)
		defer cancel()
		v.prompt = &prompt{kind: string(p.Kind), since: p.Since, offset: p.Offset, version: p.Version, text: s.reg.Question(ctx, e)}
	}
	return v
}
