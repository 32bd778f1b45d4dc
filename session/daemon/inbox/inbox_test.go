//go:build unix

package inbox

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/store"
)

func at(n int64) time.Time { return time.Unix(1000+n, 0) }

func code(n int) *int { return &n }

func command(session string, n, status int, text string, took, end int64) store.EndedRun {
	return store.EndedRun{Completion: store.Completion{
		Kind: store.CompletionCommand, Session: session, Ref: fmt.Sprint(n), State: "done", ExitCode: code(status), Text: text, At: at(end),
	}, Started: at(end - took)}
}

// texts returns the entries as KEY STATE TEXT.
func texts(items []Item) (list []string) {
	for i := range items {
		list = append(list, items[i].Kind+" "+items[i].State+" "+items[i].Name+": "+items[i].Text)
	}
	return list
}

// TestList_InOrder checks that entries that block a program come first, then failures, then the rest, oldest first.
//
// FEATURES: R127, R130
func TestList_InOrder(t *testing.T) {
	f := facts{
		now: at(100), minRuntime: 10 * time.Second,
		approvals: []api.Approval{{
			ID: "A7", Actor: identity.Actor{Agent: "bot"}, Session: "w", Line: "rm -rf x\nls", Risk: "high", Asked: at(50),
			Judgement: api.Judgement{Effects: []string{"deletes x"}},
		}},
		sessions: []sessionFacts{
			{id: "w", name: "work", labels: map[string]string{"a": "b"}, cwd: "/p"},
			{id: "q", name: "ask me", prompt: &prompt{kind: "confirm", since: at(10), offset: 5, text: "Go on? [y/N]", version: 9}},
			{id: "p", name: "pw", prompt: &prompt{kind: "password", since: at(60), offset: 5, text: "Password:\x1b[2J"}},
			{id: "c", name: "claude", state: &api.AgentState{Agent: "claude", State: "needs_input", Reason: "offers a choice", Since: at(70)}},
			{id: "d", name: "done", state: &api.AgentState{Agent: "claude", State: "done", Since: at(70)}},
			{id: "v", name: "vite", seen: at(5), ports: []api.Port{{Port: 5173, Program: "node"}, {Port: 9229, Program: "node"}, {Port: 80, Inside: true}, {Unix: "/s"}}},
			{id: "b", name: "build", running: 4},
			{id: "g", name: "prog"},
			{id: "s", name: "seen", seen: at(90), state: &api.AgentState{Agent: "claude", State: "done", Since: at(70)}},
		},
		ended: []store.EndedRun{
			command("w", 3, 0, "make", 20, 40), command("w", 2, 2, "make", 5, 30), command("w", 4, 1, "go test", 1, 20),
			command("w", 5, 0, "ls", 1, 21), command("w", 6, 130, "sleep 9", 1, 22), command("s", 1, 2, "make", 1, 80),
			{Completion: store.Completion{Kind: store.CompletionJob, Session: "removed", Ref: "0123456789", State: "lost", Text: "make all", At: at(5)}},
			{Completion: store.Completion{Kind: store.CompletionSession, Session: "d", Ref: "1", State: "exited", Signal: "SIGKILL", Text: `["sh","-c","exit 1"]`, At: at(6)}},
		},
		entries: []store.InboxEntry{
			{N: 3, Key: "bell w 1", Session: "w", Count: 2, At: at(1)},
			{N: 4, Key: "notification w 1", Session: "w", Text: "Build: done", At: at(2), Done: at(3)},
			{N: 5, Key: "notification s 1", Session: "s", Text: "of a seen session", At: at(2)},
			{N: 7, Key: "port v 5173", Session: "v", Text: "5173", At: at(6)},
			{N: 8, Key: "port v 9229", Session: "v", Text: "9229", At: at(4)}, // seen
			{N: 9, Key: "port v 81", Session: "v", Text: "81", At: at(6)},     // closed
			{N: 10, Key: "port v 80", Session: "v", Text: "80", At: at(6)},
			{N: 11, Key: "anomaly b 4 99", Session: "b", Text: "make printed a line of its earlier failures: a.c:1: error: no x", At: at(8)},
			{N: 12, Key: "anomaly b 3 9", Session: "b", Text: "x", At: at(8)}, // ended
			{N: 13, Key: "anomaly g 0 9", Session: "g", Text: "./serve printed a line of its earlier failures: error", At: at(9)},
			{N: 6, Key: "question q confirm 5", Session: "q", At: at(2), Until: at(200)},
		},
	}
	items := f.list()
	want := []string{
		"question snoozed ask me: asks: Go on? [y/N]",
		"approval open work: bot requests approval (high risk): rm -rf x ↵ ls → deletes x",
		"question open pw: waits for a secret: Password: [2J",
		"question open claude: claude waits for you: offers a choice",
		"failed open : make all was lost: its exit status is unknown",
		"failed open done: sh -c 'exit 1' was ended by SIGKILL",
		"anomaly open build: make printed a line of its earlier failures: a.c:1: error: no x",
		"anomaly open prog: ./serve printed a line of its earlier failures: error",
		"failed open work: go test failed with status 1 after 1.0s",
		"message open work: rang the bell 2 times",
		"message done work: Build: done",
		"port open vite: node listens on port 5173",
		"finished open work: make finished after 20s",
		"finished open done: claude has finished its task",
	}
	if got := texts(items); !slices.Equal(got, want) {
		t.Errorf("\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	q := items[0]
	if q.ID != "I6" || q.Version() != 9 || q.Until == nil || !slices.Equal(q.Do, []string{"longterm inbox answer I6 y", "longterm inbox answer I6 n", "longterm attach 'ask me'"}) {
		t.Errorf("%+v", q)
	}
	if a := items[1]; a.ID != "A7" || a.Labels["a"] != "b" || a.Do[0] != "longterm inbox answer A7 once" || slices.Contains(a.Answers, "reject") {
		t.Errorf("%+v", a)
	}
	if pw := items[2]; pw.Answerable || !slices.Equal(pw.Do, []string{"longterm attach pw"}) {
		t.Errorf("%+v", pw)
	}
	if a := items[6]; a.ID != "I11" || a.Command != 4 || !slices.Equal(a.Do, []string{"longterm why build:4", "longterm attach build", "longterm inbox done I11"}) {
		t.Errorf("%+v", a)
	}
	if a := items[7]; a.Do[0] != "longterm why prog" {
		t.Errorf("%+v", a)
	}
	if p := items[11]; p.ID != "I7" || p.Port != 5173 || !slices.Equal(p.Do, []string{"longterm open vite 5173", "longterm inbox done I7"}) {
		t.Errorf("%+v", p)
	}
	if job := items[4]; job.Session != "" || job.Do[0] != "longterm why 01234567" || job.entry().Session != "" {
		t.Errorf("%+v", job)
	}
}

// TestList_NewKey_WhenRepeated checks that a repeated question, and a run that fails again, have new keys.
//
// FEATURES: R130
func TestList_NewKey_WhenRepeated(t *testing.T) {
	keys := func(offset uint64, n int) string {
		f := facts{now: at(100), sessions: []sessionFacts{{id: "w", prompt: &prompt{kind: "text", offset: offset}}}, ended: []store.EndedRun{command("w", n, 1, "make", 1, 9)}}
		items := f.list()
		return items[0].key + ", " + items[1].key
	}
	if first, same, other := keys(1, 1), keys(1, 1), keys(2, 2); first != same || first == other || strings.Contains(first, "\x00") {
		t.Errorf("%q %q %q", first, same, other)
	}
}

// TestWaitingMessages checks that messages of sessions that no client shows are kept: texts once in a row, bells
// together, all within bounds.
//
// FEATURES: R130
func TestWaitingMessages(t *testing.T) {
	var w waitingMessages
	s := func(id string, clients int, phase string) *api.Session {
		return &api.Session{ID: id, Clients: clients, Shell: &api.Shell{Phase: phase}}
	}
	mask := func(text string) string { return strings.ReplaceAll(text, "hunter2", "[redacted]") }
	for i, e := range []api.Event{
		{Kind: "bell", Session: s("a", 0, "running"), Count: 1},
		{Kind: "bell", Session: s("a", 0, "running"), Count: 2},
		{Kind: "bell", Session: s("b", 0, "prompt"), Count: 2},
		{Kind: "bell", Session: s("b", 1, "running"), Count: 2},
		{Kind: "notification", Session: s("a", 0, ""), Title: "T", Text: "hunter2\n\x1b]0;x\a"},
		{Kind: "notification", Session: s("a", 0, ""), Title: "T", Text: "hunter2\n\x1b]0;x\a"},
		{Kind: "notification", Session: s("a", 0, "")},
		{Kind: "state", Session: s("a", 0, "")},
		{Kind: "port-open", Session: s("a", 1, ""), Port: &api.Port{Port: 80}},
		{Kind: "port-open", Session: s("a", 0, ""), Port: &api.Port{Port: 81, Inside: true}},
		{Kind: "port-open", Session: s("a", 0, ""), Port: &api.Port{Unix: "/s"}},
		{Kind: "anomaly", Session: s("a", 0, ""), Anomaly: &api.Anomaly{Command: 3, Text: "make x", Line: "error: hunter2\x1b[2J", Offset: 9}},
		{Kind: "anomaly", Session: s("b", 1, ""), Anomaly: &api.Anomaly{Command: 3, Text: "make x", Line: "shown", Offset: 9}},
		{Kind: "lost"},
	} {
		e.Seq = uint64(i)
		w.add(&e, at(int64(i)), mask)
	}
	var got []string
	for _, m := range w.take() {
		got = append(got, fmt.Sprintf("%s %d %q", m.Key, m.Count, m.Text))
	}
	if want := []string{`bell a 0 3 ""`, `notification a 4 0 "T: [redacted] ↵ ]0;x"`, `port a 80 0 "80"`, `anomaly a 3 9 0 "make x printed a line of its earlier failures: error: [redacted] [2J"`}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for i := range 3 * maxWaiting {
		w.add(&api.Event{Seq: uint64(i), Kind: "notification", Session: s("a", 0, ""), Text: fmt.Sprint(i)}, at(0), mask)
	}
	if n := len(w.list); n > maxWaiting || w.list[n-1].Text != fmt.Sprint(3*maxWaiting-1) {
		t.Errorf("%d wait, the last is %q", n, w.list[n-1].Text)
	}
}
