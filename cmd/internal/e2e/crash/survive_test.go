//go:build unix

package crash

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

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/session/sys"
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
			t.Fatalf("after %d follows %q", last, line)
		}
		last = n
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return last
}

// TestDaemonKilledFiftyTimes kills the daemon at 50 random moments while a child prints numbered lines. No line is lost
// or duplicated, the child is not affected, and the keeper restarts the daemon each time.
//
// FEATURES: R24, R37, R90, R93
func TestDaemonKilledFiftyTimes(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	kills := 50
	if e2e.RaceEnabled { // CI runs it without the race detector as well
		kills = 10
	}
	i.Run("new", "-n", "flood", "--", "seq", "1", "100000000000")
	pid := i.Info("flood").PID
	slowest := time.Duration(0)
	for range kills {
		i.Run("daemon", "start")
		daemon := i.Status().DaemonPID
		e2e.PauseFor(time.Duration(rand.Int64N(int64(60 * time.Millisecond))))
		if err := syscall.Kill(daemon, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		e2e.Eventually(t, "the keeper has restarted the daemon without a request", func() bool {
			out, _, code := i.Try("daemon", "status", "--json") // does not start a daemon
			return code == 0 && e2e.Decode[api.Status](t, out).DaemonPID != daemon
		})
		slowest = max(slowest, time.Since(begin))
		if again := i.Info("flood"); again.PID != pid || again.State != "running" {
			t.Fatalf("the child is %d %s now, was %d", again.PID, again.State, pid)
		}
	}
	t.Logf("the daemon was back after at most %v", slowest)
	i.Run("kill", "flood")
	i.Run("daemon", "restart") // from now on reads use the journal

	cmd := i.Command(t.Context(), "output", "--raw", "flood")
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
	if screen := i.Run("screen", "flood"); !strings.Contains(screen, fmt.Sprint(last-1)) {
		t.Errorf("the screen does not show line %d:\n%s", last-1, screen)
	}
}

// TestUpgrade replaces keeper and daemon by a differently built executable while a child prints. Pids stay the same,
// and no byte is lost.
//
// FEATURES: R90
func TestUpgrade(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i, other := e2e.New(t), e2e.Build(t, "-ldflags=-X github.com/longterm-dev/longterm/cmd/internal/fastpath.Release=v9.9.9-test")
	i.Run("new", "-n", "numbers", "--", "seq", "1", "100000000000")
	i.Run("new", "-n", "quiet", "--", "sh", "-c", "echo before; read line; echo got $line; exit 5")
	i.Run("new", "--pipe", "-n", "piped", "--", "sh", "-c", "i=0; while :; do i=$((i+1)); echo $i; echo $i >&2; done")
	before := i.Status()
	numbers, quiet := i.Info("numbers").PID, i.Info("quiet").PID

	i.Exe = other
	i.Run("daemon", "upgrade")
	after := i.Status()
	if after.KeeperPID != before.KeeperPID || after.DaemonPID == before.DaemonPID {
		t.Errorf("keeper %d became %d, daemon %d became %d", before.KeeperPID, after.KeeperPID, before.DaemonPID, after.DaemonPID)
	}
	if after.Build != "v9.9.9-test" || after.Keepers[0].Build != "v9.9.9-test" || after.Keepers[0].Executions != 2 {
		t.Errorf("after the upgrade: %+v", after)
	}
	if i.Info("numbers").PID != numbers || i.Info("quiet").PID != quiet {
		t.Error("the children are others")
	}
	i.Run("send", "quiet", "-e", "line")
	i.Run("wait", "quiet", "--for", "exit")
	if got := i.Info("quiet"); got.ExitCode == nil || *got.ExitCode != 5 {
		t.Errorf("exit status across the upgrade: %+v", got)
	}
	if out := i.Run("output", "quiet"); out != "before\nline\ngot line\n" {
		t.Errorf("output across the upgrade: %q", out)
	}
	i.Run("kill", "piped")
	for _, stream := range []string{"stdout", "stderr"} {
		if last := checkNumbers(t, strings.NewReader(i.Run("output", "--raw", "--stream", stream, "piped"))); last < 100 {
			t.Errorf("%s: only %d lines were printed", stream, last)
		}
	}
	i.Run("kill", "numbers")
	if last := checkNumbers(t, strings.NewReader(i.Run("output", "--raw", "numbers"))); last < 1000 {
		t.Errorf("only %d lines", last)
	}
}

// TestUpgradeToABrokenExecutable upgrades to a broken executable, or one of another kind. The running keeper is not
// replaced.
//
// FAULT: A24
// FEATURES: R90, R93
func TestUpgradeToABrokenExecutable(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "a", "--", "sleep", "1000")
	before := i.Status()
	broken := t.TempDir() + "/broken"
	if out, err := exec.Command("cp", "/bin/false", broken).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	out, code := i.Post("/upgrade", fmt.Sprintf(`{"path":%q}`, broken))
	if code < 400 || !strings.Contains(out, "does not run") {
		t.Errorf("%d %s", code, out)
	}
	out, code = i.Post("/upgrade", `{"path":"/bin/true"}`)
	if code != 422 || !strings.Contains(out, "not a longterm") {
		t.Errorf("%d %s", code, out)
	}
	if after := i.Status(); after.KeeperPID != before.KeeperPID || after.DaemonPID != before.DaemonPID || after.Running != 1 {
		t.Errorf("before %+v, after %+v", before, after)
	}
}

