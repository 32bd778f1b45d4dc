//go:build unix

package commands

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestBadRequests checks the answers to invalid HTTP requests.
//
// FEATURES: R93
func TestBadRequests(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "a", "--", "sleep", "1000")
	cases := []struct {
		path, body, want string
		code             int
	}{
		{"/sessions", `{`, "invalid", 422},
		{"/sessions", `{"argv":["x"],"nonsense":1}`, "nonsense", 422},
		{"/sessions", `{"argv":["/does/not/exist"],"cwd":"/"}`, "no_program", 422},
		{"/sessions", `{"argv":["sleep"],"cwd":"/does/not/exist"}`, "does not exist", 422},
		{"/sessions", `{"argv":["sleep"],"cwd":"/","cols":10000}`, "columns must be", 422},
		{"/sessions", `{"argv":["sleep"],"cwd":"/","name":"a"}`, "name_taken", 409},
		{"/sessions", `{"argv":["sleep"],"cwd":"/","name":"../x"}`, "session name", 422},
		{"/sessions/none/input", `{"text":"x"}`, "not_found", 404},
		{"/sessions/a/input", `{}`, "kinds of input", 422},
		{"/sessions/a/input", `{"text":"x","expect_version":12345}`, "stale", 412},
		{"/sessions/a/wait", `{"conditions":[{"kind":"regexp","pattern":"("}]}`, "RE2", 422},
		{"/sessions/a/wait", `{"conditions":[]}`, "invalid", 422},
		{"/sessions/a/resize", `{"cols":0,"rows":0}`, "columns must be", 422},
		{"/sessions/a/signal", `{"signal":"NOPE"}`, "no signal", 422},
	}
	for _, c := range cases {
		out, code := i.Post(c.path, c.body)
		if code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("POST %s %s: %d %s; want %d and %q", c.path, c.body, code, out, c.code, c.want)
		}
	}
	if st := i.Status(); st.Running != 1 {
		t.Errorf("after all that: %+v", st)
	}
}
