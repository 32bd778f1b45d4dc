//go:build linux

package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/fastpath"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// asked is a request as a daemon receives it, without the parts that differ between requests.
type asked struct {
	Method, URI, ContentType string
	Body                     map[string]any
}

// listening is a fake daemon that records its requests, and gives each the same response; if broken, half of it.
type listening struct {
	*e2e.Instance
	mu     sync.Mutex
	seen   []asked  // guarded by mu
	ids    []string // guarded by mu
	answer string
	broken bool
}

func newListening(t *testing.T) *listening {
	dir, err := os.MkdirTemp("", "lt")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Mkdir(filepath.Join(dir, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "run", "daemon.sock"))
	if err != nil {
		t.Fatal(err)
	}
	d := &listening{Instance: &e2e.Instance{T: t, Dir: dir, Exe: e2e.Program(t), Env: append(os.Environ(), "LONGTERM_DIR="+dir)}}
	s := httptest.NewUnstartedServer(d)
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return d
}

func (d *listening) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := asked{Method: r.Method, URI: r.RequestURI, ContentType: r.Header.Get("Content-Type")}
	b, err := io.ReadAll(r.Body)
	if err != nil { // the client was ended between head and body
		return
	}
	if len(b) > 0 {
		if err := json.Unmarshal(b, &a.Body); err != nil {
			d.T.Errorf("%v: %s", err, b)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, id := range []string{"ask_id", "job"} {
		if name, ok := a.Body[id].(string); ok {
			d.ids = append(d.ids, name)
			a.Body[id] = "made"
		}
	}
	if env, ok := a.Body["env"].([]any); ok {
		a.Body["env"] = slices.DeleteFunc(env, func(kv any) bool { return kv == fastpath.DisableEnv+"=1" })
	}
	d.seen = append(d.seen, a)
	w.Header().Set("Content-Type", "application/json")
	if d.broken {
		w.Header().Set("Content-Length", "1000")
	}
	_, _ = io.WriteString(w, d.answer)
}

// try runs a verb, and returns its output and its requests.
func (d *listening) try(args []string, env ...string) (printed string, seen []asked) {
	d.mu.Lock()
	d.seen = nil
	d.mu.Unlock()
	plain := d.Env
	d.Env = append(slices.Clone(plain), env...)
	out, errOut, code := d.Try(args...)
	d.Env = plain
	d.mu.Lock()
	defer d.mu.Unlock()
	return fmt.Sprintf("%s--\n%s--\n%d", out, errOut, code), d.seen
}

// TestShortcutAsksWhatVerbsAsk compares the requests and the output of the fast path with those of the verbs, for each
// answer.
func TestShortcutAsksWhatVerbsAsk(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	d := newListening(t)
	const held = `{"outcome":"fired","fired":[{"condition":{"kind":"text","text":"x"},"match":"an \"x\" é"},{"condition":{"kind":"exit"}}],"session":{"id":"x-1","name":"n"}}`
	const ended = `{"job":"j","output":"a \"b\"\n\u2028<&>","state":"exited","exit_code":3,"aborted":false,"timed_out":"none","duration_ms":1,"pid":1,"pgid":1,"mode":"pty","session":"x-1","output_range":{"start":0,"end":1}}`
	for _, c := range []struct {
		args   []string
		answer string
	}{
		{[]string{"screen", "s.1"}, "$ \n"}, {[]string{"screen", "s.1"}, ""}, {[]string{"screen", "--json", "s.1"}, `{"rows":[{"text":"a"}]}`},
		{[]string{"ls"}, "a table\n"}, {[]string{"ls", "--json"}, `[{"id":"x-1","name":"n"}]`},
		{[]string{"new", "--", "sleep", "1"}, `{"id":"x-1","name":"n"}`}, {[]string{"new", "--json", "--", "sleep", "1"}, `{"id":"x-1","name":"n"}`},
		{[]string{"new", "-n", "n", "--", "sh", "-c", "echo \"é\\\" | cat; # \x01"}, `{"id":"x-1","name":"n"}`},
		{[]string{"new", "--", "-a", "--"}, `{"name":"n"}`},
		{[]string{"send", "s", "a \"text\" é"}, `{"cursor":5,"echo":"on"}`}, {[]string{"send", "-e", "s", "-", "--json"}, `{"cursor":5,"echo":"on"}`},
		{[]string{"send", "s", "--enter", "--force", "--", "-e"}, `{"cursor":5,"echo":"on"}`},
		{[]string{"keys", "s", "C-c", "--force", "é"}, `{"cursor":5,"echo":"on"}`}, {[]string{"keys", "s", "--json", "a", "b"}, `{"cursor":5,"echo":"on"}`},
		{[]string{"kill", "s"}, `{"id":"x-1","name":"n"}`},
		{[]string{"wait", "s", "--for", "text=a=b", "--for", "exit"}, held}, {[]string{"wait", "--for", "re:^a", "s", "--timeout", "3s", "--all", "--since", "0"}, held},
		{[]string{"wait", "s", "--for", "prompt", "--for", "command", "--for", "bell", "--for", "quiet", "--for", "input", "--timeout", "20ms"}, held},
		{[]string{"wait", "s", "--for", "regexp=a"}, `{"outcome":"fired","fired":[{"condition":{"kind":"regexp","pattern":"a"},"match":"a\u001b="}],"session":{"id":"x-1","name":"n"}}`},
		{[]string{"wait", "s", "--for", "exit"}, `{"outcome":"timeout","fired":[],"session":{"id":"x-1","name":"n","state":"running"}}`},
		{[]string{"wait", "s", "--for", "prompt"}, `{"outcome":"ended","fired":[],"session":{"id":"x-1","name":"n","state":"exited"}}`},
		{[]string{"exec", "s", "echo", "\"é\\\"", "-n", "|", "cat"}, ended}, {[]string{"exec", "--wait", "s", "--", "ls", "--json"}, ended}, {[]string{"exec", "--json", "s", "--wait", "ls"}, ended},
		{[]string{"exec", "s", "true"}, strings.Replace(ended, `"exit_code":3`, `"exit_code":0,"hint":"look"`, 1)},
		{[]string{"exec", "s", "true"}, strings.Replace(strings.Replace(ended, `"exit_code":3`, `"exit_code":null`, 1), `"exited"`, `"running"`, 1)},
		{[]string{"exec", "s", "true"}, strings.Replace(ended, `"none"`, `"wall"`, 1)},
		{[]string{"exec", "--json", "s", "true"}, strings.Replace(ended, `"exit_code":3`, `"exit_code":null,"signal":"SIGKILL"`, 1)},
	} {
		d.answer = c.answer
		short, a := d.try(c.args)
		full, b := d.try(c.args, fastpath.DisableEnv+"=1")
		if !strings.Contains(strings.Join(c.args, " "), "--json") || c.args[0] == "screen" { // else the verb prints more than the response has
			if short != full {
				t.Errorf("%q of %s:\n%s\nwant\n%s", c.args, c.answer, short, full)
			}
		}
		if len(a) != 1 || !reflect.DeepEqual(a, b) {
			t.Errorf("%q:\n%+v\nwant\n%+v", c.args, a, b)
		}
	}
}

// TestShortcutIsNotTmux checks that the fast path ignores the name tmux, whose verbs differ.
func TestShortcutIsNotTmux(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "reads", "--", "cat")
	tmux := func(name string, env []string, args ...string) (printed string, code int) {
		cmd := i.Command(t.Context(), args...)
		cmd.Args[0], cmd.Env = name, append(slices.Clone(cmd.Env), env...)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	for _, name := range []string{"tmux", "/usr/local/bin/tmux"} {
		for _, args := range [][]string{{"kill", "reads"}, {"send", "reads", "Enter"}, {"keys", "reads", "Enter"}} {
			printed, code := tmux(name, nil, args...)
			want, wantCode := tmux(name, []string{fastpath.DisableEnv + "=1"}, args...)
			if printed != want || code != wantCode || code == 0 {
				t.Errorf("%s %q: %d\n%s\nwant %d\n%s", name, args, code, printed, wantCode, want)
			}
		}
	}
	if list := e2e.Decode[[]api.Session](t, i.Run("ls", "--json")); len(list) != 1 || list[0].State != "running" {
		t.Errorf("%+v", list)
	}
}

// TestShortcutAsksOnce breaks the answer to a request. The request is not repeated, unless it has an id.
func TestShortcutAsksOnce(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	d := newListening(t)
	d.broken, d.answer = true, `{"id":`
	for _, args := range [][]string{{"send", "s", "x"}, {"keys", "s", "a"}} {
		short, a := d.try(args)
		full, b := d.try(args, fastpath.DisableEnv+"=1")
		if short != full || len(a) != 1 || !reflect.DeepEqual(a, b) {
			t.Errorf("%q:\n%s %+v\nwant\n%s %+v", args, short, a, full, b)
		}
	}
	for _, args := range [][]string{{"exec", "s", "true"}, {"new", "--", "true"}, {"kill", "s"}} {
		d.askedAgain(args...)
	}
}

// askedAgain checks that a verb repeats its request until it is answered, with the same id of its start or job.
func (d *listening) askedAgain(args ...string) {
	t := d.T
	d.mu.Lock()
	d.ids, d.seen = nil, nil
	d.mu.Unlock()
	ctx, cancel := context.WithCancel(t.Context())
	again := d.Command(ctx, args...)
	if err := again.Start(); err != nil {
		t.Fatal(err)
	}
	e2e.Eventually(t, "the client has sent the request again", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.seen) > 1
	})
	cancel()
	_ = again.Wait() // it was killed
	d.mu.Lock()
	ids, seen := slices.Clone(d.ids), slices.Clone(d.seen) // it may still be answering
	d.mu.Unlock()
	if len(ids) > 1 && ids[0] != ids[1] || args[0] != "kill" && (len(ids) < 2 || ids[0] == "") || !reflect.DeepEqual(seen[0], seen[1]) {
		t.Errorf("%q: called %q\n%+v", args, ids, seen[:2])
	}
}

