package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

var lineShells = [][]string{{"bash", "--norc"}, {"zsh"}, {"fish", "--no-config"}, {"dash"}, {"mksh"}, {"ksh"}}

// forEachShell runs f with each installed shell, in parallel; in the default tier with bash only.
func forEachShell(t *testing.T, f func(t *testing.T, p *Program, kind string), only ...string) {
	t.Helper()
	for _, argv := range lineShells {
		if !tier.IsFull() && argv[0] != "bash" {
			continue
		}
		if len(only) > 0 && !strings.Contains(strings.Join(only, " ")+" ", argv[0]+" ") {
			continue
		}
		t.Run(argv[0], func(t *testing.T) {
			t.Parallel()
			f(t, startShell(t, Cmd{Argv: argv}), argv[0])
		})
	}
}

// startShell starts a shell with its own home directory.
func startShell(t *testing.T, c Cmd) *Program {
	t.Helper()
	tier.Need(t, c.Argv[0])
	dir := t.TempDir()
	c.SetEnv = append(c.SetEnv, "HOME="+dir, "ZDOTDIR="+dir, "HISTFILE="+filepath.Join(dir, "history"), "ENV=")
	if err := os.WriteFile(filepath.Join(dir, ".zshrc"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.Shell, c.Dir = true, dir
	return startProgram(t, c)
}

// screenText returns the screen, for failures.
func screenText(p *Program) string {
	s := p.Screen()
	return s.Text()
}

// exitLine returns a line that ends with a status, in any shell.
func exitLine(n int) string { return fmt.Sprintf("sh -c 'exit %d'", n) }

// checkLine runs a line and checks its output and status.
func checkLine(t *testing.T, p *Program, line, output string, exit int) {
	t.Helper()
	r, err := p.Exec(testContext(t), line)
	switch {
	case err != nil:
		t.Fatalf("%v\n%s", err, screenText(p))
	case r.Output != output || r.Exit == nil || *r.Exit != exit:
		t.Fatalf("%q: %q, exit %v (%s), want %q, %d\n%s", line, r.Output, deref(r.Exit), r.Note, output, exit, screenText(p))
	}
}

// deref returns *n, or nil.
func deref(n *int) any {
	if n == nil {
		return nil
	}
	return *n
}

// TestExec_UnreadTerminalReplies checks that replies to queries of a program that did not read them are no keys for the
// shell's editor and no part of the next line.
// FAULT: A13, E3
func TestExec_UnreadTerminalReplies(t *testing.T) {
	forEachShell(t, func(t *testing.T, p *Program, kind string) {
		const queries = `\033[c\033[>q\033]11;?\033\\\033[6n`
		for _, line := range []string{
			"printf '" + queries + "'",               // ends before its query is read
			"printf '" + queries + "'; sleep 0.2",    // does not read the replies
			"sleep 0.1; printf '\\033P$qm\\033\\\\'", // DCS: in bash its reply starts a search
		} {
			if _, err := p.Exec(testContext(t), line); err != nil {
				t.Fatal(err)
			}
			checkLine(t, p, "echo ok; "+exitLine(7), "ok\n", 7)
		}
	})
}

// TestExec_ClearsPartialLine checks that a partial line, typed before the first prompt or at one, is not part of a
// submitted line.
// FAULT: B2
func TestExec_ClearsPartialLine(t *testing.T) {
	forEachShell(t, func(t *testing.T, p *Program, kind string) {
		send(t, p, "echo LEFT ")
		checkLine(t, p, "echo one; "+exitLine(3), "one\n", 3)
		send(t, p, "echo AGAIN ")
		checkLine(t, p, "echo two", "two\n", 0)
		send(t, p, "echo more\x1b[D\x1b[D\x01") // the cursor is not at its end
		checkLine(t, p, "echo three; "+exitLine(4), "three\n", 4)
	})
}

// TestExec_AfterCanceledLine checks that a canceled line does not affect later lines: nothing is typed before the shell
// has handled the interrupt.
// FAULT: A10, A21
func TestExec_AfterCanceledLine(t *testing.T) {
	forEachShell(t, func(t *testing.T, p *Program, kind string) {
		checkLine(t, p, "echo begin", "begin\n", 0)
		for i := range 12 {
			ctx, cancel := context.WithCancel(t.Context())
			run, err := p.session.Exec(ctx, session.Line{Text: "echo spoilt" + strings.Repeat(" x", 50*(i%3)), Wait: true})
			if err != nil {
				t.Fatal(err)
			}
			if i%2 == 1 { // at its start, else while it is being typed
				<-run.StartedC
			}
			if err := p.session.Drop(t.Context(), run); err != nil {
				t.Fatal(err)
			}
			cancel()
			checkLine(t, p, fmt.Sprintf("echo line%d; %s", i, exitLine(5)), fmt.Sprintf("line%d\n", i), 5)
		}
	})
}

// TestUnfinishedOutput_StaysOnTheScreen prints output that does not end in a newline and submits more lines: the screen keeps the
// output once, and the record has it as printed.
//
// FAULT: H14
func TestUnfinishedOutput_StaysOnTheScreen(t *testing.T) {
	forEachShell(t, func(t *testing.T, p *Program, kind string) {
		for i, text := range []string{
			"0123456789", "a  b  ", "\u4f60\u597d", strings.Repeat("p", 80), strings.Repeat("q", 100), strings.Repeat("r", 79),
			"a long prompt", "a long prompt, and a long text that makes it take a third row", "a prompt of two lines",
		} {
			if prompt := map[int]string{6: strings.Repeat("P", 120) + "$ ", 8: "one\ntwo$ "}[i]; i >= 6 && kind != "bash" {
				break
			} else if prompt != "" {
				checkLine(t, p, "PS1='"+prompt+"'", "", 0)
			}
			checkLine(t, p, "clear", "", 0)
			checkLine(t, p, "printf %s '"+text+"'; "+exitLine(4+i), text, 4+i)
			checkLine(t, p, "echo next", "next\n", 0)
			checkLine(t, p, "echo last", "last\n", 0)
			shown := screenText(p)
			_, below, _ := strings.Cut(strings.ReplaceAll(shown, "\n", ""), "'; sh -c")
			if n := strings.Count(below, strings.TrimRight(text, " ")); n != 1 || strings.Count(shown, "next") != 2 {
				t.Errorf("got %q %d times on the screen, want once:\n%s", text, n, shown)
			}
		}
	})
}

// TestExec_LostHooks checks that a shell whose prompt or hooks were changed still ends its lines, with their true
// status.
// FAULT: E5
func TestExec_LostHooks(t *testing.T) {
	lines := map[string][]string{
		"bash": {"unset PROMPT_COMMAND", "PROMPT_COMMAND=(true)", "PROMPT_COMMAND= PS1='> ' PS0=", "unset PROMPT_COMMAND; PS1='x> '"},
		"zsh":  {"precmd_functions=() preexec_functions=()"},
		"dash": {"PS1='> '"}, "mksh": {"PS1='> '"}, "ksh": {"PS1='> '"},
	}
	forEachShell(t, func(t *testing.T, p *Program, kind string) {
		for i, l := range lines[kind] {
			checkLine(t, p, l+"; "+exitLine(3+i), "", 3+i)
			checkLine(t, p, "echo two; "+exitLine(7), "two\n", 7)
		}
	}, "bash", "zsh", "dash", "mksh", "ksh")
}

// TestExec_NewPrompt_NeedsNoInput checks that a prompt without marks that a line has set does not count as a program
// that needs input: the line ends.
// FAULT: E5
func TestExec_NewPrompt_NeedsNoInput(t *testing.T) {
	forEachShell(t, func(t *testing.T, p *Program, kind string) {
		asks := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_, err := p.session.Wait(ctx, session.WaitSpec{Conds: []session.Cond{{Kind: session.CondInput}}})
			asks <- err
		}()
		checkLine(t, p, "PS1='Password: '", "", 0)
		cancel()
		if err := <-asks; !errors.Is(err, context.Canceled) {
			t.Errorf("got a report that input is needed: %v", err)
		}
	}, "bash", "zsh", "dash", "mksh", "ksh")
}

// TestExec_NarrowTerminal checks that zsh prints no prompt that is wider than the terminal. It is at its prompt
// nevertheless, including the first one, for which no line waits.
// FAULT: E10
func TestExec_NarrowTerminal(t *testing.T) {
	p := startShell(t, Cmd{Argv: []string{"zsh"}, Cols: 2, Rows: 2})
	if _, err := p.session.Wait(testContext(t), session.WaitSpec{Conds: []session.Cond{{Kind: session.CondPrompt}}}); err != nil {
		t.Fatal(err)
	}
}

// TestExec_ReadBuiltin_IsNoPrompt checks that a builtin that reads is no prompt, even if it uses the shell's own
// editor.
// FAULT: E5
func TestExec_ReadBuiltin_IsNoPrompt(t *testing.T) {
	forEachShell(t, func(t *testing.T, p *Program, kind string) {
		line := "read x; echo got $x"
		if kind == "bash" {
			line = "read -e x; echo got $x"
		}
		run, err := p.session.Exec(t.Context(), session.Line{Text: line})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.session.Wait(testContext(t), session.WaitSpec{Conds: []session.Cond{{Kind: session.CondQuiet, Quiet: 1500 * time.Millisecond}}}); err != nil {
			t.Fatal(err)
		}
		select {
		case <-run.DoneC:
			t.Fatalf("the line ended: %+v, %v\n%s", run.Command, run.Err, screenText(p))
		default:
		}
		send(t, p, "it\r")
		<-run.DoneC
		if run.Err != nil || run.Command.Exit == nil || *run.Command.Exit != 0 {
			t.Errorf("%+v, %v", run.Command, run.Err)
		}
	})
}

// TestExec_NestedShell checks that a line that starts another shell, nested or by exec, ends without a status and with
// the reason. The session's shell is known again when it returns.
// FAULT: E1, B10
func TestExec_NestedShell(t *testing.T) {
	tier.Full(t)
	forEachShell(t, func(t *testing.T, p *Program, kind string) {
		for _, other := range []string{"bash --norc", "zsh -f", "dash"} {
			name, _, _ := strings.Cut(other, " ")
			tier.Need(t, name)
			r, err := p.Exec(testContext(t), other)
			if err != nil || r.Exit != nil || !strings.Contains(r.Note, name) {
				t.Fatalf("%s: %+v, %v", other, r, err)
			}
			if st := p.session.Status().Shell; st.Program != name {
				t.Errorf("%s: %+v", other, st)
			}
			if _, err := p.Exec(testContext(t), "true"); !errors.Is(err, session.ErrNoShell) {
				t.Errorf("%s: %v", other, err)
			}
			send(t, p, "exit\r")
			if _, err := p.session.Wait(testContext(t), session.WaitSpec{Conds: []session.Cond{{Kind: session.CondPrompt}}}); err != nil {
				t.Fatal(err)
			}
			eventually(t, func() bool { return p.session.Status().Shell.Program == "" })
			checkLine(t, p, "echo back; "+exitLine(4), "back\n", 4)
		}
		for i, other := range []string{"bash --norc", "zsh -f", "fish --no-config", "dash", "mksh", "ksh"} {
			name, _, _ := strings.Cut(other, " ")
			if _, err := exec.LookPath(name); err != nil {
				continue
			}
			r, err := p.Exec(testContext(t), "exec "+other)
			if err != nil || r.Exit != nil || !strings.Contains(r.Note, "replaced by "+name) {
				t.Fatalf("%+v, %v\n%s", r, err, screenText(p))
			}
			checkLine(t, p, fmt.Sprintf("echo in%s; %s", name, exitLine(i)), "in"+name+"\n", i)
			checkLine(t, p, "cd /", "", 0)
		}
	})
}

// eventually waits until f returns true.
func eventually(t *testing.T, f func() bool) {
	t.Helper()
	ctx, tick := testContext(t), time.NewTicker(10*time.Millisecond)
	defer tick.Stop()
	for !f() {
		select {
		case <-ctx.Done():
			t.Fatal("timeout: the condition does not hold")
		case <-tick.C:
		}
	}
}

// TestNestedShell_StartedByUser checks that a nested shell that a user starts is detected too.
// FAULT: E1
func TestNestedShell_StartedByUser(t *testing.T) {
	p := startShell(t, Cmd{Argv: []string{"bash", "--norc"}})
	checkLine(t, p, "echo one", "one\n", 0)
	send(t, p, "bash --norc\r")
	if _, err := p.session.Wait(testContext(t), session.WaitSpec{Conds: []session.Cond{{Kind: session.CondInput}}}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return p.session.Status().Shell.Program == "bash" })
	send(t, p, "exit\r")
	eventually(t, func() bool { return p.session.Status().Shell.Program == "" })
	checkLine(t, p, "echo two", "two\n", 0)
}

