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

// inEach runs a test in each of the shells named.
func inEach(t *testing.T, names []string, test func(t *testing.T, r *rig, shell string)) {
	for _, sh := range shells {
		if !slices.Contains(names, sh.name) {
			continue
		}
		t.Run(sh.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{argv: append([]string{shellPath(t, sh.name)}, sh.argv[1:]...)})
			r.prompt()
			test(t, r, sh.name)
		})
	}
}

var (
	fullShells = []string{"bash", "zsh", "fish"}
	allShells  = []string{"bash", "zsh", "fish", "mksh", "dash", "ksh"}
)

// running waits until a command whose text contains s runs.
func (r *rig) running(s string) {
	r.t.Helper()
	r.until("command "+s, func() bool {
		st := r.tracker.State()
		return st.Phase == PhaseRunning && st.Running != nil && strings.Contains(st.Running.Text, s)
	})
}

// shows waits for text on the screen.
func (r *rig) shows(text string) {
	r.t.Helper()
	r.until("text "+text, func() bool { return strings.Contains(r.screen(), text) })
}

// keysForPrompt types what makes the shell prompt again.
func (r *rig) keysForPrompt(keys string) {
	r.t.Helper()
	n := r.tracker.State().Prompt
	r.keys(keys)
	r.until("another prompt", func() bool { st := r.tracker.State(); return st.Prompt > n && st.Phase == PhasePrompt })
}

// rests waits until the shell sleeps in a read. Line editors lose an interrupt that
// comes before.
func (r *rig) rests() {
	r.t.Helper()
	if runtime.GOOS != "linux" {
		r.t.Skip("needs /proc")
	}
	for deadline := time.Now().Add(failsafe); time.Now().Before(deadline); runtime.Gosched() {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", r.cmd.Process.Pid))
		if err != nil {
			r.t.Fatal(err)
		}
		if strings.Contains(string(b), ") S ") {
			return
		}
	}
	r.t.Fatal("the shell does not rest")
}

// FEATURES: R8 R88
func TestRunningUntilItEnds(t *testing.T) {
	inEach(t, allShells, func(t *testing.T, r *rig, shell string) {
		r.typeLine("sh -c 'echo rea\"\"dy; exec cat'; false")
		r.shows("ready")
		r.keys("echoed\r")
		r.shows("echoed\nechoed")
		if st := r.tracker.State(); st.Phase != PhaseRunning || st.Done {
			t.Errorf("state %+v while cat runs", st)
		}
		r.keys("\x04")
		c := r.next(ChangeFinished).Command
		r.prompt()
		if exitOf(c) != 1 || c.Text != "sh -c 'echo rea\"\"dy; exec cat'; false" {
			t.Errorf("command %+v", c)
		}
	})
}

