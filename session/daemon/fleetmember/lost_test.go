//go:build unix

package fleetmember

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/store/fleet/replica"
)

// stock fakes a fleet's replica of a host, and the directory for it: each session's size by its id. Only the filling
// goroutine uses it.
type stock struct {
	ReplicaDaemon
	of      map[string]*stocked
	fetched []string
	here    map[string]bool // sessions with output
	fetches func(ctx context.Context, id string) error
}

type stocked struct{ from, to, end uint64 }

func (s *stock) sessions(context.Context) (ids []string, err error) {
	for id := range s.of {
		ids = append(ids, id)
	}
	return ids, nil
}

func (s *stock) heads(_ context.Context, id string) (record, newest replica.Head, err error) {
	at := time.Unix(int64(s.of[id].end), 0)
	return replica.Head{Record: true, Kept: at}, replica.Head{To: replica.Place{Offset: s.of[id].to}, Kept: at}, nil
}

func (s *stock) first(_ context.Context, id string) (replica.Place, error) {
	return replica.Place{Offset: s.of[id].from}, nil
}

func (s *stock) restore(ctx context.Context, id, _ string, takeIn ImportSession, output bool) (got api.RestoredSession, at time.Time, err error) {
	if s.fetches != nil {
		if err := s.fetches(ctx, id); err != nil {
			return got, at, err
		}
	}
	if output {
		s.fetched = append(s.fetched, id)
	}
	got.Bytes = s.of[id].to - s.of[id].from
	_, err = takeIn(ctx, "lost", id, nil, "", time.Time{})
	if err == nil {
		s.here[id] = output
	}
	return got, time.Unix(int64(s.of[id].end), 0), err
}

func (s *stock) Import(_ context.Context, _, id string, _ []byte, _ string, _ time.Time) (string, error) {
	s.here[id] = false
	return id, nil
}

func (s *stock) Forget(_ context.Context, id string) error {
	delete(s.here, id)
	return nil
}

func (s *stock) Resolve(id string) (string, error) {
	if _, ok := s.here[id]; !ok {
		return "", fmt.Errorf("no session %q", id)
	}
	return id, nil
}

func (s *stock) CatchUp(context.Context) {}
func (s *stock) Close()                  {}

// inStock returns a lost host with space for a number of bytes, and its replica. end is also the time when a session
// was copied last.
func inStock(t *testing.T, most uint64, of map[string]*stocked) (*HostReplica, *stock) {
	t.Helper()
	s := &stock{of: of, here: map[string]bool{}}
	hosts := New(Config{Log: slog.New(slog.DiscardHandler)}).lost
	l := newHostReplica(hosts, "lost", t.TempDir(), s)
	l.store, l.maxBytes, l.srv, l.expiry = s, most, &http.Server{}, time.NewTimer(time.Hour)
	l.used = time.Now()
	hosts.all["lost"] = l
	return l, s
}

func need(t *testing.T, l *HostReplica, what ReplicaSlice, ref string) (api.FleetCopy, func()) {
	t.Helper()
	said, done, err := l.Need(t.Context(), what, ref)
	if err != nil {
		t.Fatal(err)
	}
	return said, done
}

// TestSearchOfALostHostHasWhatFits checks that a search reads all sessions that fit, and counts the others. Output that
// is no longer kept takes no space.
//
// FEATURES: R94
func TestSearchOfALostHostHasWhatFits(t *testing.T) {
	l, s := inStock(t, 31, map[string]*stocked{"a": {to: 20, end: 3}, "b": {to: 9, end: 2}, "old": {from: 998, to: 1000, end: 1}, "large": {to: 3, end: 0}})
	said, done := need(t, l, AllOutput, "")
	if said.LeftOut != 1 || !s.here["a"] || !s.here["b"] || !s.here["old"] || s.here["large"] {
		t.Errorf("%+v, here are %v", said, s.here)
	}
	done()
	said, done = need(t, l, AllOutput, "")
	defer done()
	if said.LeftOut != 1 || len(s.fetched) != 3 {
		t.Errorf("%+v, fetched %v", said, s.fetched)
	}
}

