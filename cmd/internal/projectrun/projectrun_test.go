//go:build unix

package projectrun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/project"
)

// fake is a daemon that has sessions, and starts none.
type fake struct {
	mu       sync.Mutex
	sessions []api.Session
	asked    []string                   // methods and paths, except lists
	refuse   func(n int) *api.Error     // the nth start; nil: as the names are
	starts   int                        // requested starts
	hidden   int                        // that many lists have no sessions yet
	waits    func(context.Context) bool // whether a wait succeeds; nil: the session has ended
}

func (f *fake) client(t *testing.T) *client.Client {
	t.Helper()
	dir, err := os.MkdirTemp("", "lt") // short, for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	dirs := paths.Dirs{Run: dir + "/run", State: dir + "/state", Config: dir}
	if err := dirs.Make(); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", dirs.Socket())
	if err != nil {
		t.Fatal(err)
	}
	srv, done := &http.Server{Handler: f}, make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l)
	}()
	c := client.New(client.Options{Dirs: dirs, Build: func() string { return "test" }})
	t.Cleanup(func() {
		c.Close()
		_ = srv.Close()
		<-done
	})
	return c
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, api.Version)
	if strings.HasSuffix(path, "/wait") {
		out := api.Waited{Outcome: "timeout"}
		switch {
		case f.waits == nil:
			out.Outcome = "ended"
		case f.waits(r.Context()):
			out.Outcome = "fired"
		}
		out.Session = f.byPath(path)
		answer(w, out)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.Method != "GET" {
		f.asked = append(f.asked, r.Method+" "+path)
	}
	switch {
	case r.Method == "GET" && path == "/sessions":
		answer(w, f.listed(r.URL.Query()["label"]))
	case r.Method == "POST" && path == "/sessions":
		var n api.NewSession
		_ = json.NewDecoder(r.Body).Decode(&n)
		f.start(w, &n)
	case r.Method == "PATCH":
		var e api.Edit
		_ = json.NewDecoder(r.Body).Decode(&e)
		s := f.at(path)
		if e.Name != nil {
			s.Name = *e.Name
		}
		maps.Copy(s.Labels, e.Labels)
		answer(w, s)
	case strings.HasSuffix(path, "/kill"):
		s := f.at(path)
		s.State, s.Signal = "exited", "SIGHUP"
		answer(w, s)
	case strings.HasSuffix(path, "/restore"):
		s := f.at(path)
		s.State, s.Signal = "running", ""
		answer(w, s)
	default:
		answer(w, f.at(path))
	}
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (f *fake) start(w http.ResponseWriter, n *api.NewSession) {
	f.starts++
	var refused *api.Error
	if f.refuse != nil {
		refused = f.refuse(f.starts)
	}
	if refused == nil && slices.ContainsFunc(f.sessions, func(s api.Session) bool { return s.Name == n.Name }) { // found last
		refused = api.Errorf(api.CodeNameTaken, "a session named %q exists", n.Name)
	}
	if refused != nil {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(refused.GetStatus())
		_ = json.NewEncoder(w).Encode(refused)
		return
	}
	f.sessions = append(f.sessions, api.Session{ID: "new-" + n.Name, Name: n.Name, State: "running", Labels: n.Labels})
	answer(w, f.sessions[len(f.sessions)-1])
}

func (f *fake) listed(labels []string) []api.Session {
	list := []api.Session{}
	if f.hidden > 0 {
		f.hidden--
		return list
	}
	for _, s := range f.sessions {
		has := func(label string) bool {
			name, value, _ := strings.Cut(label, "=")
			return s.Labels[name] == value
		}
		if !slices.ContainsFunc(labels, func(l string) bool { return !has(l) }) {
			list = append(list, s)
		}
	}
	return list
}

// at is the session of a path.
func (f *fake) at(path string) *api.Session {
	for i := range f.sessions {
		if strings.Contains(path+"/", "/"+f.sessions[i].ID+"/") {
			return &f.sessions[i]
		}
	}
	return &api.Session{}
}

func (f *fake) byPath(path string) api.Session {
	f.mu.Lock()
	defer f.mu.Unlock()
	return *f.at(path)
}

// file returns a project of these sessions, whose readiness is their own report.
func file(names ...string) *project.File {
	f := &project.File{Root: "/p", Name: "p"}
	for _, n := range names {
		f.Sessions = append(f.Sessions, project.Session{Name: n, Argv: []string{n}, Ready: []string{"text=up"}, Timeout: time.Minute, Restart: project.RestartNever})
	}
	return f
}

// running is a project's session as up started it.
func running(f *project.File, name string) api.Session {
	i := slices.IndexFunc(f.Sessions, func(s project.Session) bool { return s.Name == name })
	labels := map[string]string{labelRoot: f.Root, labelName: name, labelDefinition: f.Sessions[i].Definition(), labelFrom: "0"}
	return api.Session{ID: "0123456789-" + name, Name: f.SessionName(name), State: "running", Labels: labels}
}

// TestStatusLooksAtOnce checks that sessions are queried concurrently: no query is answered before all were sent.
//
// FEATURES: R116
func TestStatusLooksAtOnce(t *testing.T) {
	file := file("a", "b", "c")
	var all sync.WaitGroup
	all.Add(len(file.Sessions))
	came := make(chan struct{})
	go func() { all.Wait(); close(came) }()
	f := &fake{waits: func(ctx context.Context) bool {
		all.Done()
		select {
		case <-came:
			return true
		case <-ctx.Done():
			return false
		}
	}}
	for _, s := range file.Sessions {
		f.sessions = append(f.sessions, running(file, s.Name))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // which one after the other would need
	defer cancel()
	states, err := (&Runner{Client: f.client(t), File: file}).Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i, st := range states {
		if st.Name != file.Sessions[i].Name || !st.Ready {
			t.Errorf("%+v", st)
		}
	}
}

// TestUp_KeepsSession_WhenStartedConcurrently checks that a second `up` adopts the session that another `up` has
// started, even before it is listed.
func TestUp_KeepsSession_WhenStartedConcurrently(t *testing.T) {
	file := file("a")
	f := &fake{sessions: []api.Session{running(file, "a")}, hidden: 2}
	r := &Runner{Client: f.client(t), File: file}
	st, now := r.start(t.Context(), &file.Sessions[0], nil)
	if st.Problem != "" || st.Action != Runs || now.ID != f.sessions[0].ID || f.starts < 2 {
		t.Errorf("%+v after %d starts", st, f.starts)
	}
}

// TestUp_Fails_WhenNameIsTaken checks that the error for a name in use names its holder and does not suggest to remove
// it.
func TestUp_Fails_WhenNameIsTaken(t *testing.T) {
	file := file("a")
	for root, want := range map[string]string{"/other": "project name p is also used by /other", "": "session p-a exists and is not part of this project"} {
		s := running(file, "a")
		s.Labels[labelRoot] = root
		r := &Runner{Client: (&fake{sessions: []api.Session{s}}).client(t), File: file}
		if st, _ := r.start(t.Context(), &file.Sessions[0], nil); !strings.Contains(st.Problem, want) || strings.Contains(st.Problem, " rm ") {
			t.Errorf("%q", st.Problem)
		}
	}
}

// TestReplaceKeepsTheOld checks that an invalid replacement leaves the old session in its place, also if the error is
// found after the old one has ended.
func TestReplaceKeepsTheOld(t *testing.T) {
	none := api.Errorf(api.CodeNoProgram, "there is no such program")
	for name, c := range map[string]struct {
		refused int // the start that is
		asked   string
	}{
		"before": {1, ""},
		"after":  {2, "kill restore"},
	} {
		before, file := file("a"), file("a")
		file.Sessions[0].Argv = []string{"other"}
		old := running(before, "a")
		f := &fake{sessions: []api.Session{running(before, "a")}}
		f.refuse = func(n int) *api.Error {
			if n == c.refused {
				return none
			}
			return nil
		}
		r := &Runner{Client: f.client(t), File: file, Replace: true}
		st, _ := r.start(t.Context(), &file.Sessions[0], &old)
		var asked []string
		for _, a := range f.asked {
			for _, what := range []string{"kill", "restore"} {
				if strings.HasSuffix(a, "/"+what) {
					asked = append(asked, what)
				}
			}
		}
		got := f.sessions[0]
		if !strings.Contains(st.Problem, none.Message) || strings.Join(asked, " ") != c.asked {
			t.Errorf("%s: %q, asked %q", name, st.Problem, asked)
		}
		if len(f.sessions) != 1 || got.Name != old.Name || got.State != "running" || got.Labels[labelDefinition] != before.Sessions[0].Definition() || got.Labels[labelAside] != "" {
			t.Errorf("%s: %+v", name, f.sessions)
		}
	}
}

// TestAwait_ReportsDaemonState checks that await follows the daemon's report of restarts and requested ends, whatever
// the restart policy and the exit status.
func TestAwait_ReportsDaemonState(t *testing.T) {
	now, one := time.Now(), 1
	for name, c := range map[string]struct {
		at      *time.Time
		stopped bool
		problem string // of up, which waits for it
	}{
		"to come back": {&now, false, "not ready after"},
		"ended":        {nil, true, "ended by request"},
		"failed":       {nil, false, "exited before it was ready"},
	} {
		file := file("a")
		file.Sessions[0].Ready, file.Sessions[0].Timeout = []string{"exit"}, time.Nanosecond
		s := running(file, "a")
		s.State, s.ExitCode, s.Ended, s.RestartAt, s.Stopped = "exited", &one, &now, c.at, c.stopped
		s.Labels[labelRestart] = project.RestartAlways
		r := &Runner{Client: (&fake{sessions: []api.Session{s}}).client(t), File: file}
		states, err := r.Status(t.Context())
		if err != nil || states[0].RestartPending != (c.at != nil) || states[0].Stopped != c.stopped {
			t.Errorf("%s: %+v, %v", name, states, err)
		}
		var st State
		if r.await(t.Context(), &file.Sessions[0], &s, &st, time.Nanosecond, 0); st.Ready || !strings.HasPrefix(st.Problem, c.problem) {
			t.Errorf("%s: %+v", name, st)
		}
	}
}

// TestDown checks that down reports a restart that it canceled, and removes sessions that were set aside only with the
// rest.
func TestDown(t *testing.T) {
	file, one, now := file("a", "b"), 1, time.Now()
	back, aside := running(file, "a"), running(file, "b")
	back.State, back.ExitCode, back.Ended, back.RestartAt = "exited", &one, &now, &now
	back.Labels[labelRestart] = project.RestartAlways
	aside.State, aside.Name = "exited", "p-b.0"
	aside.Labels[labelRoot], aside.Labels[labelAside] = "", file.Root
	f := &fake{sessions: []api.Session{back, aside}}
	c := f.client(t)
	done, err := Down(t.Context(), c, file.Root, nil, false)
	if err != nil || len(done) != 1 || !done[0].HadEnded || done[0].SessionName != "p-a" || !slices.Equal(f.asked, []string{"POST /sessions/" + back.ID + "/kill"}) {
		t.Errorf("%+v, %v; asked %q", done, err, f.asked)
	}
	f.sessions[0].RestartAt = nil
	if done, err = Down(t.Context(), c, file.Root, nil, false); err != nil || len(done) != 0 {
		t.Errorf("reported again: %+v, %v", done, err)
	}
	done, err = Down(t.Context(), c, file.Root, []string{"b"}, true)
	if err != nil || len(done) != 1 || !done[0].Removed || done[0].SessionName != "p-b.0" {
		t.Errorf("%+v, %v", done, err)
	}
}

// TestEndedIsNotReady checks that an ended session is not ready, whatever it printed or however idle it is, and that
// later ones are not started.
//
// FEATURES: R116
func TestEndedIsNotReady(t *testing.T) {
	const ends = "p-a"
	for name, c := range map[string]struct {
		ready string
		code  int
		at    int // the wait during which it ends
		well  bool
		other string // what up did with the next session
	}{
		"goes on":               {"text=up", 1, 0, true, Started},
		"before it is seen":     {"text=up", 127, 1, false, Waits},
		"quiet, as it ended":    {"quiet=1s", 0, 1, false, Waits},
		"right after":           {"text=up", 1, 2, false, Waits},
		"while another waits":   {"text=up", 1, 3, false, Started},
		"is to end, and failed": {"exit", 2, 1, false, Waits},
		"is to end":             {"exit", 0, 1, true, Started},
	} {
		t.Run(name, func(t *testing.T) {
			file := file("a", "b")
			file.Sessions[0].Ready, file.Sessions[1].After = []string{c.ready}, []string{"a"}
			f, waits := &fake{}, 0
			f.waits = func(context.Context) bool {
				f.mu.Lock()
				defer f.mu.Unlock()
				if waits++; waits == c.at {
					s := f.at("/sessions/new-" + ends)
					s.State, s.ExitCode = "exited", &c.code
				}
				return true
			}
			var told []string
			r := &Runner{Client: f.client(t), File: file, Report: func(s State) { told = append(told, s.Problem) }}
			states, err := r.Up(t.Context())
			if err != nil && !errors.Is(err, ErrNotReady) || (err == nil) != c.well {
				t.Fatal(err)
			}
			want := fmt.Sprintf("exited before it was ready (exit %d); see `longterm output p-a`", c.code)
			if a := states[0]; a.Ready != c.well || !c.well && (a.Problem != want || !slices.Contains(told, want)) {
				t.Errorf("%+v, notified of %q", a, told)
			}
			if states[1].Action != c.other {
				t.Errorf("after it: %+v", states[1])
			}
		})
	}
}

// TestNotInTheFileAnyMore checks that a session that up started and the file no longer has is reported while it runs or
// waits for a restart.
//
// FEATURES: R116
func TestNotInTheFileAnyMore(t *testing.T) {
	before, now := file("a", "gone", "ended", "pause"), time.Now()
	f := &fake{waits: func(context.Context) bool { return true }}
	for _, s := range before.Sessions {
		f.sessions = append(f.sessions, running(before, s.Name))
	}
	f.sessions[2].State, f.sessions[3].State, f.sessions[3].RestartAt = "exited", "exited", &now
	r := &Runner{Client: f.client(t), File: file("a")}
	states, err := r.Status(t.Context())
	if err != nil || len(states) != 3 || states[0].Unlisted || !states[0].Ready {
		t.Fatalf("%+v, %v", states, err)
	}
	rest, err := r.FindUnlisted(t.Context())
	if err != nil || !reflect.DeepEqual(rest, states[1:]) {
		t.Errorf("%+v, %v", rest, err)
	}
	for i, name := range []string{"gone", "pause"} {
		if s := rest[i]; s.Name != name || s.SessionName != "p-"+name || !s.Unlisted || s.Ready {
			t.Errorf("%+v", s)
		}
	}
}
