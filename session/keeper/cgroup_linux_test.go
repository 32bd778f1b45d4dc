package keeper

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/session/keeper/wire"
)

// TestCgroup_WithoutKill_Unused checks that a directory like a cgroup without cgroup.kill is neither used nor left.
func TestCgroup_WithoutKill_Unused(t *testing.T) {
	base := t.TempDir()
	var g cgroups
	if err := g.create(base, os.Getpid()); err == nil || g.dir != "" {
		t.Errorf("%q, %v", g.dir, err)
	}
	if left, _ := os.ReadDir(base); len(left) > 0 {
		t.Errorf("leftover: %v", left)
	}
	if err := g.create(filepath.Join(base, "none"), 1); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a cgroup: %v", err)
	}
}

// fakeCgroup is a directory with a cgroup's files.
func fakeCgroup(t *testing.T, dir string, files ...string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range append(files, "cgroup.kill", "cgroup.procs", "cgroup.subtree_control") {
		if err := os.WriteFile(filepath.Join(dir, f), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// fileText returns the content of a file.
func fileText(t *testing.T, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// FEATURES: R97
func TestCgroup_WritesLimits(t *testing.T) {
	base := fakeCgroup(t, t.TempDir())
	fakeCgroup(t, filepath.Join(base, "longterm-7"))
	var g cgroups
	if err := g.create(base, 7); err != nil || !slices.Equal(g.controllers, neededControllers) {
		t.Fatalf("%v, %v", g.controllers, err)
	}
	dir := fakeCgroup(t, filepath.Join(g.dir, "s"), "memory.max", "cpu.max", "pids.max")
	c, sys := &child{id: "s"}, &syscall.SysProcAttr{}
	leave, err := g.prepareStart(c, &wire.Spawn{Memory: 2 << 30, CPU: 1500, PIDs: 500}, sys)
	if err != nil || !sys.UseCgroupFD || c.cgroup != dir {
		t.Fatalf("%+v, %q, %v", sys, c.cgroup, err)
	}
	for file, want := range map[string]string{"memory.max": "2147483648", "cpu.max": "150000 100000", "pids.max": "500"} {
		if got := fileText(t, dir, file); got != want {
			t.Errorf("%s: %q", file, got)
		}
	}
	if leave(nil) {
		t.Error("retried after a successful start")
	}
	if done, err := signalCgroup(dir, syscall.SIGKILL); !done || err != nil || fileText(t, dir, "cgroup.kill") != "1" {
		t.Errorf("kill: %t, %v", done, err)
	}
}

// FEATURES: R97
func TestCgroup_RejectsLimits(t *testing.T) {
	for _, c := range []struct {
		name  string
		err   error
		ask   wire.Spawn
		again bool
	}{
		{"a sandbox without clone3", syscall.ENOSYS, wire.Spawn{}, true},
		{"the same, with limits", syscall.ENOSYS, wire.Spawn{PIDs: 1}, false},
		{"no such program", syscall.ENOENT, wire.Spawn{}, false},
	} {
		g := cgroups{dir: t.TempDir(), controllers: neededControllers}
		fakeCgroup(t, filepath.Join(g.dir, "s"), "pids.max")
		ch, sys := &child{id: "s"}, &syscall.SysProcAttr{}
		leave, err := g.prepareStart(ch, &c.ask, sys)
		if err != nil {
			t.Fatal(err)
		}
		if again := leave(c.err); again != c.again || sys.UseCgroupFD || ch.cgroup != "" {
			t.Errorf("%s: again %t, %+v", c.name, again, sys)
		}
	}
	g := cgroups{dir: t.TempDir(), controllers: []string{"pids"}}
	if _, err := g.prepareStart(&child{id: "s"}, &wire.Spawn{Memory: 1}, &syscall.SysProcAttr{}); !errors.Is(err, errNoCgroup) {
		t.Errorf("limit without its controller: %v", err)
	}
	if _, err := g.prepareStart(&child{id: "../s"}, &wire.Spawn{}, &syscall.SysProcAttr{}); err != nil {
		t.Error(err)
	}
}

// argvOf returns the processes whose arguments contain a text.
func argvOf(text string) []int {
	var pids []int
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range all {
		if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), text) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// TestCgroupOfThisSystem checks, on a system that delegates a cgroup, that killing a session reaches processes that
// double-forked, left the terminal session and dropped their environment. On others sessions start anyway, and limits
// are rejected by name.
//
// FEATURES: R14, R97
func TestCgroupOfThisSystem(t *testing.T) {
	socket, _ := start(t)
	l, n := dial(t, socket, wire.RoleDaemon)
	marker := strconv.FormatInt(time.Now().UnixNano(), 10)
	script := "(env -i setsid sh -c 'trap \"\" TERM HUP; sleep 600; :' " + marker + " <&- >&- 2>&- &); echo ready; read x"
	m := onPipes("a", script)
	m.Input = true
	if _, err := l.Spawn(ctx(t), m); err != nil {
		t.Fatal(err)
	}
	s := adopt(t, l, "a")
	var st streamReader
	st.take(t, l, n, s, 6)
	t.Cleanup(func() {
		for _, pid := range argvOf(marker) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	_, err := l.Spawn(ctx(t), wire.Spawn{ID: "b", Path: "/bin/true", Argv: []string{"true"}, Dir: "/", Pipe: true, PIDs: 10})
	if err != nil && !errors.Is(err, link.ErrNoCgroup) {
		t.Errorf("with a limit: %v", err)
	}
	if s.Cgroup == "" {
		t.Log("no cgroup on this system; limits are rejected")
		if err == nil {
			t.Error("a limit was accepted")
		}
		return
	}
	if err == nil && fileText(t, adopt(t, l, "b").Cgroup, "pids.max") != "10\n" {
		t.Error("the limit has no effect")
	}
	await(t, "the one that got away", func() bool { return len(argvOf(marker)) > 1 })
	if err := l.Signal(ctx(t), "a", syscall.SIGKILL, wire.ScopeAll); err != nil {
		t.Fatal(err)
	}
	await(t, "nobody left", func() bool { return len(argvOf(marker)) == 0 })
	if ex := receive(t, n.exited, "exit"); ex.ID == "a" && ex.Signal != int64(syscall.SIGKILL) {
		t.Errorf("exit %+v", ex)
	}
	if err := l.Release(ctx(t), "a"); err != nil {
		t.Fatal(err)
	}
	await(t, "the cgroup is removed", func() bool {
		_, err := os.Stat(s.Cgroup)
		return errors.Is(err, os.ErrNotExist)
	})
}

// TestCgroup_AfterRestart checks that a restarted session gets a cgroup that was never killed, since a kill affects
// later members too, and a new one while the old one has members.
//
// FEATURES: R97
func TestCgroup_AfterRestart(t *testing.T) {
	socket, _ := start(t)
	l, _ := dial(t, socket, wire.RoleDaemon)
	m := onPipes("a", "echo ready; read x")
	m.Input = true
	if _, err := l.Spawn(ctx(t), m); err != nil {
		t.Fatal(err)
	}
	s := adopt(t, l, "a")
	if s.Cgroup == "" {
		t.Log("no cgroup on this system")
		return
	}
	g := cgroups{dir: filepath.Dir(s.Cgroup)}
	begin := func(argv ...string) (*exec.Cmd, string) {
		c, cmd := &child{id: "b"}, exec.Command(argv[0], argv[1:]...)
		cmd.SysProcAttr = &syscall.SysProcAttr{}
		leave, err := g.prepareStart(c, &wire.Spawn{}, cmd.SysProcAttr)
		if err != nil {
			t.Fatal(err)
		}
		if err = cmd.Start(); err != nil || c.cgroup == "" {
			t.Fatal(err, c.cgroup)
		}
		leave(err)
		return cmd, c.cgroup
	}
	dir := filepath.Join(g.dir, "b")
	if err := errors.Join(os.Mkdir(dir, 0o755), writeCgroup(dir, "cgroup.kill", "1")); err != nil {
		t.Fatal(err)
	}
	first, in := begin("true")
	if err := first.Wait(); err != nil || in != dir {
		t.Errorf("after a kill: %v in %s", err, in)
	}
	stays, in := begin("sleep", "600")
	if in != dir {
		t.Errorf("not reused though empty: %s", in)
	}
	second, in := begin("true")
	if err := second.Wait(); err != nil || in == dir {
		t.Errorf("with leftover members: %v in %s", err, in)
	}
	_ = stays.Process.Kill()
	_ = stays.Wait()
}

// TestCgroup_RemovesDeadKeepers checks that the next keeper removes a killed keeper's directory, even if another process
// has its PID. A live keeper's directory stays.
//
// FAULT: A27
func TestCgroup_RemovesDeadKeepers(t *testing.T) {
	base := t.TempDir()
	other := exec.Command("sleep", "1000")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Process.Kill(); _ = other.Wait() })
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	for pid, made := range map[int]time.Time{
		os.Getpid():       time.Now(),
		other.Process.Pid: time.Now().Add(-time.Hour), // before this process started
		dead.Process.Pid:  time.Now(),
	} {
		dir := filepath.Join(base, "longterm-"+strconv.Itoa(pid))
		if err := os.MkdirAll(filepath.Join(dir, "session"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir, made, made); err != nil {
			t.Fatal(err)
		}
	}
	removeDeadKeepers(base)
	left, err := os.ReadDir(base)
	if err != nil || len(left) != 1 || left[0].Name() != "longterm-"+strconv.Itoa(os.Getpid()) {
		t.Errorf("leftover: %v, %v", left, err)
	}
}
