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
	"github.com/longterm-dev/longterm/store"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// Load reads the records of all sessions. They are history until a keeper turns out
// to have their process.
func (h *Registry) Load(ctx context.Context) error {
	h.writes.Go(func() {
		if err := shell.SweepMemory(); err != nil {
			h.log.Warn("remove what shells of removed sessions left", "err", err)
		}
	})
	if moved := h.store.Recovered(); moved != "" {
		h.host.Notice("the database was corrupt; it was moved to %s and rebuilt from the sessions' directories; which commands and jobs there were is only known there", moved)
	}
	recs, err := h.store.Sessions(ctx)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, r := range recs {
		known[r.ID] = true
		h.mustAdd(NewHandle(r))
	}
	return h.loadLost(ctx, known)
}

// loadLost records sessions that have a directory but no row: the database was lost,
// or a daemon died between the two.
func (h *Registry) loadLost(ctx context.Context, known map[string]bool) error {
	dirs, err := os.ReadDir(h.dirs.Sessions())
	if err != nil {
		return fmt.Errorf("sessions' directories: %w", err)
	}
	for _, dir := range dirs {
		if known[dir.Name()] || strings.HasSuffix(dir.Name(), removedSuffix) {
			continue
		}
		rec, err := store.ReadManifest(filepath.Join(h.dirs.Sessions(), dir.Name()))
		if err != nil || rec.ID != dir.Name() {
			h.log.Warn("a session's directory without a usable manifest is left alone", "dir", dir.Name(), "err", err)
			continue
		}
		if err := h.store.CreateSession(ctx, rec); err != nil {
			h.log.Error("record a found session", "session", rec.ID, "err", err)
		}
		h.mustAdd(NewHandle(rec))
	}
	return nil
}

// mustAdd adds a handle of an earlier daemon, under another name if its own is taken.
func (h *Registry) mustAdd(e *Handle) {
	if h.add(e) != nil {
		e.rec.Name += "-" + e.rec.ID[:min(8, len(e.rec.ID))]
		_ = h.add(e)
	}
}

// AdoptAll goes on with the sessions that keepers have, and makes history of the others. connect
// makes the connection to a keeper; nil without an error: it was killed.
func (h *Registry) AdoptAll(ctx context.Context, keys []string, connect func(key string) (Keeper, error)) {
	for _, key := range keys {
		if err := h.adoptKeeper(ctx, key, connect); err != nil {
			h.log.Warn("keeper not adopted", "keeper", key, "err", err)
		}
	}
	h.settle()
	h.clearLeftovers()
}

// adoptKeeper goes on with what one keeper has.
func (h *Registry) adoptKeeper(ctx context.Context, key string, connect func(key string) (Keeper, error)) error {
	h.silent[key] = true
	k, err := connect(key)
	if err != nil {
		return err
	}
	if k == nil {
		h.silent[key] = false
		return nil
	}
	kept, err := k.Link().List(ctx)
	if err != nil {
		return err
	}
	h.silent[key] = false
	for _, s := range kept {
		h.kept[s.ID] = true
		if err := h.adoptKept(ctx, k, s); err != nil {
			h.log.Error("session not adopted", "session", s.ID, "keeper", key, "err", err)
		}
	}
	return nil
}

// adoptKept goes on with a session that a keeper has.
func (h *Registry) adoptKept(ctx context.Context, k Keeper, s *wire.Session) error {
	e := h.ByID(s.ID)
	if e == nil { // its record was lost
		rec := store.Session{
			ID: s.ID, Name: "recovered-" + s.ID[:min(8, len(s.ID))], Argv: []string{"?"}, Keeper: k.Key(),
			Cols: int(s.Cols), Rows: int(s.Rows), PID: int(s.PID), Pipe: s.Pipe, Engine: session.DefaultEngine,
			State: string(session.Running), Created: time.Unix(0, s.Started),
		}
		e = NewHandle(rec)
		h.mustAdd(e)
		h.host.Notice("session %s was running without a record; it is called %s now", s.ID, e.rec.Name)
		if err := h.store.CreateSession(ctx, e.rec); err != nil {
			h.log.Error("record a recovered session", "session", s.ID, "err", err)
		}
	}
	if e.rec.State == string(session.Lost) { // a daemon before us could not reach its keeper
		e.rec.State, e.rec.Ended = string(session.Running), time.Time{}
		h.Save(e, func(*store.Session) {})
	}
	if err := h.adopt(ctx, e, k, journal.Options{}); err != nil {
		return err
	}
	h.watchers.again(ctx, e)
	return nil
}

