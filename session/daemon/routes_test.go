//go:build unix

package daemon

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/httpapi"
	filedraft "github.com/longterm-dev/longterm/session/draft"
	"github.com/longterm-dev/longterm/session/hosts"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// wellCall is a call of a route that succeeds, in the house of sessions of houseOf.
type wellCall struct {
	id    string // of the route
	path  string // values of the path's parameters, in their order, and the query
	body  any
	check func(t *testing.T, a answer) // may be nil
}

// pushSubscription is a browser's, with a public key that nothing is sent to; pushSubscriptionID is its id.
var pushSubscription = api.SubscribePush{Endpoint: "https://push.invalid/one", Device: "phone", Keys: api.PushKeys{
	P256dh: "BPotY7YX-0zsn5k4eNOUjaSUogIEy9a6FE-yE3VzY1Q-RGJ-2n91Oiiccl-x5dcwS8kBFDKDZe1C3mqFAiZrx7I", Auth: "AAAAAAAAAAAAAAAAAAAAAA",
}}

const pushSubscriptionID = "0dd95e73f75e"

// contains checks that an answer has a text.
func contains(text string) func(*testing.T, answer) {
	return func(t *testing.T, a answer) {
		t.Helper()
		if !strings.Contains(string(a.body), text) {
			t.Errorf("no %q in %.500s", text, a.body)
		}
	}
}

// ptr is a pointer to a value.
func ptr[T any](v T) *T { return &v }

