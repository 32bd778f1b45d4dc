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

// inShells runs f with each shell that is installed, in the default tier with bash only.
func inShells(t *testing.T, f func(t *testing.T, p *Program, kind string), only ...string) {
	t.Helper()
	for _, argv := range lineShells {
		if !tier.IsFull() && argv[0] != "bash" {
			continue
		}
		if len(only) > 0 && !strings.Contains(strings.Join(only, " ")+" ", argv[0]+" ") {
			continue
		}
		t.Run(argv[0], func(t *testing.T) { f(t, beginShell(t, Cmd{Argv: argv}), argv[0]) })
	}
}

// beginShell starts a shell with a home of its own.
func beginShell(t *testing.T, c Cmd) *Program {
	t.Helper()
	tier.Need(t, c.Argv[0])
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("ZDOTDIR", dir)
	t.Setenv("HISTFILE", filepath.Join(dir, "history"))
	t.Setenv("ENV", "")
	if err := os.WriteFile(filepath.Join(dir, ".zshrc"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.Shell, c.Dir = true, dir
	return begin(t, c)
}

func screenText(p *Program) string {
	s := p.Screen()
	return s.Text()
}

// status is a line that ends with a status, in any shell.
func status(n int) string { return fmt.Sprintf("sh -c 'exit %d'", n) }

// runs runs a line and wants its output and status.
func runs(t *testing.T, p *Program, line, output string, exit int) {
	t.Helper()
	r, err := p.Exec(testContext(t), line)
	switch {
	case err != nil:
		t.Fatalf("%v\n%s", err, screenText(p))
	case r.Output != output || r.Exit == nil || *r.Exit != exit:
		t.Fatalf("%q: %q, exit %v (%s), want %q, %d\n%s", line, r.Output, deref(r.Exit), r.Note, output, exit, screenText(p))
	}
}

func deref(n *int) any {
	if n == nil {
		return nil
	}
	return *n
}

// Replies to queries that the program that asked did not read are no keys of the shell's
// editor and no part of the next line.
//
// FAULT: A13, E3
func TestRepliesAreNoKeys(t *testing.T) {
	inShells(t, func(t *testing.T, p *Program, kind string) {
		const queries = `\033[c\033[>q\033]11;?\033\\\033[6n`
		for _, line := range []string{
			"printf '" + queries + "'",               // ends before its query is read
			"printf '" + queries + "'; sleep 0.2",    // does not read the replies
			"sleep 0.1; printf '\\033P$qm\\033\\\\'", // DCS: in bash its reply begins a search
		} {
			if _, err := p.Exec(testContext(t), line); err != nil {
				t.Fatal(err)
			}
			runs(t, p, "echo ok; "+status(7), "ok\n", 7)
		}
	})
}

// What was typed and not ended is not run together with a line, typed before the first
// prompt or at one, text or keys.
//
// FAULT: B2
func TestLeftoversAreNoPartOfALine(t *testing.T) {
	inShells(t, func(t *testing.T, p *Program, kind string) {
		send(t, p, "echo LEFT ")
		runs(t, p, "echo one; "+status(3), "one\n", 3)
		send(t, p, "echo AGAIN ")
		runs(t, p, "echo two", "two\n", 0)
		send(t, p, "echo more\x1b[D\x1b[D\x01") // the cursor is not at its end
		runs(t, p, "echo three; "+status(4), "three\n", 4)
	})
}

// A line that is taken back spoils no line after it: nothing is typed before the shell has
// dealt with the interrupt.
//
// FAULT: A10, A21
func TestACancelledLineSpoilsNothing(t *testing.T) {
	inShells(t, func(t *testing.T, p *Program, kind string) {
		runs(t, p, "echo begin", "begin\n", 0)
		for i := range 12 {
			ctx, cancel := context.WithCancel(t.Context())
			run, err := p.s.Exec(ctx, session.Line{Text: "echo spoilt" + strings.Repeat(" x", 50*(i%3)), Wait: true})
			if err != nil {
				t.Fatal(err)
			}
			if i%2 == 1 { // at its beginning, else while it is being typed
				<-run.Begun
			}
			if err := p.s.Drop(t.Context(), run); err != nil {
				t.Fatal(err)
			}
			cancel()
			runs(t, p, fmt.Sprintf("echo line%d; %s", i, status(5)), fmt.Sprintf("line%d\n", i), 5)
		}
	})
}

// TestUnfinishedOutput_StaysOnTheScreen prints output that does not end in a newline and submits more lines: the screen keeps the
// output once, and the record has it as printed.
//
// FAULT: H14
func TestUnfinishedOutput_StaysOnTheScreen(t *testing.T) {
	inShells(t, func(t *testing.T, p *Program, kind string) {
		for i, text := range []string{
			"0123456789", "a  b  ", "\u4f60\u597d", strings.Repeat("p", 80), strings.Repeat("q", 100), strings.Repeat("r", 79),
			"a long prompt", "a long prompt, and a long text that makes it take a third row", "a prompt of two lines",
		} {
			if prompt := map[int]string{6: strings.Repeat("P", 120) + "$ ", 8: "one\ntwo$ "}[i]; i >= 6 && kind != "bash" {
				break
			} else if prompt != "" {
				runs(t, p, "PS1='"+prompt+"'", "", 0)
			}
			runs(t, p, "clear", "", 0)
			runs(t, p, "printf %s '"+text+"'; "+status(4+i), text, 4+i)
			runs(t, p, "echo next", "next\n", 0)
			runs(t, p, "echo last", "last\n", 0)
			shown := screenText(p)
			_, below, _ := strings.Cut(strings.ReplaceAll(shown, "\n", ""), "'; sh -c")
			if n := strings.Count(below, strings.TrimRight(text, " ")); n != 1 || strings.Count(shown, "next") != 2 {
				t.Errorf("%q is shown %d times:\n%s", text, n, shown)
			}
		}
	})
}

// A shell whose prompt or hooks were changed still ends its lines, with their true status.
//
// FAULT: E5
func TestLostMarksAreNoticed(t *testing.T) {
	lines := map[string][]string{
		"bash": {"unset PROMPT_COMMAND", "PROMPT_COMMAND=(true)", "PROMPT_COMMAND= PS1='> ' PS0=", "unset PROMPT_COMMAND; PS1='x> '"},
		"zsh":  {"precmd_functions=() preexec_functions=()"},
		"dash": {"PS1='> '"}, "mksh": {"PS1='> '"}, "ksh": {"PS1='> '"},
	}
	inShells(t, func(t *testing.T, p *Program, kind string) {
		for i, l := range lines[kind] {
			runs(t, p, l+"; "+status(3+i), "", 3+i)
			runs(t, p, "echo two; "+status(7), "two\n", 7)
		}
	}, "bash", "zsh", "dash", "mksh", "ksh")
}

// The prompt that a line leaves without marks is not told as another shell's, which waits for
// somebody: the line ends.
//
// FAULT: E5
func TestANewPromptIsNoQuestion(t *testing.T) {
	inShells(t, func(t *testing.T, p *Program, kind string) {
		asks := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_, err := p.s.Wait(ctx, session.WaitFor{Conds: []session.Cond{{Kind: session.CondInput}}})
			asks <- err
		}()
		runs(t, p, "PS1='Password: '", "", 0)
		cancel()
		if err := <-asks; !errors.Is(err, context.Canceled) {
			t.Errorf("it was told that input is needed: %v", err)
		}
	}, "bash", "zsh", "dash", "mksh", "ksh")
}

// zsh prints no prompt, nor what is in it, where that is wider than the terminal: it is at its
// prompt all the same, the first one too, which no line waits for.
//
// FAULT: E10
func TestThePromptOfANarrowTerminal(t *testing.T) {
	p := beginShell(t, Cmd{Argv: []string{"zsh"}, Cols: 2, Rows: 2})
	if _, err := p.s.Wait(testContext(t), session.WaitFor{Conds: []session.Cond{{Kind: session.CondPrompt}}}); err != nil {
		t.Fatal(err)
	}
}

// A builtin that reads is no prompt, with the shell's own editor neither.
//
// FAULT: E5
func TestAReadIsNoPrompt(t *testing.T) {
	inShells(t, func(t *testing.T, p *Program, kind string) {
		line := "read x; echo got $x"
		if kind == "bash" {
			line = "read -e x; echo got $x"
		}
		run, err := p.s.Exec(t.Context(), session.Line{Text: line})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.s.Wait(testContext(t), session.WaitFor{Conds: []session.Cond{{Kind: session.CondQuiet, Quiet: 1500 * time.Millisecond}}}); err != nil {
			t.Fatal(err)
		}
		select {
		case <-run.Done:
			t.Fatalf("it ended: %+v, %v\n%s", run.Command, run.Err, screenText(p))
		default:
		}
		send(t, p, "it\r")
		<-run.Done
		if run.Err != nil || run.Command.Exit == nil || *run.Command.Exit != 0 {
			t.Errorf("%+v, %v", run.Command, run.Err)
		}
	})
}

// A line that starts another shell, in the shell or in its place, ends without a status and
// says why; the session's shell is known again when it comes back.
//
// FAULT: E1, B10
func TestNestedShell(t *testing.T) {
	tier.Full(t)
	inShells(t, func(t *testing.T, p *Program, kind string) {
		for _, other := range []string{"bash --norc", "zsh -f", "dash"} {
			name, _, _ := strings.Cut(other, " ")
			tier.Need(t, name)
			r, err := p.Exec(testContext(t), other)
			if err != nil || r.Exit != nil || !strings.Contains(r.Note, name) {
				t.Fatalf("%s: %+v, %v", other, r, err)
			}
			if st := p.s.Status().Shell; st.Program != name {
				t.Errorf("%s: %+v", other, st)
			}
			if _, err := p.Exec(testContext(t), "true"); !errors.Is(err, session.ErrNoShell) {
				t.Errorf("%s: %v", other, err)
			}
			send(t, p, "exit\r")
			if _, err := p.s.Wait(testContext(t), session.WaitFor{Conds: []session.Cond{{Kind: session.CondPrompt}}}); err != nil {
				t.Fatal(err)
			}
			eventually(t, func() bool { return p.s.Status().Shell.Program == "" })
			runs(t, p, "echo back; "+status(4), "back\n", 4)
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
			runs(t, p, fmt.Sprintf("echo in%s; %s", name, status(i)), "in"+name+"\n", i)
			runs(t, p, "cd /", "", 0)
		}
	})
}

func eventually(t *testing.T, f func() bool) {
	t.Helper()
	ctx, tick := testContext(t), time.NewTicker(10*time.Millisecond)
	defer tick.Stop()
	for !f() {
		select {
		case <-ctx.Done():
			t.Fatal("it did not come true")
		case <-tick.C:
		}
	}
}

// A shell that a user starts in the shell is found, too.
//
// FAULT: E1
func TestNestedShell_StartedByUser(t *testing.T) {
	p := beginShell(t, Cmd{Argv: []string{"bash", "--norc"}})
	runs(t, p, "echo one", "one\n", 0)
	send(t, p, "bash --norc\r")
	if _, err := p.s.Wait(testContext(t), session.WaitFor{Conds: []session.Cond{{Kind: session.CondInput}}}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return p.s.Status().Shell.Program == "bash" })
	send(t, p, "exit\r")
	eventually(t, func() bool { return p.s.Status().Shell.Program == "" })
	runs(t, p, "echo two", "two\n", 0)
}

