//go:build unix

package subscriptions

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/store"
)

// runs records the runs of hooks, and ends them with the configured result.
type runs struct {
	runner
	asked []api.Run
	ended chan struct{}
}

func newRuns(how func(x *api.Run) (api.Result, error)) *runs {
	r := &runs{ended: make(chan struct{}, 100)}
	r.run = func(x *api.Run) (api.Result, error) {
		r.asked = append(r.asked, *x)
		defer func() { r.ended <- struct{}{} }()
		return how(x)
	}
	return r
}

func well(*api.Run) (api.Result, error) { return api.Result{}, nil }

func (r *runs) wait(t *testing.T, n int) {
	t.Helper()
	for range n {
		select {
		case <-r.ended:
		case <-time.After(time.Minute):
			t.Fatal("it is not run")
		}
	}
}

// events are the values of a variable in all that was run, in order.
func (r *runs) events(name string) (list []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.asked {
		for _, kv := range r.asked[i].SetEnv {
			if v, ok := strings.CutPrefix(kv, name+"="); ok {
				list = append(list, v)
			}
		}
	}
	return list
}

func input(t *testing.T, st *store.Store, session, name string, at time.Time) {
	t.Helper()
	c := store.Completion{Kind: store.CompletionInput, Session: session, Name: name, Ref: name + fmt.Sprint(at.UnixNano()), State: "text", At: at}
	if err := st.AddCompletion(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

// eventually waits until a subscription has the expected state.
func eventually(t *testing.T, s *Set, name string, is func(*api.Subscription) bool) api.Subscription {
	t.Helper()
	for until := time.Now().Add(time.Minute); ; {
		list, err := s.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if time.Now().After(until) {
			t.Fatalf("%s does not become so: %+v", name, list)
		}
		if i := slices.IndexFunc(list, func(v api.Subscription) bool { return v.Name == name }); i >= 0 && is(&list[i]) {
			return list[i]
		}
	}
}

func configure(t *testing.T, s *Set, hooks ...config.Hook) {
	t.Helper()
	if err := s.Configure(t.Context(), hooks); err != nil {
		t.Fatal(err)
	}
}

var at = time.Unix(1000, 0)

// TestConfiguredHooks checks that a configured hook runs for the events that it selects, with their data, and continues
// at its cursor after a restart of the daemon and a change of its command. Removed from the configuration, it is
// forgotten.
//
// FEATURES: R119 R88
func TestConfiguredHooks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "longterm.db")
	first := newRuns(well)
	s, st, gone := daemon(t, path, first)
	labels := func(id string) (map[string]string, bool) { return map[string]string{"of": id}, true }
	s.Labels = labels
	one := config.Hook{Name: "one", On: []string{"input"}, Session: []string{"build-*"}, Label: []string{"of=s1"}, Run: []string{"tell", "it's"}, Timeout: time.Minute}
	configure(t, s, one)
	input(t, st, "s1", "other", at)
	input(t, st, "s2", "build-1", at)
	input(t, st, "s1", "build-1", at)
	input(t, st, "s1", "build-1", at.Add(1))
	first.wait(t, 2)
	eventually(t, s, "config:one", func(v *api.Subscription) bool { return v.Cursor == 4 })
	if got := first.events("LONGTERM_EVENT_NAME"); !slices.Equal(got, []string{"build-1", "build-1"}) {
		t.Errorf("run for %q", got)
	}
	x := first.asked[0]
	if want := []string{"/bin/sh", "-c", `printf '%s\n' "$LONGTERM_COMPLETION" | tell 'it'\''s'`}; !slices.Equal(x.Argv, want) || *x.TimeoutMS != 60_000 {
		t.Errorf("runs %q for %d ms", x.Argv, *x.TimeoutMS)
	}
	var about api.Completion
	if err := json.Unmarshal([]byte(first.events("LONGTERM_COMPLETION")[0]), &about); err != nil || about.Session != "s1" || about.State != "text" {
		t.Errorf("%+v, %v", about, err)
	}
	if err := s.Remove(t.Context(), "config:one"); codeOf(err) != api.CodeInvalid {
		t.Errorf("removed by hand: %v", err)
	}
	if _, err := s.Ack(t.Context(), "config:one", api.AckCompletions{Cursor: 4}); codeOf(err) != api.CodeInvalid {
		t.Errorf("acknowledged by hand: %v", err)
	}
	if _, err := s.Read(t.Context(), "config:one", api.ReadCompletions{Ack: 4}); codeOf(err) != api.CodeInvalid {
		t.Errorf("acknowledged by a reader: %v", err)
	}
	gone()

	again := newRuns(well)
	s, st, _ = daemon(t, path, again)
	s.Labels = labels
	input(t, st, "s1", "build-2", at) // before the configuration was read
	one.Run = []string{"another"}
	configure(t, s, one)
	configure(t, s, one) // the same changes nothing
	again.wait(t, 1)
	if got := again.events("LONGTERM_EVENT_NAME"); !slices.Equal(got, []string{"build-2"}) || !strings.HasSuffix(again.asked[0].Argv[2], "| another") {
		t.Errorf("run for %q: %q", got, again.asked[0].Argv)
	}
	configure(t, s)
	if list, err := s.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("left: %+v, %v", list, err)
	}
}