// TestKeeperKilled kills a keeper. Its sessions are reported as lost, and everything else continues.
//
// FEATURES: R93
func TestKeeperKilled(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "a", "--", "sh", "-c", "echo kept; sleep 1000")
	i.Run("wait", "a", "--for", "text=kept")
	if err := syscall.Kill(i.Status().KeeperPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	e2e.Eventually(t, "the session is lost", func() bool { return i.Info("a").State == "lost" })
	if out := i.Run("output", "a"); out != "kept\n" {
		t.Errorf("output %q", out)
	}
	i.Run("new", "-n", "b", "--", "sh", "-c", "echo new; sleep 1000")
	i.Run("wait", "b", "--for", "text=new")
	if i.Status().KeeperPID == 0 {
		t.Error("no keeper")
	}
}

// TestIsolated starts an isolated session, whose separate keeper ends with it.
//
// FEATURES: R97
func TestIsolated(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "shared", "--", "sleep", "1000")
	i.Run("new", "-n", "own", "--isolated", "--", "sleep", "1000")
	st := i.Status()
	if len(st.Keepers) != 2 {
		t.Fatalf("keepers: %+v", st.Keepers)
	}
	if err := syscall.Kill(st.DaemonPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	e2e.Eventually(t, "both keepers are adopted again", func() bool {
		out, _, code := i.Try("daemon", "status", "--json") // does not start one
		if code != 0 {
			return false
		}
		s := e2e.Decode[api.Status](t, out)
		return len(s.Keepers) == 2 && s.Running == 2
	})
	if err := syscall.Kill(st.KeeperPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	e2e.Eventually(t, "the shared session is lost", func() bool { return i.Info("shared").State == "lost" })
	if got := i.Info("own"); got.State != "running" {
		t.Errorf("the isolated session is %s", got.State)
	}
}

// TestIsolatedKeeperEnds checks that the keeper of an isolated session exits some time after it, although the daemon
// still runs. A restart of the session starts another keeper.
//
// FEATURES: R97
func TestIsolatedKeeperEnds(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "shared", "--", "sleep", "1000")
	i.Run("new", "-n", "own", "--isolated", "--", "sleep", "1000")
	st := i.Status()
	own := ownKeeper(t, &st)
	i.Run("kill", "own")
	e2e.Eventually(t, "the session's own keeper ends", func() bool {
		s, err := sys.ReadStat(own)
		return err != nil || s.State == 'Z'
	})
	e2e.Eventually(t, "the daemon lists the keeper", func() bool { return len(i.Status().Keepers) == 1 })
	if now := i.Status(); now.DaemonPID != st.DaemonPID || i.Info("shared").State != "running" || i.Info("own").State != "exited" {
		t.Errorf("daemon %d, was %d; shared %s, own %s", now.DaemonPID, st.DaemonPID, i.Info("shared").State, i.Info("own").State)
	}
	i.Run("restore", "own", "--command")
	again := i.Status()
	if pid := ownKeeper(t, &again); pid == own || i.Info("own").State != "running" {
		t.Errorf("started again: %s, keeper %d, was %d", i.Info("own").State, pid, own)
	}
}

// ownKeeper is the process of the keeper that is not the main one.
func ownKeeper(t *testing.T, st *api.Status) int {
	t.Helper()
	for _, k := range st.Keepers {
		if k.Key != "main" {
			return k.PID
		}
	}
	t.Fatalf("no session has a separate keeper: %+v", st.Keepers)
	return 0
}

