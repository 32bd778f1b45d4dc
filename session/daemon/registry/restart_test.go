//go:build unix

package registry

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/store"
)

// again returns the registry of the next daemon, after the given one has stopped.
func again(t *testing.T, r *Registry) *Registry {
	t.Helper()
	r.StopAll()
	next := New(Config{Dirs: r.dirs, Log: r.log, Store: r.store, Settings: r.conf, Host: r.host})
	next.OpenIndex()
	t.Cleanup(func() {
		next.StopAll()
		next.Index.close()
	})
	if err := next.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	next.AdoptAll(t.Context(), nil, nil)
	return next
}

// TestRestartInEachState checks that each daemon in turn finds a session as its predecessor left it: its state, its
// end, its names and labels, and its output.
//
// FEATURES: R90
func TestRestartInEachState(t *testing.T) {
	t.Parallel()
	code, at := 3, time.Now().Add(-time.Hour).Round(0)
	type end struct {
		state, signal string
		code          *int
		stopped       bool
	}
	want := map[string]end{
		"ended": {"exited", "", &code, false}, "killed": {"exited", "KILL", nil, false}, "stopped": {"exited", "", &code, true},
		"was-lost": {"lost", "", nil, false}, "ran": {"lost", "", nil, false}, "kept": {"exited", "", &code, false},
	}
	r, _ := hosted(t, func(r *Registry) {
		for _, rec := range []store.Session{
			{Name: "ended", State: "exited", ExitCode: &code, Ended: at, Title: "a title"},
			{Name: "killed", State: "exited", Signal: "KILL", Ended: at},
			{Name: "stopped", State: "exited", ExitCode: &code, Stopped: true, Ended: at},
			{Name: "was-lost", State: "lost", Ended: at},
			{Name: "ran", State: "running", PID: 1 << 30},
			{Name: "kept", State: "exited", ExitCode: &code, Ended: time.Now(), Temporary: true},
			{Name: "unborn", State: "running", Temporary: true},
		} {
			rec.ID, rec.Created, rec.Started, rec.Labels = uuid.NewString(), at, at, map[string]string{"is": rec.Name}
			record(t, r, rec)
		}
	})
	r.AdoptAll(t.Context(), nil, nil)
	for life := range 3 {
		all := r.All()
		if len(all) != len(want) {
			t.Fatalf("daemon %d has %v", life, namesOf(r))
		}
		for _, e := range all {
			v := r.Describe(e, e.Session.Status())
			w := want[v.Name]
			if v.State != w.state || v.Signal != w.signal || (v.ExitCode == nil) != (w.code == nil) || w.code != nil && *v.ExitCode != *w.code || v.Stopped != w.stopped {
				t.Errorf("daemon %d: %s is %s, %q, %v, stopped: %v", life, v.Name, v.State, v.Signal, v.ExitCode, v.Stopped)
			}
			if v.Labels["is"] != v.Name || !v.Created.Equal(at) || v.Output.End != uint64(len("what was printed\r\n")) {
				t.Errorf("daemon %d: %+v", life, v)
			}
			if v.State == "exited" && v.Name != "kept" && (v.Ended == nil || !v.Ended.Equal(at)) {
				t.Errorf("daemon %d: %s ended %v", life, v.Name, v.Ended)
			}
			for name, err := range map[string]error{
				"signal": r.Signal(t.Context(), e, api.Signal{Signal: "TERM"}), "kill": r.Kill(t.Context(), e, 0),
			} {
				var refused *api.Error
				if name == "kill" && err != nil || name == "signal" && (!errors.As(err, &refused) || refused.Code != api.CodeEnded) {
					t.Errorf("daemon %d: %s %s: %v", life, name, v.Name, err)
				}
			}
		}
		r = again(t, r)
	}
}

