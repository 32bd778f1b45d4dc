//go:build unix

package registry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/store"
	"github.com/longterm-dev/longterm/store/journal"
)

// TestFates checks that the outcome of a session without a keeper follows from its record.
func TestFates(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	long, short := now.Add(-2*TemporaryGrace), now.Add(-TemporaryGrace/2)
	for _, c := range []struct {
		name string
		rec  store.Session
		want adoptOutcome
		told time.Duration // how long before its recording the keeper that listed it has run; 0: none listed it
	}{
		{"ended", store.Session{State: "exited", Ended: long}, asHistory, 0},
		{"ran", store.Session{State: "running", PID: 9}, asLost, 0},
		{"ran, and was not started", store.Session{State: "running"}, asLost, 0},
		{"lost before", store.Session{State: "lost", Ended: long}, asLost, 0},
		{"of a call, ran", store.Session{State: "running", PID: 9, Call: "c1"}, asLost, 0},
		{"of a call, not started", store.Session{State: "running", Call: "c1", RequestDigest: "a"}, asNeverStarted, time.Hour},
		{"temporary, ran", store.Session{State: "running", PID: 9, Temporary: true}, asLost, 0},
		{"temporary, not started", store.Session{State: "running", Temporary: true}, asNeverStarted, 0},
		{"temporary, just ended", store.Session{State: "exited", Ended: short, Temporary: true}, asHistory, 0},
		{"temporary, ended long ago", store.Session{State: "exited", Ended: long, Temporary: true}, asRead, 0},
		{"temporary, lost long ago", store.Session{State: "lost", Ended: long, Temporary: true}, asRead, 0},
		{"temporary, lost just now", store.Session{State: "lost", Ended: short, Temporary: true}, asLost, 0},
		{"of a call, its keeper is dead", store.Session{State: "running", Call: "c1", RequestDigest: "a"}, asNeverStarted, 0},
		{"of a job, its keeper is dead", store.Session{State: "running", Call: "j1"}, asLost, 0},
		{"of a job, not started", store.Session{State: "running", Call: "j1"}, asNeverStarted, time.Hour},
		{"of a job, its keeper is dead, and another one told", store.Session{State: "running", Call: "j1"}, asLost, -time.Second},
		{"of a job, ran", store.Session{State: "running", PID: 9, Call: "j1"}, asLost, time.Hour},
		{"of nobody, not started", store.Session{State: "running"}, asLost, time.Hour},
	} {
		var since time.Time
		if c.told != 0 {
			c.rec.Created, since = now, now.Add(-c.told)
		}
		if got := adoptOutcomeOf(&c.rec, false, since, now); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestFateUnderASilentKeeper checks that the process of a pending start may exist under a keeper that runs and does not
// answer.
func TestFateUnderASilentKeeper(t *testing.T) {
	t.Parallel()
	if got := adoptOutcomeOf(&store.Session{State: "running", Call: "c1", RequestDigest: "a"}, true, time.Time{}, time.Now()); got != asLost {
		t.Errorf("%s", got)
	}
}

// host is a daemon without keepers.
type host struct {
	leaving bool
	notices []string
	ran     []uint64
}

func (h *host) KeeperFor(string) (Keeper, error)        { return nil, errors.New("no keeper can be started") }
func (h *host) OnCommand(_ *Handle, c *session.Command) { h.ran = append(h.ran, c.Number) }
func (h *host) IsStopping() bool                        { return h.leaving }
func (h *host) Approvals(string) []string               { return nil }
func (h *host) OnRemoved(string)                        {}
func (h *host) Notice(format string, args ...any) {
	h.notices = append(h.notices, fmt.Sprintf(format, args...))
}

// hosted returns a registry with a host, loaded from its directories.
func hosted(t *testing.T, prepare func(r *Registry)) (*Registry, *host) {
	t.Helper()
	r := testRegistry(t)
	h := &host{}
	r.host = h
	if prepare != nil {
		prepare(r)
	}
	if err := r.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.OpenIndex()
	t.Cleanup(func() {
		r.StopAll()
		r.Index.close()
	})
	return r, h
}

// record makes a session's record, its directory and an empty journal.
func record(t *testing.T, r *Registry, rec store.Session) {
	t.Helper()
	rec.Cols, rec.Rows, rec.Engine, rec.Keeper = 80, 24, session.DefaultEngine, "main"
	if rec.Argv == nil {
		rec.Argv = []string{"true"}
	}
	if err := r.store.CreateSession(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	j, _, err := journal.Open(filepath.Join(r.dirs.Session(rec.ID), "journal"), journal.Options{})
	if err == nil {
		err = errors.Join(j.AppendOutput([]byte("what was printed\r\n")), j.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestStartedAgainWithoutARecord checks that a session that is recorded as ended, but has another process in its
// keeper, was restarted without a record: it runs. If the keeper has only the ended process, the session has ended.
//
// FEATURES: R5
func TestStartedAgainWithoutARecord(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pid  int
		want session.State
	}{
		"another process": {7, session.Running}, "the same": {1 << 30, session.Exited}, "none is known": {0, session.Exited},
	} {
		one := 1
		rec := store.Session{ID: uuid.NewString(), Name: "again", State: "exited", PID: c.pid, ExitCode: &one, Signal: "SIGHUP", Created: time.Now(), Ended: time.Now(), Stopped: true}
		r, _ := hosted(t, func(r *Registry) { record(t, r, rec) })
		k := newOneKeeper(t, rec.ID, "printed")
		r.AdoptAll(t.Context(), []string{"main"}, func(string) (Keeper, error) { return k, nil })
		e := r.ByID(rec.ID)
		got := e.Record()
		if got.State != string(c.want) || (c.want == session.Running) != (got.Ended.IsZero() && got.ExitCode == nil && got.Signal == "" && !got.Stopped) {
			t.Errorf("%s: %+v", name, got)
		}
		if st := e.Session.Status(); st.State != c.want {
			t.Errorf("%s: its owner reports %s", name, st.State)
		}
	}
}

// TestSettleWithoutKeepers checks that sessions without a keeper are history or lost, with their output, that a session
// that never started is removed, and that so are directories that killed daemons left half created or half removed.
func TestSettleWithoutKeepers(t *testing.T) {
	t.Parallel()
	half, foreign := uuid.NewString(), "not-ours"
	r, _ := hosted(t, func(r *Registry) {
		record(t, r, store.Session{ID: uuid.NewString(), Name: "over", State: "exited", Created: time.Now(), Ended: time.Now()})
		record(t, r, store.Session{ID: uuid.NewString(), Name: "ran", State: "running", PID: 1 << 30, Created: time.Now()})
		record(t, r, store.Session{ID: uuid.NewString(), Name: "unborn", State: "running", Temporary: true, Created: time.Now()})
		for _, dir := range []string{half, foreign, uuid.NewString() + removedSuffix} {
			if err := os.MkdirAll(r.dirs.Session(dir), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(r.dirs.Session(foreign), "notes"), []byte("a user's"), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	r.AdoptAll(t.Context(), nil, nil)
	states := map[string]string{}
	for _, e := range r.All() {
		view := r.Describe(e, e.Session.Status())
		states[view.Name] = view.State
		if view.Output.End == 0 {
			t.Errorf("%s has no output", view.Name)
		}
	}
	if len(states) != 2 || states["over"] != "exited" || states["ran"] != "lost" {
		t.Errorf("%v", states)
	}
	dirs, err := os.ReadDir(r.dirs.Sessions())
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, d := range dirs {
		left = append(left, d.Name())
	}
	if slices.Contains(left, half) || !slices.Contains(left, foreign) || len(left) != 3 {
		t.Errorf("directories left: %v", left)
	}
}

// TestLoadFindsWhatTheDatabaseLost checks that if the database lost a session, its manifest is used. A manifest that is
// invalid, or belongs to another session, is not changed.
func TestLoadFindsWhatTheDatabaseLost(t *testing.T) {
	t.Parallel()
	found, torn, other := uuid.NewString(), uuid.NewString(), uuid.NewString()
	r, _ := hosted(t, func(r *Registry) {
		for _, id := range []string{found, torn, other} {
			if err := os.MkdirAll(r.dirs.Session(id), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		rec := store.Session{ID: found, Name: "found", Argv: []string{"true"}, State: "exited", Created: time.Now(), Cols: 80, Rows: 24}
		err := errors.Join(
			store.WriteManifest(r.dirs.Session(found), rec),
			store.WriteManifest(r.dirs.Session(other), rec),
			os.WriteFile(filepath.Join(r.dirs.Session(torn), store.ManifestName), []byte(`{"id": "`), 0o600),
		)
		if err != nil {
			t.Fatal(err)
		}
	})
	r.AdoptAll(t.Context(), nil, nil)
	all := r.All()
	if len(all) != 1 || all[0].ID() != found || all[0].Record().Name != "found" {
		t.Errorf("%d sessions", len(all))
	}
	for _, id := range []string{torn, other} {
		if _, err := os.Stat(r.dirs.Session(id)); err != nil {
			t.Errorf("another program's directory may be gone: %v", err)
		}
	}
	if list, err := r.store.Sessions(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("the database has %d sessions, %v", len(list), err)
	}
}

// TestLoad_RenamesDuplicates checks that two sessions of an older database with one name are both loaded, one under
// another name.
func TestLoad_RenamesDuplicates(t *testing.T) {
	t.Parallel()
	a, b := uuid.NewString(), uuid.NewString()
	r, _ := hosted(t, func(r *Registry) {
		record(t, r, store.Session{ID: a, Name: "twice", State: "exited", Created: time.Now()})
		rec := store.Session{ID: b, Name: "twice", Argv: []string{"true"}, State: "exited", Created: time.Now(), Cols: 80, Rows: 24}
		if err := errors.Join(os.MkdirAll(r.dirs.Session(b), 0o700), store.WriteManifest(r.dirs.Session(b), rec)); err != nil {
			t.Fatal(err)
		}
	})
	r.AdoptAll(t.Context(), nil, nil)
	for ref, id := range map[string]string{"twice": a, "twice-" + b[:8]: b} {
		if e, err := r.Resolve(ref); err != nil || e.ID() != id {
			t.Errorf("%s: %v", ref, err)
		}
	}
}

// TestSilentKeeper checks that sessions that an unreachable keeper may have are kept: none becomes lost, and no
// directory is removed.
func TestSilentKeeper(t *testing.T) {
	t.Parallel()
	half := uuid.NewString()
	r, _ := hosted(t, func(r *Registry) {
		if err := os.MkdirAll(r.dirs.Session(half), 0o700); err != nil {
			t.Fatal(err)
		}
	})
	r.AdoptAll(t.Context(), []string{"silent", "killed"}, func(key string) (Keeper, error) {
		if key == "killed" {
			return nil, nil
		}
		return nil, errors.New("no answer")
	})
	if !r.adoption.unanswered["silent"] || r.adoption.unanswered["killed"] {
		t.Errorf("%v", r.adoption.unanswered)
	}
	if _, err := os.Stat(r.dirs.Session(half)); err != nil {
		t.Errorf("sessions of a silent keeper are gone: %v", err)
	}
}

// TestResolve checks that a session is found by its id, its name, or a prefix of either. The error for an unknown one
// lists similar names.
func TestResolve(t *testing.T) {
	t.Parallel()
	ids := []string{"11111111-aaaa", "11112222-bbbb", "33333333-cccc"}
	r, _ := hosted(t, func(r *Registry) {
		for i, name := range []string{"build", "builder", "Shell"} {
			record(t, r, store.Session{ID: ids[i], Name: name, State: "exited", Created: time.Unix(int64(i), 0)})
		}
	})
	r.AdoptAll(t.Context(), nil, nil)
	for _, c := range []struct {
		ref, id string
		code    api.Code
		says    string
	}{
		{"build", ids[0], "", ""}, {"builde", ids[1], "", ""}, {ids[2], ids[2], "", ""}, {"3", ids[2], "", ""}, {"11112", ids[1], "", ""},
		{"bui", "", api.CodeAmbiguous, "build, builder"}, {"1111", "", api.CodeAmbiguous, "11111111 (build), 11112222 (builder)"},
		{"", "", api.CodeNotFound, "longterm ls"}, {"shell", "", api.CodeNotFound, `did you mean "Shell"`}, {"none", "", api.CodeNotFound, "longterm ls"},
	} {
		e, err := r.Resolve(c.ref)
		if c.code == "" {
			if err != nil || e.ID() != c.id {
				t.Errorf("%q: %v", c.ref, err)
			}
			continue
		}
		var refused *api.Error
		if !errors.As(err, &refused) || refused.Code != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, want %s and %q", c.ref, err, c.code, c.says)
		}
	}
	if all := r.All(); len(all) != 3 || all[0].ID() != ids[0] || all[2].ID() != ids[2] {
		t.Error("the sessions are not listed by age")
	}
}

// TestCreateThatFailsLeavesNothing checks that a session that cannot be started leaves nothing: no record, no
// directory, and its name is free.
func TestCreateThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	r, h := hosted(t, nil)
	r.AdoptAll(t.Context(), nil, nil)
	want := func(when string, err error, code api.Code) {
		t.Helper()
		var e *api.Error
		if !errors.As(err, &e) || e.Code != code || e.Hint == "" {
			t.Errorf("%s: %v, want %s", when, err, code)
		}
		if list, err := r.store.Sessions(t.Context()); err != nil || len(list) != 0 {
			t.Errorf("%s: %d records, %v", when, len(list), err)
		}
		if dirs, err := os.ReadDir(r.dirs.Sessions()); err != nil || len(dirs) != 0 {
			t.Errorf("%s: %d directories, %v", when, len(dirs), err)
		}
		if _, taken := r.byname["n"]; taken {
			t.Errorf("%s: the name is still in use", when)
		}
	}
	n := api.NewSession{Name: "n", Argv: []string{"true"}, Cwd: "/"}
	_, err := r.Create(t.Context(), n)
	want("no keeper", err, api.CodeUnavailable)

	k := &deadKeeper{}
	r.host = &hostWith{h, k}
	_, err = r.CreateRecorded(t.Context(), n, "j", func(*Handle) error { return api.Errorf(api.CodeLimit, "too many").WithHint("wait") })
	want("not recorded", err, api.CodeLimit)

	if err := r.store.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = r.Create(t.Context(), n)
	var e *api.Error
	if !errors.As(err, &e) || e.Code != api.CodeStorage || !strings.Contains(e.Hint, r.dirs.State) {
		t.Errorf("the store fails: %v", err)
	}
	if _, taken := r.byname["n"]; taken {
		t.Error("the store fails: the name is still in use")
	}
	h.leaving = true
	if _, err = r.Create(t.Context(), n); !errors.As(err, &e) || e.Code != api.CodeUnavailable || !e.Retry {
		t.Errorf("while the daemon leaves: %v", err)
	}
}

// hostWith is a host with one keeper.
type hostWith struct {
	*host
	k Keeper
}

func (h *hostWith) KeeperFor(string) (Keeper, error) { return h.k, nil }

// deadKeeper is a keeper that gets no requests.
type deadKeeper struct{}

func (*deadKeeper) Key() string                                         { return "main" }
func (*deadKeeper) Link() *link.Link                                    { return nil }
func (*deadKeeper) Retry(context.Context, func(*link.Link) error) error { return link.ErrLost }
