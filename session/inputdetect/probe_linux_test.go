package inputdetect

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/sessiontest/isolate"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/session/sys"
)

// testTerminal is a program on a PTY whose output is read all the time.
type testTerminal struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd
	Prober

	mu     sync.Mutex
	output bytes.Buffer
}

// startTerminal runs a program on a new PTY and ends it with the test.
func startTerminal(t *testing.T, drain bool, argv ...string) *testTerminal {
	t.Helper()
	path := tier.Path(t, argv[0])
	cmd := exec.Command(path, argv[1:]...)
	cmd.Env = append(os.Environ(), "TERM=xterm", "HISTFILE=/dev/null", "LESSHISTFILE=-", "INPUTRC=/dev/null", "HOME="+t.TempDir())
	return startTerminalCmd(t, drain, cmd)
}

// startTerminalCmd starts cmd on a new PTY. With drain its output is read all the time.
func startTerminalCmd(t *testing.T, drain bool, cmd *exec.Cmd) *testTerminal {
	t.Helper()
	master, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	term := &testTerminal{t: t, master: master, cmd: cmd}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if drain {
			_, _ = io.Copy(term, master)
		}
	}()
	t.Cleanup(func() {
		endSession(cmd.Process.Pid, done)
		_ = cmd.Wait()
		_ = master.Close()
	})
	return term
}

// endSession kills the processes of a session, one by one, until the reader of its terminal has ended. A hangup would
// not do: it does not reach a job that its shell has not yet brought to the foreground.
func endSession(leader int, done <-chan struct{}) {
	p := Prober{probeState: &probeState{buf: make([]byte, maxFileBytes)}}
	_ = syscall.Kill(leader, syscall.SIGKILL)
	for {
		pids, _ := os.ReadDir("/proc")
		for _, entry := range pids {
			pid, err := strconv.Atoi(entry.Name())
			if err != nil {
				continue
			}
			if pr, ok := p.openProcess(pid); ok {
				if pr.SessionLeader == leader {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
				pr.Close()
			}
		}
		select {
		case <-done:
			return
		default:
			runtime.Gosched()
		}
	}
}

func (term *testTerminal) Write(p []byte) (int, error) {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.output.Write(p)
}

// send writes s as input.
func (term *testTerminal) send(s string) {
	term.t.Helper()
	if _, err := term.master.WriteString(s); err != nil {
		term.t.Fatal(err)
	}
}

// probe returns the result of a probe of the terminal.
func (term *testTerminal) probe() Result {
	target, err := TargetOf(int(term.master.Fd()))
	if err != nil {
		return Result{Reason: err.Error()}
	}
	return term.Probe(target)
}

// waitFor probes until a condition holds; the deadline only ends a test that fails.
func (term *testTerminal) waitFor(what string, holds func(Result) bool) Result {
	term.t.Helper()
	var r Result
	for range 20_000 { // probes, which leave the program a millisecond each: a processor that only they use would be no evidence
		if r = term.probe(); holds(r) {
			return r
		}
		<-time.After(time.Millisecond)
	}
	term.mu.Lock()
	defer term.mu.Unlock()
	term.t.Fatalf("timeout: never %s; last result %+v; output %q", what, r, term.output.Bytes())
	return r
}

// waitForState probes until the result has a state.
func (term *testTerminal) waitForState(want State) Result {
	term.t.Helper()
	return term.waitFor(want.String(), func(r Result) bool { return r.State == want })
}

// checkStays checks that repeated probes find the same state, once a program without other work has reached it. A
// runtime's threads may run now and then in a program that otherwise sleeps.
func (term *testTerminal) checkStays(want State) {
	term.t.Helper()
	for range 50 {
		if r := term.probe(); r.State != want && (want != Sleeping || r.State != Busy) {
			term.t.Errorf("after %v: got %+v", want, r)
			return
		}
	}
}

// TestMain runs the test binary as one of the programs that the tests need, if it was started as one.
func TestMain(m *testing.M) {
	if mode := os.Getenv("EVIDENCE_TEST_PROGRAM"); mode != "" {
		testProgram(mode)
		return
	}
	os.Exit(isolate.Run(m))
}

// startProgram runs the test binary as the program of a mode (testProgram).
func startProgram(t *testing.T, mode string, args ...string) *testTerminal {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "EVIDENCE_TEST_PROGRAM="+mode, "GORACE=atexit_sleep_ms=0")
	return startTerminalCmd(t, mode != "writes", cmd)
}

