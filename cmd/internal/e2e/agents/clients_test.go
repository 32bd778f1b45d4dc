//go:build unix

package agents

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// clientArgs returns the arguments of the programs that use a client, in an instance that serves TCP: its socket, its
// URL, a view-only token, and the daemon's process.
func clientArgs(i *e2e.Instance) []string {
	i.T.Helper()
	i.Run("config", "set", "http.listen", "127.0.0.1:0")
	i.Run("daemon", "start")
	token := strings.TrimSpace(i.Run("token", "new", "looks"))
	st := i.Status()
	if !strings.HasPrefix(st.HTTP, "127.0.0.1:") {
		i.T.Fatalf("HTTP at %q", st.HTTP)
	}
	return []string{st.Socket, "http://" + st.HTTP, token, strconv.Itoa(st.DaemonPID)}
}

// beside copies a client and the program that uses it into a directory.
func beside(t *testing.T, client, program string) string {
	t.Helper()
	dir := t.TempDir()
	for _, path := range []string{filepath.Join("..", "..", "..", "..", "docs", "clients", client), filepath.Join("testdata", "clients", program)} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(path)), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// usesClient runs a program that uses a client, to its end.
func usesClient(t *testing.T, i *e2e.Instance, dir string, argv ...string) {
	t.Helper()
	tier.Need(t, "bash")
	c := exec.CommandContext(t.Context(), argv[0], append(argv[1:], clientArgs(i)...)...)
	c.Dir, c.Env = dir, i.Env
	if out, err := c.CombinedOutput(); err != nil || !strings.HasSuffix(string(out), "ok the end\n") {
		t.Errorf("%v\n%s", err, out)
	}
	if s := e2e.Decode[[]api.Session](t, i.Run("ls", "--json")); len(s) == 0 {
		t.Error("it was another daemon")
	}
}

// TestPythonClient runs the documented steps with the Python client, also over a killed daemon and over TCP.
//
// FEATURES: R86
func TestPythonClient(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	python := tier.Path(t, "python3")
	usesClient(t, e2e.New(t), beside(t, "longterm.py", "check.py"), python, "check.py")
}
