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

// Await waits for a job over restarts, until its condition holds.
//
// FAULT: A23
// FEATURES: R90
func TestAwaitJob(t *testing.T) {
	running, background, done := says(api.Job{State: "running"}), says(api.Job{State: "running", Background: true}), says(api.Job{State: "done", Command: 7})
	for _, c := range []struct {
		name    string
		how     AwaitHow
		answers []http.HandlerFunc
		asked   int
		command int
		code    api.Code
	}{
		{name: "it ended", answers: []http.HandlerFunc{done}, asked: 1, command: 7},
		{name: "it ends later", answers: []http.HandlerFunc{running, running, done}, asked: 3, command: 7},
		{name: "over restarts", answers: []http.HandlerFunc{running, dies(""), leaves, dies(partial(200, `{"sta`)), running, done}, asked: 6, command: 7},
		{name: "in the background", answers: []http.HandlerFunc{background, background, done}, asked: 3, command: 7},
		{name: "in the background, and it is the caller's", how: AwaitHow{Stop: true}, answers: []http.HandlerFunc{running, background, done}, asked: 2},
		{name: "forgotten", answers: []http.HandlerFunc{running, refuses(api.Errorf(api.CodeNotFound, "no job"))}, asked: 2, code: api.CodeNotFound},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, client := newFake(t, c.answers...)
			j, err := client.AwaitJob(testContext(t), "j", c.how)
			if codeOf(err) != c.code || (err == nil) != (c.code == "") || j.Command != c.command || len(f.requests()) != c.asked {
				t.Errorf("%+v, %v after %d requests", j, err, len(f.requests()))
			}
			for _, r := range f.requests() {
				if strings.Contains(r.line, "abandon") != c.how.Stop || strings.Contains(r.line, "on_input") {
					t.Error(r.line)
				}
			}
		})
	}
}

// inBubble is a client whose answers take the bubble's time.
func inBubble(t *testing.T, f func(t *testing.T, c *Client), answer transport) {
	t.Helper()
	dirs := newDirs(t)
	synctest.Test(t, func(t *testing.T) {
		c := New(Options{Dirs: dirs})
		c.http.Transport = answer
		f(t, c)
	})
}

// awaited waits as long as a request specifies, and answers.
func awaited(r *http.Request, v any) *http.Response {
	ms, err := strconv.ParseInt(r.URL.Query().Get("await_ms"), 10, 64)
	if err != nil {
		panic(err)
	}
	time.Sleep(time.Duration(ms) * time.Millisecond) // the bubble's time
	b, _ := json.Marshal(v)
	return answered(200, string(b))
}

// When the caller's time ends, the job continues in the background; one that ended at that moment has ended.
func TestAwaitJobYields(t *testing.T) {
	for _, c := range []struct {
		name        string
		background  *http.Response
		want, asked string
	}{
		{"goes on", answered(200, `{"state":"running","in_background":true,"result":{"state":"running"}}`), "running", "GET POST"},
		{"without a word of how it goes", answered(200, `{"state":"running","in_background":true}`), "asked", "GET POST GET"},
		{"ended", answered(409, `{"code":"ended","message":"it ended"}`), "asked", "GET POST GET"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var asked []string
			inBubble(t, func(t *testing.T, client *Client) {
				began := time.Now()
				j, err := client.AwaitJob(t.Context(), "j", AwaitHow{Yield: 3 * time.Second})
				if took := time.Since(began); err != nil || j.State != c.want || took != 3*time.Second || strings.Join(asked, " ") != c.asked {
					t.Errorf("%+v, %v after %v and %q", j, err, took, asked)
				}
			}, func(r *http.Request) (*http.Response, error) {
				asked = append(asked, r.Method)
				switch {
				case r.Method == "POST":
					return c.background, nil
				case len(asked) > 1:
					return answered(200, `{"state":"asked"}`), nil
				}
				return awaited(r, api.Job{State: "running"}), nil
			})
		})
	}
}

// A wait that is longer than a request may last is repeated with the remaining time, even if it is zero.
func TestAwaitJobForLong(t *testing.T) {
	for yield, want := range map[time.Duration]string{
		0:                        "3600000 3600000 3600000",
		2*maxAwait + time.Second: "3600000 3600000 1000",
		time.Millisecond / 2:     "1",
	} {
		var asked []string
		inBubble(t, func(t *testing.T, c *Client) {
			if j, err := c.AwaitJob(t.Context(), "j", AwaitHow{Yield: yield}); err != nil || j.State != "done" {
				t.Errorf("%+v, %v", j, err)
			}
		}, func(r *http.Request) (*http.Response, error) {
			if r.Method == "POST" {
				return answered(409, `{"code":"ended","message":"it ended"}`), nil
			}
			if !r.URL.Query().Has("await_ms") || len(asked) == 3 {
				return answered(200, `{"state":"done"}`), nil
			}
			asked = append(asked, r.URL.Query().Get("await_ms"))
			state := "running"
			if yield == 0 && len(asked) == 3 {
				state = "done"
			}
			return awaited(r, api.Job{State: state}), nil
		})
		if strings.Join(asked, " ") != want {
			t.Errorf("yield after %v: waited for %q, want %q", yield, asked, want)
		}
	}
}

