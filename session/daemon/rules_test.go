//go:build unix

package daemon

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// firings returns the matches of a session's rules.
func (r *running) firings(session string) []api.RespondFiring {
	r.t.Helper()
	return get[[]api.RespondFiring](r, "GET", "/sessions/"+session+"/respond/log", nil)
}

// TestRulesOverARestart checks that rules reply with text, with a hook's output, and with secrets, which are typed only
// where they are not echoed and are in no file. The next daemon has the rules, not the secrets, and reports that.
//
// FEATURES: R46 R48
func TestRulesOverARestart(t *testing.T) {
	t.Parallel()
	r, dir := serve(t), t.TempDir()
	next := gate(t, dir, "next")
	if err := os.WriteFile(filepath.Join(dir, "expected"), []byte("s3cr3t-value"), 0o600); err != nil {
		t.Fatal(err)
	}
	const asks = `printf 'Name? '; read name
printf 'Capital of %s? ' France; read capital
stty -echo; printf 'Password: '; read pass; stty echo; echo
[ "$pass" = "$(cat expected)" ] && echo "welcome $name of $capital"
read x < next
stty -echo; printf 'Password: '; read pass; stty echo; echo; echo "typed $pass"`
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "asks", Cwd: dir, Argv: []string{"sh", "-c", "read x < next; " + asks}})
	rule := func(name, text string, reply ...api.RespondReply) api.RespondRule {
		return api.RespondRule{Name: name, Text: text, On: "prompt", Reply: reply}
	}
	rules := []api.RespondRule{
		rule("name", "Name? ", api.RespondReply{Kind: "keys", Value: "ann<Enter>"}),
		{Name: "capital", Regexp: `Capital of (?P<land>\w+)\? $`, On: "prompt", Reply: []api.RespondReply{{Kind: "hook", Value: `test $LONGTERM_CAPTURE_land = "$1" && echo Paris-of-$1`}}}, // its newline is Enter
		rule("password", "Password: ", api.RespondReply{Kind: "secret", Value: "env:PASS"}, api.RespondReply{Kind: "keys", Value: "<Enter>"}),
	}
	if e := r.refused("POST", "/sessions/asks/respond", api.RespondRules{Rules: rules}); e.Code != api.CodeInvalid || !strings.Contains(e.Hint, "secrets") {
		t.Errorf("a secret without its value: %+v", e)
	}
	get[any](r, "POST", "/sessions/asks/respond", api.RespondRules{Rules: rules, Secrets: map[string]string{"env:PASS": "s3cr3t-value"}})
	next("begin")
	if w := get[api.Waited](r, "POST", "/sessions/asks/wait", api.Wait{TimeoutMS: 5000, Since: ptr(uint64(0)), Conds: []api.Condition{{Kind: "text", Text: "welcome ann of Paris-of-France"}}}); w.Outcome != "fired" {
		t.Fatalf("%+v, %+v, %q", w.Outcome, r.firings("asks"), get[api.OutputText](r, "GET", "/sessions/asks/output/text?max_output=1000", nil).Text)
	}
	fired := map[string]int{}
	for _, f := range r.firings("asks") {
		if fired[f.Name]++; f.Error != "" {
			t.Errorf("%s: %s", f.Name, f.Error)
		}
	}
	if fired["name"] != 1 || fired["capital"] != 1 || fired["password"] != 1 {
		t.Errorf("fired: %v", fired)
	}

	r.again()
	if list := get[[]api.RespondAttached](r, "GET", "/sessions/asks/respond", nil); len(list) != 3 || list[0].Uses != 1 {
		t.Errorf("the daemon after has %+v", list)
	}
	events := r.events(t)
	next("once more")
	e := until(t, events, "the secret cannot be sent", func(e *api.Event) bool { return e.Kind == "respond" && e.Answer != nil && e.Answer.Error != "" })
	if e.Answer.Name != "password" || !strings.Contains(e.Answer.Error, "not kept over a restart") {
		t.Errorf("%+v", e.Answer)
	}
	get[api.Typed](r, "POST", "/sessions/asks/input", api.Input{Text: "by hand", Enter: true})
	r.wait("asks", api.Condition{Kind: "exit"})

	err := filepath.WalkDir(filepath.Dir(r.dirs.State), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		b, err := os.ReadFile(path)
		if err == nil && bytes.Contains(b, []byte("s3cr3t-value")) {
			t.Errorf("the secret is stored in %s", path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestRulesThatFail checks that a rule that cannot reply reports why, and the program waits for a user as before; one
// that fails the line ends it.
//
// FEATURES: R46
func TestRulesThatFail(t *testing.T) {
	t.Parallel()
	r, dir := serve(t), t.TempDir()
	bashSession(t, r, "shell", dir)
	hook := api.RespondRules{Rules: []api.RespondRule{{Name: "r", Text: "sure? ", On: "prompt", Reply: []api.RespondReply{{Kind: "hook", Value: "exit 3"}}}}}
	events := r.events(t)
	asks := get[api.Result](r, "POST", "/sessions/shell/exec", api.Exec{Line: "read -p 'sure? ' x", Respond: &hook, Call: api.Call{OnInput: "return"}})
	if asks.State != "needs_input" {
		t.Errorf("it is %s", asks.State)
	}
	until(t, events, "the hook failed", func(e *api.Event) bool {
		return e.Kind == "respond" && e.Answer != nil && strings.Contains(e.Answer.Error, "exit status 3")
	})
	get[api.Typed](r, "POST", "/sessions/shell/input", api.Input{Text: "yes", Enter: true})
	if j := r.job(asks.Job); exitOf(j.Result) != "exited 0" {
		t.Errorf("answered by hand: %s", exitOf(j.Result))
	}
	list := api.RespondRules{Rules: []api.RespondRule{{Name: "never", Text: "sure? ", On: "prompt", Reply: []api.RespondReply{{Kind: "fail", Value: "this must not be asked"}}}}}
	res := get[api.Result](r, "POST", "/sessions/shell/exec", api.Exec{Line: "read -p 'sure? ' x", Respond: &list})
	if res.State != "killed" || !strings.Contains(res.Error, "this must not be asked") || !strings.Contains(res.Message, "Ended by a rule") {
		t.Errorf("a rule that fails the line: %+v", res)
	}
	if a := r.ask("POST", "/sessions/shell/exec", api.Exec{Line: "true", Wait: true}); a.status != http.StatusOK {
		t.Errorf("afterwards: %s", a.body)
	}
}
