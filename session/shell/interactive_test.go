//go:build unix

package shell

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// forEachShell runs a test in each of the named shells.
func forEachShell(t *testing.T, names []string, test func(t *testing.T, r *testShellSession, shell string)) {
	for _, sh := range shells {
		if !slices.Contains(names, sh.name) {
			continue
		}
		t.Run(sh.name, func(t *testing.T) {
			t.Parallel()
			r := newTestShellSession(t, testShellOptions{argv: append([]string{shellPath(t, sh.name)}, sh.argv[1:]...)})
			r.waitForPrompt()
			test(t, r, sh.name)
		})
	}
}

var (
	fullShells = []string{"bash", "zsh", "fish"}
	allShells  = []string{"bash", "zsh", "fish", "mksh", "dash", "ksh"}
)

// waitForRunning waits until a command whose text contains s runs.
func (r *testShellSession) waitForRunning(s string) {
	r.t.Helper()
	r.readUntil("command "+s, func() bool {
		st := r.tracker.State()
		return st.Phase == PhaseRunning && st.Running != nil && strings.Contains(st.Running.Text, s)
	})
}

// waitForText waits for text on the screen.
func (r *testShellSession) waitForText(text string) {
	r.t.Helper()
	r.readUntil("text "+text, func() bool { return strings.Contains(r.screen(), text) })
}

// keysForPrompt types keys after which the shell prints a new prompt.
func (r *testShellSession) keysForPrompt(keys string) {
	r.t.Helper()
	n := r.tracker.State().Prompt
	r.sendKeys(keys)
	r.readUntil("another prompt", func() bool { st := r.tracker.State(); return st.Prompt > n && st.Phase == PhasePrompt })
}

// waitForRead waits until the shell sleeps in a read. Line editors lose an earlier interrupt.
func (r *testShellSession) waitForRead() {
	r.t.Helper()
	if runtime.GOOS != "linux" {
		r.t.Skip("needs /proc")
	}
	for deadline := time.Now().Add(testTimeout); time.Now().Before(deadline); runtime.Gosched() {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", r.cmd.Process.Pid))
		if err != nil {
			r.t.Fatal(err)
		}
		if strings.Contains(string(b), ") S ") {
			return
		}
	}
	r.t.Fatal("timeout: the shell does not read")
}

// FEATURES: R8 R88
func TestTracker_RunningCommand(t *testing.T) {
	forEachShell(t, allShells, func(t *testing.T, r *testShellSession, shell string) {
		r.typeLine("sh -c 'echo rea\"\"dy; exec cat'; false")
		r.waitForText("ready")
		r.sendKeys("echoed\r")
		r.waitForText("echoed\nechoed")
		if st := r.tracker.State(); st.Phase != PhaseRunning || st.HasEnded {
			t.Errorf("state %+v while cat runs", st)
		}
		r.sendKeys("\x04")
		c := r.nextChange(ChangeFinished).Command
		r.waitForPrompt()
		if exitOf(c) != 1 || c.Text != "sh -c 'echo rea\"\"dy; exec cat'; false" {
			t.Errorf("command %+v", c)
		}
	})
}

func TestTracker_InterruptedCommand(t *testing.T) {
	forEachShell(t, allShells, func(t *testing.T, r *testShellSession, shell string) {
		r.typeLine("sh -c 'echo rea\"\"dy; exec cat'")
		r.waitForText("ready")
		r.sendKeys("\x03")
		c := r.nextChange(ChangeFinished).Command
		if exitOf(c) != 130 && !(shell == "ksh" && exitOf(c) == 258) {
			t.Errorf("exit %d, want 130", exitOf(c))
		}
		if c = r.run("echo on"); exitOf(c) != 0 {
			t.Errorf("the next command: %+v", c)
		}
	})
}

var prompted = regexp.MustCompile(`true\s+.*[#$%>]$`)

var abandoned = regexp.MustCompile(`[#$%>] abandoned`)