// TestLimitOfAHook checks that a hook runs once within its limit, by the times of the events, and that omitted events
// are counted.
//
// FEATURES: R119
func TestLimitOfAHook(t *testing.T) {
	r := newRuns(well)
	s, st, _ := daemon(t, filepath.Join(t.TempDir(), "longterm.db"), r)
	configure(t, s, config.Hook{Name: "one", On: []string{"input"}, Run: []string{"tell"}, Every: 10 * time.Second, Timeout: time.Minute})
	for _, after := range []time.Duration{0, 1, 9, 10, 11, 30} {
		input(t, st, "s", fmt.Sprint(int(after)), at.Add(after*time.Second))
	}
	v := eventually(t, s, "config:one", func(v *api.Subscription) bool { return v.Cursor == 6 })
	if got := r.events("LONGTERM_EVENT_NAME"); !slices.Equal(got, []string{"0", "10", "30"}) || v.Skipped != 3 {
		t.Errorf("run for %q, %d skipped", got, v.Skipped)
	}
}

// TestHooksThatFail checks that a hook that hangs, fails or is not allowed reports that in an event and in its
// subscription until a run succeeds, and does not delay later ones.
//
// FEATURES: R119
func TestHooksThatFail(t *testing.T) {
	code := 3
	ends := []struct {
		r    api.Result
		err  error
		want string
	}{
		{r: api.Result{State: "killed", TimedOut: "wall"}, want: "it was ended: 2s is its time"},
		{r: api.Result{State: "exited", ExitCode: &code, Output: "one\nno such host\n"}, want: "it ended with status 3: no such host"},
		{r: api.Result{State: "signalled", Signal: "SIGSEGV"}, want: "it was ended by SIGSEGV"},
		{err: api.Errorf(api.CodeDenied, "not allowed"), want: "not allowed"},
		{r: api.Result{State: "denied", Message: "a rule says no"}, want: "denied: a rule says no"},
	}
	at := 0
	r := newRuns(nil)
	run := &script{runs: r, end: func() (api.Result, error) { at++; return ends[at-1].r, ends[at-1].err }}
	s, st, _ := daemon(t, filepath.Join(t.TempDir(), "longterm.db"), run)
	var mu sync.Mutex
	var told []string
	s.Publish = func(e api.Event) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, e.Kind+" "+e.Hook.Name+" "+e.Hook.On+" "+e.Hook.Reason)
	}
	configure(t, s, config.Hook{Name: "one", On: []string{"input"}, Run: []string{"tell"}, Timeout: 2 * time.Second})
	for i := range ends {
		input(t, st, "s", "a", time.Unix(int64(i), 0))
	}
	v := eventually(t, s, "config:one", func(v *api.Subscription) bool { return int(v.Cursor) == len(ends) })
	if v.Failed != len(ends) || v.Failure == nil || v.Failure.Reason != "denied: a rule says no" {
		t.Errorf("%+v", v)
	}
	mu.Lock()
	defer mu.Unlock()
	for i, e := range ends {
		if want := "hook config:one input " + e.want; told[i] != want {
			t.Errorf("notified of %q, want %q", told[i], want)
		}
	}
	ends = append(ends, struct {
		r    api.Result
		err  error
		want string
	}{r: api.Result{State: "exited", ExitCode: new(int)}})
	input(t, st, "s", "a", time.Unix(100, 0))
	eventually(t, s, "config:one", func(v *api.Subscription) bool { return v.Failure == nil && int(v.Cursor) == len(ends) })
}

