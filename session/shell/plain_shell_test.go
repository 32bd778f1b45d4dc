//go:build unix

package shell

import (
	"bytes"
	"strings"
	"testing"
)

// A PATH without any program leaves the marks of the plain shells as they are.
//
// FAULT: H27
func TestPlainShells_KeepMarks_WithoutPath(t *testing.T) {
	for _, name := range []string{"dash", "mksh", "ksh"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, rigOptions{argv: []string{shellPath(t, name)}})
			if c := r.run("PATH=/nowhere"); exitOf(c) != 0 {
				t.Fatalf("%+v", c)
			}
			if c := r.run("echo one"); exitOf(c) != 0 {
				t.Errorf("%+v", c)
			}
			if c := r.wrap(Detect([]string{name}), "export A=1\necho two"); exitOf(c) != 0 || r.text(c) != "two" || r.environ()["A"] != "1" {
				t.Errorf("%+v, %q", c, r.text(c))
			}
		})
	}
}

// An interrupt at an incomplete line leads to one prompt. ksh93 prints prompts without end if what a prompt runs redirects the
// call of a function.
//
// FAULT: H27
func TestPlainShells_PromptOnce_AfterAnIncompleteLine(t *testing.T) {
	for _, name := range []string{"dash", "mksh", "ksh"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, rigOptions{argv: []string{shellPath(t, name)}})
			r.prompt()
			r.keys("echo 'open\r")
			r.until("continuation", func() bool { return r.tracker.State().Continuation })
			r.rests()
			r.keysForPrompt("\x03")
			prompt := r.tracker.State().Prompt
			r.rests()
			if c := r.run("sh -c 'exit 6'"); exitOf(c) != 6 || r.tracker.State().Prompt != prompt+1 {
				t.Errorf("%+v at prompt %d, want %d", c, r.tracker.State().Prompt, prompt+1)
			}
		})
	}
}

// A trace shows no nonce, which would let a program that reads the screen forge marks.
//
// FAULT: H27
func TestTrace_ShowsNoNonce(t *testing.T) {
	inEach(t, allShells, func(t *testing.T, r *rig, _ string) {
		r.run("set -x")
		if c := r.run("/bin/sh -c 'exit 3'"); exitOf(c) != 3 {
			t.Errorf("%+v", c)
		}
		if bytes.Contains(bytes.ReplaceAll(r.bytes, []byte("lt="+r.launch.Nonce), nil), []byte(r.launch.Nonce)) || strings.Contains(r.screen(), r.launch.Nonce) {
			t.Errorf("the nonce shows:\n%s", r.screen())
		}
	})
}
