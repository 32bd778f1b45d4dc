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

// judge is a daemon that decides executions.
type judge struct {
	notices
	asked chan *wire.Execution
	gone  chan *wire.ExecutionGone
}

func (j judge) ExecutionGone(m *wire.ExecutionGone) { j.gone <- m }

func (j judge) Execution(m *wire.Execution) func(aside func()) {
	j.asked <- m
	return nil
}

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
	if err := l.Answer(e, errno); err != nil {
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
	m.Argv, m.Env, err = confine.Spec{Path: m.Path, Executions: confine.ExecutionsRequired, Reach: true}.Command(m.Argv, m.Env)
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

// The keeper reports an execution with all its arguments. It happens only when allowed.
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

// An execution waits until a daemon connects, also over an upgrade in place, and is sent to the next daemon. If its
// process is killed, the daemon is notified.
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
	receive(t, l.Closed(), "end of the connection")
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
	if err := l.Answer(e, 0); err != nil { // too late is no harm
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

// If a daemon answered at the listener and was killed before the keeper noticed, the execution is not sent to the next
// daemon.
//
// FEATURES: R107
func TestAnsweredExecution_NotRepeated(t *testing.T) {
	socket, _ := start(t)
	l, j := dialJudge(t, socket)
	spawnConfined(t, l, "a", "/bin/true one && /bin/true two && exit 9")
	first := j.answer(t, l, true)
	_ = l.Close()
	l, j = dialJudge(t, socket)
	if e := j.answer(t, l, true); e.Number == first.Number || e.Argv[1] != "two" {
		t.Errorf("%+v, after %+v", e, first)
	}
	if ex := j.exit(t, "a"); ex.Code != 9 {
		t.Errorf("%+v", ex)
	}
}

// What an earlier run of a session left running is answered as the newer run is, by this daemon, by the next, and over an
// upgrade in place of the keeper.
//
// FEATURES: R107
func TestWhatAnEarlierRunLeftIsAnswered(t *testing.T) {
	socket, _ := start(t)
	l, j := dialJudge(t, socket)
	fifo := filepath.Join(t.TempDir(), "go")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	on, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer on.Close()
	spawnConfined(t, l, "a", `trap "" HUP
(read x; /bin/true first; /bin/true second $?; /bin/true third $?) <`+fifo+` >/dev/null 2>&1 & exit 0`)
	j.exit(t, "a")
	if err := l.Release(ctx(t), "a"); err != nil {
		t.Fatal(err)
	}
	spawnConfined(t, l, "a", "read x; /bin/true new && exit 4")

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
	receive(t, j.asked, "the second")
	if err := l.Upgrade(ctx(t), executable(t, "/proc/self/exe")); err != nil {
		t.Fatal(err)
	}
	receive(t, l.Closed(), "end of the connection")
	l, j = dialJudge(t, socket)
	asked("second 0", false)
	receive(t, j.asked, "the third")
	_ = l.Close()
	l, j = dialJudge(t, socket)
	asked("third 126", true)

	if _, err := adopt(t, l, "a").pty.WriteString("\n"); err != nil {
		t.Fatal(err)
	}
	asked("new", true)
	if ex := j.exit(t, "a"); ex.Code != 4 {
		t.Errorf("%+v", ex)
	}
}

// A daemon that does not know what to do with listeners answers by way of the keeper.
//
// FEATURES: R107
func TestAnswersByWayOfTheKeeper(t *testing.T) {
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
	m := confined(t, sh("a", "/bin/true one || exit 5; /bin/true two && exit 6; exit 9"))
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
				t.Errorf("%+v, %v, handed %d, asked %d", ex, err, handed, asked)
			}
			return
		}
	}
}

// Unanswered executions affect no other session: some are stored, the others wait in the kernel. All continue once
// answered.
//
// FEATURES: R107
func TestFloodOfExecutions(t *testing.T) {
	socket, pid := start(t)
	l, j := dialJudge(t, socket)
	const many = maxWaiting + 40
	spawnConfined(t, l, "flood", fmt.Sprintf("i=0; while [ $i -lt %d ]; do /bin/true $i & i=$((i+1)); done; wait; exit 6", many))
	seen := map[uint64]*wire.Execution{}
	for range maxWaiting {
		e := receive(t, j.asked, "execution")
		seen[e.Number] = e
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
		l, j := dialJudge(b, socket)
		m := confined(b, sh("a", fmt.Sprintf(loop, b.N)))
		b.ResetTimer()
		if _, err := l.Spawn(ctx(b), m); err != nil {
			b.Fatal(err)
		}
		for range b.N {
			if err := l.Answer(receive(b, j.asked, "execution"), 0); err != nil {
				b.Fatal(err)
			}
		}
		j.exit(b, "a")
	})
	b.Run("judged=true", func(b *testing.B) {
		socket, _ := start(b)
		own := 0
		l, d := dialTaker(b, socket, func(_ *taker, e *wire.Execution, _ func()) bool {
			if taken(e) {
				own++
			}
			return false
		})
		m := confined(b, sh("a", fmt.Sprintf(loop, b.N)))
		b.ResetTimer()
		if _, err := l.Spawn(ctx(b), m); err != nil {
			b.Fatal(err)
		}
		d.exit(b, "a")
		b.ReportMetric(float64(own)/float64(b.N), "taken/op")
	})
}