// TestShortcutLeavesToVerbs checks that the fast path leaves unusual cases to the verb, which sends one request.
func TestShortcutLeavesToVerbs(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	if _, errOut, code := i.Try("screen", "nothing"); code == 0 || errOut == "" {
		t.Errorf("without a daemon: %d %q", code, errOut)
	}
	i.Run("new", "-n", "once", "--", "sleep", "1000")
	if _, errOut, code := i.Try("new", "-n", "once", "--", "sleep", "1000"); code == 0 || errOut == "" {
		t.Errorf("a name in use: %d %q", code, errOut)
	}
	if list := e2e.Decode[[]api.Session](t, i.Run("ls", "--json")); len(list) != 1 {
		t.Errorf("%d sessions", len(list))
	}
	rules := "[[rules]]\nprogram = \"sleep\"\nwords = [\"999\"]\ndecision = \"ask\"\nreason = \"a test\"\nmatch = [\"sleep 999\"]\n"
	if err := os.WriteFile(filepath.Join(i.Dir, "policy.toml"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	i.Run("daemon", "restart")
	ended := make(chan int)
	go func() {
		_, _, code := i.Try("new", "-n", "asked", "--", "sleep", "999")
		ended <- code
	}()
	var waiting []api.Approval
	e2e.Eventually(t, "an approval request is pending", func() bool {
		waiting = e2e.Decode[[]api.Approval](t, i.Run("approvals", "--json"))
		return len(waiting) > 0
	})
	i.Run("approvals", "answer", waiting[0].ID, "once")
	if code := <-ended; code != 0 {
		t.Errorf("allowed: exit %d", code)
	}
	if all := e2e.Decode[[]api.Approval](t, i.Run("approvals", "ls", "--all", "--json")); len(all) != 1 {
		t.Errorf("%d requests: %+v", len(all), all)
	}
}

// TestShortcutPrintsWhatVerbsPrint compares the output of the fast path with that of the verb, for an ended session
// with fixed times.
func TestShortcutPrintsWhatVerbsPrint(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	if empty := i.Run("ls"); empty != "no sessions; `longterm new` starts one\n" {
		t.Errorf("%q", empty)
	}
	if _, _, code := i.Try("run", "-n", "over", "--label", "a=<&>", "--keep", "--", "sh", "-c", `printf 'a "b" \\ [{,:}]\n'; exit 3`); code != 3 {
		t.Fatalf("exit %d", code)
	}
	plain := i.Env
	for _, args := range [][]string{
		{"ls"}, {"ls", "--json"}, {"screen", "over"}, {"screen", "over", "--json"}, {"kill", "over"}, {"kill", "over", "--json"},
		{"wait", "over", "--for", "exit"}, {"wait", "over", "--for", "exit", "--json"}, {"wait", "over", "--for", "text=b", "--since", "0"},
		{"wait", "over", "--for", "prompt"}, {"send", "over", "x"}, {"exec", "over", "true"}, {"screen", "none"}, {"kill", "none"},
	} {
		i.Env = plain
		out, errOut, code := i.Try(args...)
		i.Env = append(slices.Clone(plain), fastpath.DisableEnv+"=1")
		wantOut, wantErr, wantCode := i.Try(args...)
		if out != wantOut || errOut != wantErr || code != wantCode || out+errOut == "" && args[0] != "kill" {
			t.Errorf("%q: %d\n%s%s\nwant %d\n%s%s", args, code, out, errOut, wantCode, wantOut, wantErr)
		}
	}
	i.Env = plain
}

// TestShortcut_ContinuedByTheVerb runs a line that takes longer than the fast path waits. The verb waits for it, and
// the line runs once.
func TestShortcut_ContinuedByTheVerb(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	tier.Need(t, "bash")
	i.Run("new", "-n", "s", "--", "bash", "--norc")
	if out, errOut, code := i.Try("exec", "--wait", "s", "echo once >> "+i.Dir+"/done; sleep 0.5; echo ended; (exit 7)"); out != "ended\n" || code != 7 {
		t.Errorf("%d %q %q", code, out, errOut)
	}
	if out, errOut, code := i.Try("exec", "--wait", "s", "cat", i.Dir+"/done"); out != "once\n" || code != 0 {
		t.Errorf("%d %q %q", code, out, errOut)
	}
	if _, errOut, code := i.Try("wait", "s", "--for", "text=never", "--timeout", "200ms"); code != 124 || !strings.Contains(errOut, "200ms") {
		t.Errorf("%d %q", code, errOut)
	}
}
