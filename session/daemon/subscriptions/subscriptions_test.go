//go:build unix

package subscriptions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/store"
)

// runner runs hooks and counts its runs by job.
type runner struct {
	mu   sync.Mutex
	ran  []string
	line string
	run  func(x *api.Run) (api.Result, error)
}

func (r *runner) RunHook(_ context.Context, x api.Run) (api.Result, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line = x.Line
	if r.run != nil {
		if res, err := r.run(&x); err != nil {
			return res, err
		}
	}
	r.ran = append(r.ran, x.Job)
	return api.Result{State: "exited", ExitCode: new(int)}, nil
}

// daemon opens a database and its services; gone ends both, as a daemon's exit does.
func daemon(t *testing.T, path string, r Runner) (s *Set, st *store.Store, gone func()) {
	t.Helper()
	st, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	s = New(st, r, slog.New(slog.DiscardHandler))
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	gone = sync.OnceFunc(func() {
		s.Close()
		_ = st.Close()
	})
	t.Cleanup(gone)
	return s, st, gone
}

func end(t *testing.T, st *store.Store, id string) {
	t.Helper()
	j := store.Job{ID: id, Session: "s", Kind: store.JobLine, Line: id, State: store.JobRunning, Request: []byte("{}"), Created: time.Unix(1, 0)}
	err := st.AddJob(t.Context(), j)
	j.State, j.Result = store.JobDone, []byte(`{"state":"exited","exit_code":0}`)
	if err = errors.Join(err, st.UpdateJob(t.Context(), j)); err != nil {
		t.Fatal(err)
	}
}

func jobsOf(c api.Completions) (ids []string) {
	for i := range c.Completions {
		ids = append(ids, c.Completions[i].Job)
	}
	return ids
}

