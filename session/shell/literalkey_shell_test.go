//go:build unix

package shell

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// submitLine types a line with InputPrefix, as a program submits it.
func (r *testShellSession) submitLine(line string, record bool) Command {
	r.t.Helper()
	r.waitForPrompt()
	if r.launch.Quality != Full {
		r.waitForRead()
	}
	r.taken = len(r.changes)
	st := r.tracker.State()
	r.apply(Event{Kind: EventTyped, At: uint64(len(r.bytes)), Text: line})
	text := st.InputPrefix(r.launch.Kind, record)
	if name, content := st.HistoryRemovalFile(r.launch.Kind); name != "" && !record {
		if err := os.WriteFile(filepath.Join(r.launch.StateDir, name), content, 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
	if r.launch.Kind.Spec().SupportsPaste {
		r.readUntil("an editor that takes pastes", func() bool { return r.engine.Modes().BracketedPaste })
		text += "\x1b[200~" + line + "\x1b[201~"
	} else {
		text += line
	}
	r.sendKeys(text + "\r")
	n, paste := st.Prompt, strings.Count(line, "\n") > 0
	c := r.nextChange(ChangeFinished).Command
	r.readUntil("prompt", func() bool {
		st := r.tracker.State()
		return st.Phase == PhasePrompt && (!paste || st.Prompt > n)
	})
	return c
}

// TestSubmittedLines_AreNotExpanded checks that submitted lines are read literally: no exclamation mark expands
// history, in one line or several. Lines that users type are expanded as usual.
// FAULT: B1
// FEATURES: R49
func TestSubmittedLines_AreNotExpanded(t *testing.T) {
	forEachShell(t, allShells, func(t *testing.T, r *testShellSession, shell string) {
		r.run("echo first")
		for _, c := range []struct{ line, out string }{
			{`echo "#!/bin/bash" > x; cat x`, "#!/bin/bash"},
			{`echo "wow!!"`, "wow!!"},
			{`printf '%s\n' "fix !x" "!echo !-1 ^a^b"`, "fix !x\n!echo !-1 ^a^b"},
			{"echo \"one!!\"\necho 'two!!'\necho three!! # !!", "one!!\ntwo!!\nthree!!"},
			{"cat <<EOF\n!! and !x\nEOF", "!! and !x"},
		} {
			several := strings.Contains(c.line, "\n")
			if several && (!r.launch.Kind.Spec().SupportsPaste || shell == "fish" && strings.Contains(c.line, "EOF")) {
				continue
			}
			seen := c.out
			if r.launch.Quality == Full { // else the prompt may arrive after the line's echo
				seen = "\n" + seen
			}
			got := r.submitLine(c.line, true)
			if exitOf(got) != 0 || !strings.Contains(r.screen(), seen) {
				t.Errorf("%q: %+v\n%s", c.line, got, r.screen())
			}
		}
		if shell != "bash" && shell != "zsh" {
			return
		}
		r.run("echo typed")
		if c := r.run(`echo "again: !!"`); r.text(c) != "again: echo typed" && !strings.HasSuffix(r.text(c), "again: echo typed") {
			t.Errorf("a line that a user types is not expanded: %q", r.text(c))
		}
		r.submitLine("echo 'x!!'", false)
		if shell == "zsh" {
			r.run("echo typed") // a line that is not recorded stays until the next
		}
		r.waitForRead()
		r.keysForPrompt("\x03")
		if c := r.run(`echo "again: !!"`); !strings.HasSuffix(r.text(c), "again: echo typed") && !strings.HasSuffix(r.text(c), `echo "again: echo typed"`) {
			t.Errorf("a line that a user types is not expanded: %q", r.text(c))
		}
	})
}

// TestSubmittedLines_AreNotRecorded checks that submitted lines are in no history, unless requested. Lines that users
// type are, and the history file is not truncated.
// FAULT: A8
func TestSubmittedLines_AreNotRecorded(t *testing.T) {
	old := strings.Repeat("echo old\n", 3000)
	for _, c := range []struct {
		shell, file, rc string
		files           map[string]string
	}{
		{"bash", ".bash_history", ".bashrc", map[string]string{".bashrc": "HISTSIZE=5000 HISTFILESIZE=5000 HISTCONTROL=\n", ".bash_history": old}},
		{"bash, at once", ".bash_history", ".bashrc", map[string]string{".bashrc": "HISTSIZE=5000 HISTFILESIZE=5000 HISTIGNORE=ls:cd\nPROMPT_COMMAND='history -a'\n", ".bash_history": old}},
		{"zsh", ".zhistory", ".zshrc", map[string]string{".zshrc": "HISTFILE=~/.zhistory HISTSIZE=5000 SAVEHIST=5000\nsetopt inc_append_history\n", ".zhistory": old}},
		{"fish", ".local/share/fish/fish_history", "", nil},
	} {
		t.Run(c.shell, func(t *testing.T) {
			t.Parallel()
			name, _, _ := strings.Cut(c.shell, ",")
			r := newTestShellSession(t, testShellOptions{argv: []string{shellPath(t, name)}, files: c.files})
			r.run("echo typed-1")
			r.submitLine("echo hidden-1", false)
			r.submitLine("echo \"hidden-2\"\necho hidden-3", false)
			r.submitLine("echo recorded-1", true)
			r.run("echo typed-2")
			r.submitLine("echo hidden-4", false)
			r.typeLine("exit")
			r.readUntil("end", func() bool { return r.eof })
			_ = r.cmd.Wait()
			b, err := os.ReadFile(filepath.Join(r.home, c.file))
			if err != nil {
				t.Fatal(err)
			}
			got := string(b)
			for _, want := range []string{"echo typed-1", "echo recorded-1", "echo typed-2"} {
				if strings.Count(got, want) != 1 {
					t.Errorf("%s is there %d times", want, strings.Count(got, want))
				}
			}
			if strings.Contains(got, "hidden") || strings.Count(got, "echo old") != strings.Count(c.files[c.file], "echo old") {
				t.Errorf("%d old lines of %d; the end: %q", strings.Count(got, "echo old"), strings.Count(c.files[c.file], "echo old"), got[max(0, len(got)-300):])
			}
		})
	}
}

// TestSubmittedText_IsNeverFromTheHistory checks that the text of a submitted line is the submitted text, in one
// statement or several, whatever the shell's history contains.
// FAULT: G1
func TestSubmittedText_IsNeverFromTheHistory(t *testing.T) {
	const old = "rm -rf /important\n"
	lines := []string{
		"echo a\necho b", "echo a\n# only a comment\necho b", "cat <<EOF\na\nb\nEOF\necho c; (exit 3)", "for i in 1 2; do\necho $i\ndone\n(exit 3)",
		" echo spaced\n echo more", "echo twice", "echo twice",
	}
	for _, shell := range []string{"bash", "zsh", "fish", "dash"} {
		for name, rc := range map[string]string{
			"no history": "unset HISTFILE\n", "full": "", "ignored": "HISTCONTROL=ignoreboth:erasedups HISTIGNORE='echo*:cat*'\n",
			"not kept": "set +o history\n",
		} {
			if rc != "" && shell != "bash" {
				continue
			}
			t.Run(shell+", "+name, func(t *testing.T) {
				t.Parallel()
				files := map[string]string{".bashrc": rc, ".bash_history": old, ".zshrc": "HISTFILE=~/.zhistory HISTSIZE=50 SAVEHIST=50\n", ".zhistory": old}
				if name == "no history" {
					delete(files, ".bash_history")
				}
				r := newTestShellSession(t, testShellOptions{argv: []string{shellPath(t, shell)}, files: files})
				for _, record := range []bool{false, true} {
					for _, line := range lines {
						several := strings.Contains(line, "\n")
						if several && (shell == "dash" || shell == "fish" && strings.ContainsAny(line, "<(")) {
							continue
						}
						began := r.tracker.State().CommandCount
						c := r.submitLine(line, record)
						if c.Text != line || c.TextSource != TextTyped || c.Number != began+1 || r.tracker.State().CommandCount != c.Number {
							t.Errorf("recorded %v: %q ran as %q (%q), number %d after %d of %d", record, line, c.Text, c.TextSource, c.Number, began, r.tracker.State().CommandCount)
						}
						want := 0
						if strings.HasSuffix(line, "(exit 3)") {
							want = 3
						}
						if exitOf(c) != want {
							t.Errorf("%q exited with %d, want %d", line, exitOf(c), want)
						}
					}
				}
			})
		}
	}
}

// TestSubmittedLines_MayHaveComments checks that a submitted line may have comments, as in a script, even if the user's
// zsh allows none at its prompt.
// FAULT: G1
func TestSubmittedLines_MayHaveComments(t *testing.T) {
	for _, rc := range []string{"\n", "setopt interactivecomments\n"} {
		r := newTestShellSession(t, testShellOptions{argv: []string{shellPath(t, "zsh")}, files: map[string]string{".zshrc": rc}})
		for _, record := range []bool{false, true} {
			if c := r.submitLine("# it's a comment\necho one # two", record); exitOf(c) != 0 || r.text(c) != "one" {
				t.Errorf("%q, recorded %v: %+v, %q", rc, record, c, r.text(c))
			}
		}
		want := "one # two"
		if rc != "\n" {
			want = "one"
		}
		if c := r.run("echo one # two"); r.text(c) != want {
			t.Errorf("%q: a typed line printed %q, want %q", rc, r.text(c), want)
		}
	}
}

// TestSubmittedLines_WithoutTheLineEditor checks that a zsh without its line editor gets no literal key, which it would
// read as text.
// FAULT: H12
func TestSubmittedLines_WithoutTheLineEditor(t *testing.T) {
	r := newTestShellSession(t, testShellOptions{argv: []string{shellPath(t, "zsh")}, files: map[string]string{".zshrc": "\n"}})
	if c := r.run("unsetopt zle"); exitOf(c) != 0 {
		t.Fatalf("%+v", c)
	}
	if r.waitForPrompt(); r.tracker.State().SupportsLiteralKey {
		t.Error("the prompt still supports the keys")
	}
	if c := r.run("echo one"); r.text(c) != "one" {
		t.Errorf("%+v: %q", c, r.text(c))
	}
}

// TestSubmittedLines_AreNotRecordedByKsh93 checks that ksh93 removes a submitted line from its history, whether it
// fails, is no command or is interrupted. It keeps the lines that users type, also after a line that it did not record.
// FAULT: A8
func TestSubmittedLines_AreNotRecordedByKsh93(t *testing.T) {
	tier.Full(t)
	r := newTestShellSession(t, testShellOptions{argv: []string{shellPath(t, "ksh93")}})
	r.run("echo typed-1")
	r.submitLine("echo hidden-1", false)
	r.submitLine("false hidden-2", false)
	r.submitLine("( hidden-3 ))", false)
	if c := r.run("echo $?; echo typed-2"); r.text(c) == "" || exitOf(c) != 0 {
		t.Errorf("%+v", c)
	}
	r.submitLine("echo recorded-1", true)
	r.submitLine(" ", false)
	r.run("set -eu; set -f")
	if c := r.submitLine("echo hidden-4", false); exitOf(c) != 0 {
		t.Errorf("%+v", c)
	}
	c := r.run("hist -l -100")
	if got := r.text(c); strings.Contains(got, "hidden") || !strings.Contains(got, "typed-1") || !strings.Contains(got, "recorded-1") || !strings.Contains(got, "set -eu") {
		t.Errorf("the history:\n%s", got)
	}
}
