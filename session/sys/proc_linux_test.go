package sys

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// startShell runs a shell that waits, in a separate terminal session.
func startShell(t *testing.T, script string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.Env = append(os.Environ(), env...)
	cmd.Dir = t.TempDir()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip("needs sh: ", err)
	}
	t.Cleanup(func() { _, _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL), cmd.Wait() })
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return cmd
}

func TestProcessFacts(t *testing.T) {
	cmd := startShell(t, "trap '' HUP; sleep 600 & echo; wait", "MARK=the mark")
	pid := cmd.Process.Pid
	st, err := ReadStat(pid)
	if err != nil || st.Parent != os.Getpid() || st.SessionLeader != pid || st.Group != pid || st.IsDead() || st.Threads != 1 {
		t.Errorf("%+v, %v", st, err)
	}
	if age, err := Age(pid); err != nil || age < 0 {
		t.Errorf("started %v ago, %v", age, err)
	}
	if argv, err := Cmdline(pid); err != nil || !slices.Equal(argv, cmd.Args) {
		t.Errorf("%q, %v", argv, err)
	}
	if dir, err := Cwd(pid); err != nil || dir != resolved(t, cmd.Dir) {
		t.Errorf("%q, %v", dir, err)
	}
	if mark := MarkOf(pid, "MARK"); mark != "the mark" {
		t.Errorf("mark %q", mark)
	}
	children, err := Children(pid)
	if err != nil || len(children) != 1 || !slices.Equal(Descendants(pid), children) {
		t.Errorf("children %v, %v; descendants %v", children, err, Descendants(pid))
	}
	if fds, err := Descriptors(pid); err != nil || !slices.Contains(fds, 1) {
		t.Errorf("descriptors %v, %v", fds, err)
	}
	if n, err := MappingCount(pid); err != nil || n == 0 {
		t.Errorf("%d mappings, %v", n, err)
	}
	if NumberField(pid, "status", "Threads") != 1 || NumberField(pid, "status", "VmRSS") == 0 || NumberField(pid, "status", "NoSuch") != 0 {
		t.Error("got wrong fields of status")
	}
	p := Process{pid, st.Start}
	if !p.IgnoresSignal(syscall.SIGHUP) || p.IgnoresSignal(syscall.SIGTERM) || p.IgnoresSignal(0) || !p.IsAlive() {
		t.Errorf("%+v", p)
	}
	if other := (Process{pid, st.Start + 1}); other.IsAlive() {
		t.Error("got a reused pid as alive")
	}
	Process{pid, st.Start + 1}.Signal(syscall.SIGKILL)
	SignalAll([]Process{{pid, 0}}, syscall.SIGKILL)
	if !p.IsAlive() {
		t.Error("got a signal to a reused pid")
	}
	SignalAll([]Process{p}, syscall.SIGKILL)
	_ = cmd.Wait()
	if p.IsAlive() || len(FilterAlive([]Process{p})) != 0 {
		t.Error("got an exited process as alive")
	}
}

