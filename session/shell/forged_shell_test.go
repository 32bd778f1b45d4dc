//go:build unix

package shell

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestTracker_IgnoresRepeatedOutput checks that repeated output in its own session starts and ends no command: each
// mark is accepted once.
// FAULT: E9
// FEATURES: R7
func TestTracker_IgnoresRepeatedOutput(t *testing.T) {
	forEachShell(t, allShells, func(t *testing.T, r *testShellSession, shell string) {
		r.run("cd /")
		if shell != "fish" {
			r.typeLine("echo 'a")
			r.nextChange(ChangeInput)
			r.sendKeys("b'\r")
			r.nextChange(ChangeFinished)
		}
		r.run("cd ~")
		r.waitForPrompt()
		raw := bytes.Clone(r.bytes)
		for _, guess := range []string{"", "lt=", "lt=;m=99999", "lt=" + strings.Repeat("0", 32) + ";m=100000", "m=100000"} {
			raw = fmt.Appendf(raw, "\x1b]133;D;0;%s\a\x1b]133;A;n=99;exit=0;%s\a\x1b]133;B;%s\a\x1b]133;C;%s\a", guess, guess, guess, guess)
		}
		if err := os.WriteFile(filepath.Join(r.home, "raw"), append(raw, "shown again"...), 0o600); err != nil {
			t.Fatal(err)
		}
		before := len(r.bytes)
		line := "cat raw; sh -c 'read x; exit 7'"
		r.typeLine(line)
		r.readUntil("what was shown", func() bool { return bytes.Contains(r.bytes[before:], []byte("shown again")) })
		r.waitForRunning("read x")
		if st := r.tracker.State(); st.Running.Text != line || st.HasEnded || st.InContinuation || st.PossibleEnd != nil || st.Cwd.Path != r.home {
			t.Errorf("state %+v, command %+v", st, st.Running)
		}
		r.taken = len(r.changes)
		r.sendKeys("\r")
		if c := r.nextChange(ChangeFinished).Command; exitOf(c) != 7 || c.Text != line {
			t.Errorf("command %+v", c)
		}
		if c := r.run("sh -c 'exit 3'"); exitOf(c) != 3 {
			t.Errorf("got next command %+v", c)
		}
	})
}

// TestNonce_IsNotExposed checks that the nonce is in no environment, and no longer in the file from which the shell
// read it.
// FAULT: A25
func TestNonce_IsNotExposed(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	forEachShell(t, allShells, func(t *testing.T, r *testShellSession, shell string) {
		r.run("true")
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", r.cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		if len(r.launch.Nonce) != 32 || bytes.Contains(b, []byte(r.launch.Nonce)) {
			t.Errorf("the shell's environment has the nonce")
		}
		err = filepath.WalkDir(r.home, func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte(r.launch.Nonce)) {
				t.Errorf("%s has the nonce", path)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		r.typeLine("tr '\\0' '\\n' </proc/$PPID/environ; sh -c 'env; cat /proc/$PPID/environ'; echo; echo en''d")
		r.waitForText("\nend")
		if strings.Contains(r.screen(), r.launch.Nonce) {
			t.Error("a program's environment has the nonce")
		}
		r.nextChange(ChangeFinished)
		r.waitForPrompt()
	})
}

// TestCwd_WithSpecialCharacters checks that the directory that a plain sh reports is a URL, whose slashes stay slashes.
// FAULT: E8
func TestCwd_WithSpecialCharacters(t *testing.T) {
	forEachShell(t, allShells, func(t *testing.T, r *testShellSession, shell string) {
		for _, name := range []string{"two words", "a%b;c", "žluť 日本", "it's"} {
			dir := filepath.Join(r.home, "d", name)
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			c := r.run("cd " + strings.NewReplacer(" ", "?", "%", "?", ";", "?", "'", "?", "ž", "*", "ť", "*", "日本", "*").Replace("d/"+name))
			at := bytes.LastIndex(r.bytes, []byte("\x1b]7;"))
			url, _, _ := strings.Cut(string(r.bytes[at+4:]), "\a")
			if got := ParseCwd("7", url); got.Path != dir || got.Host != "testhost" || c.CwdAfter != dir {
				t.Errorf("%s: %q is %+v; after the command %q", name, url, got, c.CwdAfter)
			}
			r.run("cd ~")
		}
	})
}

// TestLine_EndsAtThePrompt_WhenItRunsHooks checks that a line that expands the shell's prompt, or runs its hooks, ends
// at the shell's next prompt and with its own status.
// FAULT: H26
func TestLine_EndsAtThePrompt_WhenItRunsHooks(t *testing.T) {
	lines := map[string][]string{
		"bash": {
			`printf '%s' "${PS1@P}"; echo last; (exit 4)`, `__longterm_pre; echo last; (exit 4)`,
			`eval "${PROMPT_COMMAND[*]/%/;}"; echo last; (exit 4)`, `__longterm_post; __longterm_rescue; echo last; (exit 4)`,
		},
		"zsh":  {`print -P $PS1; echo last; (exit 4)`, `_longterm_precmd; _longterm_prompt; echo last; (exit 4)`, `for f in $precmd_functions; do $f; done; echo last; (exit 4)`},
		"fish": {`__longterm_prompt; echo last; sh -c 'exit 4'`, `emit fish_postexec x; emit fish_prompt; echo last; sh -c 'exit 4'`, `__longterm_postexec; __longterm_cancel; echo last; sh -c 'exit 4'`},
	}
	for shell, lines := range lines {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			r := newTestShellSession(t, testShellOptions{argv: []string{shellPath(t, shell)}})
			for _, line := range lines {
				r.submitLine(line, false)
				c := r.submitLine("echo next", false)
				if exitOf(c) != 0 || !strings.HasSuffix(strings.TrimSpace(r.text(c)), "next") {
					t.Errorf("%q: then %+v %q", line, c, r.text(c))
				}
				if st := r.tracker.State(); st.Phase != PhasePrompt || st.Quality != Full {
					t.Errorf("%q: then %+v", line, st)
				}
				for _, x := range r.changes {
					if x.Kind == ChangeFinished && x.Command.Number == c.Number-1 && (exitOf(x.Command) != 4 || x.Command.Text != line) {
						t.Errorf("%q: %+v", line, x.Command)
					}
				}
			}
		})
	}
}
