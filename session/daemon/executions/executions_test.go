//go:build linux

package executions

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/authorize"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys"
)

// door fakes the gateway and the sessions: it keeps the requests, and decide answers them.
type door struct {
	decide func(context.Context, authorize.Request) error

	mu           sync.Mutex
	asks         []authorize.Request
	refused      []api.Refused
	unprivileged []string
}

func (d *door) Refuse(_ context.Context, _ authorize.Request, by *api.Error) error { return by }

func (d *door) Admit(ctx context.Context, a authorize.Request) (authorize.Answer, error) {
	a.OnWait()
	d.mu.Lock()
	a.ID, a.Descent = a.ResolveID()
	d.asks = append(d.asks, a)
	d.mu.Unlock()
	if d.decide == nil {
		return authorize.Answer{}, nil
	}
	return authorize.Answer{}, d.decide(ctx, a)
}

func (d *door) Subject(string) Subject {
	return Subject{Name: "n", Agent: "bot", Policy: "kept", Home: "/h"}
}

func (d *door) RecordRefusal(_ string, r api.Refused) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refused = append(d.refused, r)
}

func (d *door) RecordUnprivileged(_, path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.unprivileged = append(d.unprivileged, path)
}

// process starts a process that waits, as the subject of checks.
func process(t testing.TB) int {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", "read x", "marked")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Dir = "/"
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

// answered runs the check of an execution and returns the answer that the keeper gets.
func answered(s *Set, m *wire.Execution) syscall.Errno {
	got := syscall.Errno(0)
	s.Begin(m, func(errno syscall.Errno) error { got = errno; return nil })(func() {})
	return got
}

func newSet(t testing.TB, d *door) *Set {
	t.Helper()
	s := New(d, d, slog.New(slog.DiscardHandler))
	t.Cleanup(s.Close)
	return s
}

// TestOfEnv checks that env executing the interpreter that a script's first line names belongs to the script, and
// everything else is a separate execution.
//
// FEATURES: R107
func TestOfEnv(t *testing.T) {
	words := []string{"bash", "/home/u/x", "a"}
	parent := append([]string{"/usr/bin/env"}, words...)
	for _, c := range []struct {
		exe, path    string
		parent, argv []string
		want         bool
	}{
		{"/usr/bin/env", "/usr/bin/bash", parent, words, true},
		{"/usr/bin/bash", "/usr/bin/bash", parent, words, false},    // another program that claims to be env
		{"/usr/bin/env", "/home/u/bin/bash", parent, words, false},  // not the system's
		{"/usr/bin/env", "/usr/bin/bash", parent, words[:2], false}, // other words
		{"/usr/bin/env", "/usr/bin/bash", parent[:2], words[:1], false},
		{"/usr/bin/env", "/usr/bin/bash", []string{"env", "bash", "x"}, []string{"bash", "x"}, false}, // not from a first line
		{"", "/usr/bin/bash", parent, words, false},
	} {
		if got := isEnvOfScript(&authorize.Request{Path: c.path, Parent: c.parent, Argv: c.argv}, c.exe); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	if exe := sys.Exe(os.Getpid()); exe == "" {
		t.Error("our own file is not recognised")
	}
}

// TestRequestForGate checks that the gateway is asked about the file that a path leads to, with all known facts of the
// executing process.
//
// FEATURES: R107
func TestRequestForGate(t *testing.T) {
	d := &door{}
	s := newSet(t, d)
	pid := process(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	suid := filepath.Join(dir, "suid")
	if err := errors.Join(os.WriteFile(suid, nil, 0o755), os.Chmod(suid, 0o755|fs.ModeSetuid), os.Symlink("suid", filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	st, err := sys.ReadStat(pid)
	if err != nil {
		t.Fatal(err)
	}
	m := &wire.Execution{ID: "s", Number: 7, PID: int64(pid), Parent: int64(st.Parent), Start: st.Start, Path: "./link", Argv: []string{"l", "x"}, Dir: dir, Cwd: "/", LeaderPID: int64(os.Getpid())}
	if errno := answered(s, m); errno != 0 {
		t.Fatal(errno)
	}
	a := d.asks[0]
	if a.Kind != authorize.Execution || a.Path != suid || !slices.Equal(a.Argv, m.Argv) || a.Cwd != "/" || a.Depth != 1 || a.Session != "s" || a.Name != "n" {
		t.Errorf("%+v", a)
	}
	if a.Actor.Agent != "bot" || a.Kept != "kept" || a.Home != "/h" || len(a.Parent) != 4 || a.Parent[3] != "marked" {
		t.Errorf("%+v", a)
	}
	if !slices.Equal(d.unprivileged, []string{suid}) {
		t.Errorf("without its owner's rights: %q", d.unprivileged)
	}
	again := *m
	again.Path, again.Start = suid, 0 // reported by a keeper that does not know the start time
	if answered(s, &again); d.asks[1].ID != a.ID {
		t.Errorf("%s and %s are the same execution", a.ID, d.asks[1].ID)
	}
	again.Number++
	if answered(s, &again); d.asks[2].ID == a.ID {
		t.Error("two executions are one")
	}
	if self, err := sys.ReadStat(os.Getpid()); err != nil || !slices.Equal(a.Descent, []string{processKey(int64(pid), st.Start), processKey(m.LeaderPID, self.Start)}) {
		t.Errorf("below %q, %v", a.Descent, err)
	}
	for deep, lead := range []int64{m.PID, m.LeaderPID, int64(os.Getppid())} {
		of := *m
		if of.LeaderPID = lead; depth(&of) != max(1, deep) {
			t.Errorf("%d processes below the session's own: depth %d", deep, depth(&of))
		}
	}
}

// TestNotThere checks that the execution of a missing file fails as it does without longterm, without an approval
// request, and that an unreadable file is reported as such.
func TestNotThere(t *testing.T) {
	d := &door{}
	s := newSet(t, d)
	pid := int64(process(t))
	for path, want := range map[string]syscall.Errno{"/no/such/file": syscall.ENOENT, "/etc/passwd/x": syscall.ENOTDIR} {
		if got := answered(s, &wire.Execution{ID: "s", PID: pid, Path: path, Argv: []string{"x"}}); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	if len(d.asks) != 0 {
		t.Errorf("approval request: %+v", d.asks)
	}
	for _, name := range []string{"/memfd:x (deleted)", "/no/such/file (deleted)"} { // there by a descriptor, and by no name
		if got := answered(s, &wire.Execution{ID: "s", PID: pid, Dir: name, Flags: 0x1000, Argv: []string{"x"}}); got != 0 || d.asks[len(d.asks)-1].Path != name || !d.asks[len(d.asks)-1].Nameless {
			t.Errorf("%s: %v, %+v", name, got, d.asks)
		}
	}
	d.asks = nil
	answered(s, &wire.Execution{ID: "s", PID: pid, Error: "bad address"})
	answered(s, &wire.Execution{ID: "s", PID: pid, Path: "/bin/sh", Argv: []string{"sh"}, ArgvTruncated: true})
	if len(d.asks) != 2 || len(d.asks[0].Argv) != 0 || len(d.asks[1].Argv) != 2 || !strings.Contains(d.asks[1].Argv[1], "could not be read") {
		t.Errorf("%+v", d.asks)
	}
}

// TestUnknownDirectory_NeedsApproval checks that a directory that the kernel cannot name is in no known project:
// executions there need approval. A known one is judged by its rules.
//
// FEATURES: R107
func TestUnknownDirectory_NeedsApproval(t *testing.T) {
	d := &door{}
	s := newSet(t, d)
	pid := int64(process(t))
	for _, cwd := range []string{"", "/"} {
		answered(s, &wire.Execution{ID: "s", PID: pid, Path: "/bin/sh", Argv: []string{"sh"}, Cwd: cwd})
		if a := d.asks[len(d.asks)-1]; (a.Opaque != "") != (cwd == "") || len(a.Argv) != 1 {
			t.Errorf("in %q: %+v", cwd, a)
		}
	}
}

// TestRefused checks that a denied execution fails with EPERM and is recorded with the reason and a hint.
//
// FEATURES: R107
func TestRefused(t *testing.T) {
	d := &door{decide: func(context.Context, authorize.Request) error {
		return api.Errorf(api.CodeDenied, "Blocked: no").WithHint("do that")
	}}
	s := newSet(t, d)
	long := strings.Repeat("ü", 1000)
	m := &wire.Execution{ID: "s", PID: int64(process(t)), Path: "/bin/sh", Argv: append([]string{"sh", long}, slices.Repeat([]string{"x"}, 100)...)}
	if errno := answered(s, m); errno != syscall.EPERM {
		t.Error(errno)
	}
	r := d.refused[0]
	if r.Why != "Blocked: no" || r.Instead != "do that" || len(r.Argv) != 17 || len(r.Argv[1]) > 300 || !strings.HasSuffix(r.Argv[1], "ü…") {
		t.Errorf("%+v", r)
	}
}

// TestWaits checks that a waiting check ends without an answer when its process exits or the daemon ends. One that is
// reported again while it waits is answered once, over the newer connection.
//
// FEATURES: R107
func TestWaits(t *testing.T) {
	asked, let := make(chan struct{}, 8), make(chan struct{})
	d := &door{decide: func(ctx context.Context, _ authorize.Request) error {
		asked <- struct{}{}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-let:
			return nil
		}
	}}
	s := newSet(t, d)
	pid := int64(process(t))
	never := func(syscall.Errno) error { t.Error("answered"); return nil }
	aside := func() {}
	go s.Begin(&wire.Execution{ID: "s", Number: 1, PID: pid, Path: "/bin/sh", Argv: []string{"sh"}}, never)(aside)
	<-asked
	s.Cancel(&wire.ExecutionEnded{ID: "s", Number: 1})
	s.Cancel(&wire.ExecutionEnded{ID: "s", Number: 99})
	two := &wire.Execution{ID: "s", Number: 2, PID: pid, Path: "/bin/sh", Argv: []string{"sh"}}
	go s.Begin(two, never)(aside)
	<-asked
	got := make(chan syscall.Errno)
	if again := s.Begin(two, func(errno syscall.Errno) error { got <- errno; return nil }); again != nil {
		t.Error("it is judged twice")
	}
	let <- struct{}{}
	if errno := <-got; errno != 0 {
		t.Error(errno)
	}
	go s.Begin(&wire.Execution{ID: "s", Number: 3, PID: pid, Path: "/bin/sh", Argv: []string{"sh"}}, never)(aside)
	<-asked
	s.Close()
	if s.Begin(&wire.Execution{ID: "s", Number: 4, PID: pid, Path: "/bin/sh", Argv: []string{"sh"}}, never) != nil {
		t.Error("one is judged after the end")
	}
	if len(d.asks) != 3 || len(d.refused) != 0 {
		t.Errorf("%d approval requests, refused %+v", len(d.asks), d.refused)
	}
}

// BenchmarkExecution measures the daemon's part of an execution check, without rules.
func BenchmarkExecution(b *testing.B) {
	d := &door{}
	s := newSet(b, d)
	pid := int64(process(b))
	m := &wire.Execution{ID: "s", PID: pid, Parent: int64(os.Getpid()), LeaderPID: int64(os.Getpid()), Path: "/bin/sh", Argv: []string{"sh", "-c", "true"}, Cwd: "/"}
	for b.Loop() {
		m.Number++
		answered(s, m)
	}
}
