//go:build unix

package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// Reactions of a request to a daemon that dies during it.
const (
	sentOnce   = "sent once, as it may have been executed"
	sentAgain  = "sent again"
	sentEither = ""
)

// calls has all calls of the client except streams: what they request, and whether they retry after an incomplete
// response.
var calls = []struct {
	name  string
	call  func(context.Context, *Client) error
	line  string // method and URL, below /v1
	body  string
	cut   string
	reply string // default: {}
}{
	{name: "status", line: "GET /status", cut: sentAgain, call: func(ctx context.Context, c *Client) error { return ignoreResult(c.Status(ctx)) }},
	{name: "stop", line: "POST /stop", body: `{"kill_sessions":true}`, cut: sentOnce,
		call: func(ctx context.Context, c *Client) error { return c.Stop(ctx, api.Stop{KillSessions: true}) }},
	{name: "kill several", line: "POST /kill", body: `{"sessions":["a","b"]}`, cut: sentOnce,
		call: func(ctx context.Context, c *Client) error {
			return ignoreResult(c.KillSeveral(ctx, api.KillSeveral{Sessions: []string{"a", "b"}}))
		}},
	{name: "upgrade", line: "POST /upgrade", body: `{"path":"/x"}`, cut: sentOnce,
		call: func(ctx context.Context, c *Client) error { return c.Upgrade(ctx, api.Upgrade{Path: "/x"}) }},
	{name: "list", line: "GET /sessions", cut: sentAgain, reply: "[]", call: func(ctx context.Context, c *Client) error { return ignoreResult(c.List(ctx)) }},
	{name: "list by labels", line: "GET /sessions?label=a&label=b%3D1+2", cut: sentAgain, reply: "[]",
		call: func(ctx context.Context, c *Client) error { return ignoreResult(c.List(ctx, "a", "b=1 2")) }},
	{name: "table", line: "GET /sessions.txt", cut: sentEither, call: func(ctx context.Context, c *Client) error { return ignoreResult(c.Table(ctx)) }},
	{name: "table by labels", line: "GET /sessions.txt?label=a&label=b%3D1+2", cut: sentEither,
		call: func(ctx context.Context, c *Client) error { return ignoreResult(c.Table(ctx, "a", "b=1 2")) }},
	{name: "table of a width", line: "GET /sessions.txt?color=true&label=a&width=80", cut: sentEither,
		call: func(ctx context.Context, c *Client) error { return ignoreResult(c.TableWithin(ctx, 80, true, "a")) }},
	{name: "new", line: "POST /sessions", body: `{"argv":["sh"],"umask":"0027","ask_id":"a1"}`, cut: sentAgain,
		call: func(ctx context.Context, c *Client) error {
			return ignoreResult(c.NewSession(ctx, api.NewSession{Argv: []string{"sh"}, Umask: "0027", AskID: "a1"}))
		}},
	{name: "anything", line: "GET /x?y=z", cut: sentEither, call: func(ctx context.Context, c *Client) error { return ignoreResult(c.Get(ctx, "/x?y=z")) }},
	{name: "prune", line: "POST /prune", body: `{"dead":3}`, cut: sentOnce,
		call: func(ctx context.Context, c *Client) error { return ignoreResult(c.Prune(ctx, api.Prune{Dead: 3})) }},
	{name: "search", line: "GET /search?before=b&case=true&limit=5&regexp=r&session=s&since=-2h&text=t&until=u&word=a&word=b", cut: sentAgain,
		call: func(ctx context.Context, c *Client) error {
			return ignoreResult(c.Search(ctx, SearchQuery{Text: "t", Regexp: "r", Words: []string{"a", "b"}, CaseSensitive: true, Session: "s",
				Since: "-2h", Until: "u", Limit: 5, Before: "b"}))
		}},
	{name: "commands", line: "GET /commands?failed=true&limit=2&running=true&session=s&text=make", cut: sentAgain, reply: "[]",
		call: func(ctx context.Context, c *Client) error {
			return ignoreResult(c.Commands(ctx, CommandQuery{Session: "s", Text: "make", Failed: true, Running: true, Limit: 2}))
		}},
	{name: "jobs", line: "GET /jobs?limit=4&running=true&session=s", cut: sentAgain, reply: "[]",
		call: func(ctx context.Context, c *Client) error {
			return ignoreResult(c.Jobs(ctx, JobQuery{Session: "s", Running: true, Limit: 4}))
		}},
	{name: "job", line: "GET /jobs/j?max_output=9", cut: sentAgain, call: func(ctx context.Context, c *Client) error { return ignoreResult(c.Job(ctx, "j", 9)) }},
	{name: "job, its default", line: "GET /jobs/a%2Fb", cut: sentAgain, call: func(ctx context.Context, c *Client) error { return ignoreResult(c.Job(ctx, "a/b", 0)) }},
	{name: "stop a job", line: "POST /jobs/j/stop", body: `{"grace_ms":5}`, cut: sentAgain,
		call: func(ctx context.Context, c *Client) error {
			return ignoreResult(c.StopJob(ctx, "j", api.JobStop{GraceMS: 5}))
		}},
	{name: "background a job", line: "POST /jobs/j/background", cut: sentOnce,
		call: func(ctx context.Context, c *Client) error { return ignoreResult(c.BackgroundJob(ctx, "j")) }},
	{name: "forget a job", line: "DELETE /jobs/j", cut: sentOnce, call: func(ctx context.Context, c *Client) error { return c.ForgetJob(ctx, "j") }},
	{name: "await a job", line: "GET /jobs/j?abandon=stop&await_ms=3600000&on_input=return", cut: sentAgain, reply: `{"state":"done"}`,
		call: func(ctx context.Context, c *Client) error {
			return ignoreResult(c.AwaitJob(ctx, "j", AwaitOptions{StopOnLeave: true, OnInput: "return"}))
		}},
	{name: "run", line: "POST /run", body: `{"job":"J","line":"make","umask":"0022"}`, cut: sentAgain,
		call: func(ctx context.Context, c *Client) error {
			return ignoreResult(c.Run(ctx, api.Run{Call: api.Call{Job: "J"}, NewSession: api.NewSession{Line: "make", Umask: "0022"}}))
		}},

	{name: "info", line: "GET /sessions/a%20b", cut: sentAgain, call: func(ctx context.Context, c *Client) error { return ignoreResult(c.Session("a b").Info(ctx)) }},
	{name: "environment", line: "GET /sessions/s/env", cut: sentAgain, call: onSession(func(ctx context.Context, s *Session) error { return ignoreResult(s.Env(ctx)) })},
	{name: "edit", line: "PATCH /sessions/s", body: `{"labels":{"a":"b"}}`, cut: sentOnce,
		call: onSession(func(ctx context.Context, s *Session) error {
			return ignoreResult(s.Edit(ctx, api.Edit{Labels: map[string]string{"a": "b"}}))
		})},
	{name: "remove", line: "DELETE /sessions/s?force=true", cut: sentAgain, call: onSession(func(ctx context.Context, s *Session) error { return s.Remove(ctx, true) })},
	{name: "type", line: "POST /sessions/s/input", body: `{"text":"x"}`, cut: sentOnce,
		call: onSession(func(ctx context.Context, s *Session) error { return ignoreResult(s.Type(ctx, api.Input{Text: "x"})) })},
	{name: "type, with an id", line: "POST /sessions/s/input", body: `{"text":"x","id":"i"}`, cut: sentAgain,
		call: onSession(func(ctx context.Context, s *Session) error {
			return ignoreResult(s.Type(ctx, api.Input{Text: "x", ID: "i"}))
		})},
	{name: "arrange", line: "POST /arrange", body: `{"do":"focus","session":"s"}`, cut: sentOnce,
		call: func(ctx context.Context, c *Client) error {
			return ignoreResult(c.Arrange(ctx, api.Arrange{Do: "focus", Session: "s"}))
		}},
	{name: "answer an order", line: "POST /arrange/o", body: `{"why":"no pane"}`, cut: sentOnce,
		call: func(ctx context.Context, c *Client) error { return c.AnswerOrder(ctx, "o", "no pane") }},
	{name: "resize", line: "POST /sessions/s/resize", body: `{"cols":80,"rows":24}`, cut: sentOnce,
		call: onSession(func(ctx context.Context, s *Session) error { return s.Resize(ctx, 80, 24) })},
	{name: "signal", line: "POST /sessions/s/signal", body: `{"signal":"INT","scope":"all"}`, cut: sentOnce,
		call: onSession(func(ctx context.Context, s *Session) error {
			return s.Signal(ctx, api.Signal{Signal: "INT", Scope: "all"})
		})},
	{name: "kill", line: "POST /sessions/s/kill", body: `{}`, cut: sentAgain,
		call: onSession(func(ctx context.Context, s *Session) error { return ignoreResult(s.Kill(ctx, api.Kill{})) })},
	{name: "restore", line: "POST /sessions/s/restore", body: `{"shell":true}`, cut: sentOnce,
		call: onSession(func(ctx context.Context, s *Session) error {
			return ignoreResult(s.Restore(ctx, api.Restore{Shell: true}))
		})},
	{name: "exec", line: "POST /sessions/s/exec", body: `{"job":"J","line":"ls"}`, cut: sentAgain,
		call: onSession(func(ctx context.Context, s *Session) error {
			return ignoreResult(s.Exec(ctx, api.Exec{Call: api.Call{Job: "J"}, Line: "ls"}))
		})},
	{name: "batch", line: "POST /sessions/s/batch", body: `{"lines":["a","b"]}`, cut: sentOnce,
		call: onSession(func(ctx context.Context, s *Session) error {
			return ignoreResult(s.Batch(ctx, api.Batch{Lines: []string{"a", "b"}}))
		})},
	{name: "command", line: "GET /sessions/s/commands/7", cut: sentAgain, call: onSession(func(ctx context.Context, s *Session) error { return ignoreResult(s.Command(ctx, 7)) })},
	{name: "parsed", line: "GET /sessions/s/commands/0/parsed", cut: sentAgain, call: onSession(func(ctx context.Context, s *Session) error { return ignoreResult(s.ParsedOutput(ctx, 0)) })},
	{name: "suggest", line: "GET /sessions/s/commands/1/suggestions", cut: sentAgain, reply: "[]",
		call: onSession(func(ctx context.Context, s *Session) error { return ignoreResult(s.Suggest(ctx, 1)) })},
	{name: "wait, typing", line: "POST /sessions/s/wait", body: `{"conditions":null,"input":{"text":"x"}}`, cut: sentOnce,
		call: onSession(func(ctx context.Context, s *Session) error {
			return ignoreResult(s.Wait(ctx, api.Wait{Input: &api.Input{Text: "x"}}))
		})},
	{name: "output", line: "GET /sessions/s/output/raw?await_ms=1500&from=12", cut: sentAgain,
		call: onSession(func(ctx context.Context, s *Session) error {
			return ignoreResult(s.Output(ctx, 12, 1500*time.Millisecond))
		})},
	{name: "output, a part", line: "GET /sessions/s/output/raw?from=12&max=8", cut: sentAgain,
		call: onSession(func(ctx context.Context, s *Session) error { return ignoreResult(s.OutputPart(ctx, 12, 20)) })},
	{name: "output, more than a page", line: "GET /sessions/s/output/raw?from=1&max=4194304", cut: sentAgain,
		call: onSession(func(ctx context.Context, s *Session) error { return ignoreResult(s.OutputPart(ctx, 1, 1<<40)) })},
	{name: "output, to before its beginning", line: "GET /sessions/s/output/raw?from=20&max=0", cut: sentAgain,
		call: onSession(func(ctx context.Context, s *Session) error { return ignoreResult(s.OutputPart(ctx, 20, 12)) })},
	{name: "output at", line: "GET /sessions/s/output/raw?at=-5m&stream=stderr", cut: sentAgain,
		call: onSession(func(ctx context.Context, s *Session) error {
			return ignoreResult(s.Stream("stderr").OutputAt(ctx, "-5m"))
		})},
	{name: "text", line: "GET /sessions/s/output/text?at=-1m&from=3&max_line=6&max_output=5&stream=stdout&to=4", cut: sentAgain,
		call: onSession(func(ctx context.Context, s *Session) error {
			return ignoreResult(s.Stream("stdout").Text(ctx, TextQuery{From: 3, To: 4, At: "-1m", MaxOutput: 5, MaxLine: 6}))
		})},
	{name: "text, all of it", line: "GET /sessions/s/output/text", cut: sentAgain,
		call: onSession(func(ctx context.Context, s *Session) error {
			return ignoreResult(s.Text(ctx, TextQuery{MaxOutput: -1}))
		})},
	{name: "screen", line: "GET /sessions/s/screen?at=5&no_color=true&screen=primary&scrollback=1%3A2&since=3&trim=true", cut: sentAgain,
		call: onSession(func(ctx context.Context, s *Session) error {
			return ignoreResult(s.Screen(ctx, ScreenQuery{Since: 3, Screen: "primary", Scrollback: "1:2", At: "5", NoColor: true, Trim: true}))
		})},
	{name: "screen as text", line: "GET /sessions/s/screen/text?max_output=-1", cut: sentEither,
		call: onSession(func(ctx context.Context, s *Session) error {
			return ignoreResult(s.ScreenAs(ctx, ScreenQuery{}, "text"))
		})},
	{name: "screen as JSON", line: "GET /sessions/s/screen", cut: sentEither,
		call: onSession(func(ctx context.Context, s *Session) error {
			return ignoreResult(s.ScreenAs(ctx, ScreenQuery{MaxOutput: 3, Picture: Picture{Theme: "dark"}}, "json"))
		})},
	{name: "screen as a picture", cut: sentEither,
		line: "GET /sessions/s/screen/svg?cursor=bar&fonts=system&margin=9&margin_color=%23abc&max_output=7&no_cursor=true&padding=-1&scale=1.5&styles=true&theme=dark&window=true",
		call: onSession(func(ctx context.Context, s *Session) error {
			return ignoreResult(s.ScreenAs(ctx, ScreenQuery{MaxOutput: 7, Picture: Picture{Theme: "dark", Scale: 1.5, Padding: -1, NoCursor: true,
				Cursor: "bar", Fonts: "system", Styles: true, Window: true, Margin: 9, MarginColor: "#abc"}}, "svg"))
		})},
	{name: "add rules", line: "POST /sessions/s/respond", body: `{"rules":null,"ordered":true}`, cut: sentOnce, reply: "[]",
		call: onSession(func(ctx context.Context, s *Session) error {
			return ignoreResult(s.AddRules(ctx, api.RespondRules{Ordered: true}))
		})},
	{name: "rules", line: "GET /sessions/s/respond", cut: sentAgain, reply: "[]",
		call: onSession(func(ctx context.Context, s *Session) error { return ignoreResult(s.Rules(ctx)) })},
	{name: "remove rules", line: "DELETE /sessions/s/respond?rule=a&rule=b", cut: sentOnce, reply: "[]",
		call: onSession(func(ctx context.Context, s *Session) error { return ignoreResult(s.RemoveRules(ctx, "a", "b")) })},
	{name: "remove all rules", line: "DELETE /sessions/s/respond?all=true", cut: sentOnce, reply: "[]",
		call: onSession(func(ctx context.Context, s *Session) error { return ignoreResult(s.RemoveRules(ctx)) })},
	{name: "firings", line: "GET /sessions/s/respond/log", cut: sentAgain, reply: "[]",
		call: onSession(func(ctx context.Context, s *Session) error { return ignoreResult(s.RuleMatches(ctx)) })},
	{name: "files", line: "GET /sessions/s/files", cut: sentAgain, reply: "[]",
		call: onSession(func(ctx context.Context, s *Session) error { return ignoreResult(s.Files(ctx)) })},
	{name: "records", line: "GET /sessions/s/records?from=-5m&to=10", cut: sentEither, call: onSession(func(ctx context.Context, s *Session) error {
		r, err := s.Records(ctx, "-5m", "10")
		if err == nil {
			err = r.Close()
		}
		return err
	})},
}

