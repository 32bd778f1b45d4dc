//go:build unix

package commands

import (
	"io"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestPicturesOverHTTP reads screens as images over HTTP.
//
// FEATURES: R36
func TestPicturesOverHTTP(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "a", "--cols", "20", "--rows", "4", "--", "sh", "-c", "echo '<b>'; read x")
	i.Run("wait", "a", "--for", "text=<b>")
	for _, tt := range []struct {
		path, media, want string
		code              int
	}{
		{"text", "text/plain; charset=utf-8", "<b>\n", 200},
		{"html?theme=light", "text/html; charset=utf-8", "&lt;b&gt;", 200},
		{"svg?scale=2&no_cursor=true", "image/svg+xml", `width="432"`, 200},
		{"png?fonts=embedded&cursor=bar", "image/png", "\x89PNG", 200},
		{"md?styles=true", "text/markdown; charset=utf-8", "```text\n<b>\n```", 200},
		{"pdf", "", "expected value to be one of", 422},
		{"html?theme=mauve", "", "unknown theme", 422},
		{"png?scale=99", "", "<= 8", 422},
		{"png?scale=0.1", "", "give 0.25 to 8", 422},
	} {
		resp, err := i.HTTP().Get("http://longterm" + api.Version + "/sessions/a/screen/" + tt.path)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close() // it was read completely
		if resp.StatusCode != tt.code || !strings.Contains(string(b), tt.want) {
			t.Errorf("%s: %d %s; want %d and %q", tt.path, resp.StatusCode, b, tt.code, tt.want)
		}
		h := resp.Header
		if tt.code != 200 {
			continue
		}
		if h.Get("Content-Type") != tt.media || !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: headers %v", tt.path, h)
		}
	}
}
