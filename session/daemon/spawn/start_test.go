//go:build unix

package spawn

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/liveconfig"
	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/sandbox"
	"github.com/longterm-dev/longterm/store"
)

func testSpawner(t *testing.T) *Spawner {
	t.Helper()
	dir := t.TempDir()
	dirs := paths.Dirs{Run: filepath.Join(dir, "r"), State: filepath.Join(dir, "s"), Config: filepath.Join(dir, "c")}
	log := slog.New(slog.DiscardHandler)
	return &Spawner{Dirs: dirs, Log: log, Conf: liveconfig.Open(dirs, log)}
}

// TestPlan checks that omitted fields of a request get their defaults, and its other fields are in the record and in
// the request to the keeper.
func TestPlan(t *testing.T) {
	s := testSpawner(t)
	p, err := s.Plan(api.NewSession{
		Argv: []string{"sh", "-c", "true"}, Name: "n", Cwd: "/tmp/", Env: []string{"PATH=/bin:/usr/bin"}, SetEnv: []string{"A=1"}, Cols: 100, Umask: "077",
		Limits: &api.Limits{Memory: 1 << 20, CPU: 0.5, PIDs: 7}, Pipe: true, Stdin: true, Isolated: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	r, m := p.Record, p.request()
	if r.Name != "n" || r.Cwd != "/tmp" || r.Cols != 100 || r.Rows != defaultRows || r.Keeper != r.ID || !r.Pipe || r.Shell || r.State != "running" {
		t.Errorf("the record: %+v", r)
	}
	if m.ID != r.ID || m.Dir != "/tmp" || !strings.HasSuffix(m.Path, "/sh") || m.Memory != 1<<20 || m.CPU != 500 || m.PIDs != 7 || m.Umask != 0o077+1 || !m.Pipe || !m.Input {
		t.Errorf("the request: %+v", m)
	}
	if !slices.Contains(m.Env, "A=1") || !slices.Contains(m.Env, sessionVariable+r.ID) {
		t.Errorf("the environment: %q", m.Env)
	}
	other, err := s.Plan(api.NewSession{Argv: []string{"sh"}, Cwd: "/", Env: []string{"PATH=/bin:/usr/bin"}})
	if err != nil {
		t.Fatal(err)
	}
	if r := other.Record; r.Keeper != paths.MainKeeper || !r.Shell || r.ID == p.Record.ID || other.request().Umask != 0 {
		t.Errorf("%+v", r)
	}
}

const sessionVariable = "LONGTERM_SESSION="

// TestPlanAgain checks that an ended session is restarted with its command or a shell, in its directory, as far as
// these exist.
func TestPlanAgain(t *testing.T) {
	s := testSpawner(t)
	env := []string{"PATH=/bin:/usr/bin", "SHELL=/bin/sh"}
	dir := t.TempDir()
	command := store.Session{ID: "id", Name: "n", Argv: []string{"sh", "-c", "true"}, Cwd: "/", Env: []string{"A=1"}, State: "exited", Signal: "KILL"}
	shell := store.Session{ID: "id", Name: "n", Argv: []string{"/bin/sh"}, Shell: true, Cwd: "/"}
	for _, c := range []struct {
		name    string
		rec     store.Session
		cwd     string
		req     api.Restore
		argv0   string
		inDir   string
		refused bool
	}{
		{"a shell", shell, dir, api.Restore{}, "/bin/sh", dir, false},
		{"a shell whose directory is gone", shell, filepath.Join(dir, "gone", "further"), api.Restore{}, "/bin/sh", dir, false},
		{"a shell that told no directory", shell, "", api.Restore{}, "/bin/sh", "/", false},
		{"a command", command, dir, api.Restore{Command: true}, "sh", dir, false},
		{"a shell instead of a command", command, dir, api.Restore{Shell: true}, "/bin/sh", dir, false},
		{"a command, by itself", command, dir, api.Restore{}, "", "", true},
		{"both", command, dir, api.Restore{Shell: true, Command: true}, "", "", true},
	} {
		c.req.Env = env
		p, err := s.PlanRestore(c.rec, c.cwd, c.req, nil)
		if c.refused {
			var e *api.Error
			if !errors.As(err, &e) || e.Code != api.CodeInvalid || e.Hint == "" {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if r := p.Record; r.Argv[0] != c.argv0 || r.Cwd != c.inDir || r.ID != "id" || r.State != "running" || r.Signal != "" {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
	resume := []string{"sh", "-c", "false"}
	p, err := s.PlanRestore(command, dir, api.Restore{Command: true, Env: env}, resume)
	if err != nil {
		t.Fatal(err)
	}
	if judged := p.Request().Argv; !slices.Equal(judged, resume) || !slices.Equal(p.argv, resume) || !slices.Equal(p.Record.Argv, command.Argv) {
		t.Errorf("%q is judged, %q starts, %q is recorded", judged, p.argv, p.Record.Argv)
	}
}

// TestSpawnErrors checks that errors of a keeper that could not start a process are returned with a hint.
func TestSpawnErrors(t *testing.T) {
	for _, c := range []struct {
		err   error
		code  api.Code
		hint  string
		retry bool
	}{
		{link.ErrLost, api.CodeUnavailable, "try again", true},
		{link.ErrNoCgroup, api.CodeUnavailable, "without limits", false},
		{errors.New("rubbish"), api.CodeUnavailable, "", false},
		{&link.SpawnError{Errno: syscall.EMFILE}, api.CodeLimit, "ulimit", false},
		{&link.SpawnError{Errno: syscall.ENFILE}, api.CodeLimit, "ulimit", false},
		{&link.SpawnError{Errno: syscall.ENXIO}, api.CodeSpawn, "--pipe", false},
		{&link.SpawnError{Errno: syscall.ENOSPC}, api.CodeSpawn, "--pipe", false},
		{&link.SpawnError{Errno: syscall.E2BIG}, api.CodeSpawn, "too large", false},
		{&link.SpawnError{Errno: syscall.ENOEXEC}, api.CodeSpawn, "not a program", false},
		{&link.SpawnError{Errno: syscall.EACCES}, api.CodeSpawn, "not a program", false},
		{&link.SpawnError{Errno: syscall.EIO}, api.CodeSpawn, "", false},
	} {
		var e *api.Error
		if !errors.As(spawnError(c.err), &e) || e.Code != c.code || !strings.Contains(e.Hint, c.hint) || e.Retry != c.retry || (c.hint == "") != (e.Hint == "") {
			t.Errorf("%v: %+v, want %s, hint %q", c.err, e, c.code, c.hint)
		}
	}
}

// lostKeeper is a keeper whose connection is lost for good.
type lostKeeper struct{ asked int }

func (k *lostKeeper) Link() *link.Link { return nil }
func (k *lostKeeper) Retry(context.Context, func(*link.Link) error) error {
	k.asked++
	return link.ErrLost
}

// TestKeeperDiesInMidSpawn checks that a keeper that dies during a request gets no further request, and the request may
// be repeated.
func TestKeeperDiesInMidSpawn(t *testing.T) {
	s := testSpawner(t)
	p, err := s.Plan(api.NewSession{Argv: []string{"sh", "-c", "true"}, Cwd: "/", Env: []string{"PATH=/bin:/usr/bin"}})
	if err != nil {
		t.Fatal(err)
	}
	k := &lostKeeper{}
	var e *api.Error
	if _, err := s.Start(t.Context(), k, p); !errors.As(err, &e) || !e.Retry || k.asked != 1 {
		t.Errorf("%v, asked %d times", err, k.asked)
	}
}

// TestIntegrationLeavesARecord checks that an error of writing a shell's directory is reported as such, and the record
// of a shell's start is read back.
func TestIntegrationLeavesARecord(t *testing.T) {
	s := testSpawner(t)
	p, err := s.Plan(api.NewSession{Argv: []string{"bash"}, Cwd: "/", Env: []string{"PATH=/bin:/usr/bin:/usr/local/bin"}})
	if err != nil {
		t.Skip("no bash")
	}
	id := p.Record.ID
	if l := s.LaunchOf(id); l != nil {
		t.Errorf("before it was integrated: %+v", l)
	}
	if err := s.integrate(id, p); err != nil {
		t.Fatal(err)
	}
	l := s.LaunchOf(id)
	if l == nil || l.Nonce == "" || slices.Equal(p.argv, p.Record.Argv) {
		t.Errorf("%+v, %q", l, p.argv)
	}
	s.DropState(id)
	if err := os.WriteFile(filepath.Join(s.Dirs.Session(id), launchFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l := s.LaunchOf(id); l != nil {
		t.Errorf("a torn record is read as %+v", l)
	}
	blocked := *s
	blocked.Dirs.State = filepath.Join(s.Dirs.Session(id), launchFile) // no directory
	var e *api.Error
	if err := blocked.integrate("x", p); !errors.As(err, &e) || e.Code != api.CodeStorage {
		t.Errorf("%v", err)
	}
}

// TestRecordsOfStartAreReplaced checks that the files that a restart reads are replaced atomically: a concurrent reader
// gets the whole old file.
//
// FEATURES: R19
func TestRecordsOfStartAreReplaced(t *testing.T) {
	s := testSpawner(t)
	shell, err := s.Plan(api.NewSession{Argv: []string{"bash"}, Cwd: "/", Env: []string{"PATH=/bin:/usr/bin:/usr/local/bin"}})
	if err != nil {
		t.Skip("no bash")
	}
	boxed := &Plan{Record: shell.Record, sandbox: &sandboxPlan{level: sandbox.Landlock, cwd: "/"}, path: "/bin/true", argv: []string{"true"}}
	for name, write := range map[string]func() error{
		launchFile:  func() error { return s.integrate(shell.Record.ID, shell) },
		sandboxFile: func() error { return s.confine(boxed) },
	} {
		path := filepath.Join(s.Dirs.Session(shell.Record.ID), name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		reader, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close()
		if err := write(); err != nil {
			t.Fatal(name, err)
		}
		got, err := io.ReadAll(reader)
		if now, _ := os.ReadFile(path); err != nil || string(got) != "old" || string(now) == "old" {
			t.Errorf("%s: the concurrent reader has %q (%v), the file %q", name, got, err, now)
		}
	}
}

// TestKeeperDiesWithUnansweredSpawn checks that a program without a terminal, which may continue after its keeper's
// death, is not requested again, and its caller gets an error. The same holds if it may have been started and was not
// adopted.
func TestKeeperDiesWithUnansweredSpawn(t *testing.T) {
	for _, c := range []struct {
		name       string
		pipe, shim bool
		err        error
		again      bool
	}{
		{"a terminal", false, false, link.ErrUnanswered, true},
		{"pipes", true, false, link.ErrUnanswered, false},
		{"our own executable first", false, true, link.ErrUnanswered, false},
		{"pipes, nothing was sent", true, false, link.ErrLost, true},
	} {
		p := &Plan{pipe: c.pipe, shim: c.shim}
		var e *api.Error
		if err := p.startError(c.err); !errors.As(err, &e) || e.Retry != c.again || e.Code != api.CodeUnavailable || !c.again && !strings.Contains(e.Message, "may have run") {
			t.Errorf("%s: %+v", c.name, err)
		}
	}
	var e *api.Error
	if err := (&Plan{}).NotAdopted(link.ErrUnanswered); !errors.As(err, &e) || e.Retry || e.Code != api.CodeUnavailable {
		t.Errorf("not adopted: %+v", err)
	}
}

// TestServiceBehindALevel checks that a sandbox level is unavailable if its service does not answer, even if the
// service's client program exists.
//
// FEATURES: R67
func TestServiceBehindALevel(t *testing.T) {
	s, tools := testSpawner(t), t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(s.Dirs.SandboxFile(), "[boxed]\nextends = \"workspace\"\nlevel = \"docker\"\nimage = \"i\"\n")
	write(filepath.Join(tools, "docker"), "#!/bin/sh\nif test -z \"$SERVICE\"; then echo Client; echo no service >&2; exit 1; fi\n")
	t.Setenv("PATH", tools+":/bin:/usr/bin")
	q := api.NewSession{Argv: []string{"sh", "-c", "true"}, Cwd: "/tmp", Env: []string{"PATH=/bin:/usr/bin", "HOME=/"}, Sandbox: "boxed"}
	_, err := s.Plan(q)
	var e *api.Error
	if !errors.As(err, &e) || e.Code != api.CodeUnavailable || !strings.Contains(e.Message, "level docker cannot be had: no service") {
		t.Errorf("%v", err)
	}
	q.Env = append(q.Env, "SERVICE=1")
	if _, err := s.Plan(q); err != nil {
		t.Errorf("it answers: %v", err)
	}
}