// adopt maps a session's ring, opens its journal and makes its owner.
func (h *Registry) adopt(ctx context.Context, e *Handle, k Keeper, o journal.Options) error {
	var s *wire.Session
	var ringFile, pty *os.File
	err := k.Retry(ctx, func(l *link.Link) (err error) {
		s, ringFile, pty, err = l.Adopt(ctx, e.rec.ID)
		return err
	})
	if err != nil {
		return err
	}
	r, err := ring.Map(ringFile)
	_ = ringFile.Close() // the mapping stays
	if err != nil {
		closeFile(pty)
		return err
	}
	e.rec.PID, e.rec.Started, e.rec.Pipe = int(s.PID), time.Unix(0, s.Started), s.Pipe
	if s.Pipe && !s.Input && pty != nil { // an older keeper's, to read from
		_ = pty.Close()
		pty = nil
	}
	dev := &device{id: e.rec.ID, keeper: k, log: h.log, pty: pty, pipe: s.Pipe, separate: s.Separate, cgroup: s.Cgroup, recorded: h.records.Flush}
	dev.keeperPID = int(k.Link().Hello().PID)
	if err := h.begin(e, dev, r, o); err != nil {
		closeFile(dev.pty)
		return errors.Join(err, r.Close())
	}
	return nil
}

// closeFile closes a file if there is one; it was only passed on to us.
func closeFile(f *os.File) {
	if f != nil {
		_ = f.Close()
	}
}

// settle makes sessions that no keeper has what they are: history. One that was
// running when it was last recorded is lost.
func (h *Registry) settle() {
	h.mu.RLock()
	var rest []*Handle
	for _, e := range h.byid {
		if !e.ready.Load() {
			rest = append(rest, e)
		}
	}
	h.mu.RUnlock()
	h.endLeftBehind(rest)
	for _, e := range rest {
		if e.rec.Temporary && h.nobodyWants(&e.rec) {
			h.forget(e)
			continue
		}
		if e.rec.State == string(session.Running) {
			e.rec.State = string(session.Lost)
			e.rec.Ended = time.Now()
			h.Save(e, func(*store.Session) {})
		}
		if e.rec.State == string(session.Lost) {
			h.lost = append(h.lost, e)
		}
		if err := h.begin(e, nil, nil, journal.Options{}); err != nil {
			h.log.Error("history not opened", "session", e.rec.ID, "err", err)
			h.drop(e)
			continue
		}
		if e.rec.Temporary {
			h.removeSoon(e)
		}
	}
}

// nobodyWants says that a temporary session without a process is of no use any more: it
// was not started, or ended long enough ago for its result to have been read.
func (h *Registry) nobodyWants(r *store.Session) bool {
	if r.State == string(session.Running) && r.PID == 0 {
		h.unborn[r.ID] = true
		return true
	}
	return !r.Ended.IsZero() && time.Since(r.Ended) > TemporaryGrace
}

// begin opens a session's journal and makes its owner, over a ring when its process
// lives. History alone is opened lazily: the owner starts when somebody asks.
func (h *Registry) begin(e *Handle, dev *device, r *ring.Ring, o journal.Options) error {
	dir := h.dirs.Session(e.rec.ID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	j, recovery, err := journal.Open(filepath.Join(dir, "journal"), o)
	if err != nil {
		return err
	}
	if recovery.Reason != "" {
		h.log.Warn("journal recovered", "session", e.rec.ID, "cut_bytes", recovery.Cut, "why", recovery.Reason, "pending", recovery.Pending)
	}
	cfg := session.Config{
		ID: e.rec.ID, Dir: dir, Ring: r, Journal: j, Engine: e.rec.Engine,
		Options: vterm.Options{Cols: e.rec.Cols, Rows: e.rec.Rows, NewLine: e.rec.Pipe},
		Status:  statusOf(&e.rec), Log: h.log, Rebuilding: h.rebuilding,
		Changed: func(st session.Status, c session.Change) { h.changed(e, st, c) },
		Shell:   h.spawner.LaunchOf(e.rec.ID),
		Ran:     func(c session.Command) { h.ran(e, c) },

		Build: h.build, Crashed: h.crashed, Suspects: h.suspects, Awake: h.awake,
		Secrets: &answerer{e}, Fired: func(f session.Firing) { h.fired(e, f) },
		FrameInterval: h.conf.FrameInterval,
	}
	if dev != nil {
		cfg.Device = dev
	}
	s, err := session.New(cfg)
	if err != nil {
		return errors.Join(err, j.Close())
	}
	e.begin(s, dev)
	if dev != nil {
		h.watchers.program(e, cfg.Shell)
		s.Start()
	}
	return nil
}

// statusOf is what the record says of a session.
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
