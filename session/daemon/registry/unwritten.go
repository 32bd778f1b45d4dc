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

// What a disk that is full does not take of a session's record counts in memory, and is tried again until it is written, and once
// more when the daemon leaves:
//
//	Save ─ refused → unwritten ─ there is room → the record as it stands then
//	          └ it has ended → its end, as a link's target → read by a daemon that finds no record of it
//
// What ended must not run again for that nobody knows of its end. A short link needs no room: file systems keep its target in the
// inode, of which there are enough.

// Save changes a session's record in memory and on disk, in the same order. What the disk does not take counts all the same, and
// is tried again. It waits for the database: owners use saveLater.
func (h *Registry) Save(e *Handle, change func(*store.Session)) {
	_ = h.save(e, change) // it is logged, and tried again
}

func (h *Registry) save(e *Handle, change func(*store.Session)) error {
	e.saving.Lock()
	defer e.saving.Unlock()
	rec, err := h.putLocked(e, change)
	if err != nil {
		h.keep(e, &rec, err)
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
		h.written(e)
	case errors.Is(err, store.ErrNotFound): // it was removed meanwhile
		h.unwritten.Drop(refused{e: e})
		err = nil
	}
	h.manifests.later(rec.ID, func() { _ = h.writeManifest(e) })
	return rec, err
}

// manifests are written by a few at a time, a session's in the order in which it changed. Each write waits for the disk, and
// holds a thread meanwhile: a thousand sessions that end together would leave the daemon with a thousand.
type manifests [4]writequeue.Queue

func (m *manifests) later(id string, write func()) {
	m[crc32.ChecksumIEEE([]byte(id))%uint32(len(m))].Later(writequeue.Key{Session: id}, write)
}

func (m *manifests) flush() {
	for i := range m {
		m[i].Flush(context.Background())
	}
}

// writeManifest brings a session's manifest up to date. It waits for the disk, so
// nothing waits for it: the database knows already.
func (h *Registry) writeManifest(e *Handle) error {
	e.manifest.Lock()
	defer e.manifest.Unlock()
	rec := e.Record()
	if e.removed || rec.Temporary {
		h.unwritten.Drop(refused{e, true})
		return nil
	}
	err := store.WriteManifest(h.dirs.Session(rec.ID), rec)
	if !errors.Is(err, store.ErrFull) {
		h.unwritten.Drop(refused{e, true})
		if err != nil {
			h.log.Error("write a manifest", "session", rec.ID, "err", err)
		}
		return err
	}
	isNew, begin := h.unwritten.Note(refused{e, true}, struct{}{})
	if isNew {
		h.log.Error("write a manifest; it is tried again", "session", rec.ID, "err", err)
	}
	if begin {
		h.writes.Go(func() { h.unwritten.Again(h.tryKept) })
	}
	return err
}

// saveLater changes a session's record in memory, and has it written down. Owners call it.
func (h *Registry) saveLater(e *Handle, change func(*store.Session)) {
	e.mu.Lock()
	change(&e.rec)
	id := e.rec.ID
	e.mu.Unlock()
	h.records.Later(writequeue.Key{Session: id}, func() { h.Save(e, func(*store.Session) {}) })
}

// refused is what of a session the disk did not take. Another handle of its id is another session.
type refused struct {
	e        *Handle
	manifest bool // else its record
}

// keep has a record that was refused tried again, and notes an end where there is room for that.
func (h *Registry) keep(e *Handle, rec *store.Session, why error) {
	isNew, begin := h.unwritten.Note(refused{e: e}, struct{}{})
	if isNew {
		h.log.Error("record a session; it is tried again", "session", rec.ID, "err", why)
	}
	if rec.State != string(session.Running) {
		err := store.NoteEnd(h.dirs.Session(rec.ID), rec)
		if e.noted.Store(err == nil); err != nil {
			h.log.Error("note how a session ended", "session", rec.ID, "err", err)
		}
	}
	if begin {
		h.writes.Go(func() { h.unwritten.Again(h.tryKept) })
	}
}

// written is told of a record that was written as it stands.
func (h *Registry) written(e *Handle) {
	if e.noted.Swap(false) {
		_ = store.ForgetEnd(h.dirs.Session(e.rec.ID)) // what stays is of an end that is recorded
	}
	if h.unwritten.Drop(refused{e: e}) && e.device != nil {
		h.writes.Go(e.device.letGoKept)
	}
}

// tryKept tries each record and manifest once, and none after one that is refused.
func (h *Registry) tryKept() {
	all := h.unwritten.All()
	for r := range all {
		if h.ByID(r.e.rec.ID) != r.e { // it was removed, or began anew
			h.unwritten.Drop(r)
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

// isRecorded says that a session's record is written, or its end noted: its keeper need not keep that any more.
func (h *Registry) isRecorded(ctx context.Context, e *Handle) bool {
	h.records.Flush(ctx)
	_, kept := h.unwritten.Get(refused{e: e})
	return ctx.Err() == nil && (!kept || e.noted.Load())
}