// A repeated wait has its remaining time and ends; its input is typed once.
//
// FAULT: A23
// FEATURES: R44
func TestWaitOverRestarts(t *testing.T) {
	for _, c := range []struct {
		name string
		wait api.Wait
		want string // timeout_ms of the requests
		ok   bool
	}{
		{"the daemon comes back", api.Wait{TimeoutMS: 10_000}, "10000 5997 1985", true},
		{"its time is over meanwhile", api.Wait{TimeoutMS: 6_000}, "6000 1997", false},
		{"without a limit, which the daemon knows", api.Wait{}, "0 0 0", true},
		{"with input", api.Wait{Input: &api.Input{Text: "x"}}, "0", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var asked []string
			inBubble(t, func(t *testing.T, client *Client) {
				_, err := client.Session("s").Wait(t.Context(), c.wait)
				if (err == nil) != c.ok || err != nil && codeOf(err) != api.CodeUnavailable || strings.Join(asked, " ") != c.want {
					t.Errorf("%v; asked for %q, want %q", err, asked, c.want)
				}
			}, func(r *http.Request) (*http.Response, error) {
				var w api.Wait
				if err := json.NewDecoder(r.Body).Decode(&w); err != nil {
					return nil, err
				}
				asked = append(asked, fmt.Sprint(w.TimeoutMS))
				if len(asked) == 3 {
					return answered(200, `{"outcome":"fired"}`), nil
				}
				time.Sleep(4 * time.Second) // the bubble's time
				return nil, io.ErrUnexpectedEOF
			})
		})
	}
}

// A job whose daemon cannot be had at all is given up when patience ends, with the reason.
func TestJobWithoutADaemon(t *testing.T) {
	var asked int
	inBubble(t, func(t *testing.T, c *Client) {
		_, err := c.Run(t.Context(), api.Run{})
		if codeOf(err) != api.CodeUnavailable || !strings.Contains(err.Error(), "no daemon is running") || asked == 0 {
			t.Errorf("%v after %d requests", err, asked)
		}
	}, func(*http.Request) (*http.Response, error) {
		asked++
		return nil, syscall.ECONNREFUSED
	})
}

// The caller gets each approval of a job once, and keeps waiting.
//
// FEATURES: R63
func TestAwaitedJobNeedsApproval(t *testing.T) {
	needs := func(id string) http.HandlerFunc { return says(api.Job{State: "needs_approval", Approval: id}) }
	f, c := newFake(t, needs("A1"), needs("A1"), needs("A2"), says(api.Job{State: "done"}))
	var told []string
	j, err := c.AwaitJob(testContext(t), "j", AwaitHow{Stop: true, OnApproval: func(id string) { told = append(told, id) }})
	if err != nil || j.State != "done" || !slices.Equal(told, []string{"A1", "A2"}) {
		t.Errorf("%+v, %v, told of %q", j, err, told)
	}
	for i, want := range []string{"", "told=A1", "told=A1", "told=A2"} {
		if line := f.requests()[i].line; !strings.Contains(line, "on_approval=return") || !strings.Contains(line, want) {
			t.Errorf("%d: %s", i, line)
		}
	}
}

// A call names the approvals that its caller knows, so that it gets those that come while it runs.
//
// FEATURES: R63
func TestCallNeedsApprovalTwice(t *testing.T) {
	needs := func(id string) http.HandlerFunc {
		return says(api.Result{State: "needs_approval", NeedsApproval: true, Approval: id})
	}
	f, c := newFake(t, needs("A1"), needs("A2"), says(api.Result{State: "exited"}))
	var told []string
	c.o.OnApproval = func(id string) { told = append(told, id) }
	r, err := c.Session("s").Exec(testContext(t), api.Exec{Line: "make"})
	if err != nil || r.State != "exited" || !slices.Equal(told, []string{"A1", "A2"}) {
		t.Errorf("%+v, %v, told of %q", r, err, told)
	}
	for i, want := range []string{`"on_approval":"return"`, `"told":"A1"`, `"told":"A2"`} {
		if body := f.requests()[i].body; !strings.Contains(body, want) {
			t.Errorf("%d: %s", i, body)
		}
	}
}
