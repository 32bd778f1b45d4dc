//go:build unix

package sourcepos

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/output/diagnostics"
)

// FEATURES: R82
func TestInLine(t *testing.T) {
	for line, want := range map[string]string{
		"a.c:3:7: error: expected ;":           "/w/a.c:3:7: expected ;",
		"./sub/b.go:12:2: undefined: x":        "/w/sub/b.go:12:2: undefined: x",
		"/abs/c.py:4: note this":               "/abs/c.py:4: /abs/c.py:4: note this",
		"see main.rs:9:1, or not":              "/w/main.rs:9:1: see main.rs:9:1, or not",
		"it is 12:30:45 now":                   "",
		"nothing":                              "",
		"http://example.org:8080/x":            "",
		"x:0: no line has this number":         "",
		"a.c:99999999999999999999: too many":   "",
		strings.Repeat("x:", 10_000) + "a.c:1": "",
	} {
		p, ok := InLine(line, "/w")
		if got := p.String(); ok != (want != "") || ok && got != want {
			t.Errorf("%.60s: %q, %v; want %q", line, got, ok, want)
		}
	}
}

// TestErrorsOf checks that repeated errors are listed once, warnings are omitted, and that a failed test is at the
// position in its output.
//
// FEATURES: R82
func TestErrorsOf(t *testing.T) {
	text := "x.c:1:2: error: a\nx.c:1:2: error: a\nx.c:4:1: warning: b\ny.c:7:1: error: c\n"
	r := diagnostics.Parse("gcc x.c", nil, text)
	var got []string
	for _, p := range errorsOf(&r, "/src", Place{Host: "far", Session: "s", Command: 3}) {
		got = append(got, p.String())
		if p.Session != "s" || p.Command != 3 {
			t.Errorf("%+v", p)
		}
	}
	if want := "far:/src/x.c:1:2: a|far:/src/y.c:7:1: c"; strings.Join(got, "|") != want {
		t.Errorf("%q; want %q", got, want)
	}
	one := 1
	r = diagnostics.Parse("go test ./...", &one, "--- FAIL: TestX (0.00s)\n    x_test.go:12: broken\nFAIL\nFAIL\texample.org/x\t0.01s\n")
	if list := errorsOf(&r, "/src", Place{}); len(list) != 1 || list[0].Path != "/src/x_test.go" || list[0].Line != 12 {
		t.Errorf("%+v of %+v", list, r)
	}
}

// TestGoTestsInPackages checks that a failed Go test is in its package's directory, wherever it was run: in the module,
// or in one of the workspace's. A file that is not found there is named as printed.
//
// FAULT: H22
// FEATURES: R118 R82
func TestGoTestsInPackages(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"m/go.mod":             "// a module\nmodule example.org/m // this one\n\ngo 1.26\n",
		"m/top_test.go":        "",
		"m/sub/deep/x_test.go": "",
		"w/go.work":            "go 1.26\nuse (\n\t./a\n\t\"b\"\n)\nuse ./c\n",
		"w/a/go.mod":           "module example.org/a\n",
		"w/b/go.mod":           "module \"example.org/b\"\n",
		"w/b/in/x_test.go":     "",
		"w/c/go.mod":           "module example.org/c\n",
		"w/c/x_test.go":        "",
		"odd/go.mod/no":        "it is a directory",
		"odd/x_test.go":        "",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	one := 1
	for _, c := range []struct{ dir, pkg, file, want string }{
		{"m", "example.org/m/sub/deep", "x_test.go", "m/sub/deep/x_test.go"},
		{"m/sub", "example.org/m/sub/deep", "x_test.go", "m/sub/deep/x_test.go"},
		{"m/sub/deep", "example.org/m", "top_test.go", "m/top_test.go"},
		{"m", "example.org/m", "top_test.go", "m/top_test.go"},
		{"m", "example.org/m/sub/deep", "sub/deep/x_test.go", "m/sub/deep/x_test.go"}, // as compilers print it
		{"m", "example.org/mine/sub", "x_test.go", "m/x_test.go"},
		{"w", "example.org/b/in", "x_test.go", "w/b/in/x_test.go"},
		{"w/a", "example.org/c", "x_test.go", "w/c/x_test.go"},
		{"odd", "example.org/m", "x_test.go", "odd/x_test.go"},
	} {
		text := "--- FAIL: TestX (0.00s)\n    " + c.file + ":12: broken\nFAIL\nFAIL\t" + c.pkg + "\t0.01s\nFAIL\n"
		r := diagnostics.Parse("go test ./...", &one, text)
		dir := filepath.Join(root, c.dir)
		if list := errorsOf(&r, dir, Place{}); len(list) != 1 || list[0].Path != filepath.Join(root, c.want) || list[0].Line != 12 || list[0].Message != "broken" {
			t.Errorf("%s in %s: %+v, want %s", c.pkg, c.dir, list, c.want)
		}
		if list := errorsOf(&r, dir, Place{Host: "far"}); len(list) != 1 || list[0].Path != filepath.Join(dir, c.file) {
			t.Errorf("of another host, without its files here: %+v", list)
		}
	}
}

