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
	outputMark = "\x1b]133;C;lt=n\a"
)

// inShell runs f with a session whose shell is at its prompt.
func inShell(t *testing.T, f func(t *testing.T, d *ttyDevice)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		d := newTTYDevice(t, dir, ring.Local(ring.DefaultSize), nil, func(c *Config) {
			c.Shell = &shell.Launch{Kind: shell.Bash, Quality: shell.Full, Nonce: "n", StateDir: dir, Cwd: "/"}
		})
		d.print(promptMark)
		f(t, d)
	})
}

// TestEnteredLine_GoesFirst checks that a line which a user just ended at the prompt goes first: input before the shell
// has started it would go to the program that it starts.
//
// FEATURES: R49
func TestEnteredLine_GoesFirst(t *testing.T) {
	const typed = "ssh host\r"
	begin := func(t *testing.T, d *ttyDevice) *Run {
		t.Helper()
		if _, err := d.s.Type(t.Context(), TypeRequest{Bytes: []byte(typed)}); err != nil {
			t.Fatal(err)
		}
		r, err := d.s.Exec(t.Context(), Line{Text: "echo x"})
		if err != nil {
			t.Fatal(err)
		}
		waitSettled()
		if d.typedText() != typed {
			t.Fatalf("typed %q before the shell started the line", d.typedText())
		}
		return r
	}
	t.Run("line starts", func(t *testing.T) {
		inShell(t, func(t *testing.T, d *ttyDevice) {
			r := begin(t, d)
			d.print(outputMark)
			select {
			case <-r.DoneC:
			default:
				t.Fatal("the line was not rejected")
			}
			if !errors.Is(r.Err, ErrBusy) || d.typedText() != typed {
				t.Errorf("%v, typed %q", r.Err, d.typedText())
			}
		})
	})
	t.Run("line does not start", func(t *testing.T) {
		inShell(t, func(t *testing.T, d *ttyDevice) {
			begin(t, d)
			time.Sleep(lineexec.EnterTime)
			synctest.Wait()
			if want := typed + "\x15echo x\r"; d.typedText() != want {
				t.Errorf("typed %q, want %q", d.typedText(), want)
			}
		})
	})
}

// TestEditorOutput_KnownAfterRestart checks that output of a shell's line editor is not for rules, also when the line is
// typed at a prompt from before a restart: an editor that draws it over several rows shows it differently.
//
// FEATURES: R51
func TestEditorOutput_KnownAfterRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, r := t.TempDir(), ring.Local(ring.DefaultSize)
		asShell := func(c *Config) {
			c.Shell = &shell.Launch{Kind: shell.Bash, Quality: shell.Full, Nonce: "n", StateDir: dir, Cwd: "/"}
		}
		const prompt = "\x1b]133;A;lt=n;m=%d;n=%[1]d;exit=0\a$ \x1b]133;B;lt=n;m=%d\a"
		d := newTTYDevice(t, dir, r, nil, asShell)
		d.addRules(t, respond.Rule{Text: "Go? ", Reply: enterLine("y")})
		d.print(fmt.Sprintf(prompt, 1, 2))
		d.s.Stop()
		d = newTTYDevice(t, dir, r, nil, asShell)
		waitSettled()
		d.print("\r\x1b[K\r$ \x1b]133;B;lt=n;m=2\a") // drawn again, with known marks
		d.print("echo 'Go? \x1b[7m'\x1b[27m\b'\r\n")
		if got := d.typedText(); got != "" {
			t.Errorf("typed %q for the editor's output", got)
		}
		d.print("\x1b]133;C;lt=n;m=3\aGo? ")
		if got := d.typedText(); got != "y\r" {
			t.Errorf("typed %q, want an answer", got)
		}
	})
}

// TestGuessedText_NeedsTheEditor checks that the newest entry of the history is the text of a typed line only if the
// shell's editor shows it: a line that HISTCONTROL or HISTIGNORE keeps out of the history is recorded without a text.
//
// FAULT: G1
func TestGuessedText_NeedsTheEditor(t *testing.T) {
	for shown, want := range map[string]string{
		"ls -l": "ls -l", " ls  -l": "ls -l", "lx\b \bs -l": "ls -l", "\x1b[?2004hl \rs -l": "ls -l",
		" rm -rf x": "", "rm; ls -l": "", "": "",
	} {
		inShell(t, func(t *testing.T, d *ttyDevice) {
			d.print(shown + "\r\n\x1b]133;C;lt=n;guess=1;cmdline_url=ls -l\a")
			st := d.s.lines.shell.State()
			if st.Running == nil || st.Running.Text != want {
				t.Errorf("shown as %q: %+v, want the text %q", shown, st.Running, want)
			}
		})
	}
}

// TestReplacedShell_IsSeen_BeforeTheFirstPrompt checks a start file that replaces the shell before its first prompt.
//
// FAULT: H12
func TestReplacedShell_IsSeen_BeforeTheFirstPrompt(t *testing.T) {
	h := &lineHost{s: &Session{cfg: Config{Shell: &shell.Launch{Argv: []string{"/bin/bash", "--init-file", "/d/longterm.bash"}}}}}
	if h.isReplaced(1, []string{"bash", "--init-file", "/d/longterm.bash"}) || !h.isReplaced(1, []string{"bash"}) {
		t.Error("other arguments do not count as a replacement")
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
	if h.hasPreparedShell = true; h.isReplaced(1, []string{"bash"}) {
		t.Error("a prepared shell counts as replaced before its first mark")
	}
	if h.s.cfg.Shell.Argv, h.hasPreparedShell = nil, false; h.isReplaced(1, []string{"bash"}) {
		t.Error("unknown arguments count as a replacement")
	}
}