// FEATURES: R40, R42
func TestProbe_Programs(t *testing.T) {
	tier.Full(t)
	cases := []struct {
		name    string
		argv    []string
		state   State
		program string
		call    string // substring
	}{
		{"cat", []string{"cat"}, Reading, "cat", "read"},
		{"cat from /dev/tty", []string{"sh", "-c", "cat </dev/tty"}, Reading, "cat", "read"},
		{"dd", []string{"dd", "status=none"}, Reading, "dd", "read"},
		{"bash read", []string{"bash", "-c", "read -r x"}, Reading, "bash", "read"},
		{"bash read -s", []string{"bash", "-c", "read -rs x"}, Reading, "bash", "read"},
		{"bash read -t", []string{"bash", "-c", "read -t 1000 x"}, Polling, "bash", "select"},
		{"bash select", []string{"bash", "-c", "select x in a b; do :; done"}, Reading, "bash", "read"},
		{"bash prompt", []string{"bash", "--norc", "-i"}, Polling, "bash", "select"},
		{"dash prompt", []string{"dash", "-i"}, Reading, "dash", "read"},
		{"zsh prompt", []string{"zsh", "-f"}, Reading, "zsh", "read"},
		{"python prompt", []string{"python3", "-q"}, Polling, "python", "select"},
		{"python input()", []string{"python3", "-c", "input('name: ')"}, Reading, "python", "read"},
		{"less", []string{"less", "probe_linux_test.go"}, Reading, "less", "read"},
		{"less in a pipe", []string{"sh", "-c", "cat probe_linux_test.go | less"}, Reading, "less", "read"},
		{"vim", []string{"vim", "-u", "NONE"}, Polling, "vim", "select"},
		{"node prompt", []string{"node"}, Polling, "", "epoll"},
		{"sleep", []string{"sleep", "1000"}, Sleeping, "sleep", "nanosleep"},
		{"forged prompt", []string{"sh", "-c", "printf Password:; exec sleep 1000"}, Sleeping, "sleep", "nanosleep"},
		{"shell waits for its child", []string{"bash", "-c", "sleep 1000; :"}, Sleeping, "", ""},
		{"pipe", []string{"sh", "-c", "sleep 1000 | cat"}, Sleeping, "", ""},
		{"background job beside", []string{"bash", "-ic", "cat & sleep 1000"}, Sleeping, "", ""},
		{"loop", []string{"sh", "-c", "while :; do :; done"}, Busy, "sh", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if _, err := exec.LookPath("less"); err != nil && strings.HasPrefix(c.name, "less") {
				t.Skip("less is not installed") // where a shell starts it
			}
			term := startTerminal(t, true, c.argv...)
			r := term.waitFor(c.state.String(), func(r Result) bool {
				return r.State == c.state && strings.Contains(r.Program, c.program) && strings.Contains(r.Syscall, c.call)
			})
			if c.state != Busy {
				if r.Source != FromSyscall && r.Reason != "stopped" {
					t.Errorf("got source %v: %+v", r.Source, r)
				}
				term.checkStays(c.state)
			}
		})
	}
}

