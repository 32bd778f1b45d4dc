package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

func subscribe(t testing.TB, s *Store, sub Subscription) Subscription {
	t.Helper()
	if sub.UID == "" {
		sub.UID = "of-" + sub.Name
	}
	sub.Created, sub.Seen = time.Unix(1_700_000_000, 0), time.Unix(1_700_000_000, 0)
	made, err := s.Subscribe(context.Background(), sub)
	must(t, err)
	return made
}

func endJob(t testing.TB, s *Store, id string) {
	t.Helper()
	j := fullJob(id, 1)
	j.State, j.Result, j.Ended = JobRunning, nil, time.Time{}
	must(t, s.AddJob(context.Background(), j))
	j = fullJob(id, 1)
	j.Result = []byte(`{"state":"exited","exit_code":3,"signal":""}`)
	must(t, s.UpdateJob(context.Background(), j))
	must(t, s.UpdateJob(context.Background(), j)) // repeated: it ended once
}

func unread(t testing.TB, s *Store, name string, limit int) (refs []string, upTo uint64) {
	t.Helper()
	sub, err := s.Subscription(context.Background(), name)
	must(t, err)
	all, lost, upTo, err := s.Completions(context.Background(), &sub, sub.Cursor, limit)
	must(t, err)
	if lost != 0 {
		t.Errorf("%d are lost", lost)
	}
	for i := range all {
		refs = append(refs, all[i].Kind+" "+all[i].Ref+" "+all[i].State)
	}
	return refs, upTo
}

// TestCompletions checks that each end is returned once per read, in order, until it is acknowledged. Nothing is stored
// without a subscription, which outlives the process.
//
// FEATURES: R101
func TestCompletions(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "longterm.db")
	s := openTest(t, path)
	endJob(t, s, "before")
	all := subscribe(t, s, Subscription{Name: "all"})
	subscribe(t, s, Subscription{Name: "jobs", Kinds: []string{CompletionJob}, Session: "1"})
	if _, err := s.Subscribe(ctx, all); !errors.Is(err, ErrSubscribed) {
		t.Errorf("created twice: %v", err)
	}
	sess := full("s1")
	sess.State, sess.Temporary = "running", false
	must(t, s.CreateSession(ctx, sess))
	endJob(t, s, "one")
	if _, err := s.AddCommand(ctx, Command{Session: "s1", N: 1, Text: "make", State: CommandRunning}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		must(t, s.UpdateCommand(ctx, Command{Session: "s1", N: 1, Text: "make", State: CommandDone, Ended: time.Unix(5, 0)}))
	}
	if _, err := s.AddCommand(ctx, Command{Session: "s1", N: 2, Text: "true", State: CommandDone}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		must(t, s.AddCompletion(ctx, Completion{Kind: CompletionInput, Session: "s1", Ref: "77", State: "password", Text: "Password:"}))
		must(t, s.PutApproval(ctx, Approval{N: 7, State: ApprovalPending, Kind: "line", Body: []byte(`{"view":{"line":"rm x"}}`)}, "a"))
	}
	must(t, s.PutApproval(ctx, Approval{N: 7, State: ApprovalAnswered, Kind: "line", Body: []byte("{}")}, ""))
	sess.State = "exited"
	must(t, s.UpdateSession(ctx, sess))
	line := full("s2") // reported by its job
	line.State, line.Temporary, line.Labels = "running", false, map[string]string{"longterm.mcp": "exec"}
	must(t, s.CreateSession(ctx, line))
	line.State = "exited"
	must(t, s.UpdateSession(ctx, line))
	kept := full("s3") // likewise: it is kept for its output only
	kept.State, kept.Temporary = "running", true
	must(t, s.CreateSession(ctx, kept))
	kept.State, kept.Temporary, kept.Labels = "exited", false, map[string]string{"longterm.kept": "run"}
	must(t, s.UpdateSession(ctx, kept))
	endJob(t, s, "two")
	must(t, s.Close())

	s = openTest(t, path)
	want := []string{
		"job one exited", "command 1 done", "command 2 done", "input 77 password", "approval A7 line",
		fmt.Sprintf("session %d exited", sess.Started.UnixNano()), "job two exited",
	}
	got, upTo := unread(t, s, "all", 100)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("all: %q, want %q", got, want)
	}
	if got, _ := unread(t, s, "jobs", 100); !reflect.DeepEqual(got, []string{want[0], want[6]}) {
		t.Errorf("jobs: %q", got)
	}
	got, some := unread(t, s, "all", 2)
	if !reflect.DeepEqual(got, want[:2]) {
		t.Errorf("two: %q", got)
	}
	now := time.Unix(1_700_000_100, 0)
	must(t, s.Acknowledge(ctx, &all, some, 1, now))
	must(t, s.Acknowledge(ctx, &all, 1, 0, now)) // never back
	if got, _ := unread(t, s, "all", 100); !reflect.DeepEqual(got, want[2:]) {
		t.Errorf("after two: %q", got)
	}
	must(t, s.Acknowledge(ctx, &all, 1<<60, 0, now)) // nor past the newest completion
	endJob(t, s, "three")
	if got, _ := unread(t, s, "all", 100); !reflect.DeepEqual(got, []string{"job three exited"}) {
		t.Errorf("after all: %q", got)
	}
	endJob(t, s, "hook-of-all-12") // a hook's own job
	if got, _ := unread(t, s, "all", 100); len(got) != 1 {
		t.Errorf("a hook is notified of its own job: %q", got)
	}
	sub, err := s.Subscription(ctx, "all")
	must(t, err)
	if sub.Cursor < upTo || sub.Failed != 1 || !sub.Seen.Equal(now) {
		t.Errorf("it is %+v", sub)
	}
	other := all
	other.UID = "another"
	if err := s.Acknowledge(ctx, &other, 1, 0, now); !errors.Is(err, ErrNoSubscription) {
		t.Errorf("one of the same name before: %v", err)
	}
}

