package keeper

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/confine"
	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/session/sys/unixsock"
)

// decider is a daemon that decides executions.
type decider struct {
	notices
	executions chan *wire.Execution
	gone       chan *wire.ExecutionEnded
}

func (j decider) ExecutionEnded(m *wire.ExecutionEnded) { j.gone <- m }

func (j decider) Execution(m *wire.Execution) func(aside func()) {
	j.executions <- m
	return nil
}

// dialDecider connects as a ready daemon.
func dialDecider(t testing.TB, socket string) (*link.Link, decider) {
	t.Helper()
	j := decider{newNotices(), make(chan *wire.Execution, 4096), make(chan *wire.ExecutionEnded, 4096)}
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
func (j decider) answer(t *testing.T, l *link.Link, allow bool) *wire.Execution {
	t.Helper()
	e := receive(t, j.executions, "execution")
	errno := syscall.EPERM
	if allow {
		errno = 0
	}
	if err := l.Answer(e, errno); err != nil {
		t.Fatal(err)
	}
	return e
}

// withExecutionChecks returns a spawn whose executions are checked.
func withExecutionChecks(t testing.TB, m wire.Spawn) wire.Spawn {
	t.Helper()
	if err := confine.Probe(); err != nil {
		t.Skip(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	m.Argv, m.Env, err = confine.Spec{Path: m.Path, Executions: confine.ExecutionsRequired, Reach: true}.Command(m.Argv, m.Env)
	if err != nil {
		t.Fatal(err)
	}
	m.Path, m.Shim = exe, true
	return m
}

// spawnChecked starts a script whose executions are checked.
func spawnChecked(t *testing.T, l *link.Link, id, script string) *wire.Spawned {
	t.Helper()
	s, err := l.Spawn(ctx(t), withExecutionChecks(t, sh(id, script)))
	if err != nil {
		t.Fatal(err)
	}
	if !s.Shim || !s.Checked || !strings.Contains(s.Report, `"executions":true`) {
		t.Fatalf("%+v", s)
	}
	return s
}

// TestExecutions checks that the keeper reports an execution with all its arguments, and that it happens only when
// allowed.
//
// FEATURES: R107
func TestExecutions(t *testing.T) {
	socket, _ := start(t)
	l, j := dialDecider(t, socket)
	file := filepath.Join(t.TempDir(), "F")
	s := spawnChecked(t, l, "a", "cd /tmp; /bin/touch "+file+" 'a b' '' || echo refused; cd /; bin/ls / >/dev/null && echo listed; exit 7")
	e := j.answer(t, l, false)
	if got := strings.Join(e.Argv, "|"); e.Path != "/bin/touch" || got != "/bin/touch|"+file+"|a b|" || e.Cwd != "/tmp" || e.Dir != "" {
		t.Errorf("%+v", e)
	}
	if e.Parent != s.PID || e.LeaderPID != s.PID || e.Start == 0 || e.ArgvTruncated || e.Error != "" {
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
		t.Errorf("executed: %v", err)
	}
}

// TestExecution_WaitsForDaemon checks that an execution waits until a daemon connects, also over an upgrade in place, and
// is sent to the next daemon. If its process is killed, the daemon is notified.
//
// FEATURES: R107
func TestExecution_WaitsForDaemon(t *testing.T) {
	socket, _ := start(t)
	l, j := dialDecider(t, socket)
	spawnChecked(t, l, "a", "/bin/true one && /bin/true two && exit 9")
	first := receive(t, j.executions, "execution")
	_ = l.Close()
	l, j = dialDecider(t, socket)
	if e := receive(t, j.executions, "execution"); e.Number != first.Number || e.Argv[1] != "one" {
		t.Errorf("%+v, after %+v", e, first)
	}
	if err := l.Upgrade(ctx(t), executable(t, "/proc/self/exe")); err != nil {
		t.Fatal(err)
	}
	receive(t, l.Closed(), "end of the connection")
	l, j = dialDecider(t, socket)
	if e := j.answer(t, l, true); e.Number != first.Number || e.Argv[1] != "one" || e.LeaderPID != first.LeaderPID {
		t.Errorf("%+v, after %+v", e, first)
	}
	j.answer(t, l, true)
	if ex := j.exit(t, "a"); ex.Code != 9 {
		t.Errorf("%+v", ex)
	}

	spawnChecked(t, l, "b", "/bin/true & read x; kill -9 $!; wait; exit 8")
	e := receive(t, j.executions, "execution")
	if err := syscall.Kill(int(e.PID), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if g := receive(t, j.gone, "end of one that waited"); g.ID != "b" || g.Number != e.Number {
		t.Errorf("%+v", g)
	}
	if err := l.Answer(e, 0); err != nil { // a late answer does no harm
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

// TestAnsweredExecution_NotRepeated checks that if a daemon answered at the listener and was killed before the keeper
// noticed, the execution is not sent to the next daemon.
//
// FEATURES: R107
func TestAnsweredExecution_NotRepeated(t *testing.T) {
	socket, _ := start(t)
	l, j := dialDecider(t, socket)
	spawnChecked(t, l, "a", "/bin/true one && /bin/true two && exit 9")
	first := j.answer(t, l, true)
	_ = l.Close()
	l, j = dialDecider(t, socket)
	if e := j.answer(t, l, true); e.Number == first.Number || e.Argv[1] != "two" {
		t.Errorf("%+v, after %+v", e, first)
	}
	if ex := j.exit(t, "a"); ex.Code != 9 {
		t.Errorf("%+v", ex)
	}
}

// TestExecution_OfEarlierRun checks that executions of an earlier run's leftovers are answered like those of the newer
// run: by this daemon, by the next, and over an upgrade in place of the keeper.
//
// FEATURES: R107
func TestExecution_OfEarlierRun(t *testing.T) {
	socket, _ := start(t)
	l, j := dialDecider(t, socket)
	fifo := filepath.Join(t.TempDir(), "go")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	on, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer on.Close()
	spawnChecked(t, l, "a", `trap "" HUP
(read x; /bin/true first; /bin/true second $?; /bin/true third $?) <`+fifo+` >/dev/null 2>&1 & exit 0`)
	j.exit(t, "a")
	if err := l.Release(ctx(t), "a"); err != nil {
		t.Fatal(err)
	}
	spawnChecked(t, l, "a", "read x; /bin/true new && exit 4")

	if _, err := on.WriteString("x\n"); err != nil {
		t.Fatal(err)
	}
	asked := func(want string, allow bool) {
		t.Helper()
		if e := j.answer(t, l, allow); strings.Join(e.Argv[1:], " ") != want {
			t.Errorf("%q, want %q", e.Argv, want)
		}
	}
	asked("first", true)
	receive(t, j.executions, "the second")
	if err := l.Upgrade(ctx(t), executable(t, "/proc/self/exe")); err != nil {
		t.Fatal(err)
	}
	receive(t, l.Closed(), "end of the connection")
	l, j = dialDecider(t, socket)
	asked("second 0", false)
	receive(t, j.executions, "the third")
	_ = l.Close()
	l, j = dialDecider(t, socket)
	asked("third 126", true)

	if _, err := adopt(t, l, "a").pty.WriteString("\n"); err != nil {
		t.Fatal(err)
	}
	asked("new", true)
	if ex := j.exit(t, "a"); ex.Code != 4 {
		t.Errorf("%+v", ex)
	}
}

// TestAnswers_ThroughKeeper checks that a daemon without support for listeners answers through the keeper.
//
// FEATURES: R107
func TestAnswers_ThroughKeeper(t *testing.T) {
	socket, _ := start(t)
	uc, err := unixsock.Dial(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer uc.Close()
	c := wire.NewConn(uc)
	say := func(m wire.Message) {
		if err := c.Write(m); err != nil {
			t.Fatal(err)
		}
	}
	say(&wire.Hello{Version: wire.Version, MinVersion: wire.Version, Build: "old", Role: wire.RoleDaemon, PID: int64(os.Getpid())})
	say(&wire.Ready{})
	m := withExecutionChecks(t, sh("a", "/bin/true one || exit 5; /bin/true two && exit 6; exit 9"))
	m.Req = 1
	say(&m)
	for handed, asked := 0, 0; ; {
		f, files, err := c.Read()
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			_ = file.Close()
		}
		switch f.Kind {
		case wire.KindExecutionListener:
			handed++
		case wire.KindExecution:
			var e wire.Execution
			if err := wire.Decode(f.Payload, &e); err != nil {
				t.Fatal(err)
			}
			asked++
			say(&wire.ExecutionAnswer{ID: e.ID, Number: e.Number, Allow: asked == 1})
		case wire.KindExited:
			var ex wire.Exited
			if err := wire.Decode(f.Payload, &ex); err != nil || ex.Code != 9 || handed == 0 || asked != 2 {
				t.Errorf("%+v, %v, listeners %d, executions %d", ex, err, handed, asked)
			}
			return
		}
	}
}

// TestExecutions_Flood checks that unanswered executions affect no other session: some are stored, the others wait in the
// kernel. All continue once answered.
//
// FEATURES: R107
func TestExecutions_Flood(t *testing.T) {
	socket, pid := start(t)
	l, j := dialDecider(t, socket)
	const many = maxWaiting + 40
	spawnChecked(t, l, "flood", fmt.Sprintf("i=0; while [ $i -lt %d ]; do /bin/true $i & i=$((i+1)); done; wait; exit 6", many))
	seen := map[uint64]*wire.Execution{}
	for range maxWaiting {
		e := receive(t, j.executions, "execution")
		seen[e.Number] = e
	}
	before := countDescriptors(pid)
	if _, err := l.Spawn(ctx(t), sh("other", "echo hello; exit 3")); err != nil {
		t.Fatal(err)
	}
	if ex := j.exit(t, "other"); ex.Code != 3 {
		t.Errorf("%+v", ex)
	}
	if len(seen) != maxWaiting || len(j.executions) > 0 {
		t.Errorf("reported %d, and %d more", len(seen), len(j.executions))
	}
	for _, e := range seen {
		if err := l.Answer(e, 0); err != nil {
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

// TestShim_Fails checks that a program which a shim cannot execute fails as without a shim, and leaves nothing behind.
//
// FEATURES: R12, R107
func TestShim_Fails(t *testing.T) {
	socket, pid := start(t)
	l, _ := dialDecider(t, socket)
	for name, c := range map[string]struct {
		change func(*wire.Spawn)
		errno  syscall.Errno
		text   string
	}{
		"missing program": {func(m *wire.Spawn) { m.Path = "/does/not/exist" }, syscall.ENOENT, "no such file"},
		"no format":       {func(m *wire.Spawn) { m.Path = writeFile(t, "p", "\x01\x02\x03", 0o755) }, syscall.ENOEXEC, "exec format"},
	} {
		before := countDescriptors(pid)
		m := sh("s", "true")
		c.change(&m)
		_, err := l.Spawn(ctx(t), withExecutionChecks(t, m))
		var failed *link.SpawnError
		if !errors.As(err, &failed) || failed.Errno != c.errno || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v; want errno %d and %q", name, err, c.errno, c.text)
		}
		awaitDescriptors(t, pid, before)
		if all, err := l.List(ctx(t)); err != nil || len(all) != 0 {
			t.Errorf("%s: the keeper has %v, %v", name, all, err)
		}
	}
	m := sh("s", "exit 5") // not a shim, although its argument claims so
	m.Shim = true
	if _, err := l.Spawn(ctx(t), m); err == nil || !strings.Contains(err.Error(), "before its program") {
		t.Errorf("no shim: %v", err)
	}
}

// BenchmarkExecution measures the start of a program: without a listener; with a daemon that the keeper notifies each
// time and that allows it on another goroutine; and with one that allows it where it was notified, as the real daemon
// does, which mostly avoids the keeper.
func BenchmarkExecution(b *testing.B) {
	const loop = "i=0; while [ $i -lt %d ]; do /bin/true; i=$((i+1)); done"
	b.Run("judged=false", func(b *testing.B) {
		socket, _ := start(b)
		l, n := dial(b, socket, wire.RoleDaemon)
		b.ResetTimer()
		if _, err := l.Spawn(ctx(b), sh("a", fmt.Sprintf(loop, b.N))); err != nil {
			b.Fatal(err)
		}
		n.exit(b, "a")
	})
	b.Run("judged=elsewhere", func(b *testing.B) {
		socket, _ := start(b)
		l, j := dialDecider(b, socket)
		m := withExecutionChecks(b, sh("a", fmt.Sprintf(loop, b.N)))
		b.ResetTimer()
		if _, err := l.Spawn(ctx(b), m); err != nil {
			b.Fatal(err)
		}
		for range b.N {
			if err := l.Answer(receive(b, j.executions, "execution"), 0); err != nil {
				b.Fatal(err)
			}
		}
		j.exit(b, "a")
	})
	b.Run("judged=true", func(b *testing.B) {
		socket, _ := start(b)
		own := 0
		l, d := dialReceiver(b, socket, func(_ *receiver, e *wire.Execution, _ func()) bool {
			if wasReceivedByDaemon(e) {
				own++
			}
			return false
		})
		m := withExecutionChecks(b, sh("a", fmt.Sprintf(loop, b.N)))
		b.ResetTimer()
		if _, err := l.Spawn(ctx(b), m); err != nil {
			b.Fatal(err)
		}
		d.exit(b, "a")
		b.ReportMetric(float64(own)/float64(b.N), "taken/op")
	})
}

// TestSignals_ToLongterm_Rejected checks that a checked process cannot signal the keeper or its daemon, by a process, a
// group or a thread, and can signal its own processes. A signal to all processes is not tested.
//
// FEATURES: R107
func TestSignals_ToLongterm_Rejected(t *testing.T) {
	tier.Need(t, "python3")
	socket, _ := start(t)
	l, j := dialDecider(t, socket)
	if !l.Hello().HandlesSignalCalls {
		t.Fatal("the keeper does not announce support for signal calls")
	}
	daemon, keeper := strconv.Itoa(os.Getpid()), strconv.FormatInt(l.Hello().PID, 10) // the test is the connected daemon
	code := `
import ctypes, os, signal, sys
libc = ctypes.CDLL(None, use_errno=True)
def tried(what, f):
    try:
        r = f()
        print(what, "done" if r is None or r >= 0 else os.strerror(ctypes.get_errno()))
    except OSError as e:
        print(what, e.strerror)
def ioprio(which, who): return libc.syscall(251 if os.uname().machine == "x86_64" else 30, which, who, 3 << 13)
daemon, keeper = int(sys.argv[1]), int(sys.argv[2])
for pid in daemon, keeper:
    thread = max(int(x) for x in os.listdir("/proc/%d/task" % pid))
    for sig in signal.SIGSTOP, signal.SIGTERM:
        tried("kill", lambda: os.kill(pid, sig))
        tried("group", lambda: os.kill(-pid if pid == keeper else -os.getpgid(pid), sig))
        tried("thread", lambda: os.kill(thread, sig))
        tried("tkill", lambda: libc.syscall(200 if os.uname().machine == "x86_64" else 130, thread, sig))
        tried("tgkill", lambda: libc.syscall(234 if os.uname().machine == "x86_64" else 131, pid, thread, sig))
        tried("pidfd", lambda: signal.pidfd_send_signal(os.open("/proc/%d" % pid, os.O_RDONLY), sig))
    tried("ptrace", lambda: libc.ptrace(0x4206, pid, 0, 0))
    tried("descriptor", lambda: libc.syscall(438, os.open("/proc/%d" % pid, os.O_RDONLY), 0, 0))
    tried("priority", lambda: os.setpriority(os.PRIO_PROCESS, pid, 19))
    tried("io priority", lambda: ioprio(1, pid))
    tried("processors", lambda: os.sched_setaffinity(pid, {0}))
    tried("scheduler", lambda: os.sched_setscheduler(pid, os.SCHED_BATCH, os.sched_param(0)))
    tried("limit", lambda: __import__("resource").prlimit(pid, __import__("resource").RLIMIT_CPU, (1, 1)) and None)
if os.fork() == 0:
    if os.getuid() == 0:
        os.setuid(54321) # whose other processes nobody minds
    tried("everybody", lambda: os.setpriority(os.PRIO_USER, 0, 19))
    tried("everybody's io", lambda: ioprio(3, 0))
    os._exit(0)
os.wait()
tried("owner", lambda: __import__("fcntl").fcntl(0, 10, signal.SIGSTOP))
`
	file := filepath.Join(t.TempDir(), "x.py")
	own := `
pid = os.fork()
if pid == 0:
    signal.pause()
    os._exit(0)
os.kill(pid, signal.SIGSTOP)
os.kill(pid, signal.SIGKILL)
os.setpriority(os.PRIO_PROCESS, os.getpid(), 5)
os.sched_setaffinity(os.getpid(), os.sched_getaffinity(0))
print("own", os.WTERMSIG(os.waitpid(pid, 0)[1]))
`
	if err := os.WriteFile(file, []byte(code+own), 0o600); err != nil {
		t.Fatal(err)
	}
	spawnChecked(t, l, "a", "exec python3 "+file+" "+daemon+" "+keeper)
	j.answer(t, l, true)
	x := adopt(t, l, "a")
	ex := j.exit(t, "a")
	out := strings.ReplaceAll(readAll(t, l, j.notices, x, ex.Head), "\r", "")
	refused := strings.Count(out, " Operation not permitted\n")
	if ex.Code != 0 || refused != 41 || !strings.Contains(out, "own 9\n") || strings.Contains(out, "done") {
		t.Errorf("%d, %d refused:\n%s", ex.Code, refused, out)
	}
}

// FEATURES: R107
func TestSignals_ToAll_Rejected(t *testing.T) {
	k := &Keeper{}
	for pid, want := range map[int]bool{-1: true, os.Getpid(): true, -syscall.Getpgrp(): true, 1<<31 - 1: false} {
		n := sys.Notification{Nr: unix.SYS_KILL, PID: os.Getpid(), Args: [6]uint64{uint64(uint32(int32(pid))), 9}}
		if got := k.rejectsSignalCall(n); got != want {
			t.Errorf("kill of %d: %v", pid, got)
		}
	}
	kill := func(by, of int) bool {
		return k.rejectsSignalCall(sys.Notification{Nr: unix.SYS_KILL, PID: by, Args: [6]uint64{uint64(uint32(of)), 9}})
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "daemon"), []byte("echo; read x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	other := startSleeping(t, &exec.Cmd{Path: "/bin/sh", Args: []string{"longterm", "daemon"}, Dir: dir})
	if !kill(os.Getpid(), other) {
		t.Error("a signal to another instance's daemon is allowed")
	}
	if plain := startSleeping(t, exec.Command("/bin/sh", "-c", "echo; read x")); kill(os.Getpid(), plain) {
		t.Error("a signal to a foreign process is rejected")
	}
	apart := exec.Command("/bin/sh", "-c", "echo; read x")
	apart.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	if os.Geteuid() != 0 {
		apart.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
	}
	if kill(startSleeping(t, apart), os.Getpid()) {
		t.Error("a number of another pid namespace is rejected")
	}
}

// startSleeping starts a command that prints a line and reads its input, which ends with the test. It returns the process
// id once the command runs: when Start returns, at the end of execve, a process has no arguments yet.
func startSleeping(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	in, err := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err = errors.Join(err, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Error(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

// TestStoppedDaemon_Resumed checks that the keeper resumes a daemon that is stopped while an execution waits.
//
// FEATURES: R107
func TestStoppedDaemon_Resumed(t *testing.T) {
	k := &Keeper{log: slog.New(slog.DiscardHandler), listeners: map[sessionRun]*listener{{"a", 1}: newListener(sessionRun{"a", 1}, 1, nil)}}
	cmd := exec.Command("/bin/sh", "-c", "read x")
	in, err := cmd.StdinPipe()
	if err = errors.Join(err, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = in.Close(), cmd.Wait() }() // also after a failure
	k.supervisor.pid = cmd.Process.Pid
	var status syscall.WaitStatus
	if err := syscall.Kill(k.supervisor.pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if _, err := syscall.Wait4(k.supervisor.pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatal(status, err)
	}
	stopped := func() bool {
		st, err := sys.ReadStat(k.supervisor.pid)
		return err == nil && st.State == 'T'
	}
	for range 2 * maxStoppedChecks { // no process waits: the execution is still pending
		k.resumeStopped()
	}
	if !stopped() {
		t.Error("resumed without a waiting process")
	}
	k.listeners[sessionRun{"a", 1}].waiting[1] = &wire.Execution{}
	for range maxStoppedChecks - 1 {
		k.resumeStopped()
	}
	if !stopped() {
		t.Error("resumed at once")
	}
	if k.resumeStopped(); stopped() || !strings.Contains(k.supervisor.lastError, "continued") {
		t.Errorf("still stopped: %q", k.supervisor.lastError)
	}
}
