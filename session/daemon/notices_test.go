//go:build unix

package daemon

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/config"
)

// TestNoticeOfAWrappedQuestion checks that the text of a wrapped prompt has all its rows; of a long one it has the end,
// with the possible answers.
//
// FEATURES: R82
func TestNoticeOfAWrappedQuestion(t *testing.T) {
	t.Parallel()
	type notice struct{ Event, Text, Question string }
	told := make(chan notice, 64)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var n notice
		if err := json.NewDecoder(r.Body).Decode(&n); err != nil {
			t.Error(err)
		}
		told <- n
	}))
	defer hook.Close()
	dirs := testDirs(t)
	conf := "[alerts]\nmin_duration = \"0\"\n[notify]\nwebhook = \"" + hook.URL + "\"\n"
	if err := config.WriteFile(dirs.ConfigFile(), []byte(conf)); err != nil {
		t.Fatal(err)
	}
	d := startDaemon(t, dirs)
	question := "Overwrite all of " + strings.Repeat("one, ", 50) + "and the last? (y/n)"
	get[api.Session](d, "POST", "/sessions", api.NewSession{Name: "deploy", Argv: []string{"sh", "-c", `echo before; printf '%s ' "$1"; read answer`, "sh", question}, Cols: 40, Rows: 24})
	for {
		select {
		case n := <-told:
			if n.Event != "input" || n.Question != question { // of its outcome so far
				t.Logf("also told: %+v", n)
				continue
			}
			if !strings.HasSuffix(n.Text, "one, and the last? (y/n)") {
				t.Errorf("%+v", n)
			}
			return
		case <-time.After(time.Minute):
			t.Fatal("no notice had the whole prompt")
		}
	}
}

// TestNoticesOutliveTheDaemon checks that events are posted while no page is open. A failed post is repeated by the
// next daemon, once, and secrets are masked.
//
// FEATURES: R82, R112
func TestNoticesOutliveTheDaemon(t *testing.T) {
	t.Parallel()
	const secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	type notice struct {
		Event, Title, Text, Name, Question, Needs string
		key                                       string
	}
	tried, told := make(chan struct{}, 1), make(chan notice, 64)
	var up atomic.Bool
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !up.Load() {
			select {
			case tried <- struct{}{}:
			default:
			}
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		n := notice{key: r.Header.Get("Idempotency-Key")}
		if err := json.NewDecoder(r.Body).Decode(&n); err != nil {
			t.Error(err)
		}
		told <- n
	}))
	defer hook.Close()
	dirs := testDirs(t)
	conf := "[alerts]\nmin_duration = \"0\"\n[notify]\nwebhook = \"" + hook.URL + "/the-topic\"\n"
	if err := config.WriteFile(dirs.ConfigFile(), []byte(conf)); err != nil {
		t.Fatal(err)
	}
	d := startDaemon(t, dirs)
	ask := `printf 'token %s\n' "$1"; printf 'Overwrite %s? (y/n) ' "$1"; read answer; exit 3`
	get[api.Session](d, "POST", "/sessions", api.NewSession{Name: "deploy", Argv: []string{"sh", "-c", ask, "sh", secret}, Cols: 100, Rows: 24})
	select {
	case <-tried:
	case <-time.After(time.Minute):
		t.Fatal("no notice of the waiting program")
	}
	// A failed post has returned when its response has arrived, which is after it was sent.
	st := get[api.Status](d, "GET", "/status", nil)
	for end := time.Now().Add(time.Minute); (len(st.Webhooks) == 0 || st.Webhooks[0].Failing == "") && time.Now().Before(end); {
		st = get[api.Status](d, "GET", "/status", nil)
	}
	if len(st.Webhooks) != 1 || !strings.Contains(st.Webhooks[0].Failing, "503") || st.Webhooks[0].Waiting != 1 || strings.Contains(st.Webhooks[0].Failing, "topic") {
		t.Errorf("%+v", st.Webhooks)
	}
	d.leave()
	up.Store(true)
	d = d.again()
	next := func() notice {
		t.Helper()
		select {
		case n := <-told:
			if strings.Contains(n.Text+n.Question, secret[8:20]) {
				t.Errorf("a secret was posted: %+v", n)
			}
			return n
		case <-time.After(time.Minute):
			t.Fatal("no notice arrived")
			return notice{}
		}
	}
	first := next()
	if first.Event != "input" || first.Needs != "confirm" || first.Title != "deploy asks yes or no" || !strings.HasPrefix(first.Question, "Overwrite ghp_****") {
		t.Errorf("%+v", first)
	}
	get[struct{}](d, "POST", "/sessions/deploy/input", api.Input{Text: "y\r"})
	for n := next(); ; n = next() {
		if n.Event == "failed" {
			if n.Title != "deploy: failed (3)" || n.Name != "deploy" {
				t.Errorf("%+v", n)
			}
			return
		}
		if n.Question == first.Question {
			t.Errorf("the same prompt is posted twice: %+v and %+v", first, n)
		}
	}
}
