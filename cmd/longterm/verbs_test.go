//go:build unix

package main

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/help"
	"github.com/longterm-dev/longterm/session/config"
)

// shared are the files of package main that are no verb's.
var shared = []string{"agenthook.go", "main.go", "verbs.go", "verbs_unix.go", "verbs_windows.go", "wire.go"}

// TestVerbs checks that each verb has a row in the table, a file of its own name, a script that tests it and a page of
// documentation.
func TestVerbs(t *testing.T) {
	scripts := ""
	paths, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		scripts += readText(t, path)
	}
	files := map[string]bool{}
	for i := range verbs {
		v := &verbs[i]
		if files[v.name+".go"] {
			t.Errorf("%s has two rows", v.name)
		}
		files[v.name+".go"] = true
		if v.build == nil || v.short == "" || strings.HasSuffix(v.short, ".") || !slices.Contains(groups, v.group) {
			t.Errorf("the row of %s is not complete", v.name)
		}
		src, err := os.ReadFile(v.name + ".go")
		if err != nil {
			t.Errorf("%s has no separate file: %v", v.name, err)
		} else if !strings.Contains(string(src), "\nfunc "+strings.ReplaceAll(v.name, "-", "")+"Verb(a *app, c *cobra.Command) {") {
			t.Errorf("%s.go does not start with func %sVerb", v.name, v.name)
		}
		if v.hidden {
			continue
		}
		if !regexp.MustCompile(`(?m)^[!? ]*exec longterm ` + v.name + `\b`).MatchString(scripts) {
			t.Errorf("no script in testdata/script runs longterm %s", v.name)
		}
		if _, err := os.Stat(filepath.Join(docs, "cli", "longterm_"+v.name+".md")); err != nil {
			t.Errorf("%s has no page (go test ./cmd/longterm -run TestDocs -update): %v", v.name, err)
		}
	}
	have, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range have {
		if !strings.HasSuffix(f, "_test.go") && !files[f] && !slices.Contains(shared, f) {
			t.Errorf("%s is not a verb of the table: move code that verbs share below internal", f)
		}
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// FAULT: H19
func TestVerbs_HaveExamples(t *testing.T) {
	example := regexp.MustCompile(`(?m)^ *(?:[^ ].*[ |("])?longterm `)
	var visit func(c *cobra.Command, least int)
	visit = func(c *cobra.Command, least int) {
		if found := len(example.FindAllString(c.Long+"\n"+c.Example, -1)); found < least && !c.Hidden && c.Runnable() && c.Name() != "help" {
			t.Errorf("%s has %d examples, and needs %d", c.CommandPath(), found, least)
		}
		for _, sub := range c.Commands() {
			visit(sub, 1)
		}
	}
	root := rootCommand(newApp(), nil)
	for _, c := range root.Commands() {
		visit(c, 2)
	}
	for i, name := range mostUsed {
		if page := help.Page(root, 80, false, mostUsed); strings.Index(page, "\n  "+name+" ") < strings.Index(page, "Most used:") ||
			i > 0 && strings.Index(page, "\n  "+name+" ") < strings.Index(page, "\n  "+mostUsed[i-1]+" ") {
			t.Errorf("%s is not in its place:\n%s", name, page)
		}
	}
}

// TestVerbsAreAsTheirRows checks that each command matches its row.
func TestVerbsAreAsTheirRows(t *testing.T) {
	root := rootCommand(newApp(), nil)
	commands := map[string]*cobra.Command{}
	for _, c := range root.Commands() {
		commands[c.Name()] = c
	}
	for i := range verbs {
		v := &verbs[i]
		c := commands[v.name]
		if c == nil {
			t.Errorf("%s is not registered", v.name)
			continue
		}
		if v.json != (c.Flags().Lookup("json") != nil) || v.session != (c.ValidArgsFunction != nil) || v.hidden != c.Hidden || c.RunE == nil {
			t.Errorf("%s: --json %v, completion %v, hidden %v", v.name, c.Flags().Lookup("json") != nil, c.ValidArgsFunction != nil, c.Hidden)
		}
		delete(commands, v.name)
	}
	delete(commands, "help") // cobra's
	if len(commands) > 0 {
		t.Errorf("commands without a row: %q", slices.Sorted(maps.Keys(commands)))
	}
	for _, called := range []string{"ls", "list"} { // only the called verb is built
		if some := rootCommand(newApp(), []string{called}).Commands(); len(some) != 1 || some[0].Name() != "ls" {
			t.Errorf("%s: %d commands", called, len(some))
		}
	}
}

// TestVerbsThatStartNothing checks that a verb whose row does not say so starts no daemon.
func TestVerbsThatStartNothing(t *testing.T) {
	i := e2e.New(t)
	for v := range slices.Values(verbs) {
		if v.starts || v.hidden || v.name == "bench" { // a bench uses a separate instance
			continue
		}
		if v.name == "relay" {
			serveOnce(t, i.Command(t.Context(), v.name, "--json", "--listen", "127.0.0.1:0"))
		} else {
			i.Try(v.name, "--json")
		}
		if entries, err := os.ReadDir(filepath.Join(i.Dir, "run")); err == nil && len(entries) > 0 {
			t.Fatalf("%s started something: %v", v.name, entries)
		}
	}
}

// serveOnce ends a serving program when it reports that it serves; otherwise it would not end.
func serveOnce(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, said := out.Read(make([]byte, 1))
	if err := errors.Join(said, cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()); err != nil {
		t.Errorf("%q: %v", cmd.Args, err)
	}
}

// TestViewsAll checks that a host from the environment precedes all of the configuration's.
//
// FEATURES: R113
func TestViewsAll(t *testing.T) {
	s := &config.Settings{}
	for _, all := range []bool{false, true} {
		s.View.AllHosts = all
		if a := (&app{config: s}); a.viewsAll() != all {
			t.Errorf("configured %v", all)
		}
		a := &app{config: s}
		if a.host = "build"; a.viewsAll() {
			t.Errorf("configured %v, and the environment names one", all)
		}
	}
}
