package diagnostics

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var sequences = regexp.MustCompile(`\x1b\[[0-9;]*[mK]`)

// plainText returns a recording as plain text; expanded replaces tabs by blanks, as the rows of a screen do.
func plainText(raw []byte, expanded bool) string {
	text := strings.ReplaceAll(sequences.ReplaceAllString(string(raw), ""), "\r\n", "\n")
	if !expanded {
		return text
	}
	var b strings.Builder
	col := 0
	for _, r := range text {
		switch r {
		case '\t':
			n := 8 - col%8
			b.WriteString(strings.Repeat(" ", n))
			col += n
		case '\n':
			b.WriteRune(r)
			col = 0
		default:
			b.WriteRune(r)
			col++
		}
	}
	return b.String()
}

// TestRecordedOutputs checks that outputs of real tools on a terminal are parsed, with tabs or with blanks for them.
//
// FAULT: B3
// FEATURES: R28
func TestRecordedOutputs(t *testing.T) {
	for _, c := range []struct {
		file, line string
		exit       int
		want       string // kind: gist; errors
	}{
		{"git_status_empty", "git status", 0, "git-status: main; clean; 0"},
		{"git_status_clean", "git status", 0, "git-status: main; clean; 0"},
		{"git_status_dirty", "git status", 0, "git-status: main; 2 staged, 2 changed, 1 untracked; 0"},
		{"git_status_short", "git status -sb", 0, "git-status: main; 2 staged, 2 changed, 1 untracked; 0"},
		{"git_log", "git log", 0, "git-log: 1 commit; newest: First; 0"},
		{"ls_columns", "ls", 0, "listing: 5 entries; 0"},
		{"ls_long", "ls -la", 0, "listing: 8 entries; 0"},
		{"ls_classify", "ls -1F", 0, "listing: 5 entries; 0"},
		{"go_test", "go test ./...", 1, "tests: exit 1; 1 failed, 0 passed, 0 skipped; first: TestBad/one; 1"},
		{"go_test_v", "go test -v ./...", 1, "tests: exit 1; 1 failed, 1 passed, 0 skipped; first: TestBad/one; 1"},
		{"node_test", "node --test t.test.js", 1, "tests: exit 1; 1 failed, 1 passed, 0 skipped; first: bad; 1"},
		{"unittest", "python3 -m unittest test_m", 1, "diagnostics: exit 1; 1 error, 0 warnings; first: /src/r/test_m.py:4: 1 != 2; 1"},
		{"make_k", "make -k all", 2, "diagnostics: exit 2; 2 errors, 0 warnings; first: a.c:2:10: ‘x’ undeclared (first use in this function); 2"},
	} {
		raw, err := os.ReadFile(filepath.Join("testdata", "recorded", c.file+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		for _, expanded := range []bool{false, true} {
			r := Parse(c.line, &c.exit, plainText(raw, expanded))
			if got := fmt.Sprintf("%s: %s; %d", r.Kind, r.Summary.Gist, r.Summary.Errors); got != c.want {
				t.Errorf("%s, tabs expanded %t: %q, want %q", c.file, expanded, got, c.want)
			}
		}
	}
}

// TestParse_ReadsSingleCommandOnly checks that output is parsed for a command only if that command alone printed it.
//
// FAULT: B3
// FEATURES: R28
func TestParse_ReadsSingleCommandOnly(t *testing.T) {
	zero := 0
	for line, want := range map[string]Kind{
		"ls": Listing, "/bin/ls -1": Listing, "cd /tmp && ls": Listing, "cd /tmp; ls": Listing, "sh -c ls": Listing, "ls 2>/dev/null": Listing, "LC_ALL=C ls": Listing,
		"echo a; ls": Text, "ls; echo b": Text, "ls && ls": Text, "ls | head": Text, "ls > file": Text, "cd - && ls": Text, "sh -c 'echo a; ls'": Text,
		"ls &": Text, "if true; then ls; fi": Text, "for i in 1 2; do ls; done": Text, "lsof": Text, "$(ls)": Text, "(ls)": Text,
	} {
		if r := Parse(line, &zero, "a\nb\n"); r.Kind != want {
			t.Errorf("%s: %s, want %s", line, r.Kind, want)
		}
	}
	if r := Parse("echo x; git status", &zero, "x\n"); r.Kind != Text {
		t.Errorf("%s: %+v", r.Kind, r.GitStatus)
	}
	if r := Parse("git status", &zero, "Auf Branch main\nZum Commit vorgemerkte Änderungen:\n\tneue Datei: a\n"); r.GitStatus != nil && r.GitStatus.Clean {
		t.Error("unreadable output is reported as clean")
	}
}

// FAULT: C
func TestMakeErrors_CountOnce(t *testing.T) {
	two := 2
	for text, want := range map[string]int{
		"a.c:2:10: error: no\nmake: *** [Makefile:3: a.o] Error 1\n":                                                            1,
		"make: *** [Makefile:7: only] Error 1\nmake: Target 'all' not remade because of errors.\n":                              1,
		"a.c:2:10: error: no\nmake: *** [Makefile:3: a.o] Error 1\nmake: *** [Makefile:5: b.o] Error 1\n":                       2,
		"make[1]: *** [Makefile:2: x] Error 1\nmake[1]: Leaving directory '/s'\nmake: *** [Makefile:5: s] Error 2\n":            1,
		"make: *** [Makefile:2: a] Error 1\nmake: *** Waiting for unfinished jobs....\nmake: *** [Makefile:4: b] Error 2\n":     2,
		"a.c:2:10: error: no\nmake: *** [Makefile:3: a.o] Error 1\nmake[1]: *** Waiting for unfinished jobs....\n":              1,
		"make: *** Waiting for unfinished jobs....\n":                                                                           0,
		"make: *** No rule to make target 'x'.  Stop.\n":                                                                        1,
		"make: *** [Makefile:2: a] Error 1\nmake: *** [Makefile:4: b] Error 2\nmake: Target 'all' not remade because of errors": 2,
	} {
		r := Parse("make -k", &two, text)
		if r.Summary.Errors != want {
			t.Errorf("%q: %d errors, want %d", text, r.Summary.Errors, want)
		}
	}
}
