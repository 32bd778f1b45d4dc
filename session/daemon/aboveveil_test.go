//go:build unix

package daemon

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// TestSecretFromAboveWhatIsShown checks that a secret that starts above the part of a session that an agent is shown is
// masked to its end: on the screen, in lines of history, in recordings, and in waits.
//
// FEATURES: R110
func TestSecretFromAboveWhatIsShown(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, testDirs(t))
	const secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	lines := strings.Repeat("0", 59) + " " + secret + " behind\r\n" + strings.Repeat("line\r\n", 21) + "all of it"
	get[api.Session](d, "POST", "/sessions", api.NewSession{Name: "one", Argv: []string{"sh", "-c", `printf %s "$1"; exec cat`, "sh", lines}, Cols: 80, Rows: 23})
	end := get[api.Waited](d, "POST", "/sessions/one/wait", api.Wait{Conds: []api.Condition{{Kind: "text", Text: "all of it"}}, Since: new(uint64)}).Cursor
	bot := d.as("bot")
	shown := func(of *running, path string) string {
		a := of.ask("GET", "/sessions/one/"+path, nil)
		if a.status != http.StatusOK {
			t.Fatalf("%s: %d %s", path, a.status, a.body)
		}
		if !strings.HasPrefix(path, "records") {
			return string(a.body)
		}
		var r api.Record
		if err := json.NewDecoder(bytes.NewReader(a.body)).Decode(&r); err != nil {
			t.Fatal(err)
		}
		return string(r.Data)
	}
	for _, path := range []string{"screen", "screen?scrollback=-1:", "screen?since=1", fmt.Sprintf("screen?at=%d", end), fmt.Sprintf("records?from=%d", end)} {
		if got := shown(d, path); !strings.HasPrefix(path, "records") && !strings.Contains(got, secret[20:]+" behind") { // those are for others
			t.Errorf("%s: a user is shown %s", path, got)
		}
		if got := shown(bot, path); !strings.Contains(got, "****") || strings.Contains(got, secret[30:]) || strings.Contains(got, secret[4:12]) {
			t.Errorf("%s: an agent is shown %s", path, got)
		}
	}
	w := get[api.Waited](bot, "POST", "/sessions/one/wait", api.Wait{Conds: []api.Condition{{Kind: "text", Text: secret[30:]}}, Since: new(uint64), TimeoutMS: 1})
	if len(w.Fired) > 0 {
		t.Errorf("an agent has guessed it: %+v", w)
	}
}

// TestPromptEvent_HasNoSecrets checks that the text of a prompt contains no part of a secret that was cut.
//
// FEATURES: R42 R110
func TestPromptEvent_HasNoSecrets(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, testDirs(t))
	const secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	question := secret + " " + strings.Repeat("x", 170) + " go on? [y/N] "
	get[api.Session](d, "POST", "/sessions", api.NewSession{Name: "one", Argv: []string{"sh", "-c", `printf %s "$1"; read answer`, "sh", question}})
	get[api.Waited](d, "POST", "/sessions/one/wait", api.Wait{Conds: []api.Condition{{Kind: "input", Text: "confirm"}}})
	needs := get[api.Session](d.as("bot"), "GET", "/sessions/one", nil).Needs
	if needs == nil || !strings.Contains(needs.Reason, "**") || strings.Contains(needs.Reason, secret[36:]) {
		t.Errorf("%+v", needs)
	}
}