// ignoreResult returns only the error of a call.
func ignoreResult[T any](_ T, err error) error { return err }

// onSession converts a call of a session.
func onSession(f func(context.Context, *Session) error) func(context.Context, *Client) error {
	return func(ctx context.Context, c *Client) error { return f(ctx, c.Session("s")) }
}

// replyOf replies with JSON text.
func replyOf(s string) http.HandlerFunc {
	if s == "" {
		s = "{}"
	}
	write := replies(http.StatusOK, "application/json", s)
	return func(w http.ResponseWriter, r *http.Request) { // the output's as well
		w.Header().Set("Longterm-From", "0")
		w.Header().Set("Longterm-Next", "2")
		write(w, r)
	}
}

// TestRequests_MethodPathBody checks that each call sends its method, path and body.
func TestRequests_MethodPathBody(t *testing.T) {
	t.Parallel()
	for _, call := range calls {
		t.Run(call.name, func(t *testing.T) {
			f, c := newFakeDaemon(t, replyOf(call.reply))
			if err := call.call(testContext(t), c); err != nil {
				t.Fatal(err)
			}
			asked := f.requests()
			if len(asked) != 1 {
				t.Fatalf("got %d requests, want 1", len(asked))
			}
			if got := strings.Replace(asked[0].line, " "+api.Version, " ", 1); got != call.line || asked[0].body != call.body {
				t.Errorf("got request\n%s %s\nwant\n%s %s", got, asked[0].body, call.line, call.body)
			}
			if isJSON := asked[0].contentType == "application/json"; isJSON != (call.body != "") {
				t.Errorf("body %q: got content type %q", call.body, asked[0].contentType)
			}
		})
	}
}