// script is a runner with preset results.
type script struct {
	*runs
	end func() (api.Result, error)
}

func (s *script) RunHook(context.Context, api.Run) (api.Result, error) { return s.end() }

// TestUnstoredEvents_RunTheirHooks checks that events that are not stored run their hooks, except events of what hooks
// run.
//
// FEATURES: R119
func TestUnstoredEvents_RunTheirHooks(t *testing.T) {
	r := newRuns(well)
	s, _, _ := daemon(t, filepath.Join(t.TempDir(), "longterm.db"), r)
	configure(t, s, config.Hook{Name: "one", On: []string{"bell", "new"}, Session: []string{"a"}, Run: []string{"tell"}, Timeout: time.Minute})
	for _, e := range []api.Event{
		{Seq: 1, Kind: "bell", Session: &api.Session{Name: "b"}},
		{Seq: 2, Kind: "created", Session: &api.Session{Name: "a", Labels: map[string]string{hookLabel: "x"}}},
		{Seq: 3, Kind: "created", Session: &api.Session{Name: "a", Temporary: true}},
		{Seq: 4, Kind: "title", Session: &api.Session{Name: "a"}},
		{Seq: 5, Kind: "created", Session: &api.Session{Name: "a"}},
		{Seq: 6, Kind: "bell", Session: &api.Session{Name: "a"}},
		{Seq: 7, Kind: "config"},
	} {
		s.HandleEvent(&e)
	}
	r.wait(t, 2)
	if got := r.events("LONGTERM_EVENT"); !slices.Equal(got, []string{"new", "bell"}) {
		t.Errorf("run for %q", got)
	}
}

// TestApprovalsOfHooks checks that approval requests of hooks run no hook.
func TestApprovalsOfHooks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "longterm.db")
	var st *store.Store
	n := int64(0)
	r := newRuns(func(x *api.Run) (api.Result, error) {
		n++
		asking := ""
		if n < 3 {
			asking = x.Job
		}
		a := store.Approval{N: 10 + n, State: store.ApprovalPending, Kind: "command", Body: []byte("{}"), Requested: at}
		return api.Result{State: "exited", ExitCode: new(int)}, st.PutApproval(t.Context(), a, asking)
	})
	s, st0, _ := daemon(t, path, r)
	st = st0
	configure(t, s, config.Hook{Name: "one", On: []string{"approval", "input"}, Run: []string{"tell"}, Timeout: time.Minute})
	for i := range 2 {
		input(t, st, "s", "a", at.Add(time.Duration(i)))
		eventually(t, s, "config:one", func(v *api.Subscription) bool { return int(v.Cursor) == 2*i+2 })
	}
	if got := r.events("LONGTERM_EVENT"); !slices.Equal(got, []string{"input", "input"}) {
		t.Errorf("run for %q", got)
	}
}

