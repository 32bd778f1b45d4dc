//go:build unix

package shell

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlainShells_KeepMarks_WithoutPath checks that an empty PATH does not affect the marks of the plain shells.
// FAULT: H27
func TestPlainShells_KeepMarks_WithoutPath(t *testing.T) {
	for _, name := range []string{"dash", "mksh", "ksh"} {
		t.Run(name, func(t *testing.T) {
			r := newTestShellSession(t, testShellOptions{argv: []string{shellPath(t, name)}})
			if c := r.run("PATH=/nowhere"); exitOf(c) != 0 {
				t.Fatalf("%+v", c)
			}
			if c := r.run("echo one"); exitOf(c) != 0 {
				t.Errorf("%+v", c)
			}
			if c := r.runWrapped(Detect([]string{name}), "export A=1\necho two"); exitOf(c) != 0 || r.text(c) != "two" || r.environ()["A"] != "1" {
				t.Errorf("%+v, %q", c, r.text(c))
			}
		})
	}
}

// TestPlainShells_PromptOnce_AfterAnIncompleteLine checks that an interrupt at an incomplete line leads to one prompt.
// ksh93 would print prompts without end if a command of a prompt redirected the call of a function.
// FAULT: H27
func TestPlainShells_PromptOnce_AfterAnIncompleteLine(t *testing.T) {
	for _, name := range []string{"dash", "mksh", "ksh"} {
		t.Run(name, func(t *testing.T) {
			r := newTestShellSession(t, testShellOptions{argv: []string{shellPath(t, name)}})
			r.waitForPrompt()
			r.sendKeys("echo 'open\r")
			r.readUntil("continuation", func() bool { return r.tracker.State().InContinuation })
			r.waitForRead()
			r.keysForPrompt("\x03")
			prompt := r.tracker.State().Prompt
			r.waitForRead()
			if c := r.run("sh -c 'exit 6'"); exitOf(c) != 6 || r.tracker.State().Prompt != prompt+1 {
				t.Errorf("%+v at prompt %d, want %d", c, r.tracker.State().Prompt, prompt+1)
			}
		})
	}
}

// TestTrace_ShowsNoNonce checks that a trace shows no nonce, with which a program that reads the screen could forge
// marks.
// FAULT: H27
func TestTrace_ShowsNoNonce(t *testing.T) {
	forEachShell(t, allShells, func(t *testing.T, r *testShellSession, _ string) {
		r.run("set -x")
		if c := r.run("/bin/sh -c 'exit 3'"); exitOf(c) != 3 {
			t.Errorf("%+v", c)
		}
		if bytes.Contains(bytes.ReplaceAll(r.bytes, []byte("lt="+r.launch.Nonce), nil), []byte(r.launch.Nonce)) || strings.Contains(r.screen(), r.launch.Nonce) {
			t.Errorf("the nonce is on the screen:\n%s", r.screen())
		}
	})
}

// TestTrace_ShowsNoToken_OfWrappedLines checks that a trace shows nothing of the marks around a wrapped line, except
// that the Korn shells show how their trace is dropped.
//
// FAULT: H27
func TestTrace_ShowsNoToken_OfWrappedLines(t *testing.T) {
	for name, want := range map[string]string{
		"dash": "+ command eval echo one\necho two\n+ echo one\none\n+ echo two\ntwo",
		"ksh":  "+ command eval $'echo one\\necho two'\n+ echo one\none\n+ echo two\ntwo\n+ 2> /dev/null",
		"mksh": "+ eval $'echo one\\necho two'\n+ echo one\none\n+ echo two\ntwo\n+ set +x -- 0",
	} {
		t.Run(name, func(t *testing.T) {
			r := newTestShellSession(t, testShellOptions{argv: []string{shellPath(t, name)}})
			r.run("set -x")
			c := r.runWrapped(r.launch.Kind, "echo one\necho two")
			if exitOf(c) != 0 || r.text(c) != want {
				t.Errorf("%+v, %q", c, r.text(c))
			}
			if c := r.runWrapped(r.launch.Kind, "echo one\n(exit 3)"); exitOf(c) != 3 {
				t.Errorf("%+v", c)
			}
			prompt := len(r.bytes)
			r.run("true")
			if got := string(r.bytes[prompt:]); name == "ksh" && strings.Contains(got, "/dev/null") {
				t.Errorf("the trace shows %q", got)
			}
		})
	}
}

// TestHistory_HasNoLineOfOurs checks that the lines that longterm types for itself are not in the user's history: those
// that restore the hooks, and those around a text of several lines.
//
// FAULT: H27
func TestHistory_HasNoLineOfOurs(t *testing.T) {
	for _, name := range []string{"bash", "zsh", "mksh", "ksh"} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{".zshrc": "HISTSIZE=100\n"}
			r := newTestShellSession(t, testShellOptions{argv: []string{shellPath(t, name)}, files: files})
			kind := r.launch.Kind
			r.run("echo mine")
			if kind.Spec().wrap != nil && !kind.Spec().SupportsPaste {
				if c := r.runWrapped(kind, "echo one\necho 'two'"); r.text(c) != "one\ntwo" {
					t.Errorf("%+v, %q", c, r.text(c))
				}
			}
			r.waitForPrompt()
			st := r.tracker.State()
			r.typeLine("unset PROMPT_COMMAND precmd_functions preexec_functions zshaddhistory_functions; PS1='x> '")
			r.readUntil("the other prompt", func() bool { return r.cursorLine() == "x>" })
			r.waitForRead()
			r.apply(Event{Kind: EventShellReads, At: uint64(len(r.bytes))})
			prompt := r.tracker.State().Prompt
			r.sendKeys(st.InputPrefix(kind, false) + RepairLine(kind) + "\r")
			r.readUntil("a mark", func() bool { return r.tracker.State().Prompt > prompt })
			r.waitForRead()
			r.typeLine("fc -l >h; echo do''ne")
			r.waitForText("done")
			b, err := os.ReadFile(filepath.Join(r.home, "h"))
			if err != nil || !bytes.Contains(b, []byte("echo mine")) || bytes.Contains(b, []byte("longterm")) || bytes.Contains(b, []byte("two")) {
				t.Errorf("the history has %q, %v\n%s", b, err, r.describe())
			}
		})
	}
}
