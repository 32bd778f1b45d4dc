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

// TestWatchdog checks that a stopped daemon is reported within seconds, one that hangs within a minute, a slow or busy
// one not at all. A wait is never ended.
func TestWatchdog(t *testing.T) {
	never := time.Duration(1<<62 - 1)
	for name, c := range map[string]struct {
		answers     time.Duration // when it answers probes
		from, until time.Duration // when it is stopped, since the request
		due         bool
		giveUp      time.Duration // when the request is given up at the latest; 0: never
		message     string        // part of the error
		notice      string        // part of the notification; "": none
		noticeAfter time.Duration // earliest notification
	}{
		"stopped":                     {never, 0, never, true, 5 * time.Second, "(process 7) is stopped", "", 0},
		"stopped during a wait":       {never, 0, never, false, 0, "", "(process 7) is stopped", 4 * time.Second},
		"stopped for a moment":        {4500 * time.Millisecond, 0, 4400 * time.Millisecond, true, 0, "", "", 0},
		"stopped later":               {never, 20 * time.Second, never, true, 22 * time.Second, "(process 7) is stopped", "has not answered", 0},
		"hangs":                       {never, 0, 0, true, 63 * time.Second, "has not answered anything for 1m3s", "has not answered", 7 * time.Second},
		"hangs during a wait":         {never, 0, 0, false, 0, "", "has not answered", 7 * time.Second},
		"slow as the machine is busy": {25 * time.Second, 0, 0, true, 0, "", "has not answered", 7 * time.Second},
		"works":                       {50 * time.Millisecond, 0, 0, true, 0, "", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now().Add(-lateAfter)
				var notices []string
				l := watchdog{
					probe: func(context.Context) (int, <-chan struct{}) {
						ch := make(chan struct{})
						if c.answers != never {
							time.AfterFunc(time.Until(start.Add(max(c.answers, time.Since(start)))), func() { close(ch) })
						}
						return 7, ch
					},
					isStopped: func(int) bool { return time.Since(start) >= c.from && time.Since(start) < c.until },
					notify: func(s UnresponsiveError) {
						if s.Duration < c.noticeAfter || s.Duration != time.Since(start) {
							t.Errorf("notified after %s: %v", s.Duration, s)
						}
						notices = append(notices, s.String())
					},
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
				defer cancel()
				_, err := l.watch(ctx, c.due)
				took := time.Since(start)
				switch {
				case c.giveUp == 0 && (err != nil || ctx.Err() == nil):
					t.Errorf("got error %v after %s", err, took)
				case c.giveUp > 0 && (errorCode(err) != api.CodeUnavailable || !isPermanent(err) || took > c.giveUp || !strings.Contains(err.Error(), c.message) || !strings.Contains(err.Error(), "kill -9 7`: sessions continue")):
					t.Errorf("got error %v after %s", err, took)
				}
				if c.notice == "" != (len(notices) == 0) || len(notices) > 1 || len(notices) == 1 && !strings.Contains(notices[0], c.notice) {
					t.Errorf("got notifications %q, want %q", notices, c.notice)
				}
			})
		})
	}
}

func TestIsImmediate(t *testing.T) {
	t.Parallel()
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
		if err != nil || isImmediate(c.path, q, []byte(c.body)) != c.due {
			t.Errorf("%s?%s %s: isImmediate is not %v", c.path, c.query, c.body, c.due)
		}
	}
}