// TestExec_OddTerminals checks that a plain sh has no editor that resets the terminal: raw mode that a program left is
// undone. A shell with an invisible prompt, and terminals of minimal size, run lines too.
// FAULT: E10
func TestExec_OddTerminals(t *testing.T) {
	tier.Full(t)
	t.Run("raw", func(t *testing.T) {
		forEachShell(t, func(t *testing.T, p *Program, _ string) {
			for _, mode := range []string{"raw -echo", "raw", "-echo"} {
				if _, err := p.Exec(testContext(t), "stty "+mode); err != nil {
					t.Fatal(err)
				}
				r, err := p.Exec(testContext(t), "stty sane; echo ok; "+exitLine(3))
				if err != nil || r.Exit == nil || *r.Exit != 3 || !strings.Contains(r.Output, "ok") {
					t.Fatalf("%s: %+v, %v", mode, r, err)
				}
			}
		}, "dash", "ksh", "mksh", "bash")
	})
	t.Run("no standard error", func(t *testing.T) {
		p := startShell(t, Cmd{Argv: []string{"bash", "--norc"}})
		checkLine(t, p, "exec 2>/dev/null", "", 0)
		checkLine(t, p, "echo ok; "+exitLine(3), "ok\n", 3)
	})
	for _, size := range [][2]int{{20, 1}, {2, 2}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			for _, argv := range lineShells {
				t.Run(argv[0], func(t *testing.T) {
					p := startShell(t, Cmd{Argv: argv, Cols: size[0], Rows: size[1]})
					r, err := p.Exec(testContext(t), "echo abc; "+exitLine(3))
					if err != nil || r.Exit == nil || *r.Exit != 3 {
						t.Errorf("%+v, %v", r, err)
					}
				})
			}
		})
	}
}

// TestExec_ShellReplacedByStartFiles checks that a shell that the start files replace before the first prompt is
// detected too.
// FAULT: E1, B10
func TestExec_ShellReplacedByStartFiles(t *testing.T) {
	for _, name := range []string{"zsh -f", "fish --no-config"} {
		t.Run(name, func(t *testing.T) {
			program, _, _ := strings.Cut(name, " ")
			tier.Need(t, program)
			dir := t.TempDir()
			rc := filepath.Join(dir, "rc")
			if err := os.WriteFile(rc, []byte("exec "+name+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			p := startShell(t, Cmd{Argv: []string{"bash", "--rcfile", rc}})
			checkLine(t, p, "echo one; "+exitLine(3), "one\n", 3)
			checkLine(t, p, "echo two; "+exitLine(4), "two\n", 4)
		})
	}
}
