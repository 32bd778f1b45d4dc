package keeper

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys"
)

// busctlMakes replaces systemd: it records its requests, and creates the scope where cgroups are available.
const busctlMakes = `#!/bin/sh
printf '%s\n' "$@" >"$CALLED"
[ -n "$CGROUPS" ] || exit 0
mkdir "$CGROUPS/$8" && echo "${17}" >"$CGROUPS/$8/cgroup.procs"
`

// fakeSystemd puts a busctl script first in the search path, and a manager's socket at its place. It returns the
// environment.
func fakeSystemd(t *testing.T, script string) (env []string) {
	t.Helper()
	bin, runtime := t.TempDir(), t.TempDir()
	if err := os.MkdirAll(filepath.Join(runtime, "systemd", "private"), 0o700); err != nil {
		t.Fatal(err)
	}
	if script != "" {
		if err := os.WriteFile(filepath.Join(bin, "busctl"), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"PATH=" + bin + ":/usr/bin:/bin", "XDG_RUNTIME_DIR=" + runtime}
}

// loginCgroup returns a cgroup for a login, below the test's own, or "" if the system delegates none. The test's end
// kills all its members.
func loginCgroup(t *testing.T) (dir string) {
	t.Helper()
	own, err := sys.OwnCgroup()
	if err != nil {
		return ""
	}
	base := filepath.Join(own, "longterm-test-"+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(base, 0o755); err != nil {
		return ""
	}
	t.Cleanup(func() {
		_ = writeCgroup(base, "cgroup.kill", "1")
		await(t, "the test's cgroups are empty", func() bool {
			removeAll(base)
			_, err := os.Stat(base)
			return errors.Is(err, os.ErrNotExist)
		})
	})
	dir = filepath.Join(base, "login.scope")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// removeAll removes cgroups, the lower ones first; those that are not empty stay.
func removeAll(dir string) {
	below, _ := os.ReadDir(dir)
	for _, d := range below {
		if d.IsDir() {
			removeAll(filepath.Join(dir, d.Name()))
		}
	}
	_ = syscall.Rmdir(dir)
}

// startAtLogin runs a keeper as a login's shell would: in the login's cgroup.
func startAtLogin(t *testing.T, login string, env []string) (socket string, pid int) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ready, end, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.Command("/bin/sh", "-c", `[ -z "$LOGIN" ] || echo $$ >"$LOGIN/cgroup.procs"; exec "$EXE"`)
	cmd.Env = append(append(os.Environ(), env...), keeperEnv+"="+dir, "LOGIN="+login, "EXE="+exe)
	cmd.ExtraFiles = []*os.File{end}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = end.Close()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if line, err := io.ReadAll(ready); err != nil || string(line) != "ok\n" {
		t.Fatalf("keeper reported %q, %v", line, err)
	}
	return filepath.Join(dir, "k.sock"), cmd.Process.Pid
}

// TestLogout_KeepsSessions checks that a keeper started in a login requests a separate scope from systemd, with a cgroup
// that it may divide. The end of the login then ends neither keeper nor sessions. If systemd refuses, sessions end with
// the login.
//
// FEATURES: R98
func TestLogout_KeepsSessions(t *testing.T) {
	for _, c := range []struct {
		name, busctl string
		lives        bool
	}{
		{"with a scope", busctlMakes, true},
		{"systemd refuses", "#!/bin/sh\necho 'Access denied' >&2; exit 1\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			login := loginCgroup(t)
			called := filepath.Join(t.TempDir(), "called")
			env := append(fakeSystemd(t, c.busctl), "CALLED="+called)
			if login != "" {
				env = append(env, "CGROUPS="+filepath.Dir(login))
			}
			socket, pid := startAtLogin(t, login, env)
			l, n := dial(t, socket, wire.RoleDaemon)
			if c.lives {
				checkScopeRequest(t, fileText(t, called), pid)
			}
			m := onPipes("a", "echo ready; read x")
			m.Input = true
			if _, err := l.Spawn(ctx(t), m); err != nil {
				t.Fatal(err)
			}
			s := adopt(t, l, "a")
			var st streamReader
			st.take(t, l, n, s, 6)
			if login == "" {
				t.Log("no cgroup on this system: no login to end")
				return
			}
			if err := writeCgroup(login, "cgroup.kill", "1"); err != nil {
				t.Fatal(err)
			}
			await(t, "the login's end", func() bool {
				left, err := sys.CgroupMembers(login)
				return err == nil && len(left) == 0
			})
			if !c.lives {
				await(t, "the keeper's end", func() bool {
					_, err := l.List(ctx(t))
					return err != nil
				})
				return
			}
			list, err := l.List(ctx(t))
			if err != nil || len(list) != 1 || list[0].Exited {
				t.Errorf("after the logout: %+v, %v", list, err)
			}
		})
	}
}

// checkScopeRequest checks the request to systemd: StartTransientUnit of org.freedesktop.systemd1.Manager.
func checkScopeRequest(t *testing.T, args string, pid int) {
	t.Helper()
	got, number := strings.Split(strings.TrimSpace(args), "\n"), strconv.Itoa(pid)
	for _, want := range [][]string{
		{"--user", "call", "org.freedesktop.systemd1"},
		{"StartTransientUnit", "ssa(sv)a(sa(sv))", "longterm-keeper-" + number + ".scope", "fail"},
		{"PIDs", "au", "1", number},
		{"Delegate", "b", "true"},
	} {
		if i := slices.Index(got, want[0]); i < 0 || !slices.Equal(got[i:min(i+len(want), len(got))], want) {
			t.Errorf("request to systemd %q; want %q in it", got, want)
		}
	}
}

// TestScope_Unavailable checks that without systemd, or its program, no scope is created: the keeper reports it with
// systemd's message and continues.
//
// FEATURES: R98
func TestScope_Unavailable(t *testing.T) {
	set := func(env []string) {
		for _, kv := range env {
			name, value, _ := strings.Cut(kv, "=")
			t.Setenv(name, value)
		}
	}
	set([]string{"XDG_RUNTIME_DIR=" + t.TempDir()})
	if err := moveToOwnScope(); !errors.Is(err, errNoSystemd) {
		t.Errorf("without a manager: %v", err)
	}
	set(fakeSystemd(t, ""))
	t.Setenv("PATH", t.TempDir())
	if err := moveToOwnScope(); !errors.Is(err, errNoSystemd) || !strings.Contains(err.Error(), "busctl") {
		t.Errorf("without busctl: %v", err)
	}
	set(fakeSystemd(t, "#!/bin/sh\necho 'Access denied' >&2; exit 1\n"))
	if err := moveToOwnScope(); err == nil || errors.Is(err, errNoSystemd) || !strings.Contains(err.Error(), "Access denied") {
		t.Errorf("rejected request: %v", err)
	}
}