// wellCalls returns a call for each route, in an order in which they succeed. The house has the sessions shell (bash),
// cat, over (ended with status 3), gone (ended), amb-1 and amb-2, and the job job-of-run.
var wellCalls = []wellCall{
	{id: "status", check: contains(`"build":"test"`)},
	{id: "new-session", body: api.NewSession{Name: "made", Argv: []string{"sleep", "600"}, Labels: map[string]string{"a": "b"}}, check: contains(`"name":"made"`)},
	{id: "table-sessions", path: "?label=a=b&width=90&color=true", check: contains("\x1b[1mmade\x1b[m")},
	{id: "list-sessions", path: "?label=a=b", check: contains(`"made"`)},
	{id: "get-session", path: "cat", check: contains(`"state":"running"`)},
	{id: "get-env", path: "shell", check: contains(`"LONGTERM_SESSION"`)},
	{id: "edit-session", path: "made", body: api.Edit{Name: ptr("made-2"), Labels: map[string]string{"a": "", "c": "d"}, Size: "fixed"}, check: contains(`"labels":{"c":"d"}`)},
	{id: "ask-network", path: "cat", body: api.NetworkAsk{Host: "example.org", Port: 443}, check: contains("true")},
	{id: "resize", path: "cat", body: api.Resize{Cols: 100, Rows: 30}, check: contains("true")},
	{id: "list-clients", path: "cat", check: contains("[")},
	{id: "change-client", path: "cat/1", body: api.AttachedEdit{}, check: contains("{")},
	{id: "renew-environment", body: api.Renewal{Env: map[string]*string{"DISPLAY": ptr(":1")}}, check: contains("{")},
	{id: "arrange", body: api.Arrange{Do: "place", Session: "cat", Beside: "shell"}, check: contains("true")},
	{id: "answer-order", path: "none", body: api.OrderAnswer{Why: "no pane"}, check: contains("false")},
	{id: "type", path: "cat", body: api.Input{Text: "wörd", Enter: true}, check: contains(`"cursor"`)},
	{id: "list-inbox", path: "?all=true", check: contains(`"id":"A4","kind":"approval","state":"open"`)},
	{id: "answer-inbox", path: "A4", body: api.InboxAnswer{Answer: "deny", Feedback: "no"}, check: contains(`"state":"done"`)},
	{id: "snooze-inbox", path: "I1", body: api.InboxSnooze{ForMS: 60_000}, check: contains(`"state":"snoozed"`)},
	{id: "done-inbox", path: "I1", check: contains(`"state":"done"`)},
	{id: "put-file", path: "cat?name=shot.png", body: []byte("{}"), check: contains(`"name":"shot.png"`)},
	{id: "list-files", path: "cat", check: contains(`"size":2`)},
	{id: "get-file", path: "cat?path=shot.png", check: contains("{}")},
	{id: "list-approvals", path: "?session=asked", check: contains(`"session_prefixes":["touch","mkdir"]`)},
	{id: "get-approval", path: "A2", check: contains(`"state":"pending"`)},
	{id: "answer-approval", path: "A2", body: api.ApprovalAnswer{Answer: "reject", Feedback: "no"}, check: contains(`"feedback":"no"`)},
	{id: "answer-approvals", body: api.ApprovalsAnswer{Group: "not reading mkdir", ApprovalAnswer: api.ApprovalAnswer{Answer: "reject"}}, check: contains(`"id":"A3"`)},
	{id: "list-grants", check: contains(`"prefix":"touch"`)},
	{id: "revoke-grant", path: "G1", check: contains("true")},
	{id: "agent-event", path: "cat", body: api.AgentEvent{Agent: "claude", Event: "UserPromptSubmit", Data: json.RawMessage(`{"session_id":"s1"}`)}, check: contains("{")},
	{id: "wait", path: "cat", body: api.Wait{Conds: []api.Condition{{Kind: "text", Text: "typed first"}}, Input: &api.Input{Text: "typed first", Enter: true}}, check: contains(`"fired"`)},
	{id: "add-rules", path: "cat", body: api.RespondRules{Rules: []api.RespondRule{{Name: "r", Text: "never printed", Reply: []api.RespondReply{{Kind: "text", Value: "x"}}}}}, check: contains(`"name":"r"`)},
	{id: "list-rules", path: "cat", check: contains(`"never printed"`)},
	{id: "list-firings", path: "cat", check: contains("[]")},
	{id: "remove-rules", path: "cat?rule=r", check: contains(`"name":"r"`)},
	{id: "exec", path: "shell", body: api.Exec{Line: "echo one; false"}, check: contains(`"exit_code":1`)},
	{id: "batch", path: "shell", body: api.Batch{Lines: []string{"true", "false", "true"}, StopOnError: true}, check: contains(`"left_out":1`)},
	{id: "list-commands", path: "?session=shell&failed=true", check: contains(`"echo one; false"`)},
	{id: "get-command", path: "shell/1", check: contains(`"echo one; false"`)},
	{id: "parse-command", path: "shell/1", check: contains("{")},
	{id: "explain-failure", path: "shell/1", check: contains(`"line":"echo one; false"`)},
	{id: "suggest", path: "shell/0", check: contains("[")},
	{id: "run", body: api.Run{NewSession: api.NewSession{Argv: []string{"sh", "-c", "echo printed; exit 4"}}}, check: contains(`"exit_code":4`)},
	{id: "list-jobs", path: "?running=true", check: contains(`"job-of-run"`)},
	{id: "get-job", path: "job-of-run", check: contains(`"state":"running"`)},
	{id: "background-job", path: "job-of-run", check: contains(`"in_background":true`)},
	{id: "stop-job", path: "job-of-run", body: api.JobStop{GraceMS: 1}, check: contains(`"state":"done"`)},
	{id: "forget-job", path: "job-of-run", check: contains("true")},
	{id: "read-output", path: "over?max=100", check: contains(`"end":true`)},
	{id: "read-output-text", path: "over?max_output=1000", check: contains("over and out")},
	{id: "read-raw-output", path: "over?from=5", check: func(t *testing.T, a answer) {
		t.Helper()
		if a.header.Get("Longterm-From") != "5" || a.header.Get("Longterm-End") != "true" || !bytes.Contains(a.body, []byte("and out")) {
			t.Errorf("%v %q", a.header, a.body)
		}
	}},
	{id: "screen", path: "over?scrollback=0:1&trim=true&no_color=true", check: contains(`"needs_input":null`)},
	{id: "screen-text", path: "over/text", check: contains("over and out")},
	{id: "read-records", path: "over?from=0", check: contains(`"kind":"end"`)},
	{id: "search", path: "?text=and+out&session=over", check: contains(`"over and out`)},
	{id: "events", check: contains(`"listening"`)},
	{id: "change-fleet", body: api.FleetAct{Act: "drain"}, check: contains(`"drained":true`)},
	{id: "get-fleet", check: contains(`"host":"house"`)},
	{id: "list-fleet-hosts", check: contains(`"state":"connected"`)},
	{id: "list-fleet-sessions", path: "?host=house", check: contains(`"host":"house"`)},
	{id: "read-fleet-events", body: api.FleetRead{Reader: "r"}, check: contains(`"events":[]`)},
	{id: "list-ssh-hosts", check: contains(`{"host":"next","state":"idle"}`)},
	{id: "list-ssh-sessions", path: "next", check: contains(`"host":"next"`)},
	{id: "dial-fleet", path: "?host=house"},
	{id: "dial-port", path: "cat/80"}, // TestDialPort
	{id: "attach", path: "cat?cols=80&rows=24"},
	{id: "watch", path: "cat?cols=80&rows=24"},
	{id: "page"},
	{id: "open-web", body: api.OpenWeb{Listen: "127.0.0.1:0", May: []string{"look"}}, check: contains(`/#login=`)},
	{id: "get-web", check: contains(`"loopback":true`)},
	{id: "share", path: "cat", body: api.Share{Type: true}, check: contains(`/#token=lt_`)},
	{id: "list-shares", path: "cat", check: contains(`"may":["look","type"]`)},
	{id: "end-share", path: "cat/{share}", check: contains("true")},
	{id: "subscribe-push", body: pushSubscription, check: contains(`"service":"push.invalid"`)},
	{id: "list-push", check: contains(`"device":"phone"`)},
	{id: "unsubscribe-push", path: pushSubscriptionID, check: contains("true")},
	{id: "close-web", check: contains("true")},
	{id: "signal", path: "made-2", body: api.Signal{Signal: "TERM", Scope: "child"}, check: contains("true")},
	{id: "kill", path: "cat", body: api.Kill{GraceMS: 1}, check: contains(`"state":"exited"`)},
	{id: "kill-several", body: api.KillSeveral{Sessions: []string{"cat", "over", "cat"}}, check: contains(`"ended":[{"id"`)},
	{id: "restore", path: "over", body: api.Restore{Command: true}, check: contains(`"name":"over"`)},
	{id: "remove-session", path: "gone", check: contains("true")},
	{id: "list-subscriptions", check: contains("fleet.forward")},
	{id: "subscribe", path: "ci", body: api.NewSubscription{Kinds: []string{"job"}}, check: contains(`"name":"ci"`)},
	{id: "read-completions", path: "ci", body: api.ReadCompletions{Limit: 1}, check: contains(`"completions":[]`)},
	{id: "stream-completions", path: "ci?reader=r&take=true", check: contains(`"completions":[]`)},
	{id: "ack-completions", path: "ci", body: api.AckCompletions{Cursor: 1}, check: contains(`"name":"ci"`)},
	{id: "unsubscribe", path: "ci", check: contains("true")},
	{id: "list-audit", path: "?kind=end&limit=1000", check: contains(`"exit":4`)},
	{id: "verify-audit", check: contains(`"ok":true`)},
	{id: "metrics", check: func(t *testing.T, a answer) {
		t.Helper()
		checkMetrics(t, a.header.Get("Content-Type"), string(a.body))
	}},
	{id: "new-token", body: api.NewToken{Name: "k", Level: "change", Session: "shell", Days: 1}, check: contains(`"secret":"lt_`)},
	{id: "list-tokens", check: contains(`"name":"k","level":"change"`)},
	{id: "revoke-token", path: "k", check: contains("true")},
	{id: "list-drafts", check: contains(`"changes":1`)},
	{id: "list-changes", path: "over?command=0", check: contains(`"path":"made","kind":"added"`)},
	{id: "diff-draft", path: "over?path=made", check: contains(`+of a draft`)},
	{id: "commit-draft", path: "over", body: api.Commit{DryRun: true}, check: contains(`"dry_run":true`)},
	{id: "undo-draft", path: "over", body: api.Undo{Command: 1}},
	{id: "discard-draft", path: "over", body: api.Discard{}, check: contains(`"empty":true`)},
	{id: "prune", body: api.Prune{Dead: 1000}, check: contains(`"removed":[]`)},
	{id: "upgrade", body: nil /* the test binary */, check: contains("true")},
	{id: "stop", body: api.Stop{KillSessions: true}, check: contains("true")},
}

