package crash

import (
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

// firstCaller starts a session from a shell that has a lock on descriptor 9, ignores signals, is nice and has its own
// umask and limits.
const firstCaller = `exec 9>"$LOCK"
flock -n 9 || exit 1
trap "" HUP INT QUIT TSTP TTIN TTOU USR1
umask 077
ulimit -S -f 1000
nice -n 5 "$0" new -n first -- sleep 1000`

// TestKeeperKeepsNothingOfItsFirstCaller checks that keeper, daemon and sessions inherit no descriptors of the first
// caller: locks end with the script that held them.
//
// FAULT: A22
// FEATURES: R93
func TestKeeperKeepsNothingOfItsFirstCaller(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	tier.Need(t, "flock")
	i := e2e.New(t)
	lock := filepath.Join(t.TempDir(), "lock")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	link := filepath.Join(t.TempDir(), "longterm") // the name makes the test binary the program
	if err := os.Symlink(i.Exe, link); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", firstCaller, link)
	cmd.Env, cmd.Dir = append(i.Env, "LOCK="+lock), t.TempDir()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f, err := os.Open(lock)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Errorf("the script has ended and its lock is held: %v", err)
	}
	i.Run("new", "-n", "second", "--", "sh", "-c", "umask; exec sleep 1000") // its caller has our umask
	st := i.Status()
	for name, pid := range map[string]int{"keeper": st.KeeperPID, "daemon": st.DaemonPID, "session": i.Info("second").PID} {
		dir := fmt.Sprintf("/proc/%d", pid)
		fds, _ := filepath.Glob(dir + "/fd/*")
		for _, fd := range fds {
			if to, _ := os.Readlink(fd); to == lock {
				t.Errorf("the %s has the first caller's lock open", name)
			}
		}
		if got := statusLine(t, dir, "SigIgn:"); got != "0000000000000000" && name == "session" {
			t.Errorf("the %s ignores %s", name, got)
		}
		if cwd, _ := os.Readlink(dir + "/cwd"); cwd != "/" {
			t.Errorf("the %s is in %s", name, cwd)
		}
		if limits, _ := os.ReadFile(dir + "/limits"); !strings.Contains(string(limits), "Max file size             unlimited") {
			t.Errorf("the %s may write little:\n%s", name, limits)
		}
		if nice := niceOf(t, pid); nice != 0 && os.Getuid() == 0 { // other users may not raise the priority again
			t.Errorf("the %s has nice %d", name, nice)
		}
	}
	own := syscall.Umask(0o022)
	syscall.Umask(own)
	i.Run("wait", "second", "--for", fmt.Sprintf("text=%04o", own))
	if got := statusLine(t, fmt.Sprintf("/proc/%d", i.Info("first").PID), "Umask:"); got != "0077" {
		t.Errorf("the first session's umask is %s, its caller's 077", got)
	}
}

func statusLine(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(dir + "/status")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(b), "\n"+name)
	value, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(value)
}

func niceOf(t *testing.T, pid int) (nice int) {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	_, _ = fmt.Sscan(fields[16], &nice) // field 19, counted from 3
	return nice
}
