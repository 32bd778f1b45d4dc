//go:build unix

package registry

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/internal/memrelease"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/store/journal"
)

// Budget bounds the disk space of histories. Zero fields are no limit.
type Budget struct {
	SessionBytes int64         // of one session
	SessionAge   time.Duration // of a session's output
	TotalBytes   int64         // of all sessions
	Dead         int           // sessions that have ended
	DeadAge      time.Duration // since they ended
}

// Intervals of maintenance.
const (
	pruneInterval  = time.Minute // histories over the budget
	configInterval = time.Second // between checks of the configuration
	// between compactions
	compactPause    = 10 * time.Second
	releaseInterval = 5 * time.Second // between releases of memory after a burst
	releaseDelay    = time.Second / 4 // delay of a release after other idle work
)

// KeptJobs is the number of job records to keep.
const KeptJobs = 5000

// Maintenance maintains the histories: it syncs and compresses them and deletes what exceeds the budget.
type Maintenance struct {
	reg    *Registry
	packed map[string]uint64 // by session: output when it was last packed
}

// run performs maintenance until ctx ends.
func (m *Maintenance) run(ctx context.Context) {
	conf := m.reg.conf
	at := m.reg.poller
	sync, tidy, pack := at.Ticker(conf.Get().Sync.Interval), at.Ticker(pruneInterval), at.Ticker(compactPause)
	look, calmly := at.Ticker(configInterval), at.LateTicker(releaseInterval, releaseDelay)
	var memory memrelease.Memory
	var pages memrelease.Pages
	defer calmly.Stop()
	defer look.Stop()
	defer sync.Stop()
	defer tidy.Stop()
	defer pack.Stop()
	m.recordAllLeftovers() // of sessions that ended under an earlier daemon
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-sync.C():
			sync.Next()
			if conf.Get().Sync.Policy != config.SyncNever {
				m.sync(now)
			}
		case now := <-look.C():
			look.Next()
			if conf.ReloadIfChanged(now) {
				sync.Reset(conf.Get().Sync.Interval)
				m.reg.Bus.Publish("config", nil)
			}
		case <-calmly.C():
			calmly.Next()
			rests := at.IsIdle()
			if rests {
				memrelease.EndThreads(sys.ThreadCount())
			}
			if given := memory.MaybeRelease(rests); pages.IsDue(sys.PageFaults(), given || rests) {
				sys.ReleaseOwnPages()
			}
		case <-pack.C():
			pack.Next()
			_ = m.reg.retryDelete(ctx) // it was logged, and is tried again
			m.pack(ctx)
			m.truncateLog(ctx)
		case now := <-tidy.C():
			tidy.Next()
			m.recordAllLeftovers()
			if err := errors.Join(m.reg.store.PruneJobs(ctx, KeptJobs), m.reg.store.DropJobOutputs(ctx, now.Add(-keptRunTime))); err != nil {
				m.reg.log.Error("forget old jobs", "err", err)
			}
			if _, err := m.Prune(ctx, now, m.budget()); err != nil {
				m.reg.log.Error("keep histories within the budget", "err", err)
			}
		}
	}
}

// sync writes the journals of idle sessions to the disk.
func (m *Maintenance) sync(now time.Time) {
	for _, e := range m.reg.snapshot() {
		if err := e.Session.Sync(now); err != nil {
			m.reg.log.Error("sync a history", "session", e.rec.ID, "err", err)
		}
	}
}

// pack compresses the histories of idle sessions, one after the other.
func (m *Maintenance) pack(ctx context.Context) {
	packed := false
	defer func() {
		if packed { // sessions that rest have given memory up, too
			debug.FreeOSMemory()
		}
	}()
	all := m.reg.All()
	maps.DeleteFunc(m.packed, func(id string, _ uint64) bool { return m.reg.ByID(id) == nil })
	for _, e := range all {
		_, end := e.Session.OutputRange()
		if ctx.Err() != nil {
			return
		}
		if m.packed[e.rec.ID] == end || time.Since(e.Session.Status().LastOutput) < compactPause || e.Record().Temporary {
			continue
		}
		e.dirMu.Lock() // keeps its directory from being removed
		removed := e.removed
		var err error
		if !removed {
			_, err = e.Session.Compact(ctx)
		}
		e.dirMu.Unlock()
		if err != nil && ctx.Err() == nil {
			m.reg.log.Error("pack a history", "session", e.rec.ID, "err", err)
		}
		m.packed[e.rec.ID], packed = end, true
	}
}

// budget returns the configured budget.
func (m *Maintenance) budget() Budget {
	r := m.reg.conf.Get().Retention
	return Budget{SessionBytes: r.SessionBytes, SessionAge: r.SessionAge, TotalBytes: r.TotalBytes, Dead: r.EndedSessions, DeadAge: r.EndedAge}
}