// A plain sh has no editor that sets the terminal right: raw mode that a program left is
// undone. A shell whose prompt is not seen, and terminals of hardly any size, run lines, too.
//
// FAULT: E10
func TestLinesInOddTerminals(t *testing.T) {
	tier.Full(t)
	t.Run("raw", func(t *testing.T) {
		inShells(t, func(t *testing.T, p *Program, _ string) {
			for _, mode := range []string{"raw -echo", "raw", "-echo"} {
				if _, err := p.Exec(testContext(t), "stty "+mode); err != nil {
					t.Fatal(err)
				}
				r, err := p.Exec(testContext(t), "stty sane; echo ok; "+status(3))
				if err != nil || r.Exit == nil || *r.Exit != 3 || !strings.Contains(r.Output, "ok") {
					t.Fatalf("%s: %+v, %v", mode, r, err)
				}
			}
		}, "dash", "ksh", "mksh", "bash")
	})
	t.Run("no standard error", func(t *testing.T) {
		p := beginShell(t, Cmd{Argv: []string{"bash", "--norc"}})
		runs(t, p, "exec 2>/dev/null", "", 0)
		runs(t, p, "echo ok; "+status(3), "ok\n", 3)
	})
	for _, size := range [][2]int{{20, 1}, {2, 2}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			for _, argv := range lineShells {
				t.Run(argv[0], func(t *testing.T) {
					p := beginShell(t, Cmd{Argv: argv, Cols: size[0], Rows: size[1]})
					r, err := p.Exec(testContext(t), "echo abc; "+status(3))
					if err != nil || r.Exit == nil || *r.Exit != 3 {
						t.Errorf("%+v, %v", r, err)
					}
				})
			}
		})
	}
}

// So is one that the shell's own files put in its place, before there was a prompt.
//
// FAULT: E1, B10
func TestAShellReplacedByItsOwnFiles(t *testing.T) {
	for _, name := range []string{"zsh -f", "fish --no-config"} {
		t.Run(name, func(t *testing.T) {
			program, _, _ := strings.Cut(name, " ")
			tier.Need(t, program)
			dir := t.TempDir()
			rc := filepath.Join(dir, "rc")
			if err := os.WriteFile(rc, []byte("exec "+name+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			p := beginShell(t, Cmd{Argv: []string{"bash", "--rcfile", rc}})
			runs(t, p, "echo one; "+status(3), "one\n", 3)
			runs(t, p, "echo two; "+status(4), "two\n", 4)
		})
	}
}