// What is judged cannot signal the keeper or its daemon, by a process, a group or a thread, and what is its own it can.
// Nor all there are, which is not tried out.
//
// FEATURES: R107
func TestSignalsAtUsAreRefused(t *testing.T) {
	tier.Need(t, "python3")
	socket, _ := start(t)
	l, j := dialJudge(t, socket)
	if !l.Hello().Reach {
		t.Fatal("the keeper does not say that it answers them")
	}
	daemon, keeper := strconv.Itoa(os.Getpid()), strconv.FormatInt(l.Hello().PID, 10) // the test is the connected peer
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
	spawnConfined(t, l, "a", "exec python3 "+file+" "+daemon+" "+keeper)
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
func TestEveryoneIsUsToo(t *testing.T) {
	k := &Keeper{}
	for pid, want := range map[int]bool{-1: true, os.Getpid(): true, -syscall.Getpgrp(): true, 1<<31 - 1: false} {
		n := sys.Notification{Nr: unix.SYS_KILL, PID: os.Getpid(), Args: [6]uint64{uint64(uint32(int32(pid))), 9}}
		if got := k.rejectsCall(n); got != want {
			t.Errorf("kill of %d: %v", pid, got)
		}
	}
	kill := func(by, of int) bool {
		return k.rejectsCall(sys.Notification{Nr: unix.SYS_KILL, PID: by, Args: [6]uint64{uint64(uint32(of)), 9}})
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "daemon"), []byte("echo; read x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	other := sleeping(t, &exec.Cmd{Path: "/bin/sh", Args: []string{"longterm", "daemon"}, Dir: dir})
	if !kill(os.Getpid(), other) {
		t.Error("the daemon of another instance may be ended")
	}
	if plain := sleeping(t, exec.Command("/bin/sh", "-c", "echo; read x")); kill(os.Getpid(), plain) {
		t.Error("a process that is none of ours may not be ended")
	}
	apart := exec.Command("/bin/sh", "-c", "echo; read x")
	apart.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	if os.Geteuid() != 0 {
		apart.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
	}
	if kill(sleeping(t, apart), os.Getpid()) {
		t.Error("a number of another pid namespace is taken for one of ours")
	}
}

// sleeping starts a command that prints a line and reads its input, which ends with the test. It returns the process id
// once it runs: when Start returns, at the end of execve, a process has no arguments yet.
func sleeping(t *testing.T, cmd *exec.Cmd) int {
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

// A daemon that is stopped while an execution waits is continued by the keeper.
//
// FEATURES: R107
func TestStoppedDaemonIsContinued(t *testing.T) {
	k := &Keeper{log: slog.New(slog.DiscardHandler), listeners: map[run]*listener{{"a", 1}: newListener(run{"a", 1}, 1, nil)}}
	cmd := exec.Command("/bin/sh", "-c", "read x")
	in, err := cmd.StdinPipe()
	if err = errors.Join(err, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = in.Close(), cmd.Wait() }() // however it ended
	k.super.pid = cmd.Process.Pid
	var status syscall.WaitStatus
	if err := syscall.Kill(k.super.pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if _, err := syscall.Wait4(k.super.pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatal(status, err)
	}
	stopped := func() bool {
		st, err := sys.ReadStat(k.super.pid)
		return err == nil && st.State == 'T'
	}
	for range 2 * stoppedChecks { // no wait: the execution is pending
		k.resumeStopped()
	}
	if !stopped() {
		t.Error("it was continued though nobody waits")
	}
	k.listeners[run{"a", 1}].waiting[1] = &wire.Execution{}
	for range stoppedChecks - 1 {
		k.resumeStopped()
	}
	if !stopped() {
		t.Error("it was continued at once")
	}
	if k.resumeStopped(); stopped() || !strings.Contains(k.super.lastError, "continued") {
		t.Errorf("it is still stopped: %q", k.super.lastError)
	}
}
