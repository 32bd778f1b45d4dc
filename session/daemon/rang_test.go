//go:build unix

package daemon

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

type rangNotice struct{ Event, Name, Question string }

// noticed starts a daemon whose notices are sent to the returned channel.
func noticed(t *testing.T) (*running, <-chan rangNotice) {
	t.Helper()
	told := make(chan rangNotice, 64)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var n rangNotice
		if err := json.NewDecoder(r.Body).Decode(&n); err != nil {
			t.Error(err)
		}
		told <- n
	}))
	t.Cleanup(hook.Close)
	dirs := testDirs(t)
	conf := "[alerts]\nmin_duration = \"0\"\n[notify]\nwebhook = \"" + hook.URL + "\"\n"
	if err := config.WriteFile(dirs.ConfigFile(), []byte(conf)); err != nil {
		t.Fatal(err)
	}
	return startDaemon(t, dirs), told
}

func nextNotice(t *testing.T, told <-chan rangNotice) rangNotice {
	t.Helper()
	select {
	case n := <-told:
		return n
	case <-time.After(time.Minute):
		t.Fatal("no notice arrived")
		return rangNotice{}
	}
}

// TestNoticeOfABell checks that users are notified of a bell in an unwatched session, but not of each one.
//
// FEATURES: R82 R21
func TestNoticeOfABell(t *testing.T) {
	t.Parallel()
	d, told := noticed(t)
	get[api.Session](d, "POST", "/sessions", api.NewSession{Name: "rings", Argv: []string{"sh", "-c", `printf '\a\a'; read x; printf '\a'; exit 0`}})
	for n := nextNotice(t, told); n.Event != "bell"; n = nextNotice(t, told) {
		t.Logf("also told: %+v", n) // that it reads
	}
	get[struct{}](d, "POST", "/sessions/rings/input", api.Input{Text: "y\r"})
	for n := nextNotice(t, told); n.Event != "finished"; n = nextNotice(t, told) {
		if n.Event == "bell" {
			t.Errorf("posted again: %+v", n)
		}
	}
}

// TestReplAsksNothing checks that a REPL at its prompt counts as a prompt: waits for one match, and no notification is
// sent.
//
// FEATURES: R42 R40
func TestReplAsksNothing(t *testing.T) {
	t.Parallel()
	python := tier.Path(t, "python3")
	d, told := noticed(t)
	get[api.Session](d, "POST", "/sessions", api.NewSession{Name: "repl", Argv: []string{python, "-q"}, Env: []string{"PYTHON_BASIC_REPL=1", "HOME=" + t.TempDir()}})
	d.wait("repl", api.Condition{Kind: "prompt"})
	if n := get[api.Session](d, "GET", "/sessions/repl", nil).Needs; n == nil || n.Kind != "text" || !n.Prompt || n.NeedsAnswer() {
		t.Errorf("%+v", n)
	}
	res := get[api.Result](d, "POST", "/sessions/repl/exec", api.Exec{Line: "print(2+3)"})
	if res.ExitCode != nil || res.Outcome != "stable" {
		t.Errorf("%+v", res)
	}
	d.wait("repl", api.Condition{Kind: "prompt"})
	get[struct{}](d, "POST", "/sessions/repl/input", api.Input{Text: "exit(input('Name: ') and 3)\r"})
	if n := nextNotice(t, told); n.Event != "input" || n.Question != "Name:" { // as a script's is
		t.Errorf("%+v", n)
	}
	get[struct{}](d, "POST", "/sessions/repl/input", api.Input{Text: "bob\r"})
	for n := nextNotice(t, told); n.Event != "failed"; n = nextNotice(t, told) {
		t.Errorf("%+v", n)
	}
}
