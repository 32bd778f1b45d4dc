//go:build unix

package client

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// TestAwaitJob checks that AwaitJob waits for a job across restarts, until its condition holds.
// FAULT: A23
// FEATURES: R90
func TestAwaitJob(t *testing.T) {
	running, background, done := repliesJSON(api.Job{State: "running"}), repliesJSON(api.Job{State: "running", Background: true}), repliesJSON(api.Job{State: "done", Command: 7})
	for _, c := range []struct {
		name    string
		how     AwaitOptions
		answers []http.HandlerFunc
		asked   int
		command int
		code    api.Code
	}{
		{name: "it ended", answers: []http.HandlerFunc{done}, asked: 1, command: 7},
		{name: "it ends later", answers: []http.HandlerFunc{running, running, done}, asked: 3, command: 7},
		{name: "over restarts", answers: []http.HandlerFunc{running, disconnects(""), isClosing, disconnects(partialResponse(200, `{"sta`)), running, done}, asked: 6, command: 7},
		{name: "in the background", answers: []http.HandlerFunc{background, background, done}, asked: 3, command: 7},
		{name: "in the background, and it is the caller's", how: AwaitOptions{StopOnLeave: true}, answers: []http.HandlerFunc{running, background, done}, asked: 2},
		{name: "forgotten", answers: []http.HandlerFunc{running, rejects(api.Errorf(api.CodeNotFound, "no job"))}, asked: 2, code: api.CodeNotFound},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, client := newFakeDaemon(t, c.answers...)
			j, err := client.AwaitJob(testContext(t), "j", c.how)
			if errorCode(err) != c.code || (err == nil) != (c.code == "") || j.Command != c.command || len(f.requests()) != c.asked {
				t.Errorf("got job %+v, error %v after %d requests", j, err, len(f.requests()))
			}
			for _, r := range f.requests() {
				if strings.Contains(r.line, "abandon") != c.how.StopOnLeave || strings.Contains(r.line, "on_input") {
					t.Error(r.line)
				}
			}
		})
	}
}

// runInBubble runs f with a client in a synctest bubble.
func runInBubble(t *testing.T, f func(t *testing.T, c *Client), answer roundTripFunc) {
	t.Helper()
	dirs := newDirs(t)
	synctest.Test(t, func(t *testing.T) {
		c := New(Options{Dirs: dirs})
		c.http.Transport = answer
		f(t, c)
	})
}

// awaitResponse waits as long as a request specifies, and returns v.
func awaitResponse(r *http.Request, v any) *http.Response {
	ms, err := strconv.ParseInt(r.URL.Query().Get("await_ms"), 10, 64)
	if err != nil {
		panic(err)
	}
	time.Sleep(time.Duration(ms) * time.Millisecond) // the bubble's time
	b, _ := json.Marshal(v)
	return newResponse(200, string(b))
}

// TestAwaitJob_YieldsToBackground checks that when YieldAfter has passed, the job continues in the background. A job
// that ended at that moment has ended.
func TestAwaitJob_YieldsToBackground(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		background  *http.Response
		want, asked string
	}{
		{"continues", newResponse(200, `{"state":"running","in_background":true,"result":{"state":"running"}}`), "running", "GET POST"},
		{"without a result", newResponse(200, `{"state":"running","in_background":true}`), "asked", "GET POST GET"},
		{"ended", newResponse(409, `{"code":"ended","message":"it ended"}`), "asked", "GET POST GET"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var asked []string
			runInBubble(t, func(t *testing.T, client *Client) {
				began := time.Now()
				j, err := client.AwaitJob(t.Context(), "j", AwaitOptions{YieldAfter: 3 * time.Second})
				if took := time.Since(began); err != nil || j.State != c.want || took != 3*time.Second || strings.Join(asked, " ") != c.asked {
					t.Errorf("got job %+v, error %v after %v and requests %q", j, err, took, asked)
				}
			}, func(r *http.Request) (*http.Response, error) {
				asked = append(asked, r.Method)
				switch {
				case r.Method == "POST":
					return c.background, nil
				case len(asked) > 1:
					return newResponse(200, `{"state":"asked"}`), nil
				}
				return awaitResponse(r, api.Job{State: "running"}), nil
			})
		})
	}
}

// TestAwaitJob_RepeatsLongWaits checks that a wait that is longer than maxAwait is repeated with the remaining time,
// even if it is zero.
func TestAwaitJob_RepeatsLongWaits(t *testing.T) {
	t.Parallel()
	for yield, want := range map[time.Duration]string{
		0:                        "3600000 3600000 3600000",
		2*maxAwait + time.Second: "3600000 3600000 1000",
		time.Millisecond / 2:     "1",
	} {
		var asked []string
		runInBubble(t, func(t *testing.T, c *Client) {
			if j, err := c.AwaitJob(t.Context(), "j", AwaitOptions{YieldAfter: yield}); err != nil || j.State != "done" {
				t.Errorf("got job %+v, error %v", j, err)
			}
		}, func(r *http.Request) (*http.Response, error) {
			if r.Method == "POST" {
				return newResponse(409, `{"code":"ended","message":"it ended"}`), nil
			}
			if !r.URL.Query().Has("await_ms") || len(asked) == 3 {
				return newResponse(200, `{"state":"done"}`), nil
			}
			asked = append(asked, r.URL.Query().Get("await_ms"))
			state := "running"
			if yield == 0 && len(asked) == 3 {
				state = "done"
			}
			return awaitResponse(r, api.Job{State: state}), nil
		})
		if strings.Join(asked, " ") != want {
			t.Errorf("yield after %v: got waits %q, want %q", yield, asked, want)
		}
	}
}

