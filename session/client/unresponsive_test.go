//go:build unix

package client

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// A stopped daemon is reported within seconds, one that hangs within a minute, a slow or busy one not at all. None of
// them ends a wait.
func TestSilentDaemon(t *testing.T) {
	never := time.Duration(1<<62 - 1)
	for name, c := range map[string]struct {
		answers      time.Duration // to what it answers at once
		from, until  time.Duration // it is stopped, since it got the request
		due          bool
		ends         time.Duration // 0: never
		says         string
		told         string
		toldNotUntil time.Duration
	}{
		"stopped":                     {never, 0, never, true, 5 * time.Second, "(process 7) is stopped", "", 0},
		"stopped while it is waited":  {never, 0, never, false, 0, "", "(process 7) is stopped", 4 * time.Second},
		"stopped for a moment":        {4500 * time.Millisecond, 0, 4400 * time.Millisecond, true, 0, "", "", 0},
		"stopped later":               {never, 20 * time.Second, never, true, 22 * time.Second, "(process 7) is stopped", "has not answered", 0},
		"hangs":                       {never, 0, 0, true, 63 * time.Second, "has not answered anything for 1m3s", "has not answered", 7 * time.Second},
		"hangs while it is waited":    {never, 0, 0, false, 0, "", "has not answered", 7 * time.Second},
		"slow as the machine is busy": {25 * time.Second, 0, 0, true, 0, "", "has not answered", 7 * time.Second},
		"works":                       {50 * time.Millisecond, 0, 0, true, 0, "", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now().Add(-lateAfter)
				var told []string
				l := watchdog{
					ask: func(context.Context) (int, <-chan struct{}) {
						ch := make(chan struct{})
						if c.answers != never {
							time.AfterFunc(time.Until(began.Add(max(c.answers, time.Since(began)))), func() { close(ch) })
						}
						return 7, ch
					},
					stopped: func(int) bool { return time.Since(began) >= c.from && time.Since(began) < c.until },
					tell: func(s UnresponsiveError) {
						if s.For < c.toldNotUntil || s.For != time.Since(began) {
							t.Errorf("told after %s: %v", s.For, s)
						}
						told = append(told, s.String())
					},
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
				defer cancel()
				_, err := l.watch(ctx, c.due)
				took := time.Since(began)
				switch {
				case c.ends == 0 && (err != nil || ctx.Err() == nil):
					t.Errorf("%v after %s", err, took)
				case c.ends > 0 && (codeOf(err) != api.CodeUnavailable || !isFinal(err) || took > c.ends || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "kill -9 7`: sessions continue")):
					t.Errorf("%v after %s", err, took)
				}
				if c.told == "" != (len(told) == 0) || len(told) > 1 || len(told) == 1 && !strings.Contains(told[0], c.told) {
					t.Errorf("told %q", told)
				}
			})
		})
	}
}

func TestWhatIsDue(t *testing.T) {
	for _, c := range []struct {
		path, query, body string
		due               bool
	}{
		{"/sessions", "", "", true},
		{"/sessions", "", `{"name":"run"}`, true},
		{"/sessions", "", `{"on_approval":"return"}`, true},
		{"/sessions", "", `{"on_approval":"wait"}`, false},
		{"/stop", "", "{}", true},
		{"/upgrade", "", "{}", true},
		{"/sessions/x/screen/text", "", "", true},
		{"/sessions/x/output", "wait_ms=5", "", false},
		{"/sessions/x/output", "reveal=yes&on_approval=return", "", false},
		{"/jobs/j", "await_ms=5", "", false},
		{"/jobs/j", "", "", true},
		{"/run", "", "", false},
		{"/sessions/x/exec", "", "", false},
		{"/sessions/x/wait", "", "", false},
	} {
		q, err := url.ParseQuery(c.query)
		if err != nil || isDue(c.path, q, []byte(c.body)) != c.due {
			t.Errorf("%s?%s %s: due is not %v", c.path, c.query, c.body, c.due)
		}
	}
}