// wrongCall is a call that must be rejected. wrongCalls derives some from a route's parameters; these are the others.
type wrongCall struct {
	id, path string
	body     any
	code     api.Code
	hint     string // occurs in it
}

var moreWrongCalls = []wrongCall{
	{"put-file", "cat", []byte("x"), api.CodeInvalid, ""},
	{"put-file", "cat?name=..", []byte("x"), api.CodeInvalid, "--as"},
	{"get-file", "cat", nil, api.CodeInvalid, ""},
	{"get-file", "cat?path=/none", nil, api.CodeNotFound, "longterm get"},
	{"get-file", "cat?path=/", nil, api.CodeInvalid, "tar"},
	{"dial-fleet", "?host=house", nil, api.CodeInvalid, "client"},
	{"dial-port", "cat/80", nil, api.CodeInvalid, "client"},
	{"list-ssh-sessions", "root@other", nil, api.CodeNotFound, "hosts.names"},
	{"list-fleet-hosts", "?host=No.Name", nil, api.CodeInvalid, ""},
	{"list-fleet-sessions", "?host=No.Name", nil, api.CodeInvalid, ""},
	{"read-fleet-events", "", api.FleetRead{Reader: "no name"}, api.CodeInvalid, ""},
	{"change-fleet", "", api.FleetAct{Act: "revoke", Name: "none"}, api.CodeNotFound, ""},
	{"open-web", "", api.OpenWeb{Listen: "nowhere"}, api.CodeInvalid, ""},
	{"open-web", "", api.OpenWeb{TLSCert: "/none"}, api.CodeInvalid, ""},
	{"open-web", "", api.OpenWeb{Session: "none"}, api.CodeNotFound, "longterm ls"},
	{"open-web", "", api.OpenWeb{Label: "nonsense"}, api.CodeInvalid, ""},
	{"list-shares", "none", nil, api.CodeNotFound, "longterm ls"},
	{"end-share", "cat/share-none", nil, api.CodeNotFound, "token ls"},
	{"share", "none", api.Share{}, api.CodeNotFound, "longterm ls"},
	{"subscribe", "a%20b", api.NewSubscription{}, api.CodeInvalid, "letters"},
	{"subscribe", "ci", api.NewSubscription{Kinds: []string{"nonsense"}}, api.CodeInvalid, ""},
	{"subscribe", "ci", api.NewSubscription{Session: "none"}, api.CodeNotFound, "longterm ls"},
	{"read-completions", "none", api.ReadCompletions{}, api.CodeNotFound, "--subscription none"},
	{"stream-completions", "none", nil, api.CodeNotFound, "--subscription none"},
	{"ack-completions", "none", api.AckCompletions{Cursor: 1}, api.CodeNotFound, "--subscription none"},
	{"unsubscribe", "none", nil, api.CodeNotFound, "--subscription none"},
	{"agent-event", "cat", api.AgentEvent{Agent: "nobody", Event: "Stop"}, api.CodeInvalid, "claude"},
	{"agent-event", "cat", api.AgentEvent{Agent: "claude"}, api.CodeInvalid, "JSON"},
	{"agent-event", "over", api.AgentEvent{Agent: "claude", Event: "Stop"}, api.CodeEnded, ""},
	{"new-session", "", api.NewSession{Name: "cat"}, api.CodeNameTaken, "longterm attach cat"},
	{"new-session", "", api.NewSession{Name: "-x"}, api.CodeInvalid, "letters"},
	{"new-session", "", api.NewSession{Argv: []string{"/does/not/exist"}}, api.CodeNoProgram, "path"},
	{"new-session", "", api.NewSession{Argv: []string{"/etc/passwd"}}, api.CodeSpawn, "chmod"},
	{"new-session", "", api.NewSession{Argv: []string{"true"}, Cwd: "relative"}, api.CodeInvalid, ""},
	{"new-session", "", api.NewSession{Argv: []string{"true"}, Cwd: "/does/not/exist"}, api.CodeInvalid, "--cwd"},
	{"new-session", "", api.NewSession{Cols: 100000}, api.CodeInvalid, "columns"},
	{"new-session", "", api.NewSession{Engine: "none"}, api.CodeInvalid, ""},
	{"new-session", "", api.NewSession{Labels: map[string]string{"a b": ""}}, api.CodeInvalid, "names use"},
	{"new-session", "", api.NewSession{Line: "a", Argv: []string{"b"}}, api.CodeInvalid, "one of them"},
	{"new-session", "", api.NewSession{Limits: &api.Limits{CPU: 0.001}}, api.CodeInvalid, "0.01"},
	{"edit-session", "shell", api.Edit{Name: ptr("cat")}, api.CodeNameTaken, "another name"},
	{"edit-session", "shell", api.Edit{Name: ptr("a b")}, api.CodeInvalid, "letters"},
	{"remove-session", "shell", nil, api.CodeRunning, "--force"},
	{"remove-session", "over", nil, api.CodeConflict, "--discard-draft"},
	{"list-changes", "shell", nil, api.CodeNotFound, "longterm changes"},
	{"commit-draft", "over", api.Commit{Expect: "0123"}, api.CodeStale, "longterm changes"},
	{"commit-draft", "over", api.Commit{Paths: []string{"none"}}, api.CodeNotFound, "longterm changes"},
	{"undo-draft", "over", api.Undo{Command: 1}, api.CodeEnded, "longterm restore"},
	{"undo-draft", "over", api.Undo{}, api.CodeInvalid, ""},
	{"discard-draft", "over", api.Discard{Paths: []string{"none"}}, api.CodeNotFound, "longterm changes"},
	{"new-session", "", api.NewSession{Draft: []string{"relative"}}, api.CodeInvalid, "~/DIR"},
	{"type", "shell", api.Input{}, api.CodeInvalid, "one of"},
	{"type", "shell", api.Input{Keys: []string{"Nokey"}}, api.CodeInvalid, ""},
	{"type", "shell", api.Input{Text: "x", EOF: true}, api.CodeInvalid, "C-d"},
	{"type", "over", api.Input{Text: "x"}, api.CodeEnded, "`longterm restore over` starts it again; its screen and output can still be read"},
	{"type", "cat", api.Input{Text: "hunter2", Secret: true}, api.CodeEcho, "echo"},
	{"type", "cat", api.Input{Text: "x", ExpectVersion: 1 << 40}, api.CodeStale, "look at the screen"},
	{"resize", "shell", api.Resize{Cols: 1 << 20, Rows: 24}, api.CodeInvalid, "columns must be"},
	{"signal", "shell", api.Signal{Signal: "NOPE"}, api.CodeInvalid, "INT"},
	{"signal", "over", api.Signal{Signal: "INT"}, api.CodeEnded, ""},
	{"kill-several", "", api.KillSeveral{}, api.CodeInvalid, "name sessions"},
	{"kill-several", "", api.KillSeveral{All: true, Labels: []string{"a"}}, api.CodeInvalid, "choose one"},
	{"kill-several", "", api.KillSeveral{All: true, Sessions: []string{"cat"}}, api.CodeInvalid, "choose one"},
	{"kill-several", "", api.KillSeveral{Sessions: []string{"cat", "none"}}, api.CodeNotFound, "longterm ls"},
	{"kill-several", "", api.KillSeveral{Sessions: []string{"amb"}}, api.CodeAmbiguous, ""},
	{"restore", "shell", api.Restore{}, api.CodeRunning, ""},
	{"restore", "over", api.Restore{}, api.CodeInvalid, "--command"},
	{"restore", "over", api.Restore{Shell: true, Command: true}, api.CodeInvalid, "choose one"},
	{"search", "", nil, api.CodeInvalid, "text, regexp or word"},
	{"search", "?text=a&since=never", nil, api.CodeInvalid, "15:04"},
	{"search", "?text=a&before=x", nil, api.CodeInvalid, ""},
	{"search", "?regexp=(", nil, api.CodeInvalid, ""},
	{"list-commands", "?session=none", nil, api.CodeNotFound, "longterm ls"},
	{"list-audit", "?session=amb", nil, api.CodeAmbiguous, ""},
	{"list-audit", "?since=never", nil, api.CodeInvalid, "15:04"},
	{"verify-audit", "?head=1:x", nil, api.CodeInvalid, ""},
	{"list-jobs", "?session=none", nil, api.CodeNotFound, "longterm ls"},
	{"get-command", "shell/999", nil, api.CodeNotFound, "longterm commands shell"},
	{"get-command", "over/0", nil, api.CodeNotFound, ""},
	{"exec", "over", api.Exec{Line: "true"}, api.CodeEnded, ""},
	{"exec", "cat", api.Exec{Line: "x", Call: api.Call{TimeoutMS: ptr(int64(-1))}}, api.CodeInvalid, "0 for no limit"},
	{"batch", "shell", api.Batch{Lines: []string{"true"}, Call: api.Call{Background: true}}, api.CodeInvalid, "one by one"},
	{"run", "", api.Run{}, api.CodeInvalid, "argv or line"},
	{"run", "", api.Run{Warm: true, NewSession: api.NewSession{Argv: []string{"true"}}}, api.CodeInvalid, "longterm new"},
	{"list-approvals", "?session=none", nil, api.CodeNotFound, "longterm ls"},
	{"get-approval", "A999", nil, api.CodeNotFound, "approvals"},
	{"get-approval", "x", nil, api.CodeNotFound, "A1"},
	{"answer-approval", "A999", api.ApprovalAnswer{Answer: "once"}, api.CodeNotFound, "approvals"},
	{"answer-approval", "A1", api.ApprovalAnswer{Answer: "once"}, api.CodeAnswered, ""},
	{"answer-approval", "A2", api.ApprovalAnswer{Answer: "once", Rule: "touch"}, api.CodeInvalid, "always"},
	{"answer-approval", "A2", api.ApprovalAnswer{Answer: "perhaps"}, api.CodeInvalid, ""},
	{"list-inbox", "?all=perhaps", nil, api.CodeInvalid, ""},
	{"list-inbox", "?state=perhaps", nil, api.CodeInvalid, ""},
	{"answer-inbox", "A999", api.InboxAnswer{Answer: "once"}, api.CodeNotFound, "longterm inbox"},
	{"answer-inbox", "A3", api.InboxAnswer{Answer: "perhaps"}, api.CodeInvalid, "once, session"},
	{"answer-inbox", "I1", api.InboxAnswer{Answer: "y"}, api.CodeInvalid, "longterm inbox done"},
	{"done-inbox", "x", nil, api.CodeNotFound, "A7 or I3"},
	{"done-inbox", "A3", nil, api.CodeInvalid, "longterm inbox answer A3 deny"},
	{"snooze-inbox", "I999", api.InboxSnooze{ForMS: 1}, api.CodeNotFound, "longterm inbox"},
	{"answer-approvals", "", api.ApprovalsAnswer{ApprovalAnswer: api.ApprovalAnswer{Answer: "once"}}, api.CodeInvalid, "longterm approvals"},
	{"answer-approvals", "", api.ApprovalsAnswer{Group: "none", ApprovalAnswer: api.ApprovalAnswer{Answer: "once"}}, api.CodeNotFound, "groups"},
	{"revoke-grant", "G99", nil, api.CodeNotFound, "--grants"},
	{"run", "", api.Run{NewSession: api.NewSession{Argv: []string{"rm", "-rf", "/"}}}, api.CodeDenied, "directory"},
	{"run", "", api.Run{NewSession: api.NewSession{Argv: []string{"true"}, ApprovalOptions: api.ApprovalOptions{Policy: "none"}}}, api.CodeInvalid, ""},
	{"new-session", "", api.NewSession{Argv: []string{"touch", "x"}, ApprovalOptions: api.ApprovalOptions{Policy: "readonly", OnApproval: "return"}}, api.CodeNeedsApproval, "answer"},
	{"wait", "shell", api.Wait{Conds: []api.Condition{{Kind: "regexp", Pattern: "("}}}, api.CodeInvalid, "RE2"},
	{"wait", "shell", api.Wait{Conds: []api.Condition{{Kind: "cursor"}}}, api.CodeInvalid, ""},
	{"wait", "shell", api.Wait{Conds: []api.Condition{{Kind: "gone"}}}, api.CodeInvalid, ""},
	{"read-output", "shell?at=never", nil, api.CodeInvalid, "line:500000"},
	{"read-output", "shell?stream=stdout", nil, api.CodeInvalid, "--pipe"},
	{"read-output", "over?from=99999999", nil, api.CodeInvalid, ""},
	{"screen", "over?scrollback=x", nil, api.CodeInvalid, "A:B"},
	{"read-records", "over?from=10&to=5", nil, api.CodeInvalid, "earlier"},
	{"add-rules", "shell", api.RespondRules{Rules: []api.RespondRule{{Regexp: "(", Reply: []api.RespondReply{{Kind: "text"}}}}}, api.CodeInvalid, ""},
	{"add-rules", "shell", api.RespondRules{Rules: []api.RespondRule{{Text: "a", Reply: []api.RespondReply{{Kind: "secret", Value: "env:X"}}}}}, api.CodeInvalid, "secrets"},
	{"remove-rules", "shell", nil, api.CodeInvalid, "all"},
	{"remove-rules", "shell?rule=none", nil, api.CodeNotFound, "respond S ls"},
	{"forget-job", "job-of-run", nil, api.CodeRunning, "jobs stop"},
	{"new-token", "", api.NewToken{Name: "a\nb"}, api.CodeInvalid, "short name"},
	{"new-token", "", api.NewToken{Name: "a", Level: "root"}, api.CodeInvalid, ""},
	{"new-token", "", api.NewToken{Name: "a", Days: -1}, api.CodeInvalid, ""},
	{"new-token", "", api.NewToken{Name: "a", Session: "none"}, api.CodeNotFound, "longterm ls"},
	{"revoke-token", "none", nil, api.CodeNotFound, "token ls"},
	{"subscribe-push", "", api.SubscribePush{Endpoint: "http://push.invalid/x", Keys: pushSubscription.Keys}, api.CodeInvalid, "PushSubscription"},
	{"unsubscribe-push", "none", nil, api.CodeNotFound, "/push"},
	{"upgrade", "", api.Upgrade{Path: "relative"}, api.CodeInvalid, ""},
	{"upgrade", "", api.Upgrade{Path: "/bin/true"}, api.CodeInvalid, "nothing was changed"},
	{"attach", "shell?cols=1&rows=100000", nil, api.CodeInvalid, ""},
	{"attach", "shell?size=huge", nil, api.CodeInvalid, "latest"},
	{"watch", "shell?inside={shell}", nil, api.CodeInvalid, "detach"},
}

