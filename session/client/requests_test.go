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

// Reactions of a call to a daemon that dies during its request.
const (
	once   = "asked once, as it may have been done"
	again  = "asked again"
	either = ""
)

// calls lists all calls of the client except streams: what they request, and whether they repeat it after a broken
// answer.
var calls = []struct {
	name  string
	call  func(context.Context, *Client) error
	line  string // method and URL, below /v1
	body  string
	cut   string
	reply string // default: {}
}{
	{name: "status", line: "GET /status", cut: again, call: func(ctx context.Context, c *Client) error { return drop(c.Status(ctx)) }},
	{name: "stop", line: "POST /stop", body: `{"kill_sessions":true}`, cut: once,
		call: func(ctx context.Context, c *Client) error { return c.Stop(ctx, api.Stop{KillSessions: true}) }},
	{name: "kill several", line: "POST /kill", body: `{"sessions":["a","b"]}`, cut: once,
		call: func(ctx context.Context, c *Client) error {
			return drop(c.KillSeveral(ctx, api.KillSeveral{Sessions: []string{"a", "b"}}))
		}},
	{name: "upgrade", line: "POST /upgrade", body: `{"path":"/x"}`, cut: once,
		call: func(ctx context.Context, c *Client) error { return c.Upgrade(ctx, api.Upgrade{Path: "/x"}) }},
	{name: "list", line: "GET /sessions", cut: again, reply: "[]", call: func(ctx context.Context, c *Client) error { return drop(c.List(ctx)) }},
	{name: "list by labels", line: "GET /sessions?label=a&label=b%3D1+2", cut: again, reply: "[]",
		call: func(ctx context.Context, c *Client) error { return drop(c.List(ctx, "a", "b=1 2")) }},
	{name: "table", line: "GET /sessions.txt", cut: either, call: func(ctx context.Context, c *Client) error { return drop(c.Table(ctx)) }},
	{name: "table by labels", line: "GET /sessions.txt?label=a&label=b%3D1+2", cut: either,
		call: func(ctx context.Context, c *Client) error { return drop(c.Table(ctx, "a", "b=1 2")) }},
	{name: "table of a width", line: "GET /sessions.txt?color=true&label=a&width=80", cut: either,
		call: func(ctx context.Context, c *Client) error { return drop(c.TableWithin(ctx, 80, true, "a")) }},
	{name: "new", line: "POST /sessions", body: `{"argv":["sh"],"umask":"0027","ask_id":"a1"}`, cut: again,
		call: func(ctx context.Context, c *Client) error {
			return drop(c.NewSession(ctx, api.NewSession{Argv: []string{"sh"}, Umask: "0027", AskID: "a1"}))
		}},
	{name: "anything", line: "GET /x?y=z", cut: either, call: func(ctx context.Context, c *Client) error { return drop(c.Get(ctx, "/x?y=z")) }},
	{name: "prune", line: "POST /prune", body: `{"dead":3}`, cut: once,
		call: func(ctx context.Context, c *Client) error { return drop(c.Prune(ctx, api.Prune{Dead: 3})) }},
	{name: "search", line: "GET /search?before=b&case=true&limit=5&regexp=r&session=s&since=-2h&text=t&until=u&word=a&word=b", cut: again,
		call: func(ctx context.Context, c *Client) error {
			return drop(c.Search(ctx, SearchQuery{Text: "t", Regexp: "r", Words: []string{"a", "b"}, CaseSensitive: true, Session: "s",
				Since: "-2h", Until: "u", Limit: 5, Before: "b"}))
		}},
	{name: "commands", line: "GET /commands?failed=true&limit=2&running=true&session=s&text=make", cut: again, reply: "[]",
		call: func(ctx context.Context, c *Client) error {
			return drop(c.Commands(ctx, CommandQuery{Session: "s", Text: "make", Failed: true, Running: true, Limit: 2}))
		}},
	{name: "jobs", line: "GET /jobs?limit=4&running=true&session=s", cut: again, reply: "[]",
		call: func(ctx context.Context, c *Client) error {
			return drop(c.Jobs(ctx, JobQuery{Session: "s", Running: true, Limit: 4}))
		}},
	{name: "job", line: "GET /jobs/j?max_output=9", cut: again, call: func(ctx context.Context, c *Client) error { return drop(c.Job(ctx, "j", 9)) }},
	{name: "job, its default", line: "GET /jobs/a%2Fb", cut: again, call: func(ctx context.Context, c *Client) error { return drop(c.Job(ctx, "a/b", 0)) }},
	{name: "stop a job", line: "POST /jobs/j/stop", body: `{"grace_ms":5}`, cut: again,
		call: func(ctx context.Context, c *Client) error { return drop(c.StopJob(ctx, "j", api.JobStop{GraceMS: 5})) }},
	{name: "background a job", line: "POST /jobs/j/background", cut: once,
		call: func(ctx context.Context, c *Client) error { return drop(c.BackgroundJob(ctx, "j")) }},
	{name: "forget a job", line: "DELETE /jobs/j", cut: once, call: func(ctx context.Context, c *Client) error { return c.ForgetJob(ctx, "j") }},
	{name: "await a job", line: "GET /jobs/j?abandon=stop&await_ms=3600000&on_input=return", cut: again, reply: `{"state":"done"}`,
		call: func(ctx context.Context, c *Client) error {
			return drop(c.AwaitJob(ctx, "j", AwaitHow{Stop: true, OnInput: "return"}))
		}},
	{name: "run", line: "POST /run", body: `{"job":"J","line":"make","umask":"0022"}`, cut: again,
		call: func(ctx context.Context, c *Client) error {
			return drop(c.Run(ctx, api.Run{Call: api.Call{Job: "J"}, NewSession: api.NewSession{Line: "make", Umask: "0022"}}))
		}},

	{name: "info", line: "GET /sessions/a%20b", cut: again, call: func(ctx context.Context, c *Client) error { return drop(c.Session("a b").Info(ctx)) }},
	{name: "environment", line: "GET /sessions/s/env", cut: again, call: on(func(ctx context.Context, s *Session) error { return drop(s.Env(ctx)) })},
	{name: "edit", line: "PATCH /sessions/s", body: `{"labels":{"a":"b"}}`, cut: once,
		call: on(func(ctx context.Context, s *Session) error {
			return drop(s.Edit(ctx, api.Edit{Labels: map[string]string{"a": "b"}}))
		})},
	{name: "remove", line: "DELETE /sessions/s?force=true", cut: again, call: on(func(ctx context.Context, s *Session) error { return s.Remove(ctx, true) })},
	{name: "type", line: "POST /sessions/s/input", body: `{"text":"x"}`, cut: once,
		call: on(func(ctx context.Context, s *Session) error { return drop(s.Type(ctx, api.Input{Text: "x"})) })},
	{name: "type, with an id", line: "POST /sessions/s/input", body: `{"text":"x","id":"i"}`, cut: again,
		call: on(func(ctx context.Context, s *Session) error { return drop(s.Type(ctx, api.Input{Text: "x", ID: "i"})) })},
	{name: "arrange", line: "POST /arrange", body: `{"do":"focus","session":"s"}`, cut: once,
		call: func(ctx context.Context, c *Client) error {
			return drop(c.Arrange(ctx, api.Arrange{Do: "focus", Session: "s"}))
		}},
	{name: "answer an order", line: "POST /arrange/o", body: `{"why":"no pane"}`, cut: once,
		call: func(ctx context.Context, c *Client) error { return c.AnswerOrder(ctx, "o", "no pane") }},
	{name: "resize", line: "POST /sessions/s/resize", body: `{"cols":80,"rows":24}`, cut: once,
		call: on(func(ctx context.Context, s *Session) error { return s.Resize(ctx, 80, 24) })},
	{name: "signal", line: "POST /sessions/s/signal", body: `{"signal":"INT","scope":"all"}`, cut: once,
		call: on(func(ctx context.Context, s *Session) error {
			return s.Signal(ctx, api.Signal{Signal: "INT", Scope: "all"})
		})},
	{name: "kill", line: "POST /sessions/s/kill", body: `{}`, cut: again,
		call: on(func(ctx context.Context, s *Session) error { return drop(s.Kill(ctx, api.Kill{})) })},
	{name: "restore", line: "POST /sessions/s/restore", body: `{"shell":true}`, cut: once,
		call: on(func(ctx context.Context, s *Session) error { return drop(s.Restore(ctx, api.Restore{Shell: true})) })},
	{name: "exec", line: "POST /sessions/s/exec", body: `{"job":"J","line":"ls"}`, cut: again,
		call: on(func(ctx context.Context, s *Session) error {
			return drop(s.Exec(ctx, api.Exec{Call: api.Call{Job: "J"}, Line: "ls"}))
		})},
	{name: "batch", line: "POST /sessions/s/batch", body: `{"lines":["a","b"]}`, cut: once,
		call: on(func(ctx context.Context, s *Session) error {
			return drop(s.Batch(ctx, api.Batch{Lines: []string{"a", "b"}}))
		})},
	{name: "command", line: "GET /sessions/s/commands/7", cut: again, call: on(func(ctx context.Context, s *Session) error { return drop(s.Command(ctx, 7)) })},
	{name: "parsed", line: "GET /sessions/s/commands/0/parsed", cut: again, call: on(func(ctx context.Context, s *Session) error { return drop(s.ParsedOutput(ctx, 0)) })},
	{name: "suggest", line: "GET /sessions/s/commands/1/suggestions", cut: again, reply: "[]",
		call: on(func(ctx context.Context, s *Session) error { return drop(s.Suggest(ctx, 1)) })},
	{name: "wait, typing", line: "POST /sessions/s/wait", body: `{"conditions":null,"input":{"text":"x"}}`, cut: once,
		call: on(func(ctx context.Context, s *Session) error {
			return drop(s.Wait(ctx, api.Wait{Input: &api.Input{Text: "x"}}))
		})},
	{name: "output", line: "GET /sessions/s/output/raw?await_ms=1500&from=12", cut: again,
		call: on(func(ctx context.Context, s *Session) error { return drop(s.Output(ctx, 12, 1500*time.Millisecond)) })},
	{name: "output, a part", line: "GET /sessions/s/output/raw?from=12&max=8", cut: again,
		call: on(func(ctx context.Context, s *Session) error { return drop(s.OutputPart(ctx, 12, 20)) })},
	{name: "output, more than a page", line: "GET /sessions/s/output/raw?from=1&max=4194304", cut: again,
		call: on(func(ctx context.Context, s *Session) error { return drop(s.OutputPart(ctx, 1, 1<<40)) })},
	{name: "output, to before its beginning", line: "GET /sessions/s/output/raw?from=20&max=0", cut: again,
		call: on(func(ctx context.Context, s *Session) error { return drop(s.OutputPart(ctx, 20, 12)) })},
	{name: "output at", line: "GET /sessions/s/output/raw?at=-5m&stream=stderr", cut: again,
		call: on(func(ctx context.Context, s *Session) error { return drop(s.Stream("stderr").OutputAt(ctx, "-5m")) })},
	{name: "text", line: "GET /sessions/s/output/text?at=-1m&from=3&max_line=6&max_output=5&stream=stdout&to=4", cut: again,
		call: on(func(ctx context.Context, s *Session) error {
			return drop(s.Stream("stdout").Text(ctx, TextQuery{From: 3, To: 4, At: "-1m", MaxOutput: 5, MaxLine: 6}))
		})},
	{name: "text, all of it", line: "GET /sessions/s/output/text", cut: again,
		call: on(func(ctx context.Context, s *Session) error { return drop(s.Text(ctx, TextQuery{MaxOutput: -1})) })},
	{name: "screen", line: "GET /sessions/s/screen?at=5&no_color=true&screen=primary&scrollback=1%3A2&since=3&trim=true", cut: again,
		call: on(func(ctx context.Context, s *Session) error {
			return drop(s.Screen(ctx, ScreenQuery{Since: 3, Screen: "primary", Scrollback: "1:2", At: "5", NoColor: true, Trim: true}))
		})},
	{name: "screen as text", line: "GET /sessions/s/screen/text?max_output=-1", cut: either,
		call: on(func(ctx context.Context, s *Session) error { return drop(s.ScreenAs(ctx, ScreenQuery{}, "text")) })},
	{name: "screen as JSON", line: "GET /sessions/s/screen", cut: either,
		call: on(func(ctx context.Context, s *Session) error {
			return drop(s.ScreenAs(ctx, ScreenQuery{MaxOutput: 3, Picture: Picture{Theme: "dark"}}, "json"))
		})},
	{name: "screen as a picture", cut: either,
		line: "GET /sessions/s/screen/svg?cursor=bar&fonts=system&max_output=7&no_cursor=true&padding=-1&scale=1.5&styles=true&theme=dark",
		call: on(func(ctx context.Context, s *Session) error {
			return drop(s.ScreenAs(ctx, ScreenQuery{MaxOutput: 7, Picture: Picture{Theme: "dark", Scale: 1.5, Padding: -1, NoCursor: true,
				Cursor: "bar", Fonts: "system", Styles: true}}, "svg"))
		})},
	{name: "add rules", line: "POST /sessions/s/respond", body: `{"rules":null,"ordered":true}`, cut: once, reply: "[]",
		call: on(func(ctx context.Context, s *Session) error {
			return drop(s.AddRules(ctx, api.RespondRules{Ordered: true}))
		})},
	{name: "rules", line: "GET /sessions/s/respond", cut: again, reply: "[]",
		call: on(func(ctx context.Context, s *Session) error { return drop(s.Rules(ctx)) })},
	{name: "remove rules", line: "DELETE /sessions/s/respond?rule=a&rule=b", cut: once, reply: "[]",
		call: on(func(ctx context.Context, s *Session) error { return drop(s.RemoveRules(ctx, "a", "b")) })},
	{name: "remove all rules", line: "DELETE /sessions/s/respond?all=true", cut: once, reply: "[]",
		call: on(func(ctx context.Context, s *Session) error { return drop(s.RemoveRules(ctx)) })},
	{name: "firings", line: "GET /sessions/s/respond/log", cut: again, reply: "[]",
		call: on(func(ctx context.Context, s *Session) error { return drop(s.Firings(ctx)) })},
	{name: "files", line: "GET /sessions/s/files", cut: again, reply: "[]",
		call: on(func(ctx context.Context, s *Session) error { return drop(s.Files(ctx)) })},
	{name: "records", line: "GET /sessions/s/records?from=-5m&to=10", cut: either, call: on(func(ctx context.Context, s *Session) error {
		r, err := s.Records(ctx, "-5m", "10")
		if err == nil {
			err = r.Close()
		}
		return err
	})},
}

