//go:build unix

package registry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/store"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// adoption adopts the sessions of the previous daemon. Its maps are filled while keepers are queried and only read
// afterwards.
type adoption struct {
	reg          *Registry
	found        map[string]bool      // IDs of the sessions that keepers reported
	unanswered   map[string]bool      // keys of running keepers that did not answer
	keeperSince  map[string]time.Time // start times of the keepers that answered, by key
	lost         []*Handle            // sessions that ended with their keeper or the machine
	starts       []func()             // start the owners, once all sessions are adopted
	neverStarted map[string]bool      // sessions that were recorded and never started
}

// adoptOutcome is the outcome for a session that no keeper has.
type adoptOutcome string

const (
	asHistory      adoptOutcome = "history" // it ended, and its end is recorded
	asLost         adoptOutcome = "lost"    // it ran, and its end was not observed
	asNeverStarted adoptOutcome = "unborn"  // it was recorded, and never started
	asRead         adoptOutcome = "read"    // temporary, and ended long enough ago for its result to have been read
)

// adoptOutcomeOf returns the outcome for a recorded session that no keeper reports. silent means that its keeper did
// not answer and may have it. A job's session counts as started, because a keeper that died may have run it, unless a
// keeper that runs since before then reported otherwise.
func adoptOutcomeOf(r *store.Session, silent bool, since, now time.Time) adoptOutcome {
	unborn := r.State == string(session.Running) && r.PID == 0
	told := !since.IsZero() && since.Before(r.Created)
	switch {
	case unborn && (r.Temporary || r.Call != "" && (told || r.RequestDigest != "" && !silent)): // its caller asks again
		return asNeverStarted
	case r.Temporary && !r.Ended.IsZero() && now.Sub(r.Ended) > TemporaryGrace:
		return asRead
	case r.State == string(session.Running), r.State == string(session.Lost):
		return asLost
	}
	return asHistory
}

// Load reads the records of all sessions. They are history until a keeper turns out
// to have their process.
func (h *Registry) Load(ctx context.Context) error {
	h.writes.Go(func() {
		if err := shell.RemoveStaleMemoryDirs(); err != nil {
			h.log.Warn("remove what shells of removed sessions left", "err", err)
		}
	})
	if moved := h.store.RecoveredFrom(); moved != "" {
		h.host.Notice("the database was corrupt; it was moved to %s and rebuilt from the sessions' directories; which commands and jobs there were is only known there", moved)
	}
	if err := h.findRemoved(); err != nil {
		return err
	}
	_ = h.retryDelete(ctx) // what still has its record is not read
	recs, err := h.store.Sessions(ctx)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, r := range recs {
		if known[r.ID] = true; h.undeleted.has(r.ID) {
			continue
		}
		h.adoption.addOrRename(h.handleFor(r))
	}
	return h.adoption.loadUnrecorded(ctx, known)
}

// handleFor returns the handle of a recorded session, with the end that could not be recorded, if any.
func (h *Registry) handleFor(rec store.Session) *Handle {
	noted := store.ApplyEnd(h.dirs.Session(rec.ID), &rec)
	e := NewHandle(rec)
	if e.endNoted.Store(noted); noted {
		h.saveLater(e, func(*store.Session) {})
	}
	return e
}

// loadUnrecorded records sessions that have a directory but no row: the database was lost,
// or a daemon died between the two.
func (a *adoption) loadUnrecorded(ctx context.Context, known map[string]bool) error {
	dirs, err := os.ReadDir(a.reg.dirs.Sessions())
	if err != nil {
		return fmt.Errorf("sessions' directories: %w", err)
	}
	for _, dir := range dirs {
		if known[dir.Name()] || strings.HasSuffix(dir.Name(), removedSuffix) {
			continue
		}
		rec, err := store.ReadManifest(filepath.Join(a.reg.dirs.Sessions(), dir.Name()))
		if err != nil || rec.ID != dir.Name() {
			a.reg.log.Warn("session directory without a usable manifest skipped", "dir", dir.Name(), "err", err)
			continue
		}
		if err := a.reg.store.CreateSession(ctx, rec); err != nil {
			a.reg.log.Error("record a found session", "session", rec.ID, "err", err)
		}
		a.addOrRename(a.reg.handleFor(rec))
	}
	return nil
}