// houseOf makes the sessions and the job that the calls are about.
func houseOf(t *testing.T, r *running) {
	t.Helper()
	bash := tier.Path(t, "bash")
	start := func(name string, argv ...string) {
		get[api.Session](r, "POST", "/sessions", api.NewSession{Name: name, Argv: argv, Cwd: "/"})
	}
	start("shell", bash, "--norc")
	start("cat", "cat")
	start("amb-1", "sleep", "600")
	start("amb-2", "sleep", "600")
	start("over", "sh", "-c", "echo over and out; exit 3")
	start("gone", "true")
	for name, kind := range map[string]string{"shell": "prompt", "over": "exit", "gone": "exit"} {
		if w := get[api.Waited](r, "POST", "/sessions/"+name+"/wait", api.Wait{Conds: []api.Condition{{Kind: kind}}}); len(w.Fired) == 0 {
			t.Fatalf("%s: %+v", name, w)
		}
	}
	draftOf(t, r, get[api.Session](r, "GET", "/sessions/over", nil).ID)
	asked := func(job, line string) {
		get[api.Result](r, "POST", "/sessions/asked/exec", api.Exec{Call: api.Call{Job: job, Background: true}, Line: line, ApprovalOptions: api.ApprovalOptions{Policy: "readonly"}})
	}
	start("asked", bash, "--norc")
	atPrompt := func() { r.wait("asked", api.Condition{Kind: "prompt"}) }
	atPrompt()
	asked("first", "touch /dev/null")
	get[api.Approval](r, "POST", "/approvals/A1/answer", api.ApprovalAnswer{Answer: "session"})
	get[api.Job](r, "GET", "/jobs/first?await_ms=60000", nil) // a line that a busy shell rejects needs no approval
	atPrompt()
	asked("second", "touch /dev/null; mkdir /dev/null")
	asked("third", "mkdir /dev/null/x")
	asked("fourth", "rmdir /dev/null/y")
	get[api.Result](r, "POST", "/run", api.Run{Call: api.Call{Job: "job-of-run", Background: true}, NewSession: api.NewSession{Argv: []string{"sleep", "600"}}})
}