func drop[T any](_ T, err error) error { return err }

func on(f func(context.Context, *Session) error) func(context.Context, *Client) error {
	return func(ctx context.Context, c *Client) error { return f(ctx, c.Session("s")) }
}

func replyOf(s string) http.HandlerFunc {
	if s == "" {
		s = "{}"
	}
	write := writes(http.StatusOK, "application/json", s)
	return func(w http.ResponseWriter, r *http.Request) { // the output's as well
		w.Header().Set("Longterm-From", "0")
		w.Header().Set("Longterm-Next", "2")
		write(w, r)
	}
}

func TestRequests(t *testing.T) {
	for _, call := range calls {
		t.Run(call.name, func(t *testing.T) {
			f, c := newFake(t, replyOf(call.reply))
			if err := call.call(testContext(t), c); err != nil {
				t.Fatal(err)
			}
			asked := f.requests()
			if len(asked) != 1 {
				t.Fatalf("%d requests", len(asked))
			}
			if got := strings.Replace(asked[0].line, " "+api.Version, " ", 1); got != call.line || asked[0].body != call.body {
				t.Errorf("asked\n%s %s\nwant\n%s %s", got, asked[0].body, call.line, call.body)
			}
			if isJSON := asked[0].contentType == "application/json"; isJSON != (call.body != "") {
				t.Errorf("the body %q is said to be %q", call.body, asked[0].contentType)
			}
		})
	}
}