// TestEditorLine checks that the shell gets one word for any file name.
//
// FEATURES: R82
func TestEditorLine(t *testing.T) {
	here, far := Place{Path: "/w/a b.c", Line: 3, Column: 7}, Place{Host: "far", Path: "/w/a.c", Line: 3}
	for _, c := range []struct {
		editor, template string
		p                Place
		want             string
	}{
		{"vim", "", here, "vim +'call cursor(3,7)' '/w/a b.c'"},
		{"/usr/bin/nvim -u NONE", "", far, "/usr/bin/nvim -u NONE +'call cursor(3,1)' scp://far//w/a.c"},
		{"nano", "", here, "nano +3,7 '/w/a b.c'"},
		{"code --wait", "", far, "code --wait --remote ssh-remote+far --goto /w/a.c:3:1"},
		{"emacs -nw", "", far, "emacs -nw +3:1 /ssh:far:/w/a.c"},
		{"ed", "", far, "ed +3 far:/w/a.c"},
		{"", "", here, "vi +3 '/w/a b.c'"},
		{"vim", "e {host} {path} {file} {line} {column}", far, "e far /w/a.c far:/w/a.c 3 1"},
		{"vi", "", Place{Path: "$(touch x)';#", Line: -1}, `vi +1 "\$(touch x)';#"`},
		{"vi", "", Place{Path: "-c!x"}, "vi +1 ./-c!x"},
	} {
		t.Setenv("VISUAL", "")
		t.Setenv("EDITOR", c.editor)
		if got, err := (&Editor{Template: c.template}).Line(&c.p); err != nil || got != c.want {
			t.Errorf("%s %s: %q, %v; want %q", c.editor, c.template, got, err, c.want)
		}
	}
	if _, err := (&Editor{}).Line(&Place{Path: "a\x00b"}); err == nil {
		t.Error("a name with a NUL is given to an editor")
	}
}

// TestEditorLineQuotes checks that a line whose own quotes would meet those of a name is rejected: the file name would
// be executed.
//
// FEATURES: R82
func TestEditorLineQuotes(t *testing.T) {
	p := Place{Host: "far", Path: "/w/a$(touch mark).c", Line: 3}
	for _, line := range []string{
		`myed "{file}"`, `myed '{file}'`, `sh -c 'vi {path}'`, `myed "on {host}"`, `myed \{file}`, `myed $'{file}'`, `myed ${file}`,
		"myed `echo {file}`", "myed <<E\n{file}\nE", "myed # {file}", `myed "$(echo {file})"`, `myed ${x:-{file}}`, `myed $((1+{file}))`,
		"myed 'open", `myed "{file}" {file}`,
	} {
		got, err := (&Editor{Template: line}).Line(&p)
		if err == nil {
			t.Errorf("%s is run as %s", line, got)
		}
	}
	for line, want := range map[string]string{
		`myed "+{line}" --at={file}:'{column}' "$HOME"`:  `myed "+3" --at='far:/w/a$(touch mark).c':'1' "$HOME"`,
		`f={file}; myed "$f" $(basename {path}) >{host}`: `f='far:/w/a$(touch mark).c'; myed "$f" $(basename '/w/a$(touch mark).c') >far`,
	} {
		if got, err := (&Editor{Template: line}).Line(&p); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", line, got, err, want)
		}
	}
}

