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
	"github.com/longterm-dev/longterm/session/internal/calm"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/store/journal"
)

// Budget is what history may take on disk. Zero fields are no limit.
type Budget struct {
	SessionBytes int64         // of one session
	SessionAge   time.Duration // of what a session printed
	TotalBytes   int64         // of all sessions
	Dead         int           // sessions that have ended
	DeadAge      time.Duration // since they ended
}

// How often maintenance looks at things.
const (
	tidyEvery   = time.Minute // histories over the budget
	lookEvery   = time.Second // the configuration
	compactRest = 10 * time.Second
	calmEvery   = 5 * time.Second // memory that a burst left behind
	calmLate    = time.Second / 4 // after all else that is done at rest
)

// KeptJobs is how many records of jobs are kept.
const KeptJobs = 5000

// Maintenance looks after histories: syncs them, packs them, drops what is over the budget.
type Maintenance struct {
	reg    *Registry
	packed map[string]uint64 // by session: output when it was last packed
}

func (m *Maintenance) run(ctx context.Context) {
	conf := m.reg.conf
	at := m.reg.pace
	sync, tidy, pack := at.Ticker(conf.Get().Sync.Interval), at.Ticker(tidyEvery), at.Ticker(compactRest)
	look, calmly := at.Ticker(lookEvery), at.LateTicker(calmEvery, calmLate)
	var memory calm.Memory
	var pages calm.Pages
	defer calmly.Stop()
	defer look.Stop()
	defer sync.Stop()
	defer tidy.Stop()
	defer pack.Stop()
	m.noteAllLeft() // of sessions that ended under an earlier daemon
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
			if conf.Look(now) {
				sync.Reset(conf.Get().Sync.Interval)
				m.reg.Bus.Publish("config", nil)
			}
		case <-calmly.C():
			calmly.Next()
			rests := at.Resting()
			if rests {
				calm.EndThreads(sys.Threads())
			}
			if given := memory.Look(rests); pages.Due(sys.PageFaults(), given || rests) {
				sys.LeaveOwnPages()
			}
		case <-pack.C():
			pack.Next()
			_ = m.reg.forgetAgain(ctx) // it was logged, and is tried again
			m.pack(ctx)
			m.emptyLog(ctx)
		case now := <-tidy.C():
			tidy.Next()
			m.noteAllLeft()
			if err := m.reg.store.PruneJobs(ctx, KeptJobs); err != nil {
				m.reg.log.Error("forget old jobs", "err", err)
			}
			if _, err := m.Tidy(ctx, now, m.budget()); err != nil {
				m.reg.log.Error("keep histories within the budget", "err", err)
			}
		}
	}
}

func (m *Maintenance) sync(now time.Time) {
	for _, e := range m.reg.unordered() {
		if err := e.Session.Sync(now); err != nil {
			m.reg.log.Error("sync a history", "session", e.rec.ID, "err", err)
		}
	}
}

// pack compacts the histories of sessions that rest, one after the other.
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
		if m.packed[e.rec.ID] == end || time.Since(e.Session.Status().LastOutput) < compactRest || e.Record().Temporary {
			continue
		}
		e.manifest.Lock() // its directory is not removed meanwhile
		removed := e.removed
		var err error
		if !removed {
			_, err = e.Session.Compact(ctx)
		}
		e.manifest.Unlock()
		if err != nil && ctx.Err() == nil {
			m.reg.log.Error("pack a history", "session", e.rec.ID, "err", err)
		}
		m.packed[e.rec.ID], packed = end, true
	}
}

func (m *Maintenance) budget() Budget {
	r := m.reg.conf.Get().Retention
	return Budget{SessionBytes: r.SessionBytes, SessionAge: r.SessionAge, TotalBytes: r.TotalBytes, Dead: r.Dead, DeadAge: r.DeadAge}
}

// Tidy drops what is over a budget: the oldest output of sessions, and ended sessions as a
// whole.
func (m *Maintenance) Tidy(ctx context.Context, now time.Time, b Budget) (api.Pruned, error) {
	p := api.Pruned{Removed: []string{}, Cut: []string{}}
	var usages []journal.Usage
	entries := map[string]*Handle{}
	var errs []error
	for _, e := range m.reg.All() {
		if e.Record().Temporary {
			if st := e.Session.Status(); st.State != session.Running && now.Sub(st.Ended) > TemporaryGrace && len(e.leftover()) == 0 {
				e.Clients.IfEmpty(func() { m.reg.RemoveEnded(e) })
			}
			continue
		}
		if e.KeptRun() && now.Sub(e.Session.Status().Ended) > keptRunTime {
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
		if err := m.carryOut(ctx, now, entries[drop.Dir], drop, &p); err != nil {
			errs = append(errs, err)
		}
	}
	return p, errors.Join(errs...)
}

// carryOut drops one thing.
func (m *Maintenance) carryOut(ctx context.Context, now time.Time, e *Handle, drop journal.Drop, p *api.Pruned) error {
	before, err := journal.Measure(drop.Dir)
	if err != nil {
		return err
	}
	name := e.Record().Name
	if drop.Keep == 0 && len(m.reg.NoteLeft(e)) > 0 { // removing it would end them
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

// emptyLog leaves nothing of removed sessions, such as values that were given to them for
// their environment, in the database's log.
func (m *Maintenance) emptyLog(ctx context.Context) {
	if !m.reg.forgotten.Swap(false) {
		return
	}
	if err := m.reg.store.ForgetRemoved(ctx); err != nil {
		m.reg.forgotten.Store(true)
		m.reg.log.Debug("the database's log still holds removed sessions", "err", err)
	}
}

// noteAllLeft notes what is left behind of all ended sessions, with one look.
func (m *Maintenance) noteAllLeft() {
	var seen *sys.Table
	for _, e := range m.reg.All() {
		if e.Session.Status().State == session.Running {
			continue
		}
		if e.device != nil && e.device.cgroup != "" { // which knows better
			m.reg.NoteLeft(e)
			continue
		}
		if seen == nil {
			seen = m.reg.walker.look()
		}
		left := sys.Living(seen.Of(0, e.rec.ID))
		e.mu.Lock()
		e.left, e.looked = left, true
		e.mu.Unlock()
	}
}