// draftOf creates a draft of a session, as if the session had been started in it.
func draftOf(t *testing.T, r *running, id string) {
	t.Helper()
	err := os.MkdirAll(r.dirs.Drafts(), 0o700)
	if err != nil {
		t.Fatal(err)
	}
	d, err := filedraft.Create(filepath.Join(r.dirs.Drafts(), id), filedraft.Options{Roots: []string{t.TempDir()}, Session: id, Command: "sh"})
	if errors.Is(err, filedraft.ErrUnsupported) {
		return
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(d.Roots()[0].Upper, "made"), []byte("of a draft\n"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// overSSH configures an ssh host to which a connection exists: in fact, to the daemon itself.
func overSSH(t *testing.T, dirs paths.Dirs) {
	t.Helper()
	w := hosts.RemoteHost{Target: "next", SSH: hosts.SSH{Dir: dirs.Hosts()}}
	if err := errors.Join(dirs.Make(), os.MkdirAll(dirs.Hosts(), 0o700), os.MkdirAll(dirs.Config, 0o700), os.WriteFile(dirs.ConfigFile(), []byte("hosts.names = [\"next\"]\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", w.Socket())
	if err != nil {
		t.Fatal(err)
	}
	var passed sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); passed.Wait() })
	pass := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		_, _ = to.Close(), from.Close()
	}
	passed.Go(func() {
		for here, err := l.Accept(); err == nil; here, err = l.Accept() {
			there, err := net.Dial("unix", dirs.Socket())
			if err != nil {
				_ = here.Close()
				continue
			}
			passed.Go(func() { pass(here, there) })
			passed.Go(func() { pass(there, here) })
		}
	})
}

// pathOf puts parameters into a route's path.
func pathOf(r *httpapi.Route, params string) string {
	values, query, asks := strings.Cut(params, "?")
	path := r.Path
	for value := range strings.SplitSeq(values, "/") {
		if i, j := strings.IndexByte(path, '{'), strings.IndexByte(path, '}'); i >= 0 && value != "" {
			path = path[:i] + value + path[j+1:]
		}
	}
	if asks {
		path += "?" + query
	}
	return path
}

// fieldsOf calls f with each parameter of a request, those of embedded types too.
func fieldsOf(request reflect.Type, f func(reflect.StructField)) {
	if request == nil || request.Kind() != reflect.Struct {
		return
	}
	for i := range request.NumField() {
		if field := request.Field(i); field.Anonymous {
			fieldsOf(field.Type, f)
		} else {
			f(field)
		}
	}
}

// wrongCalls returns the calls of a route with invalid parameters: an unknown session or job, an ambiguous one, a
// missing or unknown body, a number out of bounds, a word that is not allowed.
func wrongCalls(r *httpapi.Route, well *wellCall) (list []wrongCall) {
	values, query, asks := strings.Cut(well.path, "?")
	if asks {
		query = "&" + query
	}
	if strings.Contains(r.Path, "{session}") || strings.Contains(r.Path, "{job}") {
		_, rest, _ := strings.Cut(values, "/")
		hint := "longterm ls"
		if strings.Contains(r.Path, "{job}") {
			hint = "longterm jobs"
		}
		list = append(list, wrongCall{r.ID, strings.TrimSuffix("none/"+rest, "/") + "?" + query, well.body, api.CodeNotFound, hint})
	}
	if strings.Contains(r.Path, "{session}") {
		_, rest, _ := strings.Cut(values, "/")
		list = append(list, wrongCall{r.ID, strings.TrimSuffix("amb/"+rest, "/") + "?" + query, well.body, api.CodeAmbiguous, "give more"})
	}
	fieldsOf(r.Request, func(f reflect.StructField) {
		wrong := func(value string) {
			switch {
			case f.Tag.Get("query") != "":
				list = append(list, wrongCall{r.ID, values + "?" + f.Tag.Get("query") + "=" + value + query, well.body, api.CodeInvalid, ""})
			case f.Tag.Get("path") != "":
				head := values[:strings.LastIndexByte(values, '/')+1]
				list = append(list, wrongCall{r.ID, head + value, well.body, api.CodeInvalid, ""})
			}
		}
		if f.Name == "Body" {
			list = append(list,
				wrongCall{r.ID, well.path, []byte(`{"nonsense": 1}`), api.CodeInvalid, ""},
				wrongCall{r.ID, well.path, []byte(`{`), api.CodeInvalid, ""},
				wrongCall{r.ID, well.path, []byte(`[]`), api.CodeInvalid, ""},
			)
		}
		if f.Tag.Get("minimum") != "" {
			wrong("-9")
			wrong("many")
		}
		if f.Tag.Get("enum") != "" {
			wrong("nonsense")
		}
	})
	return list
}

// nothingWrong lists routes without invalid calls: they have no parameter except a flag or names.
var nothingWrong = []string{"status", "list-sessions", "events", "list-grants", "list-tokens", "list-subscriptions", "metrics", "get-web", "close-web", "page", "get-fleet", "list-ssh-hosts", "list-push", "list-drafts"}

// TestRoutes checks that each route is called once correctly and once with each kind of invalid parameter: status,
// code, JSON and hint match the tables. A route without a call fails.
func TestRoutes(t *testing.T) {
	t.Parallel()
	dirs := testDirs(t)
	overSSH(t, dirs)
	r := startDaemon(t, dirs)
	houseOf(t, r)
	inFleet(t, r)
	routes := map[string]*httpapi.Route{}
	for i := range httpapi.Routes {
		routes[httpapi.Routes[i].ID] = &httpapi.Routes[i]
	}
	if runtime.GOOS != "linux" { // drafts are not supported
		ofDraft := func(id string) bool {
			return routes[id] != nil && strings.Contains(routes[id].Answer.String(), "Draft")
		}
		wellCalls = slices.DeleteFunc(wellCalls, func(c wellCall) bool { return ofDraft(c.id) })
		moreWrongCalls = slices.DeleteFunc(moreWrongCalls, func(c wrongCall) bool { return ofDraft(c.id) || c.code == api.CodeConflict })
		maps.DeleteFunc(routes, func(id string, _ *httpapi.Route) bool { return ofDraft(id) })
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	well := map[string]*wellCall{}
	for i := range wellCalls {
		c := &wellCalls[i]
		if c.id == "upgrade" {
			c.body = api.Upgrade{Path: self}
		}
		if routes[c.id] == nil || well[c.id] != nil {
			t.Fatalf("a call of %s, which is no route or was called", c.id)
		}
		well[c.id] = c
	}
	wrong := map[string]int{}
	for id, route := range routes {
		if well[id] == nil {
			t.Errorf("no call of %s", id)
			continue
		}
		for _, c := range wrongCalls(route, well[id]) {
			wrong[c.id]++
			t.Run("wrong/"+id, func(t *testing.T) { callWrongly(t, r, route, &c) })
		}
	}
	for _, c := range moreWrongCalls {
		wrong[c.id]++
		t.Run("wrong/"+c.id, func(t *testing.T) { callWrongly(t, r, routes[c.id], &c) })
	}
	for id := range routes {
		if (wrong[id] == 0) != slices.Contains(nothingWrong, id) {
			t.Errorf("%s has %d wrong calls", id, wrong[id])
		}
	}
	for i := range wellCalls {
		c := &wellCalls[i]
		ok := t.Run("well/"+c.id, func(t *testing.T) { callWell(t, r, routes[c.id], c) })
		if c.id == "upgrade" && ok { // and the next daemon continues
			if err := <-r.ended; err != nil {
				t.Fatalf("the daemon: %v", err)
			}
			r = startDaemon(t, dirs)
			if s := get[api.Session](r, "GET", "/sessions/shell", nil); s.State != "running" {
				t.Errorf("after the upgrade the shell is %s", s.State)
			}
		}
	}
	if err := <-r.ended; err != nil {
		t.Errorf("the daemon: %v", err)
	}
}

func callWell(t *testing.T, r *running, route *httpapi.Route, c *wellCall) {
	t.Helper()
	var a answer
	path := pathOf(route, c.path)
	if strings.Contains(path, "{share}") {
		path = strings.ReplaceAll(path, "{share}", get[[]api.Token](r, "GET", "/sessions/cat/shares", nil)[0].Name)
	}
	switch {
	case c.id == "events", c.id == "stream-completions":
		a = firstEvent(t, r, path)
	case c.id == "dial-fleet":
		dialOther(t, r)
		return
	case c.id == "dial-port", c.id == "undo-draft": // need a listening socket, a mounted draft: TestDialPort, draft.txtar
		return
	case route.Answer == nil:
		openSocket(t, r, path)
		return
	default:
		a = r.ask(route.Method, path, c.body)
	}
	if a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if a.header.Get("Content-Type") == "application/json" {
		strictly(t, a.body, reflect.New(route.Answer).Interface())
	}
	if c.check != nil {
		c.check(t, a)
	}
}

func callWrongly(t *testing.T, r *running, route *httpapi.Route, c *wrongCall) {
	t.Helper()
	path := pathOf(route, c.path)
	if strings.Contains(path, "{shell}") {
		path = strings.ReplaceAll(path, "{shell}", get[api.Session](r, "GET", "/sessions/shell", nil).ID)
	}
	a := r.ask(route.Method, path, c.body)
	var e api.Error
	strictly(t, a.body, &e)
	if e.Code != c.code || a.status != (&api.Error{Code: c.code}).GetStatus() || e.Message == "" || !strings.Contains(e.Hint, c.hint) {
		t.Errorf("%s %s %s: %d %s, want %s, hint %q", route.Method, path, c.body, a.status, a.body, c.code, c.hint)
	}
	if !slices.Contains(route.Errors, e.Code) && !slices.Contains(httpapi.AnyRequest, e.Code) {
		t.Errorf("%s gives %s, which its row has not", route.ID, e.Code)
	}
}

// strictly reads JSON into a value that has to have all of it.
func strictly(t *testing.T, body []byte, v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		t.Errorf("%T: %v in %.500s", v, err, body)
	}
}

// firstEvent is the first line with data of a stream of events.
func firstEvent(t *testing.T, r *running, path string) answer {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", "http://daemon"+api.Version+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := r.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			return answer{resp.StatusCode, resp.Header, []byte(data)}
		}
	}
	t.Fatal("no event")
	return answer{}
}

// openSocket opens a WebSocket and reads a message from it. The page's socket sends nothing before a greeting.
func openSocket(t *testing.T, r *running, path string) {
	t.Helper()
	ws, _, err := r.dial(path)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	if strings.HasSuffix(path, "/page") {
		if err := ws.WriteMessage(websocket.TextMessage, []byte(`{"t":"hello"}`)); err != nil {
			t.Error(err)
		}
	}
	if _, b, err := ws.ReadMessage(); err != nil || len(b) == 0 {
		t.Errorf("%q, %v", b, err)
	}
}