// addOrRename adds a handle of an earlier daemon. It renames the session if its name is taken.
func (a *adoption) addOrRename(e *Handle) {
	if a.reg.add(e) != nil {
		e.rec.Name += "-" + e.rec.ID[:min(8, len(e.rec.ID))]
		_ = a.reg.add(e)
	}
}

// AdoptAll adopts the sessions that keepers have and loads the others as history. connect opens a connection to a
// keeper; nil without an error means that it was killed.
func (h *Registry) AdoptAll(ctx context.Context, keys []string, connect func(key string) (Keeper, error)) {
	for _, key := range keys {
		if err := h.adoption.adoptKeeper(ctx, key, connect); err != nil {
			h.log.Warn("keeper not adopted", "keeper", key, "err", err)
		}
	}
	h.writes.Go(func() { // an older keeper did not know bound sessions
		for _, e := range h.All() {
			h.bind(e)
		}
	})
	h.adoption.startAll() // first of all: a program blocks while its ring is full
	h.adoption.finalizeUnadopted()
	h.adoption.clearLeftovers()
}

// startAll starts the owners of the adopted sessions. They wait until all keepers are queried, because thousands of
// owners that replay and probe would delay each answer for minutes.
func (a *adoption) startAll() {
	for _, start := range a.starts {
		start()
	}
	a.starts = nil
}

// adoptKeeper adopts the sessions of one keeper.
func (a *adoption) adoptKeeper(ctx context.Context, key string, connect func(key string) (Keeper, error)) error {
	a.unanswered[key] = true
	k, err := connect(key)
	if err != nil {
		return err
	}
	if k == nil {
		a.unanswered[key] = false
		return nil
	}
	kept, err := k.Link().List(ctx)
	if err != nil {
		return err
	}
	a.unanswered[key] = false
	if age, err := sys.Age(int(k.Link().Hello().PID)); err == nil {
		a.keeperSince[key] = time.Now().Add(-age)
	}
	for _, s := range kept {
		a.found[s.ID] = true
		if err := a.adoptLive(ctx, k, s); err != nil {
			a.reg.log.Error("session not adopted", "session", s.ID, "keeper", key, "err", err)
		}
	}
	return nil
}

// adoptLive adopts one session that a keeper has.
func (a *adoption) adoptLive(ctx context.Context, k Keeper, s *wire.Session) error {
	e := a.reg.ByID(s.ID)
	if e == nil { // its record was lost
		rec := store.Session{
			ID: s.ID, Name: "recovered-" + s.ID[:min(8, len(s.ID))], Argv: []string{"?"}, Keeper: k.Key(),
			Cols: int(s.Cols), Rows: int(s.Rows), PID: int(s.PID), Pipe: s.Pipe, Engine: session.DefaultEngine,
			State: string(session.Running), Created: time.Unix(0, s.Started),
		}
		e = NewHandle(rec)
		a.addOrRename(e)
		a.reg.host.Notice("session %s was running without a record; it is called %s now", s.ID, e.rec.Name)
		if err := a.reg.store.CreateSession(ctx, e.rec); err != nil {
			a.reg.log.Error("record a recovered session", "session", s.ID, "err", err)
		}
	}
	// It was started again, which could not be recorded; or a daemon before us could not reach its keeper.
	anew := e.rec.State == string(session.Exited) && e.rec.PID != 0 && e.rec.PID != int(s.PID)
	if anew || e.rec.State == string(session.Lost) {
		a.reg.Save(e, func(r *store.Session) {
			r.State, r.Ended, r.Signal, r.ExitCode, r.Stopped = string(session.Running), time.Time{}, "", nil, false
		})
	}
	start, err := a.reg.adopt(ctx, e, k)
	if err != nil {
		return err
	}
	a.starts = append(a.starts, start, a.reg.watchers.resume(ctx, e))
	return nil
}

