//go:build unix

package registry

import (
	"context"
	"errors"
	"hash/crc32"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/daemon/writequeue"
	"github.com/longterm-dev/longterm/store"
)

// Changes that a full disk rejects stay in memory and are retried until written, and once more when the daemon stops:
//
//	Save ─ rejected → unwritten ─ disk has room → the record in its current state
//	          └ session ended → its end as a symlink's target → read by a daemon that finds no record of it
//
// An ended session must not run again because its end was lost. A short symlink needs no disk space: file systems store
// its target in the inode.

// Save changes a session's record in memory and on disk, in the same order. A rejected write is retried later. Save
// waits for the database: owners use saveLater.
func (h *Registry) Save(e *Handle, change func(*store.Session)) {
	_ = h.save(e, change) // it is logged, and tried again
}

// save changes a session's record in memory and on disk.
func (h *Registry) save(e *Handle, change func(*store.Session)) error {
	e.saving.Lock()
	defer e.saving.Unlock()
	rec, err := h.putLocked(e, change)
	if err != nil {
		h.retryLater(e, &rec, err)
	}
	return err
}

// putLocked changes a session's record and writes it. The caller holds saving.
func (h *Registry) putLocked(e *Handle, change func(*store.Session)) (rec store.Session, err error) {
	e.mu.Lock()
	change(&e.rec)
	rec = e.rec
	e.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	switch err = h.store.UpdateSession(ctx, rec); {
	case err == nil:
		h.onWritten(e)
	case errors.Is(err, store.ErrNotFound): // already removed
		h.retryQueue.Drop(failedWrite{e: e})
		err = nil
	}
	h.manifests.enqueue(rec.ID, func() { _ = h.writeManifest(e) })
	return rec, err
}

// manifests writes session manifests with a few queues, each session's in order. Each write holds a thread while it
// waits for the disk; without the limit a thousand ending sessions would need a thousand.
type manifests [4]writequeue.Queue

// enqueue queues a write of a session's manifest.
func (m *manifests) enqueue(id string, write func()) {
	m[crc32.ChecksumIEEE([]byte(id))%uint32(len(m))].Enqueue(writequeue.Key{Session: id}, write)
}

// flush waits until all queued writes are done.
func (m *manifests) flush() {
	for i := range m {
		m[i].Flush(context.Background())
	}
}

// writeManifest brings a session's manifest up to date. It waits for the disk, so
// nothing waits for it: the database knows already.
func (h *Registry) writeManifest(e *Handle) error {
	e.dirMu.Lock()
	defer e.dirMu.Unlock()
	rec := e.Record()
	if e.removed || rec.Temporary {
		h.retryQueue.Drop(failedWrite{e, true})
		return nil
	}
	err := store.WriteManifest(h.dirs.Session(rec.ID), rec)
	if !errors.Is(err, store.ErrFull) {
		h.retryQueue.Drop(failedWrite{e, true})
		if err != nil {
			h.log.Error("write a manifest", "session", rec.ID, "err", err)
		}
		return err
	}
	isNew, begin := h.retryQueue.Add(failedWrite{e, true}, struct{}{})
	if isNew {
		h.log.Error("write a manifest; it is tried again", "session", rec.ID, "err", err)
	}
	if begin {
		h.writes.Go(func() { h.retryQueue.RetryLoop(h.retryWrites) })
	}
	return err
}

// saveLater changes a session's record in memory and queues the write. Owners call it.
func (h *Registry) saveLater(e *Handle, change func(*store.Session)) {
	e.mu.Lock()
	change(&e.rec)
	id := e.rec.ID
	e.mu.Unlock()
	h.records.Enqueue(writequeue.Key{Session: id}, func() { h.Save(e, func(*store.Session) {}) })
}

// failedWrite identifies a record or manifest whose write failed. Another handle with its ID is another session.
type failedWrite struct {
	e        *Handle
	manifest bool // the manifest; else the record
}

// retryLater schedules retries for a rejected record and notes the session's end in a file if possible.
func (h *Registry) retryLater(e *Handle, rec *store.Session, why error) {
	isNew, begin := h.retryQueue.Add(failedWrite{e: e}, struct{}{})
	if isNew {
		h.log.Error("record a session; retrying", "session", rec.ID, "err", why)
	}
	if rec.State != string(session.Running) {
		err := store.NoteEnd(h.dirs.Session(rec.ID), rec)
		if e.endNoted.Store(err == nil); err != nil {
			h.log.Error("note how a session ended", "session", rec.ID, "err", err)
		}
	}
	if begin {
		h.writes.Go(func() { h.retryQueue.RetryLoop(h.retryWrites) })
	}
}

// onWritten handles a successful write of the current record.
func (h *Registry) onWritten(e *Handle) {
	if e.endNoted.Swap(false) {
		_ = store.ForgetEnd(h.dirs.Session(e.rec.ID)) // what stays is of an end that is recorded
	}
	if h.retryQueue.Drop(failedWrite{e: e}) && e.device != nil {
		h.writes.Go(e.device.releaseHeld)
	}
}

// retryWrites writes each queued record and manifest once, until one fails.
func (h *Registry) retryWrites() {
	all := h.retryQueue.All()
	for r := range all {
		if h.ByID(r.e.rec.ID) != r.e { // already removed or restored
			h.retryQueue.Drop(r)
			delete(all, r)
		}
	}
	for r := range all {
		if !r.manifest && h.save(r.e, func(*store.Session) {}) != nil {
			return
		}
	}
	for r := range all {
		if r.manifest && h.writeManifest(r.e) != nil {
			return
		}
	}
}

// isRecorded reports whether a session's record is written or its end noted, so that its keeper may release it.
func (h *Registry) isRecorded(ctx context.Context, e *Handle) bool {
	h.records.Flush(ctx)
	_, kept := h.retryQueue.Get(failedWrite{e: e})
	return ctx.Err() == nil && (!kept || e.endNoted.Load())
}