// TestTracker_InterruptAtPrompt checks that an interrupt at the prompt leads to a new prompt. Fish loses an interrupt
// while it highlights, which is not visible.
func TestTracker_InterruptAtPrompt(t *testing.T) {
	forEachShell(t, []string{"bash", "zsh", "mksh", "dash", "ksh"}, func(t *testing.T, r *testShellSession, shell string) {
		r.run("true")
		r.readUntil("prompt", func() bool { return prompted.MatchString(strings.TrimRight(r.screen(), " \n")) })
		r.sendKeys("abandoned")
		r.readUntil("prompt and line", func() bool { return abandoned.MatchString(r.screen()) })
		r.waitForRead()
		r.keysForPrompt("\x03")
		c := r.run("sh -c 'exit 6'")
		if exitOf(c) != 6 || c.Number != 2 {
			t.Errorf("command %+v, want the second", c)
		}
	})
}

func TestTracker_EmptyLines(t *testing.T) {
	forEachShell(t, allShells, func(t *testing.T, r *testShellSession, shell string) {
		r.run("false")
		for range 3 {
			r.keysForPrompt("\r")
		}
		if c := r.run("sh -c 'exit 6'"); exitOf(c) != 6 || c.Number != 2 {
			t.Errorf("command %+v, want the second", c)
		}
	})
}

func TestTracker_SyntaxError(t *testing.T) {
	forEachShell(t, allShells, func(t *testing.T, r *testShellSession, shell string) {
		c := r.run("echo )")
		if exitOf(c) == 0 || c.Text != "echo )" {
			t.Errorf("command %+v", c)
		}
		if r.tracker.State().HasKeptLine { // by fish, in its editor
			r.sendKeys("\x15")
		}
		if c = r.run("true"); exitOf(c) != 0 || c.Text != "true" || c.Number != 2 {
			t.Errorf("the next command: %+v", c)
		}
	})
}

// TestTracker_Continuation checks that the shell prompts for the rest of a line with another prompt, which the tracker
// distinguishes.
func TestTracker_Continuation(t *testing.T) {
	forEachShell(t, []string{"bash", "zsh"}, func(t *testing.T, r *testShellSession, shell string) {
		r.typeLine("echo 'open")
		r.nextChange(ChangeInput)
		if st := r.tracker.State(); !st.InContinuation || st.Phase != PhasePrompt {
			t.Errorf("state %+v", st)
		}
		r.sendKeys("closed'\r")
		if c := r.nextChange(ChangeFinished).Command; r.text(c) != "open\nclosed" {
			t.Errorf("command %+v printed %q", c, r.text(c))
		}
	})
}

// TestTracker_BackgroundOutput checks that output of a background job at the prompt belongs to no command.
func TestTracker_BackgroundOutput(t *testing.T) {
	forEachShell(t, allShells, func(t *testing.T, r *testShellSession, shell string) {
		line := "(read x <fifo; echo late) &"
		if shell == "fish" {
			line = "sh -c 'read x <fifo; echo late' &"
		}
		r.run("mkfifo fifo")
		r.run(line)
		c := r.run("echo go >fifo")
		r.waitForText("late")
		if exitOf(c) != 0 {
			t.Errorf("command %+v", c)
		}
		c = r.run("sh -c 'exit 3'")
		if exitOf(c) != 3 {
			t.Errorf("command %+v", c)
		}
	})
}

var insidePrompt = regexp.MustCompile(`(?s)ready\n.*[#$%>]$`)

// TestTracker_NestedShell checks that a nested shell has no nonce: it is one running command.
func TestTracker_NestedShell(t *testing.T) {
	for _, inner := range []string{"bash", "zsh", "fish", "dash"} {
		t.Run(inner, func(t *testing.T) {
			path := shellPath(t, inner)
			forEachShell(t, allShells, func(t *testing.T, r *testShellSession, shell string) {
				r.typeLine("echo rea''dy; " + path)
				r.readUntil("prompt inside", func() bool { return insidePrompt.MatchString(r.screen()) })
				r.sendKeys("echo in''side; echo \"<$LONGTERM_STATE$ZDOTDIR>\"; cd /\r")
				r.waitForText("inside\n<>")
				r.sendKeys("exit 3\r")
				c := r.nextChange(ChangeFinished).Command
				if exitOf(c) != 3 || c.CwdAfter != r.home || !strings.Contains(c.Text, inner) {
					t.Errorf("command %+v", c)
				}
				if c = r.run("sh -c 'exit 4'"); exitOf(c) != 4 || c.Number != 2 {
					t.Errorf("the next command: %+v", c)
				}
			})
		})
	}
}

