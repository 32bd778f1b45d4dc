package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestLinesForAProgramOverARestart checks that a line for a program that the shell runs is typed into it once, also if
// the daemon is replaced before that, while the line runs, or by its successor.
//
// FEATURES: R4 R63
func TestLinesForAProgramOverARestart(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	r, dir := serve(t), t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "on"), 0o600); err != nil {
		t.Fatal(err)
	}
	bashSession(t, r, "shell", dir)
	get[api.Result](r, "POST", "/sessions/shell/exec", api.Exec{
		Line: `while printf '> '; read -r x; do echo "$x" >> said; echo "you said $x"; [ "$x" != slow ] || read -r y < on; done`,
		Call: api.Call{OnInput: "return"},
	})
	get[api.Result](r, "POST", "/sessions/shell/exec", api.Exec{Call: api.Call{Job: "typed", Background: true}, Line: "slow", Foreign: true})
	r.wait("shell", api.Condition{Kind: "text", Text: "you said slow"})
	res := get[api.Result](r, "POST", "/sessions/shell/exec", api.Exec{
		Call: api.Call{Job: "asked", Background: true}, Line: "later", Foreign: true, ApprovalOptions: api.ApprovalOptions{Policy: "readonly"},
	})
	if res.State != "needs_approval" {
		t.Fatalf("%+v", res)
	}
	r.again()
	if err := os.WriteFile(filepath.Join(dir, "on"), []byte("\n"), 0); err != nil {
		t.Fatal(err)
	}
	if j := r.job("typed"); j.Result == nil || j.Result.State != "exited" || !strings.Contains(j.Result.Output, "you said slow") {
		t.Errorf("typed line: %+v", j.Result)
	}
	r.answer(res.Approval, "once", "")
	if j := r.job("asked"); j.Result == nil || j.Result.State != "exited" || !strings.Contains(j.Result.Output, "you said later") {
		t.Errorf("approved line: %+v", j.Result)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "said")); string(b) != "slow\nlater\n" {
		t.Errorf("the program read %q, %v", b, err)
	}
}

// TestAllowedCodeOverARestart checks that code that a user allowed for a program does not reach the shell after the
// program has ended, under any daemon.
//
// FEATURES: R62 R63
func TestAllowedCodeOverARestart(t *testing.T) {
	t.Parallel()
	python := tier.Path(t, "python3")
	r, dir := serve(t), t.TempDir()
	bashSession(t, r, "shell", dir)
	get[api.Typed](r, "POST", "/sessions/shell/input", api.Input{Text: python + " -q", Enter: true})
	r.wait("shell", api.Condition{Kind: "text", Text: ">>>"})
	res := get[api.Result](r, "POST", "/sessions/shell/exec", api.Exec{
		Call: api.Call{Job: "code", Background: true}, Line: "touch = 1", Foreign: true, ApprovalOptions: api.ApprovalOptions{Policy: "readonly"},
	})
	if res.State != "needs_approval" {
		t.Fatalf("%+v", res)
	}
	r.again()
	get[api.Typed](r, "POST", "/sessions/shell/input", api.Input{Text: "exit()", Enter: true})
	get[api.Result](r, "POST", "/sessions/shell/exec", api.Exec{Line: "echo back", Wait: true})
	r.answer(res.Approval, "once", "")
	if j := r.job("code"); j.Result == nil || j.Result.State == "exited" || !strings.Contains(j.Result.Error, "the shell reads the terminal") {
		t.Errorf("%+v", j.Result)
	}
}

// TestLine_ForSilentProgram_GoesToOther checks that a line for a session of a silent program goes to another program
// that has its terminal.
//
// FEATURES: R4
func TestLine_ForSilentProgram_GoesToOther(t *testing.T) {
	t.Parallel()
	python := tier.Path(t, "python3")
	r, dir := serve(t), t.TempDir()
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "s", Argv: []string{"env", "bash", "--norc"}, Cwd: dir})
	r.wait("s", api.Condition{Kind: "text", Text: "$ "}, api.Condition{Kind: "text", Text: "# "})
	get[api.Typed](r, "POST", "/sessions/s/input", api.Input{Text: python + " -q", Enter: true})
	r.wait("s", api.Condition{Kind: "text", Text: ">>>"})
	res := get[api.Result](r, "POST", "/sessions/s/exec", api.Exec{Line: "print(6*7)", Wait: true})
	if res.State != "exited" || res.Output != "42\n" {
		t.Errorf("%+v", res)
	}
}

// TestLinesOfWhatAShellBecame checks that a line for a session whose shell became another program is judged as that
// program's.
//
// FEATURES: R62
func TestLinesOfWhatAShellBecame(t *testing.T) {
	t.Parallel()
	python := tier.Path(t, "python3")
	r := serve(t)
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "s", Argv: []string{"bash", "-c", "exec " + python + " -q"}})
	r.wait("s", api.Condition{Kind: "text", Text: ">>>"})
	code := func(line string) api.Result {
		return get[api.Result](r, "POST", "/sessions/s/exec", api.Exec{Line: line, Wait: true, Call: api.Call{Background: true}, ApprovalOptions: api.ApprovalOptions{Policy: "hard"}})
	}
	if res := code(`len("xyz" * 14)`); res.State == "needs_approval" {
		t.Errorf("%+v", res)
	}
	r.wait("s", api.Condition{Kind: "text", Text: "42"})
	if res := code(`import os; os.system("rm -rf /")`); res.Approval == "" && res.State != "denied" {
		t.Errorf("%+v", res)
	}
}

