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

// terminal is a program on a PTY whose output is read all the time.
type terminal struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd
	Prober

	mu     sync.Mutex
	output bytes.Buffer
}

// start runs a program on a new PTY and ends it with the test.
func start(t *testing.T, drain bool, argv ...string) *terminal {
	t.Helper()
	path := tier.Path(t, argv[0])
	cmd := exec.Command(path, argv[1:]...)
	cmd.Env = append(os.Environ(), "TERM=xterm", "HISTFILE=/dev/null", "LESSHISTFILE=-", "INPUTRC=/dev/null", "HOME="+t.TempDir())
	return startCmd(t, drain, cmd)
}

func startCmd(t *testing.T, drain bool, cmd *exec.Cmd) *terminal {
	t.Helper()
	master, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{t: t, master: master, cmd: cmd}
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

// endSession kills the processes of a session, one by one, until the reader of its
// terminal has come to an end. Hanging up would not do: a job that its shell has not
// brought to the foreground yet survives it.
func endSession(leader int, done <-chan struct{}) {
	p := Prober{work: &work{buf: make([]byte, maxFile)}}
	_ = syscall.Kill(leader, syscall.SIGKILL)
	for {
		pids, _ := os.ReadDir("/proc")
		for _, entry := range pids {
			pid, err := strconv.Atoi(entry.Name())
			if err != nil {
				continue
			}
			if pr, ok := p.openProcess(pid); ok {
				if pr.Session == leader {
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

func (term *terminal) Write(p []byte) (int, error) {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.output.Write(p)
}

func (term *terminal) send(s string) {
	term.t.Helper()
	if _, err := term.master.WriteString(s); err != nil {
		term.t.Fatal(err)
	}
}

func (term *terminal) probe() Result {
	target, err := TargetOf(int(term.master.Fd()))
	if err != nil {
		return Result{Why: err.Error()}
	}
	return term.Probe(target)
}

// until probes until something holds; the deadline only ends a test that fails.
func (term *terminal) until(what string, holds func(Result) bool) Result {
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
	term.t.Fatalf("never %s; last %+v; output %q", what, r, term.output.Bytes())
	return r
}

func (term *terminal) untilState(want State) Result {
	term.t.Helper()
	return term.until(want.String(), func(r Result) bool { return r.State == want })
}

// stays checks that a state, once reached by a program that has nothing left to do, is
// found again and again. A runtime's threads may run now and then in a program that
// otherwise sleeps.
func (term *terminal) stays(want State) {
	term.t.Helper()
	for range 50 {
		if r := term.probe(); r.State != want && (want != Sleeping || r.State != Busy) {
			term.t.Errorf("%v is followed by %+v", want, r)
			return
		}
	}
}

// TestMain makes the test binary the programs that the tests need.
func TestMain(m *testing.M) {
	if mode := os.Getenv("EVIDENCE_TEST_PROGRAM"); mode != "" {
		testProgram(mode)
		return
	}
	os.Exit(isolate.Run(m))
}

func startProgram(t *testing.T, mode string, args ...string) *terminal {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "EVIDENCE_TEST_PROGRAM="+mode, "GORACE=atexit_sleep_ms=0")
	return startCmd(t, mode != "writes", cmd)
}

// FEATURES: R40, R42
func TestProbePrograms(t *testing.T) {
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
			term := start(t, true, c.argv...)
			r := term.until(c.state.String(), func(r Result) bool {
				return r.State == c.state && strings.Contains(r.Program, c.program) && strings.Contains(r.Call, c.call)
			})
			if c.state != Busy {
				if r.Source != FromCall && r.Why != "stopped" {
					t.Errorf("known only by %v: %+v", r.Source, r)
				}
				term.stays(c.state)
			}
		})
	}
}

// The same without the right to trace, as a sandbox or yama's ptrace_scope has it.
//
// FEATURES: R42
func TestProbeByWaitChannel(t *testing.T) {
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
			term := start(t, true, c.argv...)
			term.untilState(c.state)
			term.noCalls = true
			r := term.untilState(c.state)
			if r.Source != FromChannel {
				t.Errorf("source %v", r.Source)
			}
			term.stays(c.state)
		})
	}
}

// Of another user's program only its run time is known.
//
// FEATURES: R42
func TestProbeByRunTime(t *testing.T) {
	term := start(t, true, "cat")
	term.untilState(Reading)
	term.noCalls, term.noChannels = true, true
	r := term.until("idle", func(r Result) bool { return r.Idle })
	if r.State != Unknown || r.Source != FromSched || r.Why == "" {
		t.Errorf("%+v", r)
	}
	if r = term.probe(); !r.Idle {
		t.Errorf("nothing happened, yet %+v", r)
	}
	term.send("x\n")
	term.until("read", func(Result) bool {
		term.mu.Lock()
		defer term.mu.Unlock()
		return strings.Count(term.output.String(), "x") == 2 // echo and cat
	})
	term.until("idle again", func(r Result) bool { return r.Idle })
	busy := start(t, true, "sh", "-c", "while :; do :; done")
	busy.noCalls, busy.noChannels = true, true
	if r := busy.untilState(Busy); r.Source != FromSched {
		t.Errorf("%+v", r)
	}
}