func read(t *testing.T, s *Set, in api.ReadCompletions) api.Completions {
	t.Helper()
	c, err := s.Read(t.Context(), "ci", in)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestAwayFor5000 checks that a reader that misses 5,000 ends and two daemons gets each once, in order, in pieces. One
// that is killed before it acknowledged a piece gets that piece again.
//
// FEATURES: R101 R88
func TestAwayFor5000(t *testing.T) {
	tier.Full(t)
	path := filepath.Join(t.TempDir(), "longterm.db")
	s, st, gone := daemon(t, path, &runner{})
	if _, err := s.Put(t.Context(), "ci", "", api.NewSubscription{Kinds: []string{"job"}}); err != nil {
		t.Fatal(err)
	}
	const n = 5000
	var want []string
	for i := range n {
		if i == n/2 {
			gone()
			_, st, gone = daemon(t, path, &runner{})
		}
		want = append(want, fmt.Sprint("job-", i))
		end(t, st, want[i])
	}
	gone()
	s, _, _ = daemon(t, path, &runner{})
	var got []string
	in := api.ReadCompletions{Limit: 700}
	for {
		c := read(t, s, in)
		again := read(t, s, api.ReadCompletions{Limit: 700, After: 0}) // by one that was killed with the piece in hand
		if in.Ack == 0 && !slices.Equal(jobsOf(c), jobsOf(again)) {
			t.Fatal("unacknowledged completions are not returned again")
		}
		got = append(got, jobsOf(c)...)
		if in.Ack = c.Cursor; len(c.Completions) == 0 {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d arrived, %d ended", len(got), len(want))
	}
}

// TestReadWaits checks that a reader is woken by an end, and at its timeout. An event that it does not select does not
// wake it but moves the cursor.
//
// FEATURES: R101
func TestReadWaits(t *testing.T) {
	s, st, gone := daemon(t, filepath.Join(t.TempDir(), "longterm.db"), &runner{})
	put := func(n api.NewSubscription) {
		t.Helper()
		if _, err := s.Put(t.Context(), "ci", "s", n); err != nil {
			t.Fatal(err)
		}
	}
	put(api.NewSubscription{Kinds: []string{"session", "job", "job"}})
	put(api.NewSubscription{Kinds: []string{"job", "session"}}) // the same
	if _, err := s.Put(t.Context(), "ci", "", api.NewSubscription{}); codeOf(err) != api.CodeNameTaken {
		t.Errorf("another one of this name: %v", err)
	}
	if c := read(t, s, api.ReadCompletions{WaitMS: 1}); len(c.Completions) != 0 || c.More {
		t.Errorf("before any: %+v", c)
	}
	told := make(chan api.Completions)
	go func() {
		c, err := s.Read(context.WithoutCancel(t.Context()), "ci", api.ReadCompletions{WaitMS: 50_000})
		if err != nil {
			t.Error(err)
		}
		told <- c
	}()
	if err := st.AddCompletion(t.Context(), store.Completion{Kind: "input", Session: "s", Ref: "1", State: "text"}); err != nil {
		t.Fatal(err)
	}
	end(t, st, "one")
	c := <-told
	if !slices.Equal(jobsOf(c), []string{"one"}) || c.Cursor != 2 || c.Completions[0].Seq != 2 || *c.Completions[0].ExitCode != 0 {
		t.Errorf("got %+v", c)
	}
	if v, err := s.Ack(t.Context(), "ci", api.AckCompletions{Cursor: c.Cursor}); err != nil || v.Cursor != 2 || v.Newest != 2 {
		t.Errorf("%+v, %v", v, err)
	}
	for _, c := range []struct {
		what string
		over func()
	}{
		{"removed", func() {
			if err := s.Remove(t.Context(), "ci"); err != nil {
				t.Error(err)
			}
		}},
		{"the daemon leaves", gone},
	} {
		put(api.NewSubscription{Kinds: []string{"job", "session"}})
		failed := make(chan error)
		go func() {
			_, err := s.Read(context.WithoutCancel(t.Context()), "ci", api.ReadCompletions{WaitMS: 50_000})
			failed <- err
		}()
		c.over()
		if err := <-failed; err == nil {
			t.Errorf("%s: the wait ended without a word", c.what)
		}
	}
}

// untilReadWaits returns when a Read has no result and waits: it reads the goroutines' states from the runtime.
func untilReadWaits(t *testing.T) {
	t.Helper()
	buf := make([]byte, 1<<20)
	for t.Context().Err() == nil {
		for one := range bytes.SplitSeq(buf[:runtime.Stack(buf, true)], []byte("\n\n")) {
			state, stack, _ := bytes.Cut(one, []byte("\n"))
			if top, _, _ := bytes.Cut(stack, []byte("(")); bytes.Contains(state, []byte("[select")) && bytes.Contains(stack, []byte("subscriptions.(*Set).Read(")) &&
				bytes.HasSuffix(top, []byte("/subscriptions.")) {
				return
			}
		}
		runtime.Gosched()
	}
}

func codeOf(err error) api.Code {
	var e *api.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// TestTwoReaders checks that of two readers of one subscription the newer one owns it: the older one is rejected, also
// while it waits, and the newer one gets what it did not acknowledge. Each end is acknowledged by one of them.
//
// FEATURES: R101
func TestTwoReaders(t *testing.T) {
	s, st, _ := daemon(t, filepath.Join(t.TempDir(), "longterm.db"), &runner{})
	if _, err := s.Put(t.Context(), "ci", "", api.NewSubscription{}); err != nil {
		t.Fatal(err)
	}
	end(t, st, "one")
	if c := read(t, s, api.ReadCompletions{Reader: "a", Take: true}); len(c.Completions) != 1 {
		t.Fatalf("%+v", c)
	}
	if _, err := s.Read(t.Context(), "ci", api.ReadCompletions{Reader: "b"}); codeOf(err) != api.CodeStale {
		t.Errorf("a reader without an acknowledgement: %v", err)
	}
	read(t, s, api.ReadCompletions{Reader: "a", Ack: 1})
	waiting := make(chan error)
	go func() {
		_, err := s.Read(context.WithoutCancel(t.Context()), "ci", api.ReadCompletions{Reader: "a", WaitMS: 50_000})
		waiting <- err
	}()
	untilReadWaits(t) // it must be woken, not rejected by chance
	if c := read(t, s, api.ReadCompletions{Reader: "b", Take: true}); len(c.Completions) != 0 {
		t.Errorf("acknowledged completions are returned again: %+v", c)
	}
	if err := <-waiting; codeOf(err) != api.CodeStale {
		t.Errorf("the older one: %v", err)
	}
	end(t, st, "two")
	if _, err := s.Ack(t.Context(), "ci", api.AckCompletions{Cursor: 2, Reader: "a"}); codeOf(err) != api.CodeStale {
		t.Errorf("the older one acknowledges: %v", err)
	}
	if c := read(t, s, api.ReadCompletions{Reader: "b"}); !slices.Equal(jobsOf(c), []string{"two"}) {
		t.Errorf("the newer one got %+v", c)
	}
}

// TestHooks checks that a hook runs for each end, in order. A daemon that ends before its result is known requests the
// same job again. A failed run is counted and not repeated.
//
// FEATURES: R101
func TestHooks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "longterm.db")
	leaving := make(chan struct{})
	first := &runner{run: func(x *api.Run) (api.Result, error) {
		if strings.HasSuffix(x.Job, "-3") {
			close(leaving)
			return api.Result{}, api.Errorf(api.CodeUnavailable, "the daemon is being replaced").Retryable()
		}
		if strings.HasSuffix(x.Job, "-2") {
			return api.Result{}, api.Errorf(api.CodeDenied, "not allowed")
		}
		return api.Result{}, nil
	}}
	s, st, gone := daemon(t, path, first)
	sub, err := s.Put(t.Context(), "hook", "", api.NewSubscription{Hook: "tell"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		end(t, st, fmt.Sprint("job-", i))
	}
	<-leaving
	gone()
	second := &runner{}
	s, _, gone = daemon(t, path, second)
	for sub.Cursor < 5 {
		list, err := s.List(t.Context())
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		sub = list[0]
	}
	gone()
	tails := func(jobs []string) (list []string) {
		for _, j := range jobs {
			list = append(list, j[strings.LastIndexByte(j, '-')+1:])
		}
		return list
	}
	if got := tails(first.ran); !slices.Equal(got, []string{"1"}) {
		t.Errorf("the first daemon ran %q", got)
	}
	if got := tails(second.ran); !slices.Equal(got, []string{"3", "4", "5"}) || second.line != "tell" {
		t.Errorf("the second daemon ran %q, %q", got, second.line)
	}
	if sub.Failed != 1 {
		t.Errorf("%d failed", sub.Failed)
	}
}

// TestBounds checks that an invalid name is rejected, and the number of subscriptions is bounded.
func TestBounds(t *testing.T) {
	s, _, _ := daemon(t, filepath.Join(t.TempDir(), "longterm.db"), &runner{})
	for _, name := range []string{"", "a b", "ä", "a/b", strings.Repeat("x", maxName+1), "a\x00"} {
		if _, err := s.Put(t.Context(), name, "", api.NewSubscription{}); codeOf(err) != api.CodeInvalid {
			t.Errorf("%q: %v", name, err)
		}
	}
	for i := range maxSubscriptions {
		if _, err := s.Put(t.Context(), fmt.Sprint("n", i), "", api.NewSubscription{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Put(t.Context(), "more", "", api.NewSubscription{}); codeOf(err) != api.CodeLimit {
		t.Errorf("one more: %v", err)
	}
	if _, err := s.Read(t.Context(), "none", api.ReadCompletions{}); codeOf(err) != api.CodeNotFound {
		t.Errorf("none: %v", err)
	}
}

// TestStoreQuery_Skipped_WhenNoWaiters checks that the store is queried for newer completions only while a reader
// waits: it notifies of each of its writes.
//
// FEATURES: R101
func TestStoreQuery_Skipped_WhenNoWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, st, gone := daemon(t, filepath.Join(t.TempDir(), "db"), &runner{})
		defer gone()
		var failed bytes.Buffer
		s := New(st, nil, slog.New(slog.NewTextHandler(&failed, nil)))
		s.work.Go(s.watch)
		defer s.Close()
		if err := st.Close(); err != nil { // queries fail from now on, which is logged
			t.Fatal(err)
		}
		st.OnChange()
		synctest.Wait()
		if failed.Len() > 0 {
			t.Errorf("it was queried without a reader: %s", &failed)
		}
		s.next()
		st.OnChange()
		synctest.Wait()
		if failed.Len() == 0 {
			t.Error("it was not queried for a waiting reader")
		}
	})
}
