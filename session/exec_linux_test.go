package session

import (
	"errors"
	"fmt"
	"os/exec"
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/session/internal/lineexec"
	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/session/shell"
)

// Marks of a shell whose nonce is n.
const (
	promptMark = "\x1b]133;A;lt=n;n=1;exit=0\a$ \x1b]133;B;lt=n\a"
	beginMark  = "\x1b]133;C;lt=n\a"
)

// inShell runs f with a session whose shell is at its prompt.
func inShell(t *testing.T, f func(t *testing.T, d *asking)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		d := newAsking(t, dir, ring.Local(ring.DefaultSize), nil, func(c *Config) {
			c.Shell = &shell.Launch{Kind: shell.Bash, Quality: shell.Full, Nonce: "n", StateDir: dir, Cwd: "/"}
		})
		d.says(promptMark)
		f(t, d)
	})
}

// A line that a user just ended at the prompt goes first: input before the shell has started it would go to the program
// that it starts.
//
// FEATURES: R49
func TestWhatWasJustTypedGoesFirst(t *testing.T) {
	const typed = "ssh host\r"
	begin := func(t *testing.T, d *asking) *Run {
		t.Helper()
		if _, err := d.s.Type(t.Context(), Typing{Bytes: []byte(typed)}); err != nil {
			t.Fatal(err)
		}
		r, err := d.s.Exec(t.Context(), Line{Text: "echo x"})
		if err != nil {
			t.Fatal(err)
		}
		settled()
		if d.got() != typed {
			t.Fatalf("typed %q before the shell has begun", d.got())
		}
		return r
	}
	t.Run("it begins", func(t *testing.T) {
		inShell(t, func(t *testing.T, d *asking) {
			r := begin(t, d)
			d.says(beginMark)
			select {
			case <-r.Done:
			default:
				t.Fatal("the line waits")
			}
			if !errors.Is(r.Err, ErrBusy) || d.got() != typed {
				t.Errorf("%v, typed %q", r.Err, d.got())
			}
		})
	})
	t.Run("it does not", func(t *testing.T) {
		inShell(t, func(t *testing.T, d *asking) {
			begin(t, d)
			time.Sleep(lineexec.EnterTime)
			synctest.Wait()
			if want := typed + "\x15echo x\r"; d.got() != want {
				t.Errorf("typed %q, want %q", d.got(), want)
			}
		})
	})
}

// What a shell's line editor shows of a line is not for rules, also when the line is typed at a prompt
// that stood there before a restart: an editor that draws it over several rows shows it not as it was typed.
//
// FEATURES: R51
func TestTheEditorsOutputIsKnownAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, r := t.TempDir(), ring.Local(ring.DefaultSize)
		asShell := func(c *Config) {
			c.Shell = &shell.Launch{Kind: shell.Bash, Quality: shell.Full, Nonce: "n", StateDir: dir, Cwd: "/"}
		}
		const prompt = "\x1b]133;A;lt=n;m=%d;n=%[1]d;exit=0\a$ \x1b]133;B;lt=n;m=%d\a"
		d := newAsking(t, dir, r, nil, asShell)
		d.add(t, respond.Rule{Text: "Go? ", Reply: enterLine("y")})
		d.says(fmt.Sprintf(prompt, 1, 2))
		d.s.Stop()
		d = newAsking(t, dir, r, nil, asShell)
		settled()
		d.says("\r\x1b[K\r$ \x1b]133;B;lt=n;m=2\a") // drawn again, with marks that were there
		d.says("echo 'Go? \x1b[7m'\x1b[27m\b'\r\n")
		if got := d.got(); got != "" {
			t.Errorf("typed %q for what the editor shows", got)
		}
		d.says("\x1b]133;C;lt=n;m=3\aGo? ")
		if got := d.got(); got != "y\r" {
			t.Errorf("typed %q, want an answer", got)
		}
	})
}

// The newest entry of the history is the text of a typed line only if the shell's editor shows it: a line that HISTCONTROL or
// HISTIGNORE keeps out of the history is recorded without a text.
//
// FAULT: G1
func TestGuessedText_NeedsTheEditor(t *testing.T) {
	for shown, want := range map[string]string{
		"ls -l": "ls -l", " ls  -l": "ls -l", "lx\b \bs -l": "ls -l", "\x1b[?2004hl \rs -l": "ls -l",
		" rm -rf x": "", "rm; ls -l": "", "": "",
	} {
		inShell(t, func(t *testing.T, d *asking) {
			d.says(shown + "\r\n\x1b]133;C;lt=n;guess=1;cmdline_url=ls -l\a")
			st := d.s.lines.shell.State()
			if st.Running == nil || st.Running.Text != want {
				t.Errorf("shown as %q: %+v, want the text %q", shown, st.Running, want)
			}
		})
	}
}

// A start file may replace the shell before its first prompt: its arguments are others than those it was started with.
//
// FAULT: H12
func TestReplacedShell_IsSeen_BeforeTheFirstPrompt(t *testing.T) {
	h := &lineHost{s: &Session{cfg: Config{Shell: &shell.Launch{Argv: []string{"/bin/bash", "--init-file", "/d/longterm.bash"}}}}}
	if h.isReplaced(1, []string{"bash", "--init-file", "/d/longterm.bash"}) || !h.isReplaced(1, []string{"bash"}) {
		t.Error("the arguments do not count")
	}
	// With the same arguments, as exec zsh in .zshrc has them, the environment differs.
	h.s.cfg.Shell.StateDir = "/d"
	same := []string{"bash", "--init-file", "/d/longterm.bash"}
	for _, env := range []string{shell.StateVariable + "=/d", "OTHER=x"} {
		cmd := exec.Command("cat")
		cmd.Env = []string{env}
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err == nil { // Start returns before the kernel shows the new environment: wait until the program answers
			_, err = in.Write([]byte("x"))
		}
		if err == nil {
			_, err = out.Read(make([]byte, 1))
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := h.isReplaced(cmd.Process.Pid, same); got != (env == "OTHER=x") {
			t.Errorf("with %s: replaced %v", env, got)
		}
		_ = in.Close()
		_ = cmd.Wait()
	}
	if h.prepared = true; h.isReplaced(1, []string{"bash"}) {
		t.Error("a shell that was prepared counts as replaced before it sent a mark")
	}
	if h.s.cfg.Shell.Argv, h.prepared = nil, false; h.isReplaced(1, []string{"bash"}) {
		t.Error("arguments that are not known count")
	}
}
