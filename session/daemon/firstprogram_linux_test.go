package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// The first program of a session that an agent starts is the file that was judged: one that came into its place, or was
// changed, while a person was asked is not started. Asked for again it is judged anew.
//
// FEATURES: R61 R107
func TestSwappedFirstProgram(t *testing.T) {
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
		if j.Result == nil || !strings.Contains(j.Result.Error, "another file now") {
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