// Prune deletes what exceeds a budget: the oldest output of sessions, and whole ended sessions.
func (m *Maintenance) Prune(ctx context.Context, now time.Time, b Budget) (api.Pruned, error) {
	p := api.Pruned{Removed: []string{}, Cut: []string{}}
	var usages []journal.Usage
	entries := map[string]*Handle{}
	var errs []error
	for _, e := range m.reg.All() {
		if e.Record().Temporary {
			if st := e.Session.Status(); st.State != session.Running && now.Sub(st.Ended) > TemporaryGrace && len(e.livingLeftovers()) == 0 {
				e.Clients.IfEmpty(func() { m.reg.RemoveEnded(e) })
			}
			continue
		}
		if e.IsKeptRun() && now.Sub(e.Session.Status().Ended) > keptRunTime {
			m.reg.removeKeptRun(e)
			continue
		}
		dir := filepath.Join(m.reg.dirs.Session(e.rec.ID), "journal")
		before, err := journal.Measure(dir)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if err := e.Session.Retain(now, journal.Retention{MaxAge: b.SessionAge, MaxBytes: b.SessionBytes}); err != nil {
			errs = append(errs, err)
		}
		after, err := journal.Measure(dir)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if after.Bytes < before.Bytes {
			if start, _ := e.Session.OutputRange(); start > 0 {
				errs = append(errs, m.reg.Index.forgetBefore(ctx, e.rec.ID, start))
			}
			p.Cut, p.Bytes = append(p.Cut, e.Record().Name), p.Bytes+before.Bytes-after.Bytes
		}
		after.Live = e.Session.Status().State == session.Running
		if ended := e.Session.Status().Ended; !after.Live && !ended.IsZero() {
			after.Last = ended
		}
		usages, entries[dir] = append(usages, after), e
	}
	for _, drop := range journal.Plan(now, usages, journal.Budget{MaxBytes: b.TotalBytes, MaxDead: b.Dead, MaxDeadAge: b.DeadAge}) {
		if err := m.dropOne(ctx, now, entries[drop.Dir], drop, &p); err != nil {
			errs = append(errs, err)
		}
	}
	return p, errors.Join(errs...)
}

// dropOne deletes one part of the history.
func (m *Maintenance) dropOne(ctx context.Context, now time.Time, e *Handle, drop journal.Drop, p *api.Pruned) error {
	before, err := journal.Measure(drop.Dir)
	if err != nil {
		return err
	}
	name := e.Record().Name
	if drop.Keep == 0 && len(m.reg.RecordLeftovers(e)) > 0 { // removing it would end them
		return nil
	}
	if drop.Keep == 0 {
		m.reg.log.Info("an ended session is over the budget", "session", e.rec.ID, "name", name, "why", drop.Why)
		if err := m.reg.Remove(ctx, e, false); err != nil {
			return err
		}
		p.Removed, p.Bytes = append(p.Removed, name), p.Bytes+before.Bytes
		return nil
	}
	if err := e.Session.Retain(now, journal.Retention{MaxBytes: drop.Keep}); err != nil {
		return err
	}
	start, _ := e.Session.OutputRange()
	ferr := m.reg.Index.forgetBefore(ctx, e.rec.ID, start)
	after, err := journal.Measure(drop.Dir)
	err = errors.Join(err, ferr)
	p.Cut, p.Bytes = append(p.Cut, name), p.Bytes+before.Bytes-after.Bytes
	return err
}

// truncateLog removes traces of deleted sessions, such as values of their environment, from the database's log.
func (m *Maintenance) truncateLog(ctx context.Context) {
	if !m.reg.removedAny.Swap(false) {
		return
	}
	if err := m.reg.store.ForgetRemoved(ctx); err != nil {
		m.reg.removedAny.Store(true)
		m.reg.log.Debug("the database's log still holds removed sessions", "err", err)
	}
}

// recordAllLeftovers records the leftovers of all ended sessions with one process listing.
func (m *Maintenance) recordAllLeftovers() {
	var seen *sys.Table
	for _, e := range m.reg.All() {
		if e.Session.Status().State == session.Running {
			continue
		}
		if e.device != nil && e.device.cgroup != "" { // which knows better
			m.reg.RecordLeftovers(e)
			continue
		}
		if seen == nil {
			seen = m.reg.scanner.scan()
		}
		left := sys.FilterAlive(seen.SessionProcesses(0, e.rec.ID))
		e.mu.Lock()
		e.leftovers, e.leftoversKnown = left, true
		e.mu.Unlock()
	}
}