// A daemon that dies before or during its answer may have executed the request. Requests that change nothing, or have
// an id, are repeated unchanged.
//
// FAULT: A23
func TestDaemonDies(t *testing.T) {
	for _, call := range calls {
		if call.cut == either {
			continue
		}
		for when, sent := range map[string]string{"before it answers": "", "in its answer": partial(http.StatusOK, `{"id":`)} {
			t.Run(call.name+" "+when, func(t *testing.T) {
				f, c := newFake(t, dies(sent), replyOf(call.reply))
				err := call.call(testContext(t), c)
				asked := f.requests()
				if call.cut == once {
					if len(asked) != 1 || codeOf(err) != api.CodeUnavailable || !strings.Contains(err.Error(), "look whether it was done") {
						t.Errorf("%v after %d requests", err, len(asked))
					}
					return
				}
				if err != nil || len(asked) != 2 || asked[0] != asked[1] {
					t.Errorf("%v after %+v", err, asked)
				}
			})
		}
	}
}

// A request that a closing daemon rejects was not executed, and any such request is repeated.
//
// FAULT: A23
func TestDaemonLeaves(t *testing.T) {
	for _, call := range calls {
		t.Run(call.name, func(t *testing.T) {
			f, c := newFake(t, leaves, leaves, replyOf(call.reply))
			err := call.call(testContext(t), c)
			if asked := f.requests(); err != nil || len(asked) != 3 || asked[0] != asked[2] {
				t.Errorf("%v after %+v", err, asked)
			}
		})
	}
}