// TestWait_SurvivesRestarts checks that a retried wait has its remaining time and ends; its input is typed once.
// FAULT: A23
// FEATURES: R44
func TestWait_SurvivesRestarts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		wait api.Wait
		want string // timeout_ms of the requests
		ok   bool
	}{
		{"the daemon comes back", api.Wait{TimeoutMS: 10_000}, "10000 5997 1985", true},
		{"its timeout ends meanwhile", api.Wait{TimeoutMS: 6_000}, "6000 1997", false},
		{"without a timeout", api.Wait{}, "0 0 0", true},
		{"with input", api.Wait{Input: &api.Input{Text: "x"}}, "0", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var asked []string
			runInBubble(t, func(t *testing.T, client *Client) {
				_, err := client.Session("s").Wait(t.Context(), c.wait)
				if (err == nil) != c.ok || err != nil && errorCode(err) != api.CodeUnavailable || strings.Join(asked, " ") != c.want {
					t.Errorf("got error %v, timeouts %q, want %q", err, asked, c.want)
				}
			}, func(r *http.Request) (*http.Response, error) {
				var w api.Wait
				if err := json.NewDecoder(r.Body).Decode(&w); err != nil {
					return nil, err
				}
				asked = append(asked, fmt.Sprint(w.TimeoutMS))
				if len(asked) == 3 {
					return newResponse(200, `{"outcome":"fired"}`), nil
				}
				time.Sleep(4 * time.Second) // the bubble's time
				return nil, io.ErrUnexpectedEOF
			})
		})
	}
}

// TestAwaitJob_GivesUp_WithoutDaemon checks that a wait for a job fails with the reason if no daemon starts within the
// retry time.
func TestAwaitJob_GivesUp_WithoutDaemon(t *testing.T) {
	t.Parallel()
	var asked int
	runInBubble(t, func(t *testing.T, c *Client) {
		_, err := c.Run(t.Context(), api.Run{})
		if errorCode(err) != api.CodeUnavailable || !strings.Contains(err.Error(), "no daemon is running") || asked == 0 {
			t.Errorf("got error %v after %d requests", err, asked)
		}
	}, func(*http.Request) (*http.Response, error) {
		asked++
		return nil, syscall.ECONNREFUSED
	})
}

// TestAwaitJob_ReportsEachApprovalOnce checks that the caller is notified of each approval of a job once, and continues
// to wait.
// FEATURES: R63
func TestAwaitJob_ReportsEachApprovalOnce(t *testing.T) {
	t.Parallel()
	needs := func(id string) http.HandlerFunc { return repliesJSON(api.Job{State: "needs_approval", Approval: id}) }
	f, c := newFakeDaemon(t, needs("A1"), needs("A1"), needs("A2"), repliesJSON(api.Job{State: "done"}))
	var told []string
	j, err := c.AwaitJob(testContext(t), "j", AwaitOptions{StopOnLeave: true, OnApproval: func(id string) { told = append(told, id) }})
	if err != nil || j.State != "done" || !slices.Equal(told, []string{"A1", "A2"}) {
		t.Errorf("%+v, %v, notified of %q", j, err, told)
	}
	for i, want := range []string{"", "told=A1", "told=A1", "told=A2"} {
		if line := f.requests()[i].line; !strings.Contains(line, "on_approval=return") || !strings.Contains(line, want) {
			t.Errorf("%d: %s", i, line)
		}
	}
}

// TestRun_ReportsEachApprovalOnce checks that a request names the approvals that its caller knows, so that it returns
// for later ones.
// FEATURES: R63
func TestRun_ReportsEachApprovalOnce(t *testing.T) {
	t.Parallel()
	needs := func(id string) http.HandlerFunc {
		return repliesJSON(api.Result{State: "needs_approval", NeedsApproval: true, Approval: id})
	}
	f, c := newFakeDaemon(t, needs("A1"), needs("A2"), repliesJSON(api.Result{State: "exited"}))
	var told []string
	c.options.OnApproval = func(id string) { told = append(told, id) }
	r, err := c.Session("s").Exec(testContext(t), api.Exec{Line: "make"})
	if err != nil || r.State != "exited" || !slices.Equal(told, []string{"A1", "A2"}) {
		t.Errorf("%+v, %v, notified of %q", r, err, told)
	}
	for i, want := range []string{`"on_approval":"return"`, `"told":"A1"`, `"told":"A2"`} {
		if body := f.requests()[i].body; !strings.Contains(body, want) {
			t.Errorf("%d: %s", i, body)
		}
	}
}
