//go:build unix

package crash

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestCorruptDatabase destroys the database. The daemon quarantines it, recovers sessions from manifests and running
// keepers, and reports that.
//
// FEATURES: R93
func TestCorruptDatabase(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "alive", "--label", "a=b", "--", "sh", "-c", "echo here; exec cat")
	i.Run("new", "-n", "over", "--", "sh", "-c", "echo once; exit 4")
	i.Run("wait", "over", "--for", "exit")
	i.Run("wait", "alive", "--for", "text=here")
	i.Run("daemon", "stop")
	db := filepath.Join(i.Dir, "state", "longterm.db")
	if err := os.WriteFile(db, bytes.Repeat([]byte("garbage "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	if s := i.Info("alive"); s.State != "running" || s.Labels["a"] != "b" {
		t.Errorf("the running session: %+v", s)
	}
	if s := i.Info("over"); s.ExitCode == nil || *s.ExitCode != 4 {
		t.Errorf("the ended session: %+v", s)
	}
	if out := i.Run("output", "over"); out != "once\n" {
		t.Errorf("its output: %q", out)
	}
	if st := i.Status(); len(st.Notices) == 0 || !strings.Contains(st.Notices[0], "corrupt") {
		t.Errorf("no notice: %+v", st.Notices)
	}
	if out := i.Run("doctor"); !strings.Contains(out, "corrupt") {
		t.Errorf("the doctor does not know:\n%s", out)
	}
}

// TestTornSegment truncates a journal in the middle of a record. Complete records are kept, and output continues.
//
// FEATURES: R93
func TestTornSegment(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "a", "--", "sh", "-c", "echo whole; exec cat")
	i.Run("wait", "a", "--for", "text=whole")
	id := i.Info("a").ID
	i.Run("daemon", "stop")
	segments, _ := filepath.Glob(filepath.Join(i.Dir, "state", "sessions", id, "journal", "*.ltj"))
	if len(segments) != 1 {
		t.Fatalf("segments: %q", segments)
	}
	f, err := os.OpenFile(segments[0], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("half a rec"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	i.Run("send", "a", "-e", "more")
	i.Run("wait", "a", "--for", "text=more")
	if out := i.Run("output", "a"); out != "whole\nmore\nmore\n" {
		t.Errorf("output %q", out)
	}
	log, err := os.ReadFile(filepath.Join(i.Dir, "state", "daemon.log"))
	if err != nil || !strings.Contains(string(log), "journal recovered") {
		t.Errorf("not in the log: %v", err)
	}
}

// TestSecondDaemonAndStaleSocket starts a second daemon, which exits. A socket of a killed daemon does not prevent a
// start.
//
// FEATURES: R93
func TestSecondDaemonAndStaleSocket(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "a", "--", "sleep", "1000")
	if _, stderr, code := i.Try("daemon", "serve"); code == 0 || !strings.Contains(stderr, "another daemon is running") {
		t.Errorf("a second daemon: %d %s", code, stderr)
	}
	i.Run("daemon", "stop", "--kill-sessions")
	for _, stale := range []string{"run/daemon.sock", "run/keepers/main.sock", "run/keepers/gone.sock"} {
		if err := os.WriteFile(filepath.Join(i.Dir, stale), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	i.Run("new", "-n", "b", "--", "sleep", "1000")
	if s := i.Info("a"); s.State != "exited" || s.Signal != "SIGINT" {
		t.Errorf("the session ended by stopping: %+v", s)
	}
}

// TestDaemonThatCannotStart prevents the daemon's start. The keeper reports it and gives up, sessions continue, and the
// next client tries again.
//
// FEATURES: R90, R93
func TestDaemonThatCannotStart(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "a", "--", "sh", "-c", "exec cat")
	pid := i.Info("a").PID
	i.Run("daemon", "stop")
	db := filepath.Join(i.Dir, "state", "longterm.db")
	if err := os.Rename(db, db+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(db, 0o700); err != nil { // root could write to any other file
		t.Fatal(err)
	}
	_, stderr, code := i.Try("ls")
	if code != 5 || !strings.Contains(stderr, "did not start") || !strings.Contains(stderr, "longterm.db") || !strings.Contains(stderr, "running sessions continue") {
		t.Errorf("%d %s", code, stderr)
	}
	if _, stderr, _ = i.Try("daemon", "status"); !strings.Contains(stderr, "holds 1 sessions") {
		t.Errorf("status: %s", stderr)
	}
	if syscall.Kill(pid, 0) != nil {
		t.Error("the session is gone")
	}
	if err := os.Remove(db); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(db+".away", db); err != nil {
		t.Fatal(err)
	}
	if s := i.Info("a"); s.PID != pid || s.State != "running" {
		t.Errorf("after mending: %+v", s)
	}
}

// TestDescriptorsRunOut exhausts the descriptors. The error names the cause, and running sessions are not affected.
//
// FEATURES: R93, R97
func TestDescriptorsRunOut(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	limited := exec.CommandContext(ctx, "bash", "-c", `ulimit -n 60; exec -a longterm "$0" new -n first -- cat`, i.Exe)
	limited.Env, limited.Dir = i.Env, "/"
	if out, err := limited.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	for n := 0; ; n++ {
		_, stderr, code := i.Try("new", "--", "cat")
		if code == 0 {
			if n > 60 {
				t.Fatal("the limit was never reached")
			}
			continue
		}
		if !strings.Contains(stderr, "too many open files") || !strings.Contains(stderr, "ulimit") {
			t.Errorf("%d %s", code, stderr)
		}
		break
	}
	i.Run("send", "first", "-e", "still here")
	i.Run("wait", "first", "--for", "text=still here")
	told := exec.CommandContext(ctx, "bash", "-c", `ulimit -n 60; exec -a longterm "$0" doctor`, i.Exe)
	told.Env, told.Dir = i.Env, "/"
	out, _ := told.CombinedOutput() // its exit status is that of its findings
	_, said, _ := strings.Cut(string(out), "60 open files allow about ")
	var about int
	if _, err := fmt.Sscan(said, &about); err != nil || about < i.Status().Running-2 || about > i.Status().Running+2 {
		t.Errorf("doctor reports %d, %v; there are %d\n%s", about, err, i.Status().Running, out)
	}
}

// TestClientsThatMisbehave attaches a client that never reads, which delays no other, and kills one, which leaves
// nothing behind.
//
// FEATURES: R93
func TestClientsThatMisbehave(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	size := 20_000_000
	if e2e.RaceEnabled {
		size /= 5
	}
	i.Run("new", "-n", "flood", "--", "sh", "-c", fmt.Sprintf("yes | head -c %d; echo; echo DONE; exec cat", size))
	follower := i.Command(t.Context(), "output", "-f", "--raw", "flood")
	out, err := follower.StdoutPipe() // never read
	if err != nil {
		t.Fatal(err)
	}
	if err := follower.Start(); err != nil {
		t.Fatal(err)
	}
	i.Run("wait", "flood", "--for", "text=DONE", "--timeout", "100s")
	i.Run("new", "-n", "other", "--", "echo", "unharmed")
	i.Run("wait", "other", "--for", "text=unharmed")
	if err := follower.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = out.Close()
	_ = follower.Wait()
	e2e.Eventually(t, "the daemon has removed the killed client", func() bool { return i.Info("flood").Clients == 0 })
}

// TestDamagedJobs damages only the jobs table, which is not checked when the database is opened. The daemon starts
// nevertheless.
//
// FAULT: A19
// FEATURES: R93
func TestDamagedJobs(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "alive", "--", "sh")
	i.Run("exec", "alive", "true")
	i.Run("daemon", "stop")
	db := filepath.Join(i.Dir, "state", "longterm.db")
	b, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndex(b, []byte(`"line":"true"`)) // of a job's request, on the table's page
	root := at / 4096 * 4096
	if at < 0 {
		t.Fatal("no job is recorded")
	}
	copy(b[root:root+64], bytes.Repeat([]byte{0xff}, 64))
	if err := os.WriteFile(db, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if s := i.Info("alive"); s.State != "running" {
		t.Errorf("the running session: %+v", s)
	}
	i.Run("exec", "alive", "true")
	if out := i.Run("doctor"); !strings.Contains(out, "corrupt") {
		t.Errorf("the doctor does not know:\n%s", out)
	}
}
