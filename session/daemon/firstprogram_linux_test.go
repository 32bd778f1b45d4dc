package daemon

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// TestSwappedFirstProgram checks that the first program of an agent's session is the judged file: one that was replaced
// or changed during the approval is not started. A repeated request is judged again.
//
// FEATURES: R61 R107
func TestSwappedFirstProgram(t *testing.T) {
	t.Parallel()
	r, dir := serve(t), t.TempDir()
	r.configured("policy.toml", "[[rules]]\nprogram = \""+dir+"/tool\"\ndecision = \"ask\"\nreason = \"it may do anything\"\n")
	tool, out := filepath.Join(dir, "tool"), filepath.Join(dir, "out")
	write := func(path, word string) {
		t.Helper()
		if err := os.WriteFile(path, []byte("#!/bin/sh\necho "+word+" >>"+out+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(tool, "judged")
	bot, events := r.as("bot"), r.events(t)
	run := func(job string, meanwhile func()) api.Job {
		t.Helper()
		get[api.Result](bot, "POST", "/run", api.Run{Call: api.Call{Job: job, Background: true}, NewSession: api.NewSession{Argv: []string{tool}, Cwd: dir}})
		a := asked(t, events)
		meanwhile()
		r.answer(a.ID, "once", "")
		return r.job(job)
	}
	swapped := func() {
		write(filepath.Join(dir, "other"), "swapped")
		if err := os.Rename(filepath.Join(dir, "other"), tool); err != nil {
			t.Fatal(err)
		}
	}
	for name, change := range map[string]func(){"swapped": swapped, "changed": func() { write(tool, "changed and longer") }} {
		j := run(name, change)
		if j.Result == nil || !strings.Contains(j.Result.Error, "has changed since") {
			t.Errorf("%s: %+v", name, j.Result)
		}
	}
	if b, err := os.ReadFile(out); err == nil {
		t.Errorf("it was started: %s", b)
	}
	if j := run("again", func() {}); j.Result == nil || j.Result.Error != "" {
		t.Errorf("unchanged: %+v", j.Result)
	}
	if b, _ := os.ReadFile(out); strings.Count(string(b), "\n") != 1 {
		t.Errorf("unchanged, it printed %q", b)
	}
}

// TestFirstProgramAgain checks that a restarted session is bound to the file judged at the restart, which the PATH of
// the requesting user finds. A user's own shell is a program like others.
//
// FEATURES: R61 R107
func TestFirstProgramAgain(t *testing.T) {
	t.Parallel()
	r, dir := serve(t), t.TempDir()
	write := func(name, word string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("#!/bin/sh\necho "+word+" >>"+dir+"/out\n"), 0o755)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("good/tool", "good")
	denied, asks := write("denied/tool", "denied"), write("asked/bash", "asked")
	r.configured("policy.toml", "[[rules]]\nprogram = \""+denied+"\"\ndecision = \"deny\"\nreason = \"it may do anything\"\n"+
		"[[rules]]\nprogram = \""+asks+"\"\ndecision = \"ask\"\nreason = \"it is no shell\"\n")
	bot, events := r.as("bot"), r.events(t)
	env := func(kv ...string) []string { return append(kv, "HOME="+dir, "TERM=xterm") }
	path := func(name string) []string { return env("PATH=" + filepath.Join(dir, name) + ":/usr/bin:/bin") }
	ended := func(name string) {
		t.Helper()
		get[api.Waited](r, "POST", "/sessions/"+name+"/wait", api.Wait{Conds: []api.Condition{{Kind: "exit"}}})
	}
	get[api.Session](bot, "POST", "/sessions", api.NewSession{Name: "again", Argv: []string{"tool"}, Cwd: dir, Env: path("good")})
	ended("again")

	if a := bot.ask("POST", "/sessions/again/restore", api.Restore{Command: true, Env: path("denied")}); !strings.Contains(string(a.body), "it may do anything") {
		t.Errorf("with another PATH: %d %s", a.status, a.body)
	}
	if a := bot.ask("POST", "/sessions/again/restore", api.Restore{Command: true, Env: path("good")}); a.status != http.StatusOK {
		t.Errorf("with its own PATH: %d %s", a.status, a.body)
	}
	ended("again")

	// Each of these waits for a user while the file is changed.
	shell := env("PATH=/usr/bin:/bin", "SHELL="+asks)
	for name, start := range map[string]func() answer{
		"a shell by SHELL": func() answer {
			return bot.ask("POST", "/sessions", api.NewSession{Name: "one", Cwd: dir, Env: shell})
		},
		"a shell by name": func() answer {
			return bot.ask("POST", "/sessions", api.NewSession{Name: "two", Argv: []string{asks}, Cwd: dir, Env: shell})
		},
		"a line": func() answer {
			return bot.ask("POST", "/sessions", api.NewSession{Name: "three", Line: "true", Cwd: dir, Env: shell})
		},
		"a shell again": func() answer {
			return bot.ask("POST", "/sessions/again/restore", api.Restore{Shell: true, Env: shell})
		},
	} {
		answered := make(chan answer, 1)
		go func() { answered <- start() }()
		a := asked(t, events)
		write("asked/bash", "changed: "+name)
		r.answer(a.ID, "once", "")
		if got := <-answered; !strings.Contains(string(got.body), "has changed since") {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "out")); err != nil || string(b) != "good\ngood\n" {
		t.Errorf("%q, %v", b, err)
	}
}
