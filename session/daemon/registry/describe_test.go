//go:build unix

package registry

import (
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/longterm-dev/longterm/session/daemon/liveconfig"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/store"
)

// TestSessionsRecordsKeepTheirOrder checks that the newest record of a session is the one that is written last, by any
// writer.
//
// FAULT: A15
func TestSessionsRecordsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	r := testRegistry(t)
	for n := range 300 {
		e := NewHandle(store.Session{ID: strconv.Itoa(n), Name: strconv.Itoa(n), State: "running"})
		if err := r.store.CreateSession(t.Context(), e.rec); err != nil {
			t.Fatal(err)
		}
		e.removed = true // writes no manifest
		var writers sync.WaitGroup
		for range 3 {
			writers.Go(func() { r.Save(e, func(rec *store.Session) { rec.Cols++ }) })
		}
		writers.Go(func() { r.Save(e, func(rec *store.Session) { rec.State = "exited" }) })
		writers.Wait()
	}
	r.writes.Wait()
	list, err := r.store.Sessions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		if list[i].State != "exited" || list[i].Cols != 3 {
			t.Errorf("session %s: %s, %d", list[i].ID, list[i].State, list[i].Cols)
		}
	}
}

// testRegistry is a set of sessions with directories and a database, and no keeper.
func testRegistry(t *testing.T) *Registry {
	t.Helper()
	dir := t.TempDir()
	dirs := paths.Dirs{State: filepath.Join(dir, "state"), Config: filepath.Join(dir, "config"), Run: filepath.Join(dir, "run")}
	if err := dirs.Make(); err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(dirs.Database())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	log := slog.New(slog.DiscardHandler)
	return New(Config{Dirs: dirs, Log: log, Store: st, Settings: liveconfig.Open(dirs, log)})
}

// TestManifestsRepeatTheNewestRecord checks that after concurrent changes a session's manifest equals its newest
// record.
//
// FEATURES: R93
func TestManifestsRepeatTheNewestRecord(t *testing.T) {
	t.Parallel()
	r := testRegistry(t)
	all := make([]*Handle, 20)
	for n := range all {
		e := NewHandle(store.Session{ID: strconv.Itoa(n), Name: strconv.Itoa(n), State: "running"})
		all[n] = e
		if err := os.MkdirAll(r.dirs.Session(e.rec.ID), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := r.store.CreateSession(t.Context(), e.rec); err != nil {
			t.Fatal(err)
		}
	}
	var writers sync.WaitGroup
	for _, e := range all {
		for range 5 {
			writers.Go(func() { r.Save(e, func(rec *store.Session) { rec.Cols++ }) })
		}
	}
	writers.Wait()
	r.StopAll()
	for _, e := range all {
		m, err := store.ReadManifest(r.dirs.Session(e.rec.ID))
		if err != nil {
			t.Fatal(err)
		}
		if m.Cols != 5 {
			t.Errorf("session %s: a manifest of %d changes, not 5", e.rec.ID, m.Cols)
		}
	}
}
