//go:build unix

package daemon

import (
	"bytes"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// The table of sessions for a terminal names the number of kept runs, which it omits. For programs it has sessions only.
//
// FEATURES: R4
func TestTableSessions_CountsHiddenRuns_OnTerminal(t *testing.T) {
	t.Parallel()
	d := serve(t)
	line := []byte("hidden: 1 kept by `longterm run`; list with `longterm ls --label longterm.kept`\n")
	if a := d.ask("GET", "/sessions.txt?width=90", nil); bytes.Contains(a.body, []byte("hidden")) {
		t.Errorf("without runs: %s", a.body)
	}
	get[api.Result](d, "POST", "/run", api.Run{NewSession: api.NewSession{Argv: []string{"/bin/sh", "-c", "exit 4"}}})
	for path, want := range map[string]bool{"?width=90": true, "": false, "?width=90&label=longterm.kept": false} {
		if a := d.ask("GET", "/sessions.txt"+path, nil); bytes.HasSuffix(a.body, line) != want {
			t.Errorf("%q: %s", path, a.body)
		}
	}
}
