//go:build unix

package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/store"
	"github.com/longterm-dev/longterm/store/journal"
)

// withHistory makes a session's record with a number of segments of 1 MiB that hardly compress.
func withHistory(t *testing.T, r *Registry, name string, ended time.Time, segments int) string {
	t.Helper()
	id := uuid.NewString()
	record(t, r, store.Session{ID: id, Name: name, State: "exited", Created: ended.Add(-time.Hour), Started: ended.Add(-time.Hour), Ended: ended})
	j, _, err := journal.Open(filepath.Join(r.dirs.Session(id), "journal"), journal.Options{SegmentBytes: 1 << 20, Now: func() time.Time { return ended }})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range segments * 16 {
		p := make([]byte, 64<<10)
		for i := range p {
			p[i] = byte(' ' + random.IntN(95))
		}
		if err := j.AppendOutput(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return id
}

// TestHistoriesWithinABudget checks that histories are kept within a budget: a session loses its oldest output, and the
// rest is readable from its start; over all sessions the oldest go first. Recent ones stay.
//
// FEATURES: R37
func TestHistoriesWithinABudget(t *testing.T) {
	t.Parallel()
	now := time.Now()
	ids := map[string]string{}
	r, _ := hosted(t, func(r *Registry) {
		for i, name := range []string{"old", "middle", "young"} {
			ids[name] = withHistory(t, r, name, now.Add(time.Duration(i-3)*24*time.Hour), 4)
		}
	})
	r.AdoptAll(t.Context(), nil, nil)
	m := r.Maintenance

	if p, err := m.Prune(t.Context(), now, Budget{SessionBytes: 1 << 40, TotalBytes: 1 << 40, SessionAge: 1000 * time.Hour, Dead: 10}); err != nil || len(p.Cut)+len(p.Removed) > 0 {
		t.Errorf("within the budget: %+v, %v", p, err)
	}
	p, err := m.Prune(t.Context(), now, Budget{SessionBytes: 2 << 20})
	if err != nil || len(p.Cut) != 3 || len(p.Removed) != 0 || p.Bytes <= 0 {
		t.Fatalf("2 MiB a session: %+v, %v", p, err)
	}
	for name, id := range ids {
		e := r.ByID(id)
		start, end := e.Session.OutputRange()
		if start == 0 || start >= end {
			t.Errorf("%s has %d to %d", name, start, end)
			continue
		}
		c, err := e.Session.Output(0, make([]byte, 100))
		if err != nil || c.From != start || c.Gap != start || len(c.Data) == 0 {
			t.Errorf("%s: from %d after a gap of %d, %v; it starts at %d", name, c.From, c.Gap, err, start)
		}
	}
	p, err = m.Prune(t.Context(), now, Budget{TotalBytes: 3 << 20})
	if err != nil || slices.Contains(p.Cut, "young") || slices.Contains(p.Removed, "young") || len(p.Cut)+len(p.Removed) == 0 {
		t.Errorf("3 MiB in all: %+v, %v", p, err)
	}
	p, err = m.Prune(t.Context(), now, Budget{DeadAge: 30 * time.Hour})
	if err != nil || slices.Contains(p.Removed, "young") || !slices.Contains(p.Removed, "middle") {
		t.Errorf("those of the last day: %+v, %v", p, err)
	}
	if list := namesOf(r); !slices.Equal(list, []string{"young"}) {
		t.Errorf("there are %v", list)
	}
	for name, id := range ids {
		_, err := os.Stat(r.dirs.Session(id))
		if gone := errors.Is(err, os.ErrNotExist); gone != (name != "young") {
			t.Errorf("the directory of %s is gone: %v", name, gone)
		}
	}
}

// TestTidy_ContinuesAfterErrors checks that a budget that cannot be applied to one session, whose directory is damaged,
// is applied to the others, and the error is reported.
//
// FEATURES: R37
func TestTidy_ContinuesAfterErrors(t *testing.T) {
	t.Parallel()
	now := time.Now()
	var bad string
	r, _ := hosted(t, func(r *Registry) {
		bad = withHistory(t, r, "bad", now.Add(-2*time.Hour), 2)
		withHistory(t, r, "good", now.Add(-time.Hour), 4)
	})
	r.AdoptAll(t.Context(), nil, nil)
	dir := filepath.Join(r.dirs.Session(bad), "journal")
	if err := os.Rename(dir, dir+"-away"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // not a directory now
		t.Fatal(err)
	}
	p, err := r.Maintenance.Prune(t.Context(), now, Budget{SessionBytes: 1 << 20})
	if err == nil || !slices.Contains(p.Cut, "good") {
		t.Errorf("%+v, %v", p, err)
	}
	if err := errors.Join(os.Remove(dir), os.Rename(dir+"-away", dir)); err != nil {
		t.Fatal(err)
	}
}

// TestPack_IdleSessionsOnce checks that histories of idle sessions are packed once, read-only ones not at all. Packed
// histories have the same content.
//
// FEATURES: R37
func TestPack_IdleSessionsOnce(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("the same line again and again\r\n", 20_000)
	var id, temporary string
	r, _ := hosted(t, func(r *Registry) {
		for _, temp := range []bool{false, true} {
			rec := store.Session{ID: uuid.NewString(), Name: fmt.Sprint("packed-", temp), State: "exited", Created: time.Now(), Ended: time.Now(), Temporary: temp}
			record(t, r, rec)
			j, _, err := journal.Open(filepath.Join(r.dirs.Session(rec.ID), "journal"), journal.Options{
				// it is idle since then
				Plain: true, SegmentBytes: 64 << 10, Now: func() time.Time { return time.Now().Add(-time.Hour) },
			})
			if err != nil {
				t.Fatal(err)
			}
			for part := range slices.Chunk([]byte(text), 16<<10) {
				if err := j.AppendOutput(part); err != nil {
					t.Fatal(err)
				}
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			if temp {
				temporary = rec.ID
			} else {
				id = rec.ID
			}
		}
	})
	r.AdoptAll(t.Context(), nil, nil)
	size := func(id string) int64 {
		u, err := journal.Measure(filepath.Join(r.dirs.Session(id), "journal"))
		if err != nil {
			t.Fatal(err)
		}
		return u.Bytes
	}
	before, beforeTemp := size(id), size(temporary)
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	r.Maintenance.pack(stopped)
	if size(id) != before || len(r.Maintenance.packed) != 0 {
		t.Error("packed, though the daemon leaves")
	}
	r.Maintenance.pack(t.Context())
	after := size(id)
	if after > before/4 || size(temporary) != beforeTemp {
		t.Errorf("%d bytes became %d; of the temporary one %d became %d", before, after, beforeTemp, size(temporary))
	}
	if len(r.Maintenance.packed) != 1 {
		t.Errorf("packed: %v", r.Maintenance.packed)
	}
	r.Maintenance.pack(t.Context())
	if size(id) != after {
		t.Error("packed twice")
	}
	r.Maintenance.sync(time.Now().Add(time.Hour))
	var all []byte
	for at := uint64(0); ; {
		c, err := r.ByID(id).Session.Output(at, make([]byte, 64<<10))
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Data) == 0 {
			break
		}
		all, at = append(all, c.Data...), c.Next
	}
	if !bytes.HasSuffix(all, []byte(text)) {
		t.Errorf("packed it is %d bytes, and others", len(all))
	}
	e := r.ByID(id)
	if err := r.Remove(t.Context(), e, false); err != nil {
		t.Fatal(err)
	}
	r.Maintenance.pack(t.Context())
	if len(r.Maintenance.packed) != 0 {
		t.Errorf("a removed session is remembered: %v", r.Maintenance.packed)
	}
	if !r.removedAny.Load() {
		t.Fatal("there is nothing to forget")
	}
	if r.Maintenance.truncateLog(t.Context()); r.removedAny.Load() {
		t.Error("the database's log holds the removed session")
	}
	r.removedAny.Store(true)
	if r.Maintenance.truncateLog(stopped); !r.removedAny.Load() {
		t.Error("a failed removal is forgotten")
	}
}