// TestMachineDown kills keeper and daemon at once, as a reboot does, with sessions of each
// restore policy.
//
// FEATURES: R91
func TestMachineDown(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	dir := t.TempDir()
	i.Run("new", "-n", "none", "--", "sh", "-c", "echo kept; exec cat")
	i.Run("new", "-n", "again", "--restore", "command", "--cwd", dir, "--env", "MARK=blue", "--", "sh", "-c", `printf '\0337'; echo "at $PWD with $MARK"; exec cat`)
	i.Run("new", "-n", "shell", "--restore", "shell", "--cwd", dir, "--", "sh", "-c", "echo before; printf '\033[?1049hfull screen'; exec cat")
	i.Run("wait", "none", "--for", "text=kept")
	i.Run("wait", "again", "--for", "text=with blue")
	i.Run("wait", "shell", "--for", "text=full screen")
	before := map[string]string{}
	for _, name := range []string{"none", "again", "shell"} {
		before[name] = i.Info(name).ID
	}
	st := i.Status()
	for _, pid := range []int{st.KeeperPID, st.DaemonPID} {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	e2e.Eventually(t, "both sessions run again", func() bool { return i.Info("again").State == "running" && i.Info("shell").State == "running" })
	for name, id := range before {
		if got := i.Info(name).ID; got != id {
			t.Errorf("%s was %s and is %s", name, id, got)
		}
	}
	if s := i.Info("none"); s.State != "lost" {
		t.Errorf("a session without a policy is %s", s.State)
	}
	i.Run("wait", "again", "--since", "0", "--for", `re=(?s)restored`)
	e2e.Eventually(t, "the command ran again below its history", func() bool {
		return strings.Count(i.Run("output", "again"), "at "+dir+" with blue\n") == 2
	})
	// FAULT: B16
	if text := i.Run("screen", "again"); strings.Count(text, "at "+dir[:20]) != 2 {
		t.Errorf("the history was drawn over:\n%s", text)
	}
	// The full-screen program's modes are reset, and the primary screen is back.
	i.Run("send", "shell", "-e", "echo $((6*7)) in $PWD")
	i.Run("wait", "shell", "--for", "text=42 in "+dir)
	if text := i.Run("screen", "shell"); !strings.HasPrefix(text, "before\n── restored ") {
		t.Errorf("screen:\n%s", text)
	}
	i.Run("kill", "shell")
	if _, stderr, code := i.Try("restore", "none"); code != 2 || !strings.Contains(stderr, "--command") {
		t.Errorf("restore of a command: %d %s", code, stderr)
	}
	i.Run("restore", "none", "--command")
	if _, stderr, code := i.Try("restore", "none", "--command"); code != 4 || !strings.Contains(stderr, "is running") {
		t.Errorf("restore of a running session: %d %s", code, stderr)
	}
	e2e.Eventually(t, "the second output is recorded", func() bool { return strings.Count(i.Run("output", "none"), "kept\n") == 2 })
}

// TestWaitOverARestart kills the daemon under a waiting client: the wait continues, and output that arrived without a
// daemon counts.
//
// FEATURES: R44, R90
func TestWaitOverARestart(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "a", "--", "sh", "-c", "echo ready; read x; read y; echo it came; exec cat")
	i.Run("wait", "a", "--for", "text=ready")
	i.Run("send", "a", "-e", "go")
	done := make(chan string, 1)
	go func() {
		out, stderr, _ := i.Try("wait", "a", "--for", "text=it came", "--timeout", "30s")
		done <- out + stderr
	}()
	pid := i.Status().DaemonPID
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	i.Run("ls") // once another daemon serves
	i.Run("send", "a", "-e", "on")
	if out := <-done; out != "text=it came\n" {
		t.Errorf("the wait printed %q", out)
	}
}

// TestShellOverARestart kills the daemon while a shell runs a line: its end, status and directory are known afterwards,
// and a restored shell has its exported variables.
//
// FEATURES: R7, R45, R46, R48, R90, R91
func TestShellOverARestart(t *testing.T) {
	i := e2e.New(t)
	i.Run("new", "-n", "b", "--", "bash", "--norc")
	i.Run("exec", "b", "cd /usr; export COLOR=blue")
	i.Try("exec", "--yield", "50ms", "b", "read x; cd /; (exit 7)")
	if err := syscall.Kill(i.Status().DaemonPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	i.Run("ls") // the killed daemon may have accepted a last connection
	i.Run("send", "b", "-e", "now")
	i.Run("wait", "b", "--for", "prompt")
	type command struct {
		Text     string
		ExitCode *int   `json:"exit_code"`
		CwdAfter string `json:"cwd_after"`
		State    string
	}
	list := e2e.Decode[[]command](t, i.Run("commands", "b", "--json"))
	last := list[len(list)-1]
	if len(list) != 2 || last.ExitCode == nil || *last.ExitCode != 7 || last.CwdAfter != "/" || last.Text != "read x; cd /; (exit 7)" {
		t.Errorf("commands after the restart: %+v", list)
	}
	i.Run("kill", "b")
	i.Run("restore", "b")
	if out := i.Run("exec", "b", "echo $COLOR in $PWD"); out != "blue in /\n" {
		t.Errorf("after restoring: %q", out)
	}
}
