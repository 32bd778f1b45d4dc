//go:build unix

package main

import (
	"bufio"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// The daemon takes a changed file while it runs and says so; what is wrong changes
// nothing, not even over a kill of the daemon.
func TestConfigurationWhileTheDaemonRuns(t *testing.T) {
	i := newInstance(t)
	i.run("new", "-n", "b", "--", "bash", "--norc")
	heard := listen(t, i, "config")
	i.run("config", "set", "exec.max_output", "1KiB")
	i.run("config", "set", "limits.sessions", "1")
	file := filepath.Join(i.dir, "config.toml")
	appendTo(t, file, "[[matchers]]\nname = \"mine\"\npatterns = ['^OOPS (?P<file>\\S+):(?P<line>\\d+) (?P<message>.*)$']\n")
	eventually(t, "the daemon has it", func() bool { return i.status().Config.Using == "file" && !i.starts() })
	<-heard

	out := i.run("exec", "b", "--json", "--parse", `seq 2000; echo "OOPS main.x:7 it broke"`)
	r := decode[api.Result](t, out)
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
	eventually(t, "the mistake is told of", func() bool {
		c := i.status().Config
		return c.Using == "kept" && len(c.Problems) == 1 && strings.Contains(c.Problems[0], "config.toml:2:12: limits.sessions")
	})
	if i.starts() {
		t.Error("the limit is gone with the mistake")
	}
	if err := syscall.Kill(i.status().DaemonPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "another daemon serves", func() bool { _, _, code := i.try("ls"); return code == 0 })
	if c := i.status().Config; c.Using != "kept" || i.starts() {
		t.Errorf("after a restart the last good values are lost: %+v", c)
	}
	if err := os.WriteFile(file, good, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is mended", func() bool { return i.status().Config.Using == "file" })
}

// starts tries whether a session can be started, and removes it.
func (i *instance) starts() bool {
	i.t.Helper()
	if _, _, code := i.try("new", "-n", "probe", "--", "cat"); code != 0 {
		return false
	}
	i.run("kill", "probe")
	i.run("rm", "probe")
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

// listen closes its channel when the daemon publishes an event of a kind.
func listen(t *testing.T, i *instance, kind string) <-chan struct{} {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://longterm"+api.Version+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := httpClient(i).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan struct{})
	go func() {
		defer resp.Body.Close()
		for sc := bufio.NewScanner(resp.Body); sc.Scan(); {
			if strings.Contains(sc.Text(), `"kind":"`+kind+`"`) {
				close(heard)
				return
			}
		}
	}()
	return heard
}