// TestOneFailureIsOne checks that a failure is one event even if the session was removed before its job is reported, as
// for a line of the viewer's prompt, or if only the job reports it.
//
// FEATURES: R119
func TestOneFailureIsOne(t *testing.T) {
	r := newRuns(well)
	s, st, _ := daemon(t, filepath.Join(t.TempDir(), "longterm.db"), r)
	s.Labels = func(string) (map[string]string, bool) { return nil, false } // no session exists
	configure(t, s, config.Hook{Name: "one", On: []string{"failed"}, Run: []string{"tell"}, Timeout: time.Minute})
	one := 1
	for _, c := range []store.Completion{
		{Kind: store.CompletionSession, Session: "s1", Name: "a", Ref: "1", State: "exited", ExitCode: &one, At: at},
		{Kind: store.CompletionJob, Session: "s1", Name: "a", Ref: "j1", State: "exited", ExitCode: &one, At: at},
		{Kind: store.CompletionJob, Session: "s2", Name: "b", Ref: "j2", State: "exited", ExitCode: &one, At: at},
		{Kind: store.CompletionCommand, Session: "s3", Name: "c", Ref: "1", State: "done", ExitCode: &one, At: at},
		{Kind: store.CompletionJob, Session: "s3", Name: "c", Ref: "j3", State: "exited", ExitCode: &one, At: at},
		{Kind: store.CompletionSession, Session: "s4", Name: "last", Ref: "1", State: "exited", ExitCode: &one, At: at},
	} {
		if err := st.AddCompletion(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, s, "config:one", func(v *api.Subscription) bool { return v.Cursor == 6 })
	if got := r.events("LONGTERM_EVENT_NAME"); !slices.Equal(got, []string{"a", "b", "c", "last"}) {
		t.Errorf("run for %q", got)
	}
}

// TestHappened checks the names of events, as in the configuration.
func TestHappened(t *testing.T) {
	one := 1
	for _, c := range []struct {
		c       store.Completion
		lasting bool
		want    string
	}{
		{store.Completion{Kind: "session", State: "exited", ExitCode: new(int)}, true, "exit finished"},
		{store.Completion{Kind: "session", State: "exited", ExitCode: &one}, true, "exit failed"},
		{store.Completion{Kind: "session", State: "lost"}, true, "exit failed lost"},
		{store.Completion{Kind: "command", State: "done", Signal: "SIGINT"}, true, "command failed"},
		{store.Completion{Kind: "command", State: "done"}, true, "command"},
		{store.Completion{Kind: "command", State: "done", ExitCode: new(int)}, true, "command finished"},
		{store.Completion{Kind: "job", State: "exited", ExitCode: &one}, true, "job"},
		{store.Completion{Kind: "job", State: "exited", ExitCode: new(int)}, false, "job finished"},
		{store.Completion{Kind: "job", State: "exited", ExitCode: &one}, false, "job failed"},
		{store.Completion{Kind: "input", State: "text"}, true, "input"},
		{store.Completion{Kind: "approval", State: "line"}, false, "approval"},
	} {
		var got []string
		for _, e := range config.HookEvents {
			if matchesEvent(e.Name, &c.c, c.lasting) {
				got = append(got, e.Name)
				if !slices.Contains(e.Kinds, c.c.Kind) {
					t.Errorf("%s is never read for %s", c.c.Kind, e.Name)
				}
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v is %q, want %q", c.c, got, c.want)
		}
	}
}

// TestLimitAfterTrouble checks that a temporary error does not consume a hook's limit, and that events omitted before
// it are counted once.
func TestLimitAfterTrouble(t *testing.T) {
	added, n := make(chan struct{}), 0
	r := newRuns(func(*api.Run) (api.Result, error) {
		switch n++; n {
		case 1:
			<-added
		case 2:
			return api.Result{}, api.Errorf(api.CodeUnavailable, "not now")
		}
		return api.Result{}, nil
	})
	s, st, _ := daemon(t, filepath.Join(t.TempDir(), "longterm.db"), r)
	configure(t, s, config.Hook{Name: "one", On: []string{"input"}, Run: []string{"tell"}, Every: time.Hour, Timeout: time.Minute})
	input(t, st, "s1", "a", at)
	input(t, st, "s1", "b", at.Add(time.Minute))
	input(t, st, "s1", "c", at.Add(2*time.Hour))
	close(added)
	v := eventually(t, s, "config:one", func(v *api.Subscription) bool { return v.Cursor == 3 })
	if got := r.events("LONGTERM_EVENT_NAME"); !slices.Equal(got, []string{"a", "c", "c"}) || v.Skipped != 1 {
		t.Errorf("run for %q, %d omitted", got, v.Skipped)
	}
}
