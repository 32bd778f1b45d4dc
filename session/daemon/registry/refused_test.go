//go:build unix

package registry

import (
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// TestRefusedOnceForAllOfPath checks that a call that tries one directory of PATH after the other, and is refused in
// each, is reported once. The same call later is reported again.
//
// FEATURES: R107
func TestRefusedOnceForAllOfPath(t *testing.T) {
	t.Parallel()
	x := &execRecord{}
	const rejected, blocked = "Rejected by uid 0 (approval A1)", "Blocked: rule deny git: "
	for _, c := range []struct {
		pid       int
		path, why string
		argv      []string
		told      bool
	}{
		{7, "/usr/bin/git", rejected, []string{"git", "tag"}, false},
		{7, "/bin/git", rejected, []string{"git", "tag"}, true},
		{8, "/usr/bin/git", blocked + "/usr/bin/git", []string{"git"}, false}, // another process, between them
		{7, "/opt/bin/git", rejected, []string{"git", "tag"}, true},
		{8, "/bin/git", blocked + "/bin/git", []string{"git"}, true},
		{7, "/usr/bin/git", rejected, []string{"git", "tag"}, false}, // again
		{7, "/bin/git", rejected, []string{"git", "push"}, false},
		{7, "/usr/bin/git", "Rejected by uid 0 (approval A2)", []string{"git", "push"}, false},
		{7, "/usr/bin/curl", "Rejected by uid 0 (approval A2)", []string{"git", "push"}, false},
	} {
		r := api.Refused{PID: c.pid, Path: c.path, Argv: c.argv, Why: c.why}
		if x.isRetryOf(&r) != c.told {
			t.Errorf("%+v: not %v", c, c.told)
		}
		if !c.told {
			x.file.Refused = append(x.file.Refused, r)
		}
	}
}
