package keeper

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/session/confine"
	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/session/keeper/wire"
)

// judge is a daemon that is asked about executions.
type judge struct {
	notices
	asked chan *wire.Execution
	gone  chan *wire.ExecutionGone
}

func (j judge) Execution(m *wire.Execution)         { j.asked <- m }
func (j judge) ExecutionGone(m *wire.ExecutionGone) { j.gone <- m }

// dialJudge connects as a daemon that serves.
func dialJudge(t testing.TB, socket string) (*link.Link, judge) {
	t.Helper()
	j := judge{newNotices(), make(chan *wire.Execution, 4096), make(chan *wire.ExecutionGone, 4096)}
	l, err := link.Dial(socket, wire.RoleDaemon, "test", j)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	if err := l.Ready(""); err != nil {
		t.Fatal(err)
	}
	return l, j
}

// answer answers the next execution.
func (j judge) answer(t *testing.T, l *link.Link, allow bool) *wire.Execution {
	t.Helper()
	e := receive(t, j.asked, "execution")
	errno := syscall.EPERM
	if allow {
		errno = 0
	}
	if err := l.Answer(e.ID, e.Number, errno); err != nil {
		t.Fatal(err)
	}
	return e
}

// confined has a program's executions judged.
func confined(t testing.TB, m wire.Spawn) wire.Spawn {
	t.Helper()
	if err := confine.Probe(); err != nil {
		t.Skip(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	m.Argv, m.Env, err = confine.Spec{Path: m.Path, Executions: confine.ExecutionsRequired}.Command(m.Argv, m.Env)
	if err != nil {
		t.Fatal(err)
	}
	m.Path, m.Shim = exe, true
	return m
}

func spawnConfined(t *testing.T, l *link.Link, id, script string) *wire.Spawned {
	t.Helper()
	s, err := l.Spawn(ctx(t), confined(t, sh(id, script)))
	if err != nil {
		t.Fatal(err)
	}
	if !s.Shim || !s.Judged || !strings.Contains(s.Report, `"executions":true`) {
		t.Fatalf("%+v", s)
	}
	return s
}

// What a session executes is told with all that it asked for, and happens only when it may.
//
// FEATURES: R107
func TestExecutions(t *testing.T) {
	socket, _ := start(t)
	l, j := dialJudge(t, socket)
	file := filepath.Join(t.TempDir(), "F")
	s := spawnConfined(t, l, "a", "cd /tmp; /bin/touch "+file+" 'a b' '' || echo refused; cd /; bin/ls / >/dev/null && echo listed; exit 7")
	e := j.answer(t, l, false)
	if got := strings.Join(e.Argv, "|"); e.Path != "/bin/touch" || got != "/bin/touch|"+file+"|a b|" || e.Cwd != "/tmp" || e.Dir != "" {
		t.Errorf("%+v", e)
	}
	if e.Parent != s.PID || e.Lead != s.PID || e.Start == 0 || e.Cut || e.Error != "" {
		t.Errorf("%+v of %d", e, s.PID)
	}
	if e = j.answer(t, l, true); e.Path != "bin/ls" || e.Dir != "/" {
		t.Errorf("%+v", e)
	}
	x := adopt(t, l, "a")
	ex := j.exit(t, "a")
	out := readAll(t, l, j.notices, x, ex.Head)
	if ex.Code != 7 || !strings.Contains(out, "refused") || !strings.Contains(out, "listed") {
		t.Errorf("%d, %q", ex.Code, out)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it was executed: %v", err)
	}
}

// An execution waits for a daemon to come, over an upgrade in place too; the next daemon is told of it again. One whose
// process is killed is told of as gone.
//
// FEATURES: R107
func TestExecutionWaits(t *testing.T) {
	socket, _ := start(t)
	l, j := dialJudge(t, socket)
	spawnConfined(t, l, "a", "/bin/true one && /bin/true two && exit 9")
	first := receive(t, j.asked, "execution")
	_ = l.Close()
	l, j = dialJudge(t, socket)
	if e := receive(t, j.asked, "execution"); e.Number != first.Number || e.Argv[1] != "one" {
		t.Errorf("%+v, after %+v", e, first)
	}
	if err := l.Upgrade(ctx(t), executable(t, "/proc/self/exe")); err != nil {
		t.Fatal(err)
	}
	receive(t, l.Gone(), "end of the connection")
	l, j = dialJudge(t, socket)
	if e := j.answer(t, l, true); e.Number != first.Number || e.Argv[1] != "one" || e.Lead != first.Lead {
		t.Errorf("%+v, after %+v", e, first)
	}
	j.answer(t, l, true)
	if ex := j.exit(t, "a"); ex.Code != 9 {
		t.Errorf("%+v", ex)
	}

	spawnConfined(t, l, "b", "/bin/true & read x; kill -9 $!; wait; exit 8")
	e := receive(t, j.asked, "execution")
	if err := syscall.Kill(int(e.PID), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if g := receive(t, j.gone, "end of one that waited"); g.ID != "b" || g.Number != e.Number {
		t.Errorf("%+v", g)
	}
	if err := l.Answer("b", e.Number, 0); err != nil { // too late is no harm
		t.Fatal(err)
	}
	b := adopt(t, l, "b")
	if _, err := b.pty.WriteString("\n"); err != nil {
		t.Fatal(err)
	}
	if ex := j.exit(t, "b"); ex.Code != 8 {
		t.Errorf("%+v", ex)
	}
}

// Executions that nobody answers harm no other session: some are kept, the others wait in the kernel. All go on once they
// are answered.
//
// FEATURES: R107
func TestFloodOfExecutions(t *testing.T) {
	socket, pid := start(t)
	l, j := dialJudge(t, socket)
	const many = maxWaiting + 40
	spawnConfined(t, l, "flood", fmt.Sprintf("i=0; while [ $i -lt %d ]; do /bin/true $i & i=$((i+1)); done; wait; exit 6", many))
	seen := map[uint64]bool{}
	for range maxWaiting {
		seen[receive(t, j.asked, "execution").Number] = true
	}
	before := descriptors(pid)
	if _, err := l.Spawn(ctx(t), sh("other", "echo hello; exit 3")); err != nil {
		t.Fatal(err)
	}
	if ex := j.exit(t, "other"); ex.Code != 3 {
		t.Errorf("%+v", ex)
	}
	if len(seen) != maxWaiting || len(j.asked) > 0 {
		t.Errorf("%d are told of, and %d more", len(seen), len(j.asked))
	}
	for n := range seen {
		if err := l.Answer("flood", n, 0); err != nil {
			t.Fatal(err)
		}
	}
	for range many - maxWaiting {
		j.answer(t, l, true)
	}
	if ex := j.exit(t, "flood"); ex.Code != 6 {
		t.Errorf("%+v", ex)
	}
	if err := l.Release(ctx(t), "other"); err != nil {
		t.Fatal(err)
	}
	awaitDescriptors(t, pid, before)
}

// A program that a shim cannot execute fails as one without a shim does, and leaves nothing behind.
//
// FEATURES: R12, R107
func TestShimFails(t *testing.T) {
	socket, pid := start(t)
	l, _ := dialJudge(t, socket)
	for name, c := range map[string]struct {
		change func(*wire.Spawn)
		errno  syscall.Errno
		text   string
	}{
		"missing program": {func(m *wire.Spawn) { m.Path = "/does/not/exist" }, syscall.ENOENT, "no such file"},
		"no format":       {func(m *wire.Spawn) { m.Path = written(t, "p", "\x01\x02\x03", 0o755) }, syscall.ENOEXEC, "exec format"},
	} {
		before := descriptors(pid)
		m := sh("s", "true")
		c.change(&m)
		_, err := l.Spawn(ctx(t), confined(t, m))
		var failed *link.SpawnError
		if !errors.As(err, &failed) || failed.Errno != c.errno || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v; want errno %d and %q", name, err, c.errno, c.text)
		}
		awaitDescriptors(t, pid, before)
		if all, err := l.List(ctx(t)); err != nil || len(all) != 0 {
			t.Errorf("%s: the keeper has %v, %v", name, all, err)
		}
	}
	m := sh("s", "exit 5") // one that is no shim, though that is said
	m.Shim = true
	if _, err := l.Spawn(ctx(t), m); err == nil || !strings.Contains(err.Error(), "before its program") {
		t.Errorf("no shim: %v", err)
	}
}

// What starting a program costs, with somebody who is asked and allows it at once, and without.
func BenchmarkExecution(b *testing.B) {
	for _, judged := range []bool{false, true} {
		b.Run(fmt.Sprintf("judged=%v", judged), func(b *testing.B) {
			socket, _ := start(b)
			l, j := dialJudge(b, socket)
			m := sh("a", fmt.Sprintf("i=0; while [ $i -lt %d ]; do /bin/true; i=$((i+1)); done", b.N))
			if judged {
				m = confined(b, m)
			}
			b.ResetTimer()
			if _, err := l.Spawn(ctx(b), m); err != nil {
				b.Fatal(err)
			}
			for range b.N {
				if !judged {
					break
				}
				e := receive(b, j.asked, "execution")
				if err := l.Answer(e.ID, e.Number, 0); err != nil {
					b.Fatal(err)
				}
			}
			j.exit(b, "a")
		})
	}
}
