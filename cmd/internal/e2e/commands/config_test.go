//go:build unix

package commands

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestConfigurationWhileTheDaemonRuns changes the configuration while the daemon runs. The daemon applies and reports
// it. A file with mistakes changes nothing, also over a kill of the daemon.
func TestConfigurationWhileTheDaemonRuns(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "b", "--", "bash", "--norc")
	heard := i.Listen("config")
	i.Run("config", "set", "exec.max_output", "1KiB")
	i.Run("config", "set", "limits.sessions", "1")
	file := filepath.Join(i.Dir, "config.toml")
	before := i.Status().Config.Loaded
	appendTo(t, file, "[[matchers]]\nname = \"mine\"\npatterns = ['^OOPS (?P<file>\\S+):(?P<line>\\d+) (?P<message>.*)$']\n")
	e2e.Eventually(t, "the daemon has applied the file", func() bool { return i.Status().Config.Loaded.After(before) && !starts(i) })
	<-heard

	out := i.Run("exec", "b", "--json", "--agent", "a", "--parse", `seq 2000; echo "OOPS main.x:7 it broke"`)
	r := e2e.Decode[api.Result](t, out)
	if len(r.Output) > 1100 || !r.Truncated {
		t.Errorf("%d bytes of output", len(r.Output))
	}
	if r.Parsed == nil || len(r.Parsed.Diagnostics) != 1 || r.Parsed.Diagnostics[0].File != "main.x" {
		t.Errorf("parsed: %+v", r.Parsed)
	}

	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("[limits]\nsessions = \"many\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e2e.Eventually(t, "the daemon reports the mistake", func() bool {
		c := i.Status().Config
		return c.Using == "kept" && len(c.Problems) == 1 && strings.Contains(c.Problems[0], "config.toml:2:12: limits.sessions")
	})
	if starts(i) {
		t.Error("an invalid configuration removed the limit")
	}
	if err := syscall.Kill(i.Status().DaemonPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	e2e.Eventually(t, "the next daemon answers requests", func() bool { _, _, code := i.Try("ls"); return code == 0 })
	if c := i.Status().Config; c.Using != "kept" || starts(i) {
		t.Errorf("after a restart the last good values are lost: %+v", c)
	}
	if err := os.WriteFile(file, good, 0o600); err != nil {
		t.Fatal(err)
	}
	e2e.Eventually(t, "the daemon uses the corrected file", func() bool { return i.Status().Config.Using == "file" })
}

// starts tries whether a session can be started, and removes it.
func starts(i *e2e.Instance) bool {
	i.T.Helper()
	if _, _, code := i.Try("new", "-n", "probe", "--", "cat"); code != 0 {
		return false
	}
	i.Run("kill", "probe")
	i.Run("rm", "probe")
	return true
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, append(b, text...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestConfigurationThatCannotBeWritten sets a value beyond a limit of file sizes. The file stays unchanged, and the
// error has a remedy.
func TestConfigurationThatCannotBeWritten(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("config", "set", "policy.agents", "build")
	file := filepath.Join(i.Dir, "config.toml")
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	set := i.Command(t.Context(), "config", "set", "policy.agents", "readonly")
	set.Args = append([]string{"sh", "-c", `ulimit -f 0; exec "$0" "$@"`, i.Exe}, set.Args[1:]...)
	set.Path = "/bin/sh"
	out, err := set.CombinedOutput()
	if code := set.ProcessState.ExitCode(); err == nil || code != 1 || !strings.Contains(string(out), "file too large") || !strings.Contains(string(out), file+" was not changed; free disk space") {
		t.Errorf("%d %v %q", code, err, out)
	}
	if after, err := os.ReadFile(file); err != nil || string(after) != string(before) {
		t.Errorf("%q %v", after, err)
	}
	if left, _ := filepath.Glob(filepath.Join(i.Dir, ".config.toml*")); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}
