//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// checkNumbers reads lines that must be 1, 2, 3, … and returns the last one.
func checkNumbers(t *testing.T, r io.Reader) (last int) {
	t.Helper()
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		line := strings.TrimSuffix(sc.Text(), "\r")
		n, err := strconv.Atoi(line)
		if err != nil || n != last+1 {
			// The child is cut off in mid-line when it is killed: only the last may be odd.
			if !sc.Scan() {
				return last
			}
			t.Fatalf("after %d comes %q", last, line)
		}
		last = n
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return last
}

// A child prints numbered lines flat out while its daemon is killed at 50 random
// instants. Nothing is lost or doubled, the child never notices, and each time the
// daemon is back by itself.
//
// FEATURES: R24, R37, R90, R93
func TestDaemonKilledFiftyTimes(t *testing.T) {
	i := newInstance(t)
	kills := 50
	if testing.Short() || raceEnabled { // CI runs it without the race detector as well
		kills = 10
	}
	i.run("new", "-n", "flood", "--", "seq", "1", "100000000000")
	pid := i.info("flood").PID
	slowest := time.Duration(0)
	for range kills {
		i.run("daemon", "start")
		daemon := i.status().DaemonPID
		pauseFor(time.Duration(rand.Int64N(int64(60 * time.Millisecond))))
		if err := syscall.Kill(daemon, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		eventually(t, "the daemon is back without being asked", func() bool {
			out, _, code := i.try("daemon", "status", "--json") // starts nothing
			return code == 0 && decode[api.Status](t, out).DaemonPID != daemon
		})
		slowest = max(slowest, time.Since(begin))
		if again := i.info("flood"); again.PID != pid || again.State != "running" {
			t.Fatalf("the child is %d %s now, was %d", again.PID, again.State, pid)
		}
	}
	t.Logf("the daemon was back after at most %v", slowest)
	i.run("kill", "flood")
	i.run("daemon", "restart") // what is read now comes from the journal

	cmd := i.command(t.Context(), "output", "--raw", "flood")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	last := checkNumbers(t, out)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if last < 1000 {
		t.Errorf("only %d lines were printed", last)
	}
	if screen := i.run("screen", "flood"); !strings.Contains(screen, fmt.Sprint(last-1)) {
		t.Errorf("the screen does not show line %d:\n%s", last-1, screen)
	}
}

// pauseFor lets a random moment pass: the instants of the kills are the test's input.
func pauseFor(d time.Duration) { <-time.After(d) }

// Keeper and daemon are replaced by a differently built executable while a child
// prints. Pids stay, no byte is lost.
//
// FEATURES: R90
func TestUpgrade(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	other := t.TempDir() + "/longterm" // before the instance: it has to outlive it
	i := newInstance(t)
	build := exec.Command("go", "build", "-ldflags", "-X main.buildVersion=v9.9.9-test", "-o", other, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	i.run("new", "-n", "numbers", "--", "seq", "1", "100000000000")
	i.run("new", "-n", "quiet", "--", "sh", "-c", "echo before; read line; echo got $line; exit 5")
	i.run("new", "--pipe", "-n", "piped", "--", "sh", "-c", "i=0; while :; do i=$((i+1)); echo $i; echo $i >&2; done")
	before := i.status()
	numbers, quiet := i.info("numbers").PID, i.info("quiet").PID

	i.exe = other
	i.run("daemon", "upgrade")
	after := i.status()
	if after.KeeperPID != before.KeeperPID || after.DaemonPID == before.DaemonPID {
		t.Errorf("keeper %d became %d, daemon %d became %d", before.KeeperPID, after.KeeperPID, before.DaemonPID, after.DaemonPID)
	}
	if after.Build != "v9.9.9-test" || after.Keepers[0].Build != "v9.9.9-test" || after.Keepers[0].Executions != 2 {
		t.Errorf("after the upgrade: %+v", after)
	}
	if i.info("numbers").PID != numbers || i.info("quiet").PID != quiet {
		t.Error("the children are others")
	}
	i.run("send", "quiet", "-e", "line")
	i.run("wait", "quiet", "--for", "exit")
	if got := i.info("quiet"); got.ExitCode == nil || *got.ExitCode != 5 {
		t.Errorf("exit status across the upgrade: %+v", got)
	}
	if out := i.run("output", "quiet"); out != "before\nline\ngot line\n" {
		t.Errorf("output across the upgrade: %q", out)
	}
	i.run("kill", "piped")
	for _, stream := range []string{"stdout", "stderr"} {
		if last := checkNumbers(t, strings.NewReader(i.run("output", "--raw", "--stream", stream, "piped"))); last < 100 {
			t.Errorf("%s: only %d lines were printed", stream, last)
		}
	}
	i.run("kill", "numbers")
	if last := checkNumbers(t, strings.NewReader(i.run("output", "--raw", "numbers"))); last < 1000 {
		t.Errorf("only %d lines", last)
	}
}

// A broken executable, or one of another kind, does not replace a keeper that works.
//
// FAULT: A24
// FEATURES: R90, R93
func TestUpgradeToABrokenExecutable(t *testing.T) {
	i := newInstance(t)
	i.run("new", "-n", "a", "--", "sleep", "1000")
	before := i.status()
	broken := t.TempDir() + "/broken"
	if out, err := exec.Command("cp", "/bin/false", broken).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	out, code := post(t, i, "/upgrade", fmt.Sprintf(`{"path":%q}`, broken))
	if code < 400 || !strings.Contains(out, "does not run") {
		t.Errorf("%d %s", code, out)
	}
	out, code = post(t, i, "/upgrade", `{"path":"/bin/true"}`)
	if code != 422 || !strings.Contains(out, "no longterm") {
		t.Errorf("%d %s", code, out)
	}
	if after := i.status(); after.KeeperPID != before.KeeperPID || after.DaemonPID != before.DaemonPID || after.Running != 1 {
		t.Errorf("before %+v, after %+v", before, after)
	}
}

// When the keeper itself is killed its sessions are lost, which is said, and
// everything else goes on.
//
// FEATURES: R93
func TestKeeperKilled(t *testing.T) {
	i := newInstance(t)
	i.run("new", "-n", "a", "--", "sh", "-c", "echo kept; sleep 1000")
	i.run("wait", "a", "--for", "text=kept")
	if err := syscall.Kill(i.status().KeeperPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the session is known to be lost", func() bool { return i.info("a").State == "lost" })
	if out := i.run("output", "a"); out != "kept\n" {
		t.Errorf("output %q", out)
	}
	i.run("new", "-n", "b", "--", "sh", "-c", "echo new; sleep 1000")
	i.run("wait", "b", "--for", "text=new")
	if i.status().KeeperPID == 0 {
		t.Error("no keeper")
	}
}

// An isolated session has a keeper of its own, which ends with it.
//
// FEATURES: R97
func TestIsolated(t *testing.T) {
	i := newInstance(t)
	i.run("new", "-n", "shared", "--", "sleep", "1000")
	i.run("new", "-n", "own", "--isolated", "--", "sleep", "1000")
	st := i.status()
	if len(st.Keepers) != 2 {
		t.Fatalf("keepers: %+v", st.Keepers)
	}
	if err := syscall.Kill(st.DaemonPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "both keepers are adopted again", func() bool {
		out, _, code := i.try("daemon", "status", "--json") // does not start one
		if code != 0 {
			return false
		}
		s := decode[api.Status](t, out)
		return len(s.Keepers) == 2 && s.Running == 2
	})
	if err := syscall.Kill(st.KeeperPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the shared session is lost", func() bool { return i.info("shared").State == "lost" })
	if got := i.info("own"); got.State != "running" {
		t.Errorf("the isolated session is %s", got.State)
	}
}

// TestMachineDown kills keeper and daemon at once, as a reboot does, with sessions of each
// restore policy.
//
// FEATURES: R91
func TestMachineDown(t *testing.T) {
	i := newInstance(t)
	dir := t.TempDir()
	i.run("new", "-n", "none", "--", "sh", "-c", "echo kept; exec cat")
	i.run("new", "-n", "again", "--restore", "command", "--cwd", dir, "--env", "MARK=blue", "--", "sh", "-c", `printf '\0337'; echo "at $PWD with $MARK"; exec cat`)
	i.run("new", "-n", "shell", "--restore", "shell", "--cwd", dir, "--", "sh", "-c", "echo before; printf '\033[?1049hfull screen'; exec cat")
	i.run("wait", "none", "--for", "text=kept")
	i.run("wait", "again", "--for", "text=with blue")
	i.run("wait", "shell", "--for", "text=full screen")
	before := map[string]string{}
	for _, name := range []string{"none", "again", "shell"} {
		before[name] = i.info(name).ID
	}
	st := i.status()
	for _, pid := range []int{st.KeeperPID, st.DaemonPID} {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "sessions are back", func() bool { return i.info("again").State == "running" && i.info("shell").State == "running" })
	for name, id := range before {
		if got := i.info(name).ID; got != id {
			t.Errorf("%s was %s and is %s", name, id, got)
		}
	}
	if s := i.info("none"); s.State != "lost" {
		t.Errorf("a session without a policy is %s", s.State)
	}
	i.run("wait", "again", "--since", "0", "--for", `re=(?s)restored`)
	eventually(t, "the command ran again below its history", func() bool {
		return strings.Count(i.run("output", "again"), "at "+dir+" with blue\n") == 2
	})
	// FAULT: B16
	if text := i.run("screen", "again"); strings.Count(text, "at "+dir[:20]) != 2 {
		t.Errorf("the history was drawn over:\n%s", text)
	}
	// The full-screen program's modes are gone, and what was below it is there.
	i.run("send", "shell", "-e", "echo $((6*7)) in $PWD")
	i.run("wait", "shell", "--for", "text=42 in "+dir)
	if text := i.run("screen", "shell"); !strings.HasPrefix(text, "before\n── restored ") {
		t.Errorf("screen:\n%s", text)
	}
	i.run("kill", "shell")
	if _, stderr, code := i.try("restore", "none"); code != 2 || !strings.Contains(stderr, "--command") {
		t.Errorf("restore of a command: %d %s", code, stderr)
	}
	i.run("restore", "none", "--command")
	if _, stderr, code := i.try("restore", "none", "--command"); code != 4 || !strings.Contains(stderr, "is running") {
		t.Errorf("restore of a running session: %d %s", code, stderr)
	}
	eventually(t, "the second output is there", func() bool { return strings.Count(i.run("output", "none"), "kept\n") == 2 })
}

// TestWaitOverARestart kills the daemon under a client that waits: it goes on, and what came
// while no daemon served counts.
//
// FEATURES: R44, R90
func TestWaitOverARestart(t *testing.T) {
	i := newInstance(t)
	i.run("new", "-n", "a", "--", "sh", "-c", "echo ready; read x; read y; echo it came; exec cat")
	i.run("wait", "a", "--for", "text=ready")
	i.run("send", "a", "-e", "go")
	done := make(chan string, 1)
	go func() {
		out, stderr, _ := i.try("wait", "a", "--for", "text=it came", "--timeout", "30s")
		done <- out + stderr
	}()
	pid := i.status().DaemonPID
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	i.run("ls") // once another daemon serves
	i.run("send", "a", "-e", "on")
	if out := <-done; out != "text=it came\n" {
		t.Errorf("the wait said %q", out)
	}
}

// TestShellOverARestart kills the daemon while a shell runs a line: its end, status and
// directory are known afterwards, and a shell that went down comes back with what it had
// exported.
//
// FEATURES: R7, R45, R46, R48, R90, R91
func TestShellOverARestart(t *testing.T) {
	i := newInstance(t)
	i.run("new", "-n", "b", "--", "bash", "--norc")
	i.run("exec", "b", "cd /usr; export COLOR=blue")
	i.try("exec", "--yield", "50ms", "b", "read x; cd /; (exit 7)")
	if err := syscall.Kill(i.status().DaemonPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	i.run("ls") // the killed one may have taken a connection last
	i.run("send", "b", "-e", "now")
	i.run("wait", "b", "--for", "prompt")
	type command struct {
		Text     string
		ExitCode *int   `json:"exit_code"`
		CwdAfter string `json:"cwd_after"`
		State    string
	}
	list := decode[[]command](t, i.run("commands", "b", "--json"))
	last := list[len(list)-1]
	if len(list) != 2 || last.ExitCode == nil || *last.ExitCode != 7 || last.CwdAfter != "/" || last.Text != "read x; cd /; (exit 7)" {
		t.Errorf("commands after the restart: %+v", list)
	}
	i.run("kill", "b")
	i.run("restore", "b")
	if out := i.run("exec", "b", "echo $COLOR in $PWD"); out != "blue in /\n" {
		t.Errorf("after restoring: %q", out)
	}
}