// TestWhatIsReadStays checks that a replica stays while it is read, and then makes room for another.
//
// FEATURES: R94
func TestWhatIsReadStays(t *testing.T) {
	l, s := inStock(t, 10, map[string]*stocked{"a": {to: 10}, "b": {to: 10}, "c": {to: 10}})
	_, doneA := need(t, l, SessionOutput, "a")
	_, doneB := need(t, l, SessionOutput, "b")
	if !s.here["a"] || !s.here["b"] {
		t.Errorf("here are %v", s.here)
	}
	doneB()
	s.of["a"].to, s.of["a"].end = 11, 11 // the host was back
	l.refreshed = time.Time{}
	_, doneC := need(t, l, SessionOutput, "c")
	defer doneC()
	if !s.here["a"] || s.here["b"] || !s.here["c"] {
		t.Errorf("here are %v", s.here)
	}
	l.used = time.Time{}
	if l.set.expire(l); l.set.all["lost"] != l {
		t.Error("it is given up while it is read")
	}
	doneA()
	l.refreshed = time.Time{}
	_, done := need(t, l, RecordsOnly, "")
	defer done()
	if s.here["a"] || l.sessions["a"].newest.To.Offset != 11 {
		t.Errorf("a replica that is no longer read is still old: %v", s.here)
	}
}

// TestRequestThatIsCutOffHidesNothing checks that a canceled request does not remove sessions from the result of the
// next one.
//
// FEATURES: R94
func TestRequestThatIsCutOffHidesNothing(t *testing.T) {
	l, s := inStock(t, 100, map[string]*stocked{"a": {to: 1}, "b": {to: 1}})
	cut := func(what ReplicaSlice, ref string) {
		t.Helper()
		ctx, stop := context.WithCancel(t.Context())
		s.fetches = func(ctx context.Context, _ string) error {
			stop()
			return ctx.Err()
		}
		if _, _, err := l.Need(ctx, what, ref); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		s.fetches = nil
	}
	cut(RecordsOnly, "")
	said, done := need(t, l, RecordsOnly, "")
	done()
	if said.LeftOut != 0 || len(s.here) != 2 {
		t.Errorf("%+v, here are %v", said, s.here)
	}
	cut(SessionOutput, "a")
	if len(s.here) != 2 {
		t.Errorf("here are %v", s.here)
	}
	_, done = need(t, l, SessionOutput, "a")
	done()
	s.of["a"].to, l.refreshed = 2, time.Time{}
	cut(RecordsOnly, "")
	said, done = need(t, l, AllOutput, "")
	defer done()
	if said.LeftOut != 0 || l.sessions["a"].bytes != 2 || !s.here["a"] || !s.here["b"] {
		t.Errorf("%+v, here are %v", said, s.here)
	}
}

// TestWaitingForALostHostIsCutOff checks that a caller that waits for another request's fetch can leave, and so can the
// whole fleet. The fetch affects only its own callers, and blocks no other host's replicas.
//
// FEATURES: R94
func TestWaitingForALostHostIsCutOff(t *testing.T) {
	l, s := inStock(t, 100, map[string]*stocked{"a": {to: 1}})
	begun, goOn := make(chan struct{}), make(chan struct{})
	s.fetches = func(context.Context, string) error {
		close(begun)
		<-goOn
		return errors.New("it is gone")
	}
	first := make(chan struct{})
	go func() {
		defer close(first)
		if _, done, err := l.Need(t.Context(), RecordsOnly, ""); err == nil {
			done()
		}
	}()
	<-begun
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, _, err := l.Need(ctx, RecordsOnly, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		l.set.closeAll()
	}()
	<-l.ended
	if got := l.set.openReplica(l.membership, "other"); got != nil { // it does not wait
		t.Error(got)
	}
	if _, _, err := l.Need(t.Context(), RecordsOnly, ""); err == nil {
		t.Error("it is read while it is closed")
	}
	close(goOn)
	<-first
	<-closed
	if len(l.set.all) != 0 || len(l.set.ending) != 0 {
		t.Errorf("%v, %v", l.set.all, l.set.ending)
	}
}
