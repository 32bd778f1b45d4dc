package store

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

// userSession creates a session of a user.
func userSession(t testing.TB, s *Store, id string, change func(*Session)) {
	t.Helper()
	r := Session{ID: id, Name: "n-" + id, Argv: []string{"make"}, Cwd: "/p", Cols: 80, Rows: 24, State: running, Created: time.Unix(1, 0), Started: time.Unix(1, 0)}
	change(&r)
	must(t, s.CreateSession(context.Background(), r))
}

// TestEnded checks that only ends of a user's runs count that no caller waited for, in sessions that were not seen
// since.
//
// FEATURES: R130
func TestEnded(t *testing.T) {
	ctx := context.Background()
	s := openTest(t, filepath.Join(t.TempDir(), "longterm.db"))
	two := 2
	at := func(n int64) time.Time { return time.Unix(100+n, 0) }
	end := func(r *Session) { r.State, r.ExitCode, r.Ended = "exited", &two, at(1) }
	userSession(t, s, "shell", func(r *Session) { r.Shell = true })
	userSession(t, s, "seen", func(r *Session) { end(r) })
	userSession(t, s, "prog", func(r *Session) { end(r) })
	userSession(t, s, "killed", func(r *Session) { end(r); r.Stopped = true })
	userSession(t, s, "temp", func(r *Session) { end(r); r.Temporary = true })
	userSession(t, s, "agents", func(r *Session) { end(r); r.Agent = "bot" })
	userSession(t, s, "kept", func(r *Session) { end(r); r.Labels = map[string]string{"longterm.kept": "run"} })
	userSession(t, s, "ofjob", func(r *Session) { end(r) })
	for n, source := range []string{"", "exec", "agent:bot", "program"} {
		_, err := s.AddCommand(ctx, Command{Session: "shell", N: n + 1, Text: "make", Source: source, State: CommandDone, Started: at(0), Ended: at(int64(n)), ExitCode: &two})
		must(t, err)
	}
	for id, request := range map[string]string{
		"waits": `{}`, "back": `{"background":true}`, "agent": `{"background":true,"actor":{"agent":"bot"}}`, "hook-1-1": `{"background":true}`,
	} {
		must(t, s.AddJob(ctx, Job{ID: id, Session: "ofjob", Kind: JobCommand, Line: "make", State: JobDone, Request: []byte(request), Result: []byte(`{"state":"exited","exit_code":2}`), Created: at(0), Ended: at(5)}))
	}
	must(t, s.AddJob(ctx, Job{ID: "stopped", Session: "x", Kind: JobLine, Line: "make", State: JobDone, Request: []byte(`{"background":true}`), Result: []byte(`{"state":"killed","timed_out":"none"}`), Created: at(0), Ended: at(5)}))
	must(t, s.MarkSessionSeen(ctx, "seen", at(1)))
	must(t, s.MarkSessionSeen(ctx, "seen", at(0))) // later counts
	must(t, s.MarkSessionSeen(ctx, "no such", at(1)))
	list, err := s.EndedRuns(ctx, time.Unix(50, 0), 100)
	must(t, err)
	var got []string
	for _, e := range list {
		got = append(got, e.Kind+" "+e.Session+" "+e.Ref)
	}
	if want := "[job ofjob back session prog 1000000000 command shell 1]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
	if list, err := s.EndedRuns(ctx, at(9), 100); err != nil || len(list) > 0 {
		t.Errorf("%v %v", list, err)
	}
}

// TestInbox checks that entries keep their numbers and marks, numbers are not used twice, and bells of one absence are
// one entry.
//
// FEATURES: R130
func TestInbox(t *testing.T) {
	ctx := context.Background()
	s := openTest(t, filepath.Join(t.TempDir(), "longterm.db"))
	userSession(t, s, "a", func(*Session) {})
	at := func(n int64) time.Time { return time.Unix(n, 0) }
	bell := func(n int64) InboxEntry {
		return InboxEntry{Key: fmt.Sprint("bell a ", n), Session: "a", Count: 2, At: at(n)}
	}
	numbers := func() (got string) {
		list, err := s.Inbox(ctx)
		must(t, err)
		for _, e := range list {
			got += fmt.Sprintf("%d:%s:%d:%t ", e.N, e.Key, e.Count, !e.Done.IsZero())
		}
		return got
	}
	must(t, s.NumberInbox(ctx, []InboxEntry{{Key: "job 1", At: at(1)}, {Key: "gone", Session: "no such", At: at(1)}, {Key: "job 1", At: at(2)}}))
	must(t, s.AddMessages(ctx, []InboxEntry{bell(10), bell(11), {Key: "notification a 1", Session: "a", Text: "done", At: at(12)}}, 2))
	if got, want := numbers(), "1:job 1:0:false 2:bell a 10:4:false 3:notification a 1:0:false "; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	must(t, s.MarkInbox(ctx, InboxEntry{Key: "job 1", At: at(1), Done: at(20)}))
	must(t, s.MarkInbox(ctx, InboxEntry{Key: "bell a 10", Session: "a", At: at(11), Done: at(20)}))
	must(t, s.AddMessages(ctx, []InboxEntry{bell(30)}, 2)) // after it was done; the oldest is dropped
	if got, want := numbers(), "1:job 1:0:true 3:notification a 1:0:false 4:bell a 30:2:false "; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	must(t, s.MarkSessionSeen(ctx, "a", at(40)))
	must(t, s.AddMessages(ctx, []InboxEntry{bell(50)}, 2))
	port := func(p string, n int64) InboxEntry {
		return InboxEntry{Key: "port a " + p, Session: "a", Text: p, At: at(n)}
	}
	must(t, s.AddMessages(ctx, []InboxEntry{port("80", 51), port("80", 52), port("81", 53), port("82", 54)}, 2)) // beside the messages
	if got, want := numbers(), "1:job 1:0:true 4:bell a 30:2:false 5:bell a 50:2:false 7:port a 81:0:false 8:port a 82:0:false "; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	must(t, s.ForgetInbox(ctx, at(25)))
	must(t, s.DeleteSession(ctx, "a"))
	if got := numbers(); got != "" {
		t.Errorf("%q is left", got)
	}
	must(t, s.NumberInbox(ctx, []InboxEntry{{Key: "job 2", At: at(60)}}))
	if got, want := numbers(), "9:job 2:0:false "; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