// adopt adopts a live session; start starts its owner.
func (h *Registry) adopt(ctx context.Context, e *Handle, k Keeper) (start func(), err error) {
	a, err := requestAdoption(ctx, k, e.rec.ID)
	if err != nil {
		return nil, err
	}
	if env, err := sys.ReadEnviron(int(a.PID)); err == nil { // what it was started with, under another daemon
		h.known.LearnEnv(env.All())
	}
	e.inherits = true
	return h.mapAdopted(e, k, a, h.openJournal(e.rec.ID))
}

// requestAdoption requests a session's descriptors from a keeper.
func requestAdoption(ctx context.Context, k Keeper, id string) (a *link.Adopted, err error) {
	err = k.Retry(ctx, func(l *link.Link) (err error) {
		a, err = l.Adopt(ctx, id)
		return err
	})
	return a, err
}

// mapAdopted maps the ring of an adopted session and creates its owner, which start starts. On failure it closes the
// descriptors.
func (h *Registry) mapAdopted(e *Handle, k Keeper, s *link.Adopted, j openedJournal) (start func(), err error) {
	if j.err != nil {
		s.Close()
		return nil, j.err
	}
	r, err := ring.Map(s.Ring)
	if err != nil {
		s.Close()
		j.drop()
		return nil, err
	}
	if err := r.AdoptFile(s.Ring); err != nil {
		h.log.Warn("close a ring's file", "session", s.ID, "err", err)
	}
	e.mu.Lock() // what it executes is judged by its record already
	e.rec.PID, e.rec.Started, e.rec.Pipe = int(s.PID), time.Unix(0, s.Started), s.Pipe
	e.mu.Unlock()
	pty := s.PTY
	if s.Pipe && !s.Input && pty != nil { // an older keeper's, to read from
		_ = pty.Close()
		pty = nil
	}
	var input *terminal
	if pty != nil {
		if input, err = newTerminal(pty); err != nil {
			j.drop()
			return nil, errors.Join(err, r.Close())
		}
	}
	dev := &device{id: e.rec.ID, keeper: k, log: h.log, pty: input, pipe: s.Pipe, separate: s.Separate, cgroup: s.Cgroup}
	dev.recorded = func(ctx context.Context) bool { return h.isRecorded(ctx, e) }
	dev.keeperPID = int(k.Link().Hello().PID)
	if start, err = h.newOwner(e, dev, r, j); err != nil {
		if input != nil {
			_ = input.Close()
		}
		return nil, errors.Join(err, r.Close())
	}
	return start, nil
}

// finalizeUnadopted turns sessions without a keeper into history. Those recorded as running become lost.
func (a *adoption) finalizeUnadopted() {
	a.reg.mu.RLock()
	var rest []*Handle
	for _, e := range a.reg.byid {
		if !e.ready.Load() {
			rest = append(rest, e)
		}
	}
	a.reg.mu.RUnlock()
	a.killOrphans(rest)
	for _, e := range rest {
		switch adoptOutcomeOf(&e.rec, a.unanswered[e.rec.Keeper], a.keeperSince[e.rec.Keeper], time.Now()) {
		case asNeverStarted:
			a.neverStarted[e.rec.ID] = true
			a.reg.forget(e)
			continue
		case asRead:
			a.reg.forget(e)
			continue
		case asLost:
			if e.rec.State == string(session.Running) {
				e.mu.Lock()
				e.rec.State, e.rec.Ended = string(session.Lost), time.Now()
				e.mu.Unlock()
				a.reg.Save(e, func(*store.Session) {})
			}
			a.lost = append(a.lost, e)
		case asHistory:
		}
		if err := a.reg.newHistoryOwner(e); err != nil {
			a.reg.log.Error("history not opened", "session", e.rec.ID, "err", err)
			a.reg.drop(e)
			continue
		}
		if e.rec.Temporary {
			a.reg.removeSoon(e)
		}
	}
}