// TestCompletionsAreBounded checks that unread completions are limited, and that a late reader gets the number of
// dropped ones.
//
// FEATURES: R101
func TestCompletionsAreBounded(t *testing.T) {
	tier.Full(t)
	ctx := context.Background()
	s := openTest(t, filepath.Join(t.TempDir(), "longterm.db"))
	sub := subscribe(t, s, Subscription{Name: "late"})
	tx, err := s.db.BeginTx(ctx, nil)
	must(t, err)
	for i := range KeptCompletions + 5 {
		_, err := tx.ExecContext(ctx, "INSERT INTO completions (kind, session, name, ref, state, signal, text, at_ns) VALUES ('job', '', '', ?, 'exited', '', '', 1)", i)
		must(t, err)
	}
	must(t, tx.Commit())
	all, lost, upTo, err := s.Completions(ctx, &sub, sub.Cursor, KeptCompletions+100)
	if err != nil || len(all) != KeptCompletions || lost != 5 || all[0].Seq != 6 || upTo != KeptCompletions+5 {
		t.Errorf("%d are kept, %d lost, up to %d, %v", len(all), lost, upTo, err)
	}
	must(t, s.ForgetSubscriptions(ctx, sub.Seen))
	if list, err := s.Subscriptions(ctx); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	must(t, s.ForgetSubscriptions(ctx, sub.Seen.Add(time.Second)))
	if list, err := s.Subscriptions(ctx); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	sub = subscribe(t, s, Subscription{Name: "again"})
	must(t, s.Unsubscribe(ctx, sub.Name))
	if err := s.Unsubscribe(ctx, sub.Name); !errors.Is(err, ErrNoSubscription) {
		t.Errorf("forgotten twice: %v", err)
	}
	endJob(t, s, "nobody")
	if all, _, _, err := s.Completions(ctx, &sub, 0, 10); err != nil || len(all) != 0 {
		t.Errorf("without a subscription %v is kept, %v", all, err)
	}
}