// An error of the API is the caller's: it is not asked again.
func TestDaemonRefuses(t *testing.T) {
	for _, call := range calls {
		t.Run(call.name, func(t *testing.T) {
			f, c := newFake(t, refuses(api.Errorf(api.CodeBusy, "make runs").WithHint("wait for it")), replyOf(call.reply))
			err := call.call(testContext(t), c)
			if n := len(f.requests()); codeOf(err) != api.CodeBusy || err.Error() != "make runs; wait for it" || n != 1 {
				t.Errorf("%v after %d requests", err, n)
			}
		})
	}
}

// A call whose answer does not come ends with its context, and so does the request.
func TestDaemonHangs(t *testing.T) {
	for _, call := range calls {
		t.Run(call.name, func(t *testing.T) {
			answer, asked, gone := hangs()
			_, c := newFake(t, answer)
			ctx, cancel := context.WithCancel(testContext(t))
			go func() {
				<-asked
				cancel()
			}()
			if err := call.call(ctx, c); !errors.Is(err, context.Canceled) || codeOf(err) != "" {
				t.Errorf("%v", err)
			}
			<-gone
		})
	}
}

// Jobs have an id made by the client, the same in each request of a call.
func TestJobIDs(t *testing.T) {
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	f, c := newFake(t, dies(""), leaves, dies(partial(200, "{")), says(api.Result{Job: "j"}))
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
		t.Errorf("%q", ids)
	}
}

