//go:build unix

package remote

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestOpenThere forwards the port of a server on a remote host until the command is interrupted.
//
// FEATURES: R128
func TestOpenThere(t *testing.T) {
	tier.Full(t)
	python := tier.Path(t, "python3")
	t.Parallel()
	h := newHost(t, true)
	h.Run("new", "-n", "web", "--", python, "-c", `import http.server as h; h.ThreadingHTTPServer(("127.0.0.1", 0), h.SimpleHTTPRequestHandler).serve_forever()`)
	h.here.Run("-H", "far", "wait", "web", "--for", "port=any")
	c := h.here.Command(t.Context(), "-H", "far", "open", "web", "--print", "--probe")
	out, err := c.StdoutPipe()
	h.make(t, err, c.Start())
	said := bufio.NewReader(out)
	url, err := said.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if title, err := said.ReadString('\n'); !strings.Contains(title, "Directory listing") {
		t.Errorf("%q, %v", title, err)
	}
	resp, err := http.Get(strings.Replace(strings.TrimSpace(url), "localhost", "127.0.0.1", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, err := io.ReadAll(resp.Body); !strings.Contains(string(b), "Directory listing") {
		t.Errorf("%q, %v", b, err)
	}
	h.make(t, c.Process.Signal(os.Interrupt))
	_ = c.Wait()
	if resp, err := http.Get(strings.TrimSpace(url)); err == nil {
		_ = resp.Body.Close()
		t.Error("the port is still forwarded")
	}
}
