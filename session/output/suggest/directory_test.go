package suggest

import (
	"slices"
	"testing"

	"github.com/longterm-dev/longterm/session/output/diagnostics"
)

// FAULT: F
// FEATURES: R29
func TestSuggest_UsesDirectoryFiles(t *testing.T) {
	verbs := &Targets{
		Make: MakeTargets("CC := gcc\n.PHONY: all\nall: build\nbuild test: x.c\n\tcc x.c\n%.o: %.c\nV = a:b\n$(X): y\n"),
		NPM:  NPMScripts([]byte(`{"scripts": {"build": "tsc", "start": "node .", "bad name; rm": "x"}}`)),
	}
	if !slices.Equal(verbs.Make, []string{"all", "build", "test"}) || !slices.Equal(verbs.NPM, []string{"build", "start"}) {
		t.Fatalf("%+v", verbs)
	}
	files := []string{"Makefile", "package.json", "notes.txt", "a b.txt"}
	for _, c := range []struct {
		line, out string
		exit      int
		want      []string
	}{
		{"cat note.txt", "cat: note.txt: No such file or directory\n", 1, []string{"cat notes.txt"}},
		{"ls note.txt", "ls: cannot access 'note.txt': No such file or directory\n", 2, []string{"ls notes.txt"}},
		{"cat xyzzy", "cat: xyzzy: No such file or directory\n", 1, nil},
		{"npm run biuld", "npm error Missing script: \"biuld\"\n", 1, []string{"npm run build"}},
		{"npm run deploy", "npm error Missing script: \"deploy\"\n", 1, []string{"npm run build", "npm run start"}},
		{"make tset", "make: *** No rule to make target 'tset'.  Stop.\n", 2, []string{"make test"}},
		{"make", "cc x.c\n", 0, []string{"make test"}},
		{"npm run build", "done\n", 0, []string{"npm start"}}, // package.json has no script test
	} {
		var got []string
		for _, s := range Suggest(Context{Line: c.line, Output: c.out, Result: diagnostics.Parse(c.line, &c.exit, c.out), Files: files, Targets: verbs}) {
			got = append(got, s.Command)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.line, got, c.want)
		}
	}
	zero := 0
	if got := Suggest(Context{Line: "make", Result: diagnostics.Parse("make", &zero, ""), Files: files}); len(got) > 0 {
		t.Errorf("invented: %+v", got)
	}
}

func FuzzTargets(f *testing.F) {
	f.Add("all: x\n\ty\n")
	f.Add(`{"scripts":{"a":"b"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, n := range append(MakeTargets(text), NPMScripts([]byte(text))...) {
			if !testName.MatchString(n) && !scriptName.MatchString(n) {
				t.Errorf("%q", n)
			}
		}
	})
}