// FEATURES: R42
func TestProbeStopped(t *testing.T) {
	term := start(t, true, "cat")
	term.untilState(Reading)
	if err := syscall.Kill(term.cmd.Process.Pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	r := term.untilState(Sleeping)
	if r.Why != "stopped" {
		t.Errorf("%+v", r)
	}
	if err := syscall.Kill(term.cmd.Process.Pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	term.untilState(Reading)
}

// A reader in the background, stopped by SIGTTIN, is not the foreground group's matter;
// brought to the foreground it is.
//
// FEATURES: R42
func TestProbeBackgroundReader(t *testing.T) {
	term := start(t, true, "bash", "--norc", "-i")
	term.untilState(Polling)
	term.send("cat &\n")
	term.until("prompt", func(r Result) bool { return r.State == Polling && r.Program == "bash" })
	term.send("fg\n")
	term.until("cat reads", func(r Result) bool { return r.State == Reading && r.Program == "cat" })
}

// A stop in the middle of poll makes the kernel restart it by another call.
//
// FEATURES: R42
func TestProbeRestarted(t *testing.T) {
	term := startProgram(t, "poll")
	r := term.untilState(Polling)
	if err := syscall.Kill(r.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	term.until("stopped", func(r Result) bool { return r.Why == "stopped" })
	if err := syscall.Kill(r.PID, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	term.untilState(Polling)
}

// FEATURES: R40, R42
func TestProbeCalls(t *testing.T) {
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
				// Before it waits it is as asleep as it will be: it says when.
				term.until("ready", func(Result) bool {
					term.mu.Lock()
					defer term.mu.Unlock()
					return strings.Contains(term.output.String(), "ready")
				})
			}
			r := term.until(c.state.String(), func(r Result) bool {
				return r.State == c.state && strings.Contains(r.Call, c.call)
			})
			if r.Timeout != c.timeout {
				t.Errorf("timeout %v, want %v", r.Timeout, c.timeout)
			}
			term.stays(c.state)
		})
	}
}

// FEATURES: R42
func TestProbeNothing(t *testing.T) {
	var p Prober
	for _, target := range []Target{{}, {TTY: 1, Group: 1 << 30}, {TTY: 1, Group: 1 << 30, Leader: 1 << 30}} {
		if r := p.Probe(target); r.State != Unknown || r.Why == "" || r.Idle {
			t.Errorf("%+v: %+v", target, r)
		}
	}
	if _, err := TargetOf(-1); err == nil {
		t.Error("no descriptor, no error")
	}
	if _, err := sys.ReadModes(-1); err == nil {
		t.Error("no descriptor, no error")
	}
}

// Processes come and go while they are looked at.
//
// FEATURES: R42
func TestProbeRaces(t *testing.T) {
	term := start(t, true, "sh", "-c", "while :; do /bin/true | /bin/true & /bin/true; done")
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
		term := start(t, true, "sh", "-c", "stty "+strings.Join(c.stty, " ")+" && exec cat")
		term.until("cat", func(r Result) bool { return r.State == Reading && r.Program == "cat" })
		if got, err := sys.ReadModes(int(term.master.Fd())); err != nil || got != c.want {
			t.Errorf("%v: %+v, %v", c.stty, got, err)
		}
	}
}

// FEATURES: R42
func TestTargetOf(t *testing.T) {
	term := start(t, true, "cat")
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
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A daemon that is not root, against a program that is: nothing may be examined.
//
// FEATURES: R42
func TestProbeForeignUser(t *testing.T) {
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
	term := start(t, true, "cat")
	term.untilState(Reading)
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
		t.Errorf("%q, %v", out, err)
	}
}

// BenchmarkProbe: a shell with one program in the foreground.
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

// Between two probes a session holds nothing of a probe: there are many sessions, and few probe at once.
//
// FEATURES: R42
func TestProber_HoldsNothingWhileIdle(t *testing.T) {
	var p Prober
	own := syscall.Getpgrp()
	if r := p.Probe(Target{Group: own, Leader: os.Getpid()}); r.PID == 0 {
		t.Skip("our own process group cannot be seen")
	}
	if p.work != nil || unsafe.Sizeof(p) > 256 {
		t.Errorf("%d bytes are kept; with what it worked with: %v", unsafe.Sizeof(p), p.work != nil)
	}
}

// A probe sees nothing of another session's that had its buffers before.
//
// FEATURES: R42
func TestProbesShareBuffersOnly(t *testing.T) {
	t1, t2 := Target{Group: 1, Leader: 2}, Target{Group: 3}
	w := &work{buf: make([]byte, 8)}
	w.begin(t1)
	w.result, w.found, w.threads, w.sources, w.now.ns = Result{PID: 7, State: Reading}, 1, 2, 3, 4
	w.masters, w.relays, w.queue = append(w.masters, 1), append(w.relays, 2), append(w.queue, 3)
	w.first, w.decider = finding{why: "x"}, finding{call: "y"}
	w.begin(t2)
	fresh := &work{buf: w.buf}
	fresh.begin(t2)
	if len(w.masters)+len(w.relays)+len(w.queue) != 0 {
		t.Errorf("lists are left: %v %v %v", w.masters, w.relays, w.queue)
	}
	w.masters, w.relays, w.queue = fresh.masters, fresh.relays, fresh.queue
	if !reflect.DeepEqual(w, fresh) {
		t.Errorf("%+v, not %+v", w, fresh)
	}
}