// TestRequests_DaemonDies checks that a daemon that dies before or during its response may have executed the request.
// Requests that change nothing, or have an id, are retried unchanged.
// FAULT: A23
func TestRequests_DaemonDies(t *testing.T) {
	t.Parallel()
	for _, call := range calls {
		if call.cut == sentEither {
			continue
		}
		for when, sent := range map[string]string{"before it answers": "", "in its answer": partialResponse(http.StatusOK, `{"id":`)} {
			t.Run(call.name+" "+when, func(t *testing.T) {
				f, c := newFakeDaemon(t, disconnects(sent), replyOf(call.reply))
				err := call.call(testContext(t), c)
				asked := f.requests()
				if call.cut == sentOnce {
					if len(asked) != 1 || errorCode(err) != api.CodeUnavailable || !strings.Contains(err.Error(), "look whether it was done") {
						t.Errorf("got error %v after %d requests", err, len(asked))
					}
					return
				}
				if err != nil || len(asked) != 2 || asked[0] != asked[1] {
					t.Errorf("got error %v after requests %+v", err, asked)
				}
			})
		}
	}
}

// TestRequests_DaemonCloses checks that a request that a closing daemon rejected was not executed. Any such request is
// retried.
// FAULT: A23
func TestRequests_DaemonCloses(t *testing.T) {
	t.Parallel()
	for _, call := range calls {
		t.Run(call.name, func(t *testing.T) {
			f, c := newFakeDaemon(t, isClosing, isClosing, replyOf(call.reply))
			err := call.call(testContext(t), c)
			if asked := f.requests(); err != nil || len(asked) != 3 || asked[0] != asked[2] {
				t.Errorf("got error %v after requests %+v", err, asked)
			}
		})
	}
}