// TestProbe_ByWchan checks the states of TestProbe_Programs without the right to trace, as in a sandbox or with yama's
// ptrace_scope.
// FEATURES: R42
func TestProbe_ByWchan(t *testing.T) {
	for _, c := range []struct {
		argv  []string
		state State
	}{
		{[]string{"cat"}, Reading},
		{[]string{"bash", "--norc", "-i"}, Polling},
		{[]string{"less", "probe_linux_test.go"}, Reading},
		{[]string{"node"}, Polling},
		{[]string{"sleep", "1000"}, Sleeping},
		{[]string{"sh", "-c", "sleep 1000 | cat"}, Sleeping},
	} {
		t.Run(c.argv[0], func(t *testing.T) {
			term := startTerminal(t, true, c.argv...)
			term.waitForState(c.state)
			term.disableSyscall = true
			r := term.waitForState(c.state)
			if r.Source != FromWchan {
				t.Errorf("got source %v", r.Source)
			}
			term.checkStays(c.state)
		})
	}
}

// TestProbe_ByRunTime checks that of another user's program only the run time is known.
// FEATURES: R42
func TestProbe_ByRunTime(t *testing.T) {
	term := startTerminal(t, true, "cat")
	term.waitForState(Reading)
	term.disableSyscall, term.disableWchan = true, true
	r := term.waitFor("idle", func(r Result) bool { return r.Idle })
	if r.State != Unknown || r.Source != FromSched || r.Reason == "" {
		t.Errorf("got %+v", r)
	}
	if r = term.probe(); !r.Idle {
		t.Errorf("without a run: got %+v", r)
	}
	term.send("x\n")
	term.waitFor("read", func(Result) bool {
		term.mu.Lock()
		defer term.mu.Unlock()
		return strings.Count(term.output.String(), "x") == 2 // echo and cat
	})
	term.waitFor("idle again", func(r Result) bool { return r.Idle })
	busy := startTerminal(t, true, "sh", "-c", "while :; do :; done")
	busy.disableSyscall, busy.disableWchan = true, true
	if r := busy.waitForState(Busy); r.Source != FromSched {
		t.Errorf("got %+v", r)
	}
}

