package daemon

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// installed returns where a program is, and skips the test without it.
func installed(t *testing.T, program string) string {
	t.Helper()
	path := tier.Path(t, program)
	if out, err := exec.Command(path, "--version").CombinedOutput(); err != nil {
		t.Skipf("%s does not run: %v %s", program, err, out)
	}
	return path
}

// TestREPL_Question_IsNoEnd checks that a line for a REPL that prompts for input has not ended: the caller gets the
// prompt, and no later line answers it. The first line waits for the first prompt.
//
// FAULT: H3
func TestREPL_Question_IsNoEnd(t *testing.T) {
	t.Parallel()
	r, dir := serve(t), t.TempDir()
	for _, c := range []struct {
		program     string
		args        []string
		line, asks  string
		answer, end string
	}{
		{"python3", []string{"-q"}, `x = input("Name: "); print("hello", x)`, "text", "bob", "hello bob"},
		{"python3", []string{"-q"}, `print(len(input()))`, "text", "four", "4"},
		{"gdb", []string{"-q", "-nx"}, "break nowhere", "confirm", "n", ""},
	} {
		t.Run(c.program, func(t *testing.T) {
			t.Parallel()
			name := fmt.Sprint(c.program, len(c.line))
			get[api.Session](r, "POST", "/sessions", api.NewSession{Name: name, Argv: append([]string{installed(t, c.program)}, c.args...), Cwd: dir})
			ask := api.Exec{Line: c.line, Call: api.Call{OnInput: "return"}}
			res := get[api.Result](r, "POST", "/sessions/"+name+"/exec", ask)
			if res.State != "needs_input" || res.Needs != c.asks {
				t.Fatalf("it prompts: %+v", res)
			}
			if e := r.refused("POST", "/sessions/"+name+"/exec", api.Exec{Line: "1"}); e.Code != api.CodeBusy && e.Code != api.CodeNeedsInput {
				t.Errorf("the next line: %+v", e)
			}
			get[api.Typed](r, "POST", "/sessions/"+name+"/input", api.Input{Text: c.answer, Enter: true})
			j := r.job(res.Job)
			if exitOf(j.Result) != "exited null" || j.Result.Outcome != "stable" || !strings.Contains(j.Result.Output, c.end) {
				t.Errorf("answered: %+v", j.Result)
			}
		})
	}
}

// TestLookAtJob_LeavesTheCallerWaiting checks that a client that looks at a job which waits for input leaves the caller
// of the job waiting for its end.
//
// FEATURES: R88
func TestLookAtJob_LeavesTheCallerWaiting(t *testing.T) {
	t.Parallel()
	r, dir := serve(t), t.TempDir()
	bashSession(t, r, "s", dir)
	ended := make(chan api.Result, 1)
	go func() {
		ended <- get[api.Result](r, "POST", "/sessions/s/exec", api.Exec{Call: api.Call{Job: "asks"}, Line: "read -rp 'Name: ' x"})
	}()
	r.wait("s", api.Condition{Kind: "text", Text: "Name: "})
	if j := get[api.Job](r, "GET", "/jobs/asks?await_ms=60000&on_input=return", nil); j.Result == nil || j.Result.State != "needs_input" {
		t.Errorf("queried: %+v", j.Result)
	}
	get[api.Typed](r, "POST", "/sessions/s/input", api.Input{Text: "bob", Enter: true})
	if res := <-ended; exitOf(&res) != "exited 0" {
		t.Errorf("the caller got %+v", res)
	}
}

// TestSecret_InPasswordBox checks that a program that reads keys without echo and prompts for a secret in a box gets
// it, and does not show it.
//
// FAULT: G20
func TestSecret_InPasswordBox(t *testing.T) {
	r, dir := serve(t), t.TempDir()
	commands := filepath.Join(dir, "commands")
	if err := os.WriteFile(commands, []byte("OPTION ttytype=xterm-256color\nSETDESC Unlock the key\nSETPROMPT Passphrase:\nGETPIN\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct{ program, line, want string }{
		{"whiptail", `got=$(whiptail --passwordbox "Password for db" 8 40 3>&1 1>&2 2>&3); echo "D $got"; read end`, "D hunter2"},
		{"pinentry-curses", `tty=$(tty); { echo "OPTION ttyname=$tty"; cat ` + commands + `; } >` + commands + `.2; pinentry-curses <` + commands + `.2; read end`, "D hunter2"},
		{"pinentry-curses", `tty=$(tty); { echo "OPTION ttyname=$tty"; cat ` + commands + `; } >` + commands + `.3
			(setsid sh -c 'pinentry-curses <` + commands + `.3 >"$0" 2>&1' "$tty" </dev/null >/dev/null 2>&1 &); exec sleep 1000`, "D hunter2"}, // as gpg-agent starts it
	} {
		t.Run(c.program, func(t *testing.T) {
			installed(t, c.program)
			name := fmt.Sprint(c.program, i)
			get[api.Session](r, "POST", "/sessions", api.NewSession{Name: name, Argv: []string{"sh", "-c", c.line}, Cwd: dir, SetEnv: []string{"LC_ALL=C.UTF-8"}})
			if w := r.wait(name, api.Condition{Kind: "input", Text: "password"}); w.Outcome != "fired" {
				t.Fatalf("its prompt is not detected: %+v", w)
			}
			get[api.Typed](r, "POST", "/sessions/"+name+"/input", api.Input{Text: "hunter2", Enter: true, Secret: true})
			if w := r.wait(name, api.Condition{Kind: "text", Text: c.want}); w.Outcome != "fired" {
				t.Errorf("it did not get it: %+v", w)
			}
		})
	}
}

// TestInbox_HasBoxesButNoFilters checks that a box is a prompt with its title and text, also behind script, and that a
// filter that reads the terminal is none and not in the inbox.
//
// FEATURES: R42 R130
func TestInbox_HasBoxesButNoFilters(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	for _, name := range []string{"whiptail", "script"} {
		installed(t, name)
	}
	r, dir := serve(t), t.TempDir()
	box := `whiptail --title 'Disk setup' --yesno 'Erase the whole disk?' 8 40`
	for name, line := range map[string]string{"box": box, "relayed": `script -qc "` + box + `" /dev/null`, "filter": "echo hello; exec cat"} {
		get[api.Session](r, "POST", "/sessions", api.NewSession{Name: name, Argv: []string{"sh", "-c", line}, Cwd: dir, SetEnv: []string{"LC_ALL=C.UTF-8"}})
		if w := r.wait(name, api.Condition{Kind: "input"}); w.Outcome != "fired" {
			t.Fatalf("%s: it is not found to wait: %+v", name, w)
		}
		n := get[api.Session](r, "GET", "/sessions/"+name, nil).Needs
		if name == "filter" {
			if n == nil || n.NeedsAnswer() || !n.Prompt {
				t.Errorf("the filter: %+v", n)
			}
			continue
		}
		if n == nil || n.Kind != "menu" || !strings.HasSuffix(n.Reason, `: "Disk setup: Erase the whole disk?"`) {
			t.Errorf("%s: %+v", name, n)
		}
	}
	asked := map[string]string{}
	for _, it := range get[[]api.InboxItem](r, "GET", "/inbox", nil) {
		asked[it.Name] = it.Text
	}
	if want := "waits for a choice: Disk setup: Erase the whole disk?"; len(asked) != 2 || asked["box"] != want || asked["relayed"] != want {
		t.Errorf("the inbox: %q", asked)
	}
}
