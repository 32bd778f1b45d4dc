package program

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestQuestionOfTheShell_WaitsForItsAnswer runs lines whose text does not show that a builtin reads with the shell's
// own line editor. Each waits for input, has the answer and its status, and its output so far is without the typed
// line.
//
// FAULT: H3
func TestQuestionOfTheShell_WaitsForItsAnswer(t *testing.T) {
	asks := map[string]string{
		"bash": `ask() { read -e -p "Deploy? " c; echo "said <$c>"; (exit 3); }`,
		"zsh":  `ask() { vared -p "Deploy? " -c c; echo "said <$c>"; (exit 3); }`,
		"fish": `function ask; read -P "Deploy? " c; echo "said <$c>"; sh -c "exit 3"; end`,
		"dash": `ask() { printf "Deploy? "; read c; echo "said <$c>"; return 3; }`,
		"mksh": `ask() { read -N3 c?"Deploy? "; echo; echo "said <$c>"; return 3; }`,
		"ksh":  `ask() { read c?"Deploy? "; echo "said <$c>"; return 3; }`,
	}
	forEachShell(t, func(t *testing.T, p *Program, kind string) {
		checkLine(t, p, asks[kind], "", 0)
		run, err := p.session.Exec(t.Context(), session.Line{Text: "ask"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.session.Wait(testContext(t), session.WaitSpec{Conds: []session.Cond{{Kind: session.CondInput}}}); err != nil {
			t.Fatalf("%v\n%s", err, screenText(p))
		}
		select {
		case <-run.DoneC:
			t.Fatalf("the line ended: %+v, %v\n%s", run.Command, run.Err, screenText(p))
		default:
		}
		_, end := p.session.OutputRange()
		o, err := p.session.Output(p.session.OutputStart(t.Context(), run.StartCommand, end), make([]byte, 4096))
		if err != nil || kind != "fish" && strings.Contains(string(o.Data), "ask") || !strings.Contains(string(o.Data), "Deploy? ") {
			t.Errorf("got output so far %q, %v", o.Data, err)
		}
		if kind == "mksh" {
			send(t, p, "yes")
		} else {
			send(t, p, "yes\r")
		}
		<-run.DoneC
		if run.Err != nil || run.Command.Exit == nil || *run.Command.Exit != 3 || !strings.Contains(screenText(p), "said <yes>") {
			t.Errorf("%+v, %v\n%s", run.Command, run.Err, screenText(p))
		}
		checkLine(t, p, "echo next", "next\n", 0)
	})
}

// TestLine_HasItsOwnStatus runs comments behind a command that fails, commands that a signal ends, and lines that expand the prompt
// or run its hooks.
//
// FAULT: H26
func TestLine_HasItsOwnStatus(t *testing.T) {
	hooks := map[string]string{
		"bash": `printf %s "${PS0@P}"; sleep 0.3; echo last; (exit 4)`,
		"zsh":  `for f in $preexec_functions; do $f a b c; done; sleep 0.3; echo last; (exit 4)`,
		"fish": `emit fish_preexec x; sleep 0.3; echo last; sh -c "exit 4"`,
		"dash": `eval "echo \"$PS1\"" >/dev/null; sleep 0.3; echo last; (exit 4)`,
	}
	hooks["mksh"], hooks["ksh"] = hooks["dash"], hooks["dash"]
	forEachShell(t, func(t *testing.T, p *Program, kind string) {
		for range 2 {
			checkLine(t, p, hooks[kind], "last\n", 4)
			checkLine(t, p, "echo next", "next\n", 0)
		}
		for _, comment := range []string{"# c", "\n# a\n# b\n"} {
			checkLine(t, p, exitLine(7), "", 7)
			checkLine(t, p, comment, "", 0)
		}
		for signal, want := range map[string]int{"KILL": 137, "SEGV": 139, "TERM": 143} {
			r, err := p.Exec(testContext(t), "sh -c 'ulimit -c 0; kill -"+signal+" $$'")
			if err != nil || r.Exit == nil || *r.Exit != want {
				t.Errorf("%s: exit %v, %v, want %d", signal, deref(r.Exit), err, want)
			}
		}
	})
}

// TestShell_WithoutItsBuiltins_IsNotFollowed takes builtins away that the marks need. The line ends, with the reason if its status is
// unknown. Later lines are rejected at once, also behind lines that the user typed, until the shell prints marks again.
//
// FAULT: H12
func TestShell_WithoutItsBuiltins_IsNotFollowed(t *testing.T) {
	tier.Full(t)
	for _, tt := range []struct{ kind, takes, gives string }{
		{"bash", "enable -n printf", "enable printf"},
		{"bash", "builtin() { :; }", "unset -f builtin"},
		{"bash", "enable -n builtin", "enable builtin"},
		{"zsh", "disable printf print", "enable printf print"},
		{"zsh", "builtin() { :; }", "unset -f builtin"},
		{"dash", "command() { :; }", "unset -f command"},
		{"mksh", "command() { :; }", "unset -f command"},
		{"ksh", "command() { :; }", "unset -f command"},
	} {
		t.Run(tt.takes, func(t *testing.T) {
			forEachShell(t, func(t *testing.T, p *Program, _ string) {
				checkLine(t, p, "echo one", "one\n", 0)
				r, err := p.Exec(testContext(t), tt.takes)
				if err != nil || r.Exit == nil && !strings.Contains(r.Note, "shadow") {
					t.Fatalf("%+v, %v\n%s", r, err, screenText(p))
				}
				for i := range 2 {
					if _, err := p.Exec(testContext(t), "echo two"); !errors.Is(err, session.ErrNoShell) {
						t.Errorf("later: %v\n%s", err, screenText(p))
					}
					send(t, p, "echo $((40 + "+strconv.Itoa(i)+"))\r")
					eventually(t, func() bool { return strings.Contains(screenText(p), strconv.Itoa(40+i)+"\n") })
				}
				send(t, p, tt.gives+"\r")
				eventually(t, func() bool {
					_, err := p.Exec(testContext(t), "true")
					return err == nil
				})
				checkLine(t, p, "echo three", "three\n", 0)
			}, tt.kind)
		})
	}
}

// TestKeysOfSubmittedLines_SurviveNewBindings resets zsh's key bindings, among them those of submitted lines.
//
// FAULT: H12
func TestKeysOfSubmittedLines_SurviveNewBindings(t *testing.T) {
	forEachShell(t, func(t *testing.T, p *Program, _ string) {
		checkLine(t, p, "bindkey -d", "", 0)
		checkLine(t, p, "echo a!", "a!\n", 0)
		checkLine(t, p, "bindkey -v", "", 0)
		checkLine(t, p, "echo b!", "b!\n", 0)
	}, "zsh")
}

// TestLines_RunBehindAReadOnlyIFS runs lines in shells whose IFS cannot be changed.
//
// FAULT: H12
func TestLines_RunBehindAReadOnlyIFS(t *testing.T) {
	forEachShell(t, func(t *testing.T, p *Program, _ string) {
		checkLine(t, p, "readonly IFS", "", 0)
		checkLine(t, p, "echo two; "+exitLine(3), "two\n", 3)
	}, "dash", "mksh", "ksh", "bash", "zsh")
}

// TestFillBeforeThePrompt_IsNoOutput changes zsh's mark for output without a newline, which has the mark of the line's end in it.
//
// FAULT: H12
func TestFillBeforeThePrompt_IsNoOutput(t *testing.T) {
	forEachShell(t, func(t *testing.T, p *Program, _ string) {
		for _, line := range []string{`PROMPT_EOL_MARK=""`, "unset PROMPT_EOL_MARK", `printf a; PROMPT_EOL_MARK=""`} {
			r, err := p.Exec(testContext(t), line)
			if err != nil || strings.TrimSuffix(r.Output, "a") != "" {
				t.Errorf("%s: %q, %v", line, r.Output, err)
			}
		}
		checkLine(t, p, "printf 'a    '", "a    ", 0)
	}, "zsh")
}

// TestRepairLine_StaysOutOfTheHistory takes the hooks away, so that longterm types a line that restores them.
//
// FAULT: H12
func TestRepairLine_StaysOutOfTheHistory(t *testing.T) {
	forEachShell(t, func(t *testing.T, p *Program, kind string) {
		checkLine(t, p, "echo one", "one\n", 0)
		send(t, p, "unset PROMPT_COMMAND precmd_functions preexec_functions zshaddhistory_functions; PS1='x> '\r")
		eventually(t, func() bool {
			_, err := p.Exec(testContext(t), "true")
			return err == nil
		})
		r, err := p.Exec(testContext(t), "fc -l")
		if err != nil || !strings.Contains(r.Output, "PS1='x> '") || strings.Contains(r.Output, "longterm") {
			t.Errorf("the history has %q, %v", r.Output, err)
		}
	}, "bash", "zsh", "ksh")
}

// TestShell_ReplacedByALineTypedAhead is replaced by itself before its first prompt was handled.
//
// FAULT: H1
func TestShell_ReplacedByALineTypedAhead(t *testing.T) {
	forEachShell(t, func(t *testing.T, p *Program, kind string) {
		send(t, p, "exec "+kind+"\r")
		eventually(t, func() bool {
			r, err := p.Exec(testContext(t), exitLine(4))
			return err == nil && r.Exit != nil && *r.Exit == 4
		})
		if kind == "bash" || kind == "ksh" {
			r, err := p.Exec(testContext(t), "fc -l 2>&1")
			if err != nil || strings.Contains(r.Output, "/again") {
				t.Errorf("the history has %q, %v", r.Output, err)
			}
		}
	}, "dash", "mksh", "ksh", "bash")
}