// TestForeignLine_ReportsExitStatus_WhenItEndsTheProgram checks that a line that ends the session's program has the
// program's exit status; other lines for it have none.
//
// FAULT: H3
func TestForeignLine_ReportsExitStatus_WhenItEndsTheProgram(t *testing.T) {
	t.Parallel()
	python := tier.Path(t, "python3")
	r := serve(t)
	for name, tt := range map[string]struct {
		line string
		code int
	}{"three": {"exit(3)", 3}, "none": {"exit()", 0}} {
		get[api.Session](r, "POST", "/sessions", api.NewSession{Name: name, Argv: []string{python, "-q"}})
		r.wait(name, api.Condition{Kind: "text", Text: ">>>"})
		if res := get[api.Result](r, "POST", "/sessions/"+name+"/exec", api.Exec{Line: "1+1", Wait: true}); res.ExitCode != nil || res.ExitUnknown != api.ExitNone {
			t.Errorf("%+v", res)
		}
		res := get[api.Result](r, "POST", "/sessions/"+name+"/exec", api.Exec{Line: tt.line, Wait: true})
		if res.State != "ended" || res.ExitCode == nil || *res.ExitCode != tt.code || res.ExitUnknown != "" {
			t.Errorf("%s: %+v", tt.line, res)
		}
	}
}

// TestForeignLine_ReportsExitStatus_WhenItEndsTheProgram_InShell checks that a line that ends the program that a shell
// runs has the status that the shell got.
//
// FAULT: H3
func TestForeignLine_ReportsExitStatus_WhenItEndsTheProgram_InShell(t *testing.T) {
	t.Parallel()
	python := tier.Path(t, "python3")
	r, dir := serve(t), t.TempDir()
	bashSession(t, r, "shell", dir)
	get[api.Typed](r, "POST", "/sessions/shell/input", api.Input{Text: python + " -q", Enter: true})
	r.wait("shell", api.Condition{Kind: "text", Text: ">>>"})
	res := get[api.Result](r, "POST", "/sessions/shell/exec", api.Exec{Line: "1+1", Foreign: true, Wait: true})
	if res.ExitCode != nil || res.ExitUnknown != api.ExitNone || res.Output != "2\n" {
		t.Errorf("%+v", res)
	}
	res = get[api.Result](r, "POST", "/sessions/shell/exec", api.Exec{Line: "print('bye'); exit(3)", Foreign: true, Wait: true})
	if res.State != "exited" || res.ExitCode == nil || *res.ExitCode != 3 || res.ExitUnknown != "" || res.Output != "bye\n" {
		t.Errorf("%+v", res)
	}
}

// TestForeignLine_ReachesProgram_TypedIntoDash checks that a line for a program that a user started by keys in dash,
// which does not mark starts, reaches the program. The shell counts as running it, also for the next daemon.
//
// FAULT: H27
func TestForeignLine_ReachesProgram_TypedIntoDash(t *testing.T) {
	t.Parallel()
	python, dash := tier.Path(t, "python3"), tier.Path(t, "dash")
	r, dir := serve(t), t.TempDir()
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "s", Argv: []string{dash}, Cwd: dir})
	get[api.Result](r, "POST", "/sessions/s/exec", api.Exec{Line: "true"})
	get[api.Typed](r, "POST", "/sessions/s/input", api.Input{Text: python + " -q", Enter: true})
	r.wait("s", api.Condition{Kind: "text", Text: ">>>"})
	r.wait("s", api.Condition{Kind: "input"})
	s := get[api.Session](r, "GET", "/sessions/s", nil)
	if s.Shell == nil || s.Shell.Phase != "running" || s.Shell.Command != python+" -q" {
		t.Errorf("the shell: %+v", s.Shell)
	}
	foreign := func(line string) api.Result {
		return get[api.Result](r, "POST", "/sessions/s/exec", api.Exec{Line: line, Foreign: true, Wait: true})
	}
	if res := foreign("6*7"); res.State != "exited" || res.Output != "42\n" {
		t.Errorf("%+v", res)
	}
	r.again()
	if s := get[api.Session](r, "GET", "/sessions/s", nil); s.Shell == nil || s.Shell.Phase != "running" {
		t.Errorf("after a restart: %+v", s.Shell)
	}
	if res := foreign("exit(3)"); res.State != "exited" || res.ExitCode == nil || *res.ExitCode != 3 {
		t.Errorf("%+v", res)
	}
	if res := get[api.Result](r, "POST", "/sessions/s/exec", api.Exec{Line: "echo $?", Wait: true}); res.Output != "3\n" {
		t.Errorf("%+v", res)
	}
	// Input typed before the shell is known to run a line is that line's input, and no command.
	get[api.Typed](r, "POST", "/sessions/s/input", api.Input{Text: "stty -echo; read x; stty echo; sleep 1; echo re''ad", Enter: true})
	get[api.Typed](r, "POST", "/sessions/s/input", api.Input{Text: "hunter2", Enter: true})
	r.wait("s", api.Condition{Kind: "text", Text: "read"})
	get[api.Result](r, "POST", "/sessions/s/exec", api.Exec{Line: "true", Wait: true})
	var texts []string
	for _, c := range get[[]api.Command](r, "GET", "/commands?session=s", nil) {
		texts = append(texts, c.Text)
	}
	if all := strings.Join(texts, "\n"); !strings.Contains(all, "stty -echo; read x") || strings.Contains(all, "hunter2") {
		t.Errorf("the commands are %q", texts)
	}
}