// TestRequests_APIErrorNotRetried checks that an error of the API is returned without a retry.
func TestRequests_APIErrorNotRetried(t *testing.T) {
	t.Parallel()
	for _, call := range calls {
		t.Run(call.name, func(t *testing.T) {
			f, c := newFakeDaemon(t, rejects(api.Errorf(api.CodeBusy, "make runs").WithHint("wait for it")), replyOf(call.reply))
			err := call.call(testContext(t), c)
			if n := len(f.requests()); errorCode(err) != api.CodeBusy || err.Error() != "make runs; wait for it" || n != 1 {
				t.Errorf("got error %v after %d requests", err, n)
			}
		})
	}
}

// TestRequests_EndWithContext checks that a call without a response ends with its context, and so does the request.
func TestRequests_EndWithContext(t *testing.T) {
	t.Parallel()
	for _, call := range calls {
		t.Run(call.name, func(t *testing.T) {
			answer, asked, gone := hangs()
			_, c := newFakeDaemon(t, answer)
			ctx, cancel := context.WithCancel(testContext(t))
			go func() {
				<-asked
				cancel()
			}()
			if err := call.call(ctx, c); !errors.Is(err, context.Canceled) || errorCode(err) != "" {
				t.Errorf("%v", err)
			}
			<-gone
		})
	}
}