// TestTracker_Exec checks that the state of a shell that replaced the integrated one is unknown.
func TestTracker_Exec(t *testing.T) {
	forEachShell(t, fullShells, func(t *testing.T, r *testShellSession, shell string) {
		r.typeLine("exec " + shellPath(t, "dash"))
		r.readUntil("doubt", func() bool { return r.tracker.State().Quality == None })
		r.sendKeys("echo in''side\r")
		r.waitForText("inside")
		if st := r.tracker.State(); st.Phase != PhaseUnknown || st.Quality != None {
			t.Errorf("state %+v", st)
		}
	})
}

func TestTracker_ShellKilled(t *testing.T) {
	forEachShell(t, allShells, func(t *testing.T, r *testShellSession, shell string) {
		r.typeLine("cat")
		r.waitForRunning("cat")
		if err := r.cmd.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		_ = r.pty.Close()
		c := Command{}
		for range r.chunks {
		}
		for _, ch := range r.tracker.Apply(Event{Kind: EventExit, At: uint64(len(r.bytes))}) {
			if ch.Kind == ChangeFinished {
				c = ch.Command
			}
		}
		if c.Text != "cat" || c.Exit != nil || r.tracker.Phase() != PhaseEnded {
			t.Errorf("command %+v", c)
		}
	})
}

// FEATURES: R13
func TestTracker_JobControl(t *testing.T) {
	forEachShell(t, []string{"bash", "zsh", "fish", "mksh", "ksh"}, func(t *testing.T, r *testShellSession, shell string) {
		line := "sh -c 'echo rea\"\"dy; exec cat'"
		r.typeLine(line)
		r.waitForText("ready")
		r.sendKeys("x\r")
		r.waitForText("x\nx")
		r.sendKeys("\x1a")
		c := r.nextChange(ChangeFinished).Command
		if c.Text != line {
			t.Errorf("stopped: %+v", c)
		}
		r.waitForPrompt()
		if shell != "bash" && shell != "zsh" {
			return // nothing shows when cat has the terminal again
		}
		before := len(r.bytes)
		r.typeLine("fg")
		r.waitForRunning("fg")
		// The shell names the job, and then it is cat's terminal.
		r.readUntil("the job's name", func() bool { return strings.Contains(string(r.bytes[before:]), "exec cat") })
		r.sendKeys("y\r")
		r.waitForText("y\ny")
		r.sendKeys("\x04")
		if c = r.nextChange(ChangeFinished).Command; exitOf(c) != 0 || c.Text != "fg" {
			t.Errorf("continued: %+v", c)
		}
	})
}

// TestCommandText_FromShell checks that if the tracker was not informed of a typed line, the shell reports its text.
func TestCommandText_FromShell(t *testing.T) {
	forEachShell(t, fullShells, func(t *testing.T, r *testShellSession, shell string) {
		for _, line := range []string{"echo '100%; x'", "echo žluť 日本", "sh -c 'exit 2' # 'x", " echo spaced"} {
			if shell == "zsh" && strings.Contains(line, "#") {
				continue
			}
			r.waitForPrompt()
			r.taken = len(r.changes)
			r.sendKeys(line + "\r")
			c := r.nextChange(ChangeFinished).Command
			if c.Text != line || c.TextSource != TextShell {
				t.Errorf("%q: text %q from %q", line, c.Text, c.TextSource)
			}
		}
	})
}

// TestCommandText_BashHistoryGuess checks that HISTCONTROL keeps lines out of bash's history: then the newest entry is
// a guess.
func TestCommandText_BashHistoryGuess(t *testing.T) {
	r := newTestShellSession(t, testShellOptions{argv: []string{shellPath(t, "bash")}, files: map[string]string{".bashrc": "HISTCONTROL=ignoreboth\n"}})
	r.run("echo one")
	for _, c := range []struct{ line, text string }{{"echo two", "echo two"}, {"echo two", "echo two"}, {" echo hidden", "echo two"}} {
		r.waitForPrompt()
		r.taken = len(r.changes)
		r.sendKeys(c.line + "\r")
		got := r.nextChange(ChangeFinished).Command
		if got.Text != c.text || (got.TextSource == TextShell) != (got.Number == 2) {
			t.Errorf("%q: text %q from %q", c.line, got.Text, got.TextSource)
		}
	}
}
