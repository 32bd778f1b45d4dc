//go:build unix

package jobs

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// TestNetworkHint_NamesSandbox_WhenProgramReachesNoHost checks that only a failure to reach a host, in a sandbox without
// network, gets the hint.
//
// FEATURES: R67
func TestNetworkHint_NamesSandbox_WhenProgramReachesNoHost(t *testing.T) {
	off, on := &api.Sandbox{Profile: "workspace", Network: "off"}, &api.Sandbox{Profile: "network", Network: "on"}
	ok, failed := 0, 1
	for _, c := range []struct {
		sandbox *api.Sandbox
		exit    *int
		output  string
		want    bool
	}{
		{off, &failed, "curl: (6) Could not resolve host: example.org\n", true},
		{off, &failed, "pip: [Errno -3] Temporary failure in name resolution", true},
		{off, &failed, "npm error code EAI_AGAIN", true},
		{off, &failed, "dial tcp: lookup proxy.example.org: no such host", true},
		{off, &failed, "ping: connect: Network is unreachable", true},
		{off, &failed, "main.go:3: undefined: x", false},
		{off, &ok, "Could not resolve host: tried another", false},
		{off, nil, "Could not resolve host", false},
		{on, &failed, "Could not resolve host", false},
		{nil, &failed, "Could not resolve host", false},
	} {
		got := networkHint(&api.Result{Sandbox: c.sandbox, ExitCode: c.exit, Output: c.output})
		if c.want != strings.Contains(got, "sandbox workspace has no network; `--sandbox network`") || !c.want && got != "" {
			t.Errorf("%q in %+v: %q", c.output, c.sandbox, got)
		}
	}
}