func TestInterruptRunning(t *testing.T) {
	inEach(t, allShells, func(t *testing.T, r *rig, shell string) {
		r.typeLine("sh -c 'echo rea\"\"dy; exec cat'")
		r.shows("ready")
		r.keys("\x03")
		c := r.next(ChangeFinished).Command
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

// Fish loses an interrupt while it highlights, which cannot be seen from here.
func TestInterruptAtPrompt(t *testing.T) {
	inEach(t, []string{"bash", "zsh", "mksh", "dash", "ksh"}, func(t *testing.T, r *rig, shell string) {
		r.run("true")
		r.until("prompt", func() bool { return prompted.MatchString(strings.TrimRight(r.screen(), " \n")) })
		r.keys("abandoned")
		r.until("prompt and line", func() bool { return abandoned.MatchString(r.screen()) })
		r.rests()
		r.keysForPrompt("\x03")
		c := r.run("sh -c 'exit 6'")
		if exitOf(c) != 6 || c.Number != 2 {
			t.Errorf("command %+v, want the second", c)
		}
	})
}

func TestEmptyLines(t *testing.T) {
	inEach(t, allShells, func(t *testing.T, r *rig, shell string) {
		r.run("false")
		for range 3 {
			r.keysForPrompt("\r")
		}
		if c := r.run("sh -c 'exit 6'"); exitOf(c) != 6 || c.Number != 2 {
			t.Errorf("command %+v, want the second", c)
		}
	})
}

func TestSyntaxError(t *testing.T) {
	inEach(t, allShells, func(t *testing.T, r *rig, shell string) {
		c := r.run("echo )")
		if exitOf(c) == 0 || c.Text != "echo )" {
			t.Errorf("command %+v", c)
		}
		if r.tracker.State().Kept { // by fish, in its editor
			r.keys("\x15")
		}
		if c = r.run("true"); exitOf(c) != 0 || c.Text != "true" || c.Number != 2 {
			t.Errorf("the next command: %+v", c)
		}
	})
}

// The rest of a line is asked for with another prompt, and told from the first.
func TestContinuation(t *testing.T) {
	inEach(t, []string{"bash", "zsh"}, func(t *testing.T, r *rig, shell string) {
		r.typeLine("echo 'open")
		r.next(ChangeInput)
		if st := r.tracker.State(); !st.Continuation || st.Phase != PhasePrompt {
			t.Errorf("state %+v", st)
		}
		r.keys("closed'\r")
		if c := r.next(ChangeFinished).Command; r.text(c) != "open\nclosed" {
			t.Errorf("command %+v printed %q", c, r.text(c))
		}
	})
}

// What a background job prints at the prompt belongs to no command.
func TestBackgroundOutput(t *testing.T) {
	inEach(t, allShells, func(t *testing.T, r *rig, shell string) {
		line := "(read x <fifo; echo late) &"
		if shell == "fish" {
			line = "sh -c 'read x <fifo; echo late' &"
		}
		r.run("mkfifo fifo")
		r.run(line)
		c := r.run("echo go >fifo")
		r.shows("late")
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

// A shell started inside knows no nonce: it is one running command.
func TestNestedShell(t *testing.T) {
	for _, inner := range []string{"bash", "zsh", "fish", "dash"} {
		t.Run(inner, func(t *testing.T) {
			path := shellPath(t, inner)
			inEach(t, allShells, func(t *testing.T, r *rig, shell string) {
				r.typeLine("echo rea''dy; " + path)
				r.until("prompt inside", func() bool { return insidePrompt.MatchString(r.screen()) })
				r.keys("echo in''side; echo \"<$LONGTERM_STATE$ZDOTDIR>\"; cd /\r")
				r.shows("inside\n<>")
				r.keys("exit 3\r")
				c := r.next(ChangeFinished).Command
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

// A shell that replaced the one we know is not known.
func TestExec(t *testing.T) {
	inEach(t, fullShells, func(t *testing.T, r *rig, shell string) {
		r.typeLine("exec " + shellPath(t, "dash"))
		r.until("doubt", func() bool { return r.tracker.State().Quality == None })
		r.keys("echo in''side\r")
		r.shows("inside")
		if st := r.tracker.State(); st.Phase != PhaseUnknown || st.Quality != None {
			t.Errorf("state %+v", st)
		}
	})
}

func TestShellKilled(t *testing.T) {
	inEach(t, allShells, func(t *testing.T, r *rig, shell string) {
		r.typeLine("cat")
		r.running("cat")
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
func TestJobControl(t *testing.T) {
	inEach(t, []string{"bash", "zsh", "fish", "mksh", "ksh"}, func(t *testing.T, r *rig, shell string) {
		line := "sh -c 'echo rea\"\"dy; exec cat'"
		r.typeLine(line)
		r.shows("ready")
		r.keys("x\r")
		r.shows("x\nx")
		r.keys("\x1a")
		c := r.next(ChangeFinished).Command
		if c.Text != line {
			t.Errorf("stopped: %+v", c)
		}
		r.prompt()
		if shell != "bash" && shell != "zsh" {
			return // nothing tells when the terminal is cat's again
		}
		before := len(r.bytes)
		r.typeLine("fg")
		r.running("fg")
		// The shell names the job, and then it is cat's terminal.
		r.until("the job's name", func() bool { return strings.Contains(string(r.bytes[before:]), "exec cat") })
		r.keys("y\r")
		r.shows("y\ny")
		r.keys("\x04")
		if c = r.next(ChangeFinished).Command; exitOf(c) != 0 || c.Text != "fg" {
			t.Errorf("continued: %+v", c)
		}
	})
}

// Nothing but the tracker told what was typed: the shell tells the text.
func TestTextFromTheShell(t *testing.T) {
	inEach(t, fullShells, func(t *testing.T, r *rig, shell string) {
		for _, line := range []string{"echo '100%; x'", "echo žluť 日本", "sh -c 'exit 2' # 'x", " echo spaced"} {
			if shell == "zsh" && strings.Contains(line, "#") {
				continue
			}
			r.prompt()
			r.taken = len(r.changes)
			r.keys(line + "\r")
			c := r.next(ChangeFinished).Command
			if c.Text != line || c.TextSource != TextShell {
				t.Errorf("%q: text %q from %q", line, c.Text, c.TextSource)
			}
		}
	})
}

// HISTCONTROL keeps lines out of bash's history: then the newest entry is a guess.
func TestBashHistoryGuess(t *testing.T) {
	r := newRig(t, rigOptions{argv: []string{shellPath(t, "bash")}, files: map[string]string{".bashrc": "HISTCONTROL=ignoreboth\n"}})
	r.run("echo one")
	for _, c := range []struct{ line, text string }{{"echo two", "echo two"}, {"echo two", "echo two"}, {" echo hidden", "echo two"}} {
		r.prompt()
		r.taken = len(r.changes)
		r.keys(c.line + "\r")
		got := r.next(ChangeFinished).Command
		if got.Text != c.text || (got.TextSource == TextShell) != (got.Number == 2) {
			t.Errorf("%q: text %q from %q", c.line, got.Text, got.TextSource)
		}
	}
}