// TestJobs_HaveOneGeneratedID checks that the client generates a job's id, and uses the same in each retry.
func TestJobs_HaveOneGeneratedID(t *testing.T) {
	t.Parallel()
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	f, c := newFakeDaemon(t, disconnects(""), isClosing, disconnects(partialResponse(200, "{")), repliesJSON(api.Result{Job: "j"}))
	ctx := testContext(t)
	if _, err := c.Session("s").Exec(ctx, api.Exec{Line: "ls"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(ctx, api.Run{}); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range f.requests() {
		var call api.Call
		if err := json.Unmarshal([]byte(r.body), &call); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, call.Job)
	}
	if len(ids) != 5 || ids[0] != ids[1] || ids[0] != ids[2] || ids[0] != ids[3] || ids[0] == ids[4] || !uuid.MatchString(ids[0]) || !uuid.MatchString(ids[4]) {
		t.Errorf("got job ids %q, want one", ids)
	}
}

// TestRemove_RetriedAfterLostResponse checks that a session that a retried removal does not find was removed by the
// first request. One that never existed is an error.
func TestRemove_RetriedAfterLostResponse(t *testing.T) {
	t.Parallel()
	notFound := rejects(api.Errorf(api.CodeNotFound, "no session s"))
	f, c := newFakeDaemon(t, disconnects(""), notFound)
	if err := c.Session("s").Remove(testContext(t), false); err != nil || len(f.requests()) != 2 {
		t.Errorf("got error %v after %d requests", err, len(f.requests()))
	}
	_, c = newFakeDaemon(t, notFound)
	if err := c.Session("s").Remove(testContext(t), false); errorCode(err) != api.CodeNotFound {
		t.Error(err)
	}
}

// TestKill_RetriedAfterLostResponse checks that a session that a retried kill finds ended was ended by the first
// request.
func TestKill_RetriedAfterLostResponse(t *testing.T) {
	t.Parallel()
	ended := replies(http.StatusConflict, "application/json", `{"code":"ended","message":"it has ended"}`)
	for name, call := range map[string]func(context.Context, *Client) (string, error){
		"kill": func(ctx context.Context, c *Client) (string, error) {
			v, err := c.Session("s").Kill(ctx, api.Kill{})
			return v.ID, err
		},
		"stop a job": func(ctx context.Context, c *Client) (string, error) {
			j, err := c.StopJob(ctx, "j", api.JobStop{})
			return j.ID, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, c := newFakeDaemon(t, disconnects(""), ended, replyOf(`{"id":"x"}`))
			if id, err := call(testContext(t), c); err != nil || id != "x" {
				t.Errorf("got session %q, error %v", id, err)
			}
			_, c = newFakeDaemon(t, ended)
			if _, err := call(testContext(t), c); errorCode(err) != api.CodeEnded {
				t.Errorf("without a retry: got error %v", err)
			}
		})
	}
}

// TestStarts_RetriedWithGeneratedID checks that a start without an id gets one from the client and is retried with it,
// except on a remote host, whose daemon may not know ids.
func TestStarts_RetriedWithGeneratedID(t *testing.T) {
	t.Parallel()
	f, c := newFakeDaemon(t, disconnects(""), replyOf(""))
	if _, err := c.NewSession(testContext(t), api.NewSession{Argv: []string{"sh"}}); err != nil {
		t.Fatal(err)
	}
	if asked := f.requests(); len(asked) != 2 || asked[0] != asked[1] || !strings.Contains(asked[0].body, `"ask_id":"`) {
		t.Errorf("%+v", asked)
	}
}