// resolved returns a directory without symbolic links.
func resolved(t *testing.T, dir string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestSignal_ReachesStoppedProcess checks that a stopped process receives a signal, since Signal resumes it.
func TestSignal_ReachesStoppedProcess(t *testing.T) {
	cmd := startShell(t, "echo; kill -STOP $$; exec sleep 600")
	st, err := ReadStat(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	Process{cmd.Process.Pid, st.Start}.Signal(syscall.SIGTERM)
	_ = cmd.Wait() // would hang otherwise
}

// TestCmdline_EachLength checks that argument vectors of any length are read completely, beyond the size of one read.
func TestCmdline_EachLength(t *testing.T) {
	for _, n := range []int{1, 470, 486, 487, 488, 489, 490, 500, 600, 5000, 20_000} {
		cmd := exec.Command("sh", "-c", "echo; read x", strings.Repeat("w", n), "last")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Skip("needs sh: ", err)
		}
		if _, err := out.Read(make([]byte, 1)); err != nil { // its arguments are not readable at once after the start
			t.Fatal(err)
		}
		if argv, err := Cmdline(cmd.Process.Pid); err != nil || !slices.Equal(argv, cmd.Args) {
			t.Errorf("%d bytes: %d words, %v", n, len(argv), err)
		}
		if _, err := in.Close(), cmd.Wait(); err == nil {
			t.Error("got output of the shell")
		}
	}
}

// TestErrors checks that the errors distinguish exited, hidden and unsupported.
func TestErrors(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Skip("needs true: ", err)
	}
	pid := cmd.Process.Pid
	for name, f := range map[string]func() error{
		"stat":     func() error { _, err := ReadStat(pid); return err },
		"cmdline":  func() error { _, err := Cmdline(pid); return err },
		"environ":  func() error { _, err := ReadEnviron(pid); return err },
		"cwd":      func() error { _, err := Cwd(pid); return err },
		"task":     func() error { _, err := Children(pid); return err },
		"fd":       func() error { _, err := Descriptors(pid); return err },
		"maps":     func() error { _, err := MappingCount(pid); return err },
		"status":   func() error { _, err := Field(pid, "status", "Threads"); return err },
		"no field": func() error { _, err := Field(0, "status", "NoSuch"); return err },
		"score":    func() error { return SetOOMScore(pid, 0) },
	} {
		err := f()
		var e *Error
		if !errors.Is(err, ErrEnded) || errors.Is(err, ErrHidden) || !errors.As(err, &e) || e.File == "" || err.Error() == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	hidden := &Error{1, "environ", os.NewSyscallError("open", syscall.EACCES)}
	if !errors.Is(hidden, ErrHidden) || errors.Is(hidden, ErrEnded) {
		t.Error(hidden)
	}
}

// TestTable checks that the table finds a session's processes: descendants of its leader, those of the terminal session
// and those with its mark, wherever they moved. It contains neither this process nor kernel threads.
func TestTable(t *testing.T) {
	cmd := startShell(t, "sleep 600 & echo; wait", "TABLE_MARK=it")
	pid := cmd.Process.Pid
	children, _ := Children(pid)
	seen := ReadTable("TABLE_MARK")
	for name, got := range map[string][]Process{"by mark": seen.SessionProcesses(0, "it"), "by leader": seen.SessionProcesses(pid, "no mark"), "by both": seen.SessionProcesses(pid, "it")} {
		if len(got) != 2 || got[0].PID != pid || got[1].PID != children[0] {
			t.Errorf("%s: %v, not %d and %v", name, got, pid, children)
		}
	}
	if got := seen.SessionProcesses(0, ""); len(got) != 0 {
		t.Errorf("without leader and mark: got %v", got)
	}
	if got := ReadTable("").SessionProcesses(0, "it"); len(got) != 0 {
		t.Errorf("without marks: %v", got)
	}
	if _, ok := seen.Process(os.Getpid()); ok {
		t.Error("got this process in the table")
	}
	if p, ok := seen.Process(pid); !ok || !p.IsAlive() {
		t.Errorf("%+v, %v", p, ok)
	}
}

func TestTable_Tree(t *testing.T) {
	seen := &Table{stats: map[int]Stat{}, children: map[int][]int{}, byMark: map[string][]int{}}
	seen.add(10, Stat{Parent: 1, SessionLeader: 10, Start: 5}, "a")
	seen.add(11, Stat{Parent: 10, SessionLeader: 10, Start: 6}, "a")
	seen.add(12, Stat{Parent: 11, SessionLeader: 12, Start: 7}, "")   // cleared its environment, left the terminal
	seen.add(13, Stat{Parent: 1, SessionLeader: 10, Start: 8}, "")    // an orphan that stayed
	seen.add(14, Stat{Parent: 1, SessionLeader: 14, Start: 9}, "a")   // an orphan that left
	seen.add(15, Stat{Parent: 14, SessionLeader: 14, Start: 10}, "b") // started by another's
	seen.add(1, Stat{SessionLeader: 1}, "a")                          // init belongs to no session
	for name, c := range map[string]struct {
		leader int
		mark   string
		want   []int
	}{
		"mark":           {0, "a", []int{10, 11, 12, 14, 15}},
		"leader":         {10, "", []int{10, 11, 12, 13}},
		"both":           {10, "a", []int{10, 11, 12, 13, 14, 15}},
		"a gone leader":  {9, "b", []int{15}},
		"nobody's":       {0, "c", nil},
		"init's session": {1, "", nil},
	} {
		var got []int
		for _, p := range seen.SessionProcesses(c.leader, c.mark) {
			got = append(got, p.PID)
		}
		if c.leader == 1 { // all others descend from it; it is never in the result
			if slices.Contains(got, 1) {
				t.Errorf("%s: %v", name, got)
			}
			continue
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestDir(t *testing.T) {
	dir, err := OpenProcDir(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	var buf [8192]byte
	b, err := dir.Read("stat", buf[:])
	st, perr := ParseStat(b)
	if err != nil || perr != nil || st.Parent != os.Getppid() {
		t.Errorf("%+v, %v, %v", st, err, perr)
	}
	if b, err := dir.Read("stat", buf[:3]); err != nil || len(b) != 3 {
		t.Errorf("got %q, %v, want the size of the buffer", b, err)
	}
	if b := dir.ReadUpTo("status", 1<<20); len(b) == 0 {
		t.Error("got no bytes")
	}
	if to, err := dir.ReadLink("exe", buf[:]); err != nil || len(to) == 0 {
		t.Errorf("%q, %v", to, err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if dev, ok := dir.CharDevice("fd/" + strconv.Itoa(int(null.Fd()))); !ok || dev == 0 {
		t.Errorf("%s: %d, %v", os.DevNull, dev, ok)
	}
	if _, ok := dir.CharDevice("stat"); ok {
		t.Error("got a device number of a regular file")
	}
	n := 0
	if err := dir.EachNumber("fd", func(int) bool { n++; return false }); err != nil || n != 1 {
		t.Errorf("%d numbers, %v", n, err)
	}
	found := false
	if err := EachPID(func(pid int) bool { found = pid == os.Getpid(); return !found }); err != nil || !found {
		t.Errorf("got no entry of this process, %v", err)
	}
	if _, err := OpenProcDir(1 << 30); !errors.Is(err, syscall.ENOENT) {
		t.Error(err)
	}
}

// TestMarkOf_WhileExecuting checks that the mark of a process in the middle of execve is found by retries. Without them
// one in 10 reads of a process that only executes itself misses it; with them at most one in 100 reads may.
//
// FAULT: B9
func TestMarkOf_WhileExecuting(t *testing.T) {
	script := filepath.Join(t.TempDir(), "again")
	if err := os.WriteFile(script, []byte(`exec sh "$AGAIN"`), 0o600); err != nil {
		t.Fatal(err)
	}
	pid := startShell(t, `echo; exec sh "$AGAIN"`, "AGAIN="+script, "MARK=m").Process.Pid
	const looks = 5000
	missed := 0
	for range looks {
		if MarkOf(pid, "MARK") != "m" {
			missed++
		}
	}
	if missed > looks/100 {
		t.Errorf("missed in %d reads of %d", missed, looks)
	}
}

// TestMarkOf_WithoutEnvironment checks that MarkOf does not retry for a process without an environment.
func TestMarkOf_WithoutEnvironment(t *testing.T) {
	cmd := exec.Command("sleep", "600")
	cmd.Env = []string{}
	if err := cmd.Start(); err != nil {
		t.Skip("needs sleep: ", err)
	}
	defer func() { _ = errors.Join(cmd.Process.Kill(), cmd.Wait()) }()
	there, settled := hasEnvironment(cmd.Process.Pid)
	for !settled { // until it runs sleep
		there, settled = hasEnvironment(cmd.Process.Pid)
	}
	if there {
		t.Error("got an environment")
	}
	if mark := MarkOf(cmd.Process.Pid, "MARK"); mark != "" {
		t.Errorf("mark %q", mark)
	}
}

// TestParent checks that Parent by a pidfd equals Parent by /proc: for a process, a thread, and a process whose parent
// has exited. It fails for an exited process.
//
// FEATURES: R107
func TestParent(t *testing.T) {
	same := func(what string, pid int) {
		t.Helper()
		want, err := statParent(pid)
		got, err2 := Parent(pid)
		if err != nil || err2 != nil || got != want || got == 0 {
			t.Errorf("%s: %d, %v; /proc has %d, %v", what, got, err2, want, err)
		}
	}
	same("ourselves", os.Getpid())
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		same("a thread", syscall.Gettid())
	}()
	<-done

	cmd := exec.Command("/bin/sh", "-c", `exec 3<&0; sh -c 'echo $$; read x <&3' & wait $!`)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Parent(pid); err != nil || got != cmd.Process.Pid {
		t.Errorf("a child's: %d, %v; want %d", got, err, cmd.Process.Pid)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	var st syscall.WaitStatus
	if _, err := syscall.Wait4(cmd.Process.Pid, &st, 0, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := Parent(cmd.Process.Pid); err == nil {
		t.Errorf("exited process: got %d", got)
	}
	if got, err := Parent(pid); err != nil || got == cmd.Process.Pid {
		t.Errorf("process without its parent: got %d, %v", got, err)
	}
	same("one whose parent has ended", pid)
	_ = in.Close() // the child exits
}

func BenchmarkParent(b *testing.B) {
	pid := os.Getppid()
	b.Run("descriptor", func(b *testing.B) {
		for b.Loop() {
			_, _ = Parent(pid)
		}
	})
	b.Run("stat", func(b *testing.B) {
		for b.Loop() {
			_, _ = statParent(pid)
		}
	})
}

// TestImage_Changes_WhenExecuted checks that a process that executes its own program again has another image, with the
// same PID and start time.
//
// FAULT: H1
func TestImage_Changes_WhenExecuted(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "echo; read x; exec /bin/sh -c 'echo; read x'")
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = errors.Join(cmd.Process.Kill(), cmd.Wait()) }()
	next := func() string {
		t.Helper()
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		return ImageID(cmd.Process.Pid)
	}
	first := next()
	if first == "" || first != ImageID(cmd.Process.Pid) {
		t.Fatalf("the image is %q, then %q", first, ImageID(cmd.Process.Pid))
	}
	if _, err := in.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	if second := next(); second == first || second == "" {
		t.Errorf("the image is %q after %q", second, first)
	}
}
