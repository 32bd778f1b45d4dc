package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestBwrap checks that bubblewrap enforces its arguments: only writable paths are written, hidden and protected paths
// stay so, there is no network, and outside processes are invisible. The report lists what it does not enforce.
//
// FEATURES: R67
func TestBwrap(t *testing.T) {
	tool := tier.Path(t, "bwrap")
	if out, err := exec.Command(tool, "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "true").CombinedOutput(); err != nil {
		t.Logf("bwrap makes no namespaces here: %v: %s", err, out) // in some containers; no sandbox would run there either
		return
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cwd, outside, hidden := filepath.Join(dir, "work"), filepath.Join(dir, "outside"), filepath.Join(dir, "hidden")
	for _, d := range []string{filepath.Join(cwd, ".git/hooks"), outside, hidden} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(hidden, "key"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(cwd, "link")); err != nil {
		t.Fatal(err)
	}
	r := &Rules{
		Read: []string{"/"}, Write: []string{cwd}, Protect: []string{filepath.Join(cwd, ".git")}, Hide: []string{hidden}, Network: NetworkOff, Cwd: cwd,
	}
	script := `echo in >made && echo made
echo x 2>/dev/null >link/out && echo OUT
echo x 2>/dev/null >../outside/out && echo OUT
echo x 2>/dev/null >/proc/self/root` + outside + `/out && echo OUT
ln /etc/passwd hard 2>/dev/null && echo HARD
echo x 2>/dev/null >.git/hooks/pre-commit && echo HOOK
cat ` + hidden + `/key 2>/dev/null
mount -t tmpfs none /mnt 2>/dev/null && echo MOUNT
cat /proc/sys/vm/swappiness 2>/dev/null >/proc/sys/vm/swappiness && echo ORDER
grep -v -e Inter -e face -e 'lo:' /proc/net/dev
test -e /proc/` + strconv.Itoa(os.Getpid()) + `/root && grep -q . /proc/` + strconv.Itoa(os.Getpid()) + `/environ 2>/dev/null && echo SEEN
true`
	argv, err := r.Command(Bwrap, &Profile{}, []string{"/bin/sh", "-c", script}, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(tool, argv[1:]...)
	out, err := cmd.CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "made" {
		t.Errorf("%v: %s", err, out)
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("outside has %v, %v", left, err)
	}
	if left, err := os.ReadDir(filepath.Join(cwd, ".git/hooks")); err != nil || len(left) > 0 {
		t.Errorf("hooks are %v, %v", left, err)
	}
	if _, not := r.DescribeEnforced(Bwrap, Features{}); !slices.Contains(not, "setuid and setgid files that would remain afterwards") {
		t.Errorf("got no note on setuid files: %q", not)
	}
}