// newHistoryOwner creates the owner of an ended session. The owner starts at the first operation.
func (h *Registry) newHistoryOwner(e *Handle) error {
	_, err := h.newOwner(e, nil, nil, h.openJournal(e.rec.ID))
	return err
}

// openedJournal is a session's journal, or why it could not be opened.
type openedJournal struct {
	*journal.Journal
	err error
}

// drop closes an unused journal.
func (o openedJournal) drop() {
	if o.err == nil {
		_ = o.Close() // nothing was written
	}
}

// openJournal opens a session's journal.
func (h *Registry) openJournal(id string) openedJournal {
	j, recovery, err := journal.Open(filepath.Join(h.dirs.Session(id), "journal"), journal.Options{})
	if recovery.Reason != "" {
		h.log.Warn("journal recovered", "session", id, "cut_bytes", recovery.Cut, "why", recovery.Reason, "pending", recovery.Pending)
	}
	return openedJournal{j, err}
}

// newOwner creates a session's owner over its journal, and over a ring if its process lives; start starts it then. It
// closes the journal on failure.
func (h *Registry) newOwner(e *Handle, dev *device, r *ring.Ring, j openedJournal) (start func(), err error) {
	if j.err != nil {
		return nil, j.err
	}
	e.Clients.OnSeen(func(at time.Time) { h.recordSeen(e, at) })
	dir := h.dirs.Session(e.rec.ID)
	status := statusOf(&e.rec)
	if status.LastOutput, err = j.LastOutput(); err != nil { // it may print again
		h.log.Warn("when a session printed last is not known", "session", e.rec.ID, "err", err)
	}
	cfg := session.Config{
		ID: e.rec.ID, Dir: dir, Ring: r, Journal: j.Journal, Engine: e.rec.Engine,
		Options: vterm.Options{Cols: e.rec.Cols, Rows: e.rec.Rows, NewLine: e.rec.Pipe},
		Status:  status, Log: h.log, RebuildSlots: h.rebuilding,
		OnChange: func(st session.Status, c session.Change) { h.onChange(e, st, c) },
		OnNotify: func(title, body string) { h.publishNotification(e, title, body) },

		Shell:       h.spawner.LaunchOf(e.rec.ID),
		OriginNonce: importedNonce(dir),
		OnCommand:   func(c session.Command) { h.onCommand(e, c) },

		Build: h.build, PreviousCrashed: h.crashed, SuspectSlot: h.suspects, EmulatorCache: h.emulators,
		Vault: h.known, Secrets: &secretResolver{h, e}, OnRuleMatch: func(f session.RuleMatch) { h.onRuleMatch(e, f) },
		FrameInterval: h.conf.FrameInterval, Poller: h.poller,
	}
	if dev != nil {
		cfg.Device = dev
		_ = dev.Control(func(fd int) error { // else it has the default
			cell, err := sys.CellSize(fd)
			cfg.Options.CellWidth, cfg.Options.CellHeight = cell.Width, cell.Height
			return err
		})
	}
	s, err := session.New(cfg)
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	if dev == nil {
		e.begin(s, nil)
		return func() {}, nil
	}
	follow := h.watchers.program(e, cfg.Shell)
	e.begin(s, dev)
	return func() {
		follow()
		s.Start()
	}, nil
}

// statusOf converts a record to a session status.
func statusOf(r *store.Session) session.Status {
	st := session.Status{
		State: session.State(r.State), PID: r.PID, Cols: r.Cols, Rows: r.Rows, Title: r.Title,
		Started: r.Started, Ended: r.Ended,
	}
	if st.Started.IsZero() {
		st.Started = r.Created
	}
	if st.State == session.Exited {
		st.Exit = &session.Exit{Code: -1, Signal: r.Signal, Time: r.Ended, User: r.User, System: r.System, MaxRSS: r.MaxRSS}
		if r.ExitCode != nil {
			st.Exit.Code = *r.ExitCode
		}
	}
	return st
}