// TestOpen checks that an editor that fails is reported, as is a missing file.
//
// FEATURES: R82
func TestOpen(t *testing.T) {
	t.Setenv(identity.Env, "")
	dir := t.TempDir()
	path := filepath.Join(dir, "it's.c")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	out := filepath.Join(dir, "out")
	p := Place{Path: path, Line: 2}
	e := Editor{Template: "printf '%s %s' {file} {line} >" + out, Stdin: null}
	if err := e.Open(t.Context(), &p); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(out); string(b) != path+" 2" {
		t.Errorf("the editor was given %q", b)
	}
	for template, want := range map[string]string{"exit 3": "exit status 3", "/nonexistent/editor 2>/dev/null": "editor not found", "kill -9 $$": "signal: killed"} {
		e.Template = template
		if err := e.Open(t.Context(), &p); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "editor.command") {
			t.Errorf("%s: %v", template, err)
		}
	}
	if err := e.Open(t.Context(), &Place{Path: filepath.Join(dir, "gone.c")}); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a missing file: %v", err)
	}

	t.Setenv(identity.Env, "bot")
	mark := filepath.Join(dir, "mark")
	e.Template = "touch " + mark
	if err := e.Open(t.Context(), &p); err == nil || !strings.Contains(err.Error(), identity.Env) {
		t.Errorf("for an agent: %v", err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("an agent has a line run that it chose")
	}
}

// TestErrorsBelowMakes checks that below a make a file is in the directory that make reported, and with several at a
// time in the one that contains it. The same holds for tests.
//
// FEATURES: R82 R118
func TestErrorsBelowMakes(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"a/only.c", "a/both.c", "b/both.c", "a/go.mod", "a/in/x_test.go"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("module example.org/a\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	enter := func(level, dir string) string {
		return "make" + level + ": Entering directory '" + root + "/" + dir + "'\n"
	}
	both, fails := enter("[1]", "a")+enter("[1]", "b"), "--- FAIL: TestX (0.00s)\n    x_test.go:12: broken\nFAIL\nFAIL\texample.org/a/in\t0.01s\nFAIL\n"
	for name, c := range map[string]struct{ text, host, want string }{
		"one":                    {enter("", "a") + "only.c:1:2: error: e\n", "", "a/only.c"},
		"one that has it not":    {enter("", "b") + "only.c:1:2: error: e\n", "", "b/only.c"},
		"ninja's":                {"ninja: Entering directory `a'\nonly.c:1:2: error: e\n", "", "a/only.c"},
		"of two the one with it": {both + "only.c:1:2: error: e\n", "", "a/only.c"},
		"two that have it":       {both + "both.c:1:2: error: e\n", "", "both.c"},
		"of another host":        {both + "only.c:1:2: error: e\n", "far", "only.c"},
		"a test":                 {enter("", "a") + fails, "", "a/in/x_test.go"},
	} {
		one := 1
		r := diagnostics.Parse("make", &one, c.text)
		if list := errorsOf(&r, root, Place{Host: c.host}); len(list) != 1 || list[0].Path != filepath.Join(root, c.want) {
			t.Errorf("%s: %+v, want %s", name, list, c.want)
		}
	}
}