// FEATURES: R42
func TestProbe_StoppedProcess(t *testing.T) {
	term := startTerminal(t, true, "cat")
	term.waitForState(Reading)
	if err := syscall.Kill(term.cmd.Process.Pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	r := term.waitForState(Sleeping)
	if r.Reason != "stopped" {
		t.Errorf("got %+v", r)
	}
	if err := syscall.Kill(term.cmd.Process.Pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	term.waitForState(Reading)
}

// TestProbe_BackgroundReader checks that a reader in the background, stopped by SIGTTIN, is not in the foreground group
// until it is brought to the foreground.
// FEATURES: R42
func TestProbe_BackgroundReader(t *testing.T) {
	term := startTerminal(t, true, "bash", "--norc", "-i")
	term.waitForState(Polling)
	term.send("cat &\n")
	term.waitFor("prompt", func(r Result) bool { return r.State == Polling && r.Program == "bash" })
	term.send("fg\n")
	term.waitFor("cat reads", func(r Result) bool { return r.State == Reading && r.Program == "cat" })
}

// TestProbe_RestartedSyscall checks that a stop during poll makes the kernel restart it by another call.
// FEATURES: R42
func TestProbe_RestartedSyscall(t *testing.T) {
	term := startProgram(t, "poll")
	r := term.waitForState(Polling)
	if err := syscall.Kill(r.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	term.waitFor("stopped", func(r Result) bool { return r.Reason == "stopped" })
	if err := syscall.Kill(r.PID, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	term.waitForState(Polling)
}

// FEATURES: R40, R42
func TestProbe_Syscalls(t *testing.T) {
	tier.Full(t)
	for _, c := range []struct {
		mode    string
		state   State
		call    string
		timeout time.Duration
	}{
		{"poll", Polling, "poll", -1},
		{"poll1h", Polling, "poll", time.Hour},
		{"poll-other", Sleeping, "", -1},
		{"poll-output", Sleeping, "", -1},
		{"select", Polling, "select", -1},
		{"select1h", Polling, "select", time.Hour},
		{"epoll", Polling, "epoll", -1},
		{"epoll1h", Polling, "epoll", time.Hour},
		{"epoll-nested", Polling, "epoll", -1},
		{"epoll-other", Sleeping, "", -1},
		{"thread", Reading, "read", -1},
		{"writes", Sleeping, "write", -1},
		{"orphan", Reading, "read", -1},
	} {
		t.Run(c.mode, func(t *testing.T) {
			term := startProgram(t, c.mode)
			if strings.HasSuffix(c.mode, "-other") || c.mode == "poll-output" {
				// Its state before the wait equals that during it, so it reports the start of the wait.
				term.waitFor("ready", func(Result) bool {
					term.mu.Lock()
					defer term.mu.Unlock()
					return strings.Contains(term.output.String(), "ready")
				})
			}
			r := term.waitFor(c.state.String(), func(r Result) bool {
				return r.State == c.state && strings.Contains(r.Syscall, c.call)
			})
			if r.Timeout != c.timeout {
				t.Errorf("got timeout %v, want %v", r.Timeout, c.timeout)
			}
			term.checkStays(c.state)
		})
	}
}

// FEATURES: R42
func TestProbe_InvalidTargets(t *testing.T) {
	var p Prober
	for _, target := range []Target{{}, {TTY: 1, Group: 1 << 30}, {TTY: 1, Group: 1 << 30, Leader: 1 << 30}} {
		if r := p.Probe(target); r.State != Unknown || r.Reason == "" || r.Idle {
			t.Errorf("target %+v: got %+v", target, r)
		}
	}
	if _, err := TargetOf(-1); err == nil {
		t.Error("invalid descriptor: got no error")
	}
	if _, err := sys.ReadModes(-1); err == nil {
		t.Error("invalid descriptor: got no error")
	}
}

// TestProbe_WhileProcessesEnd probes a terminal while its processes start and end.
// FEATURES: R42
func TestProbe_WhileProcessesEnd(t *testing.T) {
	term := startTerminal(t, true, "sh", "-c", "while :; do /bin/true | /bin/true & /bin/true; done")
	states := map[State]int{}
	for range 2000 {
		r := term.probe()
		states[r.State]++
		if r.State == Reading || r.State == Polling {
			t.Fatalf("%+v", r)
		}
	}
	t.Log(states)
}

// FEATURES: R42
func TestReadModes(t *testing.T) {
	for _, c := range []struct {
		stty []string
		want sys.Modes
	}{
		{[]string{"sane"}, sys.Modes{Echo: true, Canonical: true, Signals: true}},
		{[]string{"-echo"}, sys.Modes{Canonical: true, Signals: true}},
		{[]string{"raw", "-echo"}, sys.Modes{}},
	} {
		term := startTerminal(t, true, "sh", "-c", "stty "+strings.Join(c.stty, " ")+" && exec cat")
		term.waitFor("cat", func(r Result) bool { return r.State == Reading && r.Program == "cat" })
		if got, err := sys.ReadModes(int(term.master.Fd())); err != nil || got != c.want {
			t.Errorf("%v: got %+v, %v", c.stty, got, err)
		}
	}
}

// FEATURES: R42
func TestTargetOf(t *testing.T) {
	term := startTerminal(t, true, "cat")
	got, err := TargetOf(int(term.master.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	name, err := unix.IoctlGetInt(int(term.master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Stat("/dev/pts/"+strconv.Itoa(name), &st); err != nil {
		t.Skip(err)
	}
	want := Target{TTY: st.Rdev, Group: term.cmd.Process.Pid, Leader: term.cmd.Process.Pid}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestProbe_OtherUsersProgram checks that a daemon that is not root cannot examine a program of root.
// FEATURES: R42
func TestProbe_OtherUsersProgram(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("takes root")
	}
	self := t.TempDir()
	for dir := self; len(dir) > len(os.TempDir()); dir = dir[:strings.LastIndexByte(dir, '/')] {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	self += "/probe"
	if err := os.WriteFile(self, b, 0o755); err != nil {
		t.Fatal(err)
	}
	term := startTerminal(t, true, "cat")
	term.waitForState(Reading)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "EVIDENCE_TEST_PROGRAM=probe")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	cmd.ExtraFiles = []*os.File{term.master}
	cmd.Dir = "/"
	out, err := cmd.CombinedOutput()
	if errors.Is(err, os.ErrPermission) {
		t.Skip(err)
	}
	if err != nil || string(out) != "unknown schedule idle\n" {
		t.Errorf("got %q, %v", out, err)
	}
}

// BenchmarkProbe probes a shell with one program in the foreground.
func BenchmarkProbe(b *testing.B) {
	for _, argv := range [][]string{
		{"sh", "-c", "cat; :"},
		{"node"},
		{"sh", "-c", "sleep 1000; :"},
		{"sh", "-c", "for i in 1 2 3 4 5; do for j in 1 2 3 4 5 6 7 8 9 0; do sleep 1000 & done; done; wait"},
	} {
		b.Run(argv[len(argv)-1], func(b *testing.B) {
			path := tier.Path(b, argv[0])
			cmd := exec.Command(path, argv[1:]...)
			master, err := pty.Start(cmd)
			if err != nil {
				b.Fatal(err)
			}
			defer func() {
				ended := make(chan struct{})
				close(ended)
				endSession(cmd.Process.Pid, ended)
				_ = cmd.Wait()
				_ = master.Close()
			}()
			var p Prober
			for deadline := time.Now().Add(60 * time.Second); time.Now().Before(deadline); {
				target, err := TargetOf(int(master.Fd()))
				if r := p.Probe(target); err == nil && r.Program != "sh" && r.State != Busy {
					break
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				target, err := TargetOf(int(master.Fd()))
				if err != nil {
					b.Fatal(err)
				}
				p.Probe(target)
			}
		})
	}
}

// TestProber_HoldsNothingWhileIdle checks that between two probes a prober holds no buffers: there are many sessions,
// and few probe at once.
// FEATURES: R42
func TestProber_HoldsNothingWhileIdle(t *testing.T) {
	var p Prober
	own := syscall.Getpgrp()
	if r := p.Probe(Target{Group: own, Leader: os.Getpid()}); r.PID == 0 {
		t.Skip("our own process group cannot be seen")
	}
	if p.probeState != nil || unsafe.Sizeof(p) > 256 {
		t.Errorf("%d bytes are kept; with its buffers: %v", unsafe.Sizeof(p), p.probeState != nil)
	}
}

// TestProber_SharesBuffersOnly checks that a probe does not see data of another session's probe that used its buffers
// before.
// FEATURES: R42
func TestProber_SharesBuffersOnly(t *testing.T) {
	t1, t2 := Target{Group: 1, Leader: 2}, Target{Group: 3}
	w := &probeState{buf: make([]byte, 8)}
	w.reset(t1)
	w.result, w.foundMembers, w.threads, w.awaitedFDs, w.runTime.ns = Result{PID: 7, State: Reading}, 1, 2, 3, 4
	w.masters, w.deciderMasters, w.queue = append(w.masters, 1), append(w.deciderMasters, 2), append(w.queue, 3)
	w.firstThread, w.deciderFirstThread = finding{reason: "x"}, finding{syscall: "y"}
	w.reset(t2)
	fresh := &probeState{buf: w.buf}
	fresh.reset(t2)
	if len(w.masters)+len(w.deciderMasters)+len(w.queue) != 0 {
		t.Errorf("got nonempty lists: %v %v %v", w.masters, w.deciderMasters, w.queue)
	}
	w.masters, w.deciderMasters, w.queue = fresh.masters, fresh.deciderMasters, fresh.queue
	if !reflect.DeepEqual(w, fresh) {
		t.Errorf("got state %+v, want %+v", w, fresh)
	}
}