// TestEditsOutliveTheDaemon checks that renamed, labelled and removed sessions stay so under the next daemon, also if
// its database has lost the records.
//
// FEATURES: R90
func TestEditsOutliveTheDaemon(t *testing.T) {
	t.Parallel()
	r := histories(t, "zoo", "yak", "xylem")
	name := "zoo-2"
	e, err := r.Resolve("zoo")
	if err == nil {
		err = r.Edit(e, api.Edit{Name: &name, Labels: map[string]string{"a": "1"}})
	}
	if err != nil {
		t.Fatal(err)
	}
	gone, err := r.Resolve("yak")
	if err == nil {
		err = r.Remove(t.Context(), gone, false)
	}
	if err != nil {
		t.Fatal(err)
	}
	r.StopAll()
	if err := r.store.DeleteSession(t.Context(), e.ID()); err != nil { // its manifest has it
		t.Fatal(err)
	}
	r = again(t, r)
	if got := strings.Join(namesOf(r), " "); got != "zoo-2 xylem" {
		t.Errorf("the next daemon has %s", got)
	}
	found, err := r.Resolve(name)
	if err != nil || found.ID() != e.ID() || found.Record().Labels["a"] != "1" {
		t.Errorf("%+v, %v", found, err)
	}
	if _, err := r.Resolve("yak"); err == nil {
		t.Error("a removed session is back")
	}
}

// TestStatusOfRecords checks that the end of a session follows from its record. A record without an exit status does
// not count as success.
func TestStatusOfRecords(t *testing.T) {
	t.Parallel()
	zero, at := 0, time.Unix(1e9, 0)
	for _, c := range []struct {
		name   string
		rec    store.Session
		code   int
		signal string
		exit   bool
	}{
		{"status 0", store.Session{State: "exited", ExitCode: &zero}, 0, "", true},
		{"a signal", store.Session{State: "exited", Signal: "TERM"}, -1, "TERM", true},
		{"nothing known", store.Session{State: "exited"}, -1, "", true},
		{"lost", store.Session{State: "lost", ExitCode: &zero}, 0, "", false},
		{"running", store.Session{State: "running"}, 0, "", false},
	} {
		c.rec.Created = at
		st := statusOf(&c.rec)
		if (st.Exit != nil) != c.exit || c.exit && (st.Exit.Code != c.code || st.Exit.Signal != c.signal) {
			t.Errorf("%s: %+v", c.name, st.Exit)
		}
		if st.State != session.State(c.rec.State) || !st.Started.Equal(at) {
			t.Errorf("%s: %s since %v", c.name, st.State, st.Started)
		}
	}
}

// TestLeftAgents checks that an agent's conversation file is read back as written, and that other content of the file
// is no conversation.
func TestLeftAgents(t *testing.T) {
	t.Parallel()
	r := histories(t, "zoo")
	e, err := r.Resolve("zoo")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(r.dirs.Session(e.ID()), agentFile)
	r.Save(e, func(rec *store.Session) { rec.Shell = true })
	r.saveAgent(e, &agentRecord{Agent: "claude", Argv: []string{"claude"}, Conversation: "c1"})
	if a, rec := r.recordedAgent(e); a == nil || rec.Conversation != "c1" || a.Name != "claude" {
		t.Errorf("%+v, %+v", a, rec)
	}
	if line := r.ResumeLine(e); !strings.Contains(line, "c1") {
		t.Errorf("%q does not take the conversation up again", line)
	}
	if err := os.WriteFile(file, []byte(`{"agent":"claude","cwd":"/"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if line := r.ResumeLine(e); line != "" {
		t.Errorf("without a command the shell is given half a line: %q", line)
	}
	for what, text := range map[string]string{
		"nothing": "", "cut": `{"agent":"claude","argv":["cla`, "another type": `{"agent":["claude"]}`, "no agent that is known": `{"agent":"nobody","conversation":"c1"}`,
		"too large": `{"agent":"claude","conversation":"` + strings.Repeat("x", maxAgentFile) + `"}`,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if a, rec := r.recordedAgent(e); a != nil {
			t.Errorf("%s: %+v", what, rec)
		}
		if line := r.ResumeLine(e); line != "" {
			t.Errorf("%s: %q is to be run", what, line)
		}
	}
	for range 2 { // the second call finds nothing
		r.forgetAgent(e)
		if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%v", err)
		}
	}
}