// A session that is missing at a repeated removal was removed by the first request; one that never existed was not.
func TestRemoveAsksAgain(t *testing.T) {
	notFound := refuses(api.Errorf(api.CodeNotFound, "no session s"))
	f, c := newFake(t, dies(""), notFound)
	if err := c.Session("s").Remove(testContext(t), false); err != nil || len(f.requests()) != 2 {
		t.Errorf("%v after %d requests", err, len(f.requests()))
	}
	_, c = newFake(t, notFound)
	if err := c.Session("s").Remove(testContext(t), false); codeOf(err) != api.CodeNotFound {
		t.Error(err)
	}
}

// A session that has ended at a repeated request to end it was ended by the request with the lost answer.
func TestEndedByTheRequestBefore(t *testing.T) {
	ended := writes(http.StatusConflict, "application/json", `{"code":"ended","message":"it has ended"}`)
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
			_, c := newFake(t, dies(""), ended, replyOf(`{"id":"x"}`))
			if id, err := call(testContext(t), c); err != nil || id != "x" {
				t.Errorf("%q, %v", id, err)
			}
			_, c = newFake(t, ended)
			if _, err := call(testContext(t), c); codeOf(err) != api.CodeEnded {
				t.Errorf("asked once: %v", err)
			}
		})
	}
}

// A start without an id gets one from the client and is repeated with it, except on another host, whose daemon may not
// know ids.
func TestStarts_RetriedWithGeneratedID(t *testing.T) {
	f, c := newFake(t, dies(""), replyOf(""))
	if _, err := c.NewSession(testContext(t), api.NewSession{Argv: []string{"sh"}}); err != nil {
		t.Fatal(err)
	}
	if asked := f.requests(); len(asked) != 2 || asked[0] != asked[1] || !strings.Contains(asked[0].body, `"ask_id":"`) {
		t.Errorf("%+v", asked)
	}
}
