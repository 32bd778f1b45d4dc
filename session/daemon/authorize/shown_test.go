package authorize

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/policy"
)

// answered returns the result of a request that a user allows once.
func answered(t *testing.T, g house, a Request) string {
	t.Helper()
	p := waiting(t, g, a)
	if _, err := g.Answer(t.Context(), p.ID(), person, api.ApprovalAnswer{Answer: "once"}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p.ID()
}

// TestOnceIsForTheFileThatWasShown checks that an answer "once" holds for the shown files: another program of the same
// name needs approval, with its file.
//
// FEATURES: R63 R107
func TestOnceIsForTheFileThatWasShown(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project, link := filepath.Join(dir, "p"), filepath.Join(dir, "link")
	if err := os.MkdirAll(filepath.Join(project, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(project, link); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Join(dir, "tools")+":/usr/bin")
	for i, row := range []struct {
		line, file string
		asked      bool
	}{
		{"rm -r x", "/usr/bin/rm", false},
		{"rm -r x", "/bin/rm", false},
		{"rm -r x", "/home/u/go/bin/rm", false},
		{"rm -r x", "/home/u/.nvm/versions/20/bin/rm", false},
		{"rm -r x", filepath.Join(dir, "tools", "rm"), false}, // on our PATH
		{"rm -r x", filepath.Join(project, "rm"), true},
		{"rm -r x", "/tmp/evil/rm", true},
		{"rm -r x", "/home/u/evil/rm", true},
		{"./rm -r x", filepath.Join(project, "rm"), false},
		{"./rm -r x", "/usr/bin/rm", true},
		{"./rm -r x", filepath.Join(project, "sub", "rm"), true},
		{"cd sub && ./rm -r x", filepath.Join(project, "sub", "rm"), false},
		{"cd sub && ./rm -r x", filepath.Join(project, "rm"), true},
		{"cd sub && ../rm -r x", filepath.Join(project, "rm"), false},
		{"/usr/bin/rm -r x", "/bin/rm", false},
		{"/usr/bin/rm -r x", "/tmp/evil/rm", true},
		{"/tmp/evil/rm -r x", "/tmp/evil/rm", false},
		{"/tmp/evil/rm -r x", "/usr/bin/rm", true},
	} {
		for _, cwd := range []string{project, link} { // executed files are named without links
			g := open(t, t.TempDir())
			a := line("job", row.line, agent)
			a.Policy, a.Cwd = "listed", cwd
			id := answered(t, g, a)
			answer, p, err := g.Begin(t.Context(), Request{
				ID: fmt.Sprint("e", i), Kind: Execution, Actor: identity.Actor{UID: 1000}, Session: "s", Path: row.file, Argv: []string{"rm", "-r", "x"},
				Cwd: project, Home: "/home/u", Depth: 1,
			})
			if err != nil || (p != nil) != row.asked || !row.asked && answer.Approval != id {
				t.Errorf("%s allowed in %s, then %s: asked %v, %+v, %v", row.line, cwd, row.file, p != nil, answer, err)
			}
		}
	}
}

// TestOnceIsForTheFileThatStarts checks that the same holds for the command of a new session: the file of its first
// word, and of the words of its line, must be the shown one.
//
// FEATURES: R63 R107
func TestOnceIsForTheFileThatStarts(t *testing.T) {
	for i, row := range []struct {
		ask   Request
		file  string
		argv  []string
		asked bool
	}{
		{Request{Argv: []string{"git", "push"}, Path: "/usr/bin/git"}, "/usr/bin/git", []string{"git", "push"}, false},
		{Request{Argv: []string{"git", "push"}, Path: "/usr/bin/git"}, "/tmp/x/git", []string{"git", "push"}, true},
		{Request{Argv: []string{"git", "push"}, Path: "/usr/bin/git"}, "/tmp/x/other", []string{"git", "push"}, true},
		{Request{Argv: []string{"python3", "x"}, Path: "/usr/bin/python3"}, "/usr/bin/python3.12", []string{"python3", "x"}, false}, // the link's target
		{Request{Argv: []string{"python3", "x"}}, "/usr/bin/python3.12", []string{"python3", "x"}, false},
		{Request{Argv: []string{"git", "push"}}, "/usr/bin/git", []string{"git", "push"}, false},
		{Request{Argv: []string{"git", "push"}}, "/usr/bin/other", []string{"git", "push"}, true},
		{Request{Argv: []string{"git", "push"}}, "/p/git", []string{"git", "push"}, true},
		{Request{Argv: []string{"./tool", "x"}, Path: "/p/tool"}, "/p/tool", []string{"./tool", "x"}, false},
		{Request{Argv: []string{"./tool", "x"}, Path: "/p/tool"}, "/q/tool", []string{"./tool", "x"}, true},
		{Request{Line: "git push"}, "/bin/bash", []string{"bash", "-c", "git push"}, false},
		{Request{Line: "git push"}, "/tmp/x/bash", []string{"bash", "-c", "git push"}, true},
		{Request{Line: "git push", Also: [][]string{{"/tmp/x/bash", "-c", "git push"}}}, "/tmp/x/bash", []string{"bash", "-c", "git push"}, false},
	} {
		g := open(t, t.TempDir())
		a := row.ask
		a.ID, a.Kind, a.Actor, a.Cwd, a.Home, a.Policy = "new", Command, agent, "/p", "/home/u", "listed"
		p := waiting(t, g, a)
		if _, err := g.Answer(t.Context(), p.ID(), person, api.ApprovalAnswer{Answer: "once"}); err != nil {
			t.Fatal(err)
		}
		answer, err := p.Wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		g.Started("s", a, answer)
		_, q, err := g.Begin(t.Context(), Request{
			ID: "e", Kind: Execution, Actor: identity.Actor{UID: 1000}, Session: "s", Path: row.file, Argv: row.argv, Cwd: "/p", Home: "/home/u",
		})
		if err != nil || (q != nil) != row.asked {
			t.Errorf("%d: asked %v, %v", i, q != nil, err)
		}
	}
}

// TestLineIsForTheFilesThatItNamed checks that a file that a line names must be the shown one: if it was rewritten or
// replaced before the answer, nothing is run, also under the next daemon.
//
// FEATURES: R63 R107
func TestLineIsForTheFilesThatItNamed(t *testing.T) {
	for name, swap := range map[string]func(file string) error{
		"as it was": func(string) error { return nil },
		"rewritten": func(file string) error { return os.WriteFile(file, []byte("#!/bin/sh\nevil\n"), 0o755) },
		"exchanged": func(file string) error {
			return errors.Join(os.WriteFile(file+"2", []byte("#!/bin/sh\ngood\n"), 0o755), os.Rename(file+"2", file))
		},
		"removed":    os.Remove,
		"as a link":  func(file string) error { return errors.Join(os.Remove(file), os.Symlink("/bin/true", file)) },
		"in a loop":  func(file string) error { return errors.Join(os.Remove(file), os.Symlink(file, file)) },
		"unreadable": func(file string) error { return errors.Join(os.Remove(file), os.Mkdir(file, 0)) },
	} {
		for _, again := range []bool{false, true} {
			dir, root := t.TempDir(), t.TempDir()
			file := filepath.Join(root, "sub", "prog")
			if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("#!/bin/sh\ngood\n"), 0o755)); err != nil {
				t.Fatal(err)
			}
			g := open(t, dir)
			a := line("job", "cd sub && ./prog x; true", agent)
			a.Policy, a.Cwd = "listed", root
			p := waiting(t, g, a)
			id := p.ID()
			if err := swap(file); err != nil {
				t.Fatal(err)
			}
			if again {
				g = open(t, dir)
				p = waiting(t, g, a)
				if p.ID() != id {
					t.Fatalf("%s: requested again as %s", name, p.ID())
				}
			}
			if _, err := g.Answer(t.Context(), id, person, api.ApprovalAnswer{Answer: "once"}); err != nil {
				t.Fatal(err)
			}
			_, err := p.Wait(t.Context())
			if want := name != "as it was"; (codeOf(err) == api.CodeDenied) != want || !want && err != nil {
				t.Errorf("%s, another daemon %v: %v", name, again, err)
			}
		}
	}
}

// TestLineIsForTheScriptsThatItRuns checks that a script that the line's interpreter runs must be the shown file too,
// however it is passed, also in a line that starts a session. A file that a program only reads may change.
//
// FEATURES: R63 R107
func TestLineIsForTheScriptsThatItRuns(t *testing.T) {
	for _, c := range []struct {
		ask  Request
		held bool
	}{
		{Request{Line: "sh s.sh x"}, true},
		{Request{Line: "bash -x ./s.sh"}, true},
		{Request{Line: "sh < s.sh"}, true},
		{Request{Line: ". ./s.sh; touch x"}, true},
		{Request{Line: "source s.sh"}, true},
		{Request{Line: "touch x; python3.12 -u s.sh"}, true},
		{Request{Line: "cat s.sh | sh"}, true},
		{Request{Line: "env A=b sh s.sh"}, true},
		{Request{Line: "cd sub && sh ../s.sh"}, true},
		{Request{Line: "sh -c 'sh s.sh'"}, true},
		{Request{Kind: Command, Argv: []string{"sh", "s.sh"}, Path: "/bin/sh"}, true},
		{Request{Line: "touch x; cat s.sh"}, false},
		{Request{Line: "sh other.sh s.sh"}, false},
		{Request{Line: "echo s.sh > t.sh"}, false},
	} {
		root := t.TempDir()
		if err := os.Mkdir(filepath.Join(root, "sub"), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"s.sh", "other.sh"} {
			if err := os.WriteFile(filepath.Join(root, name), []byte("good\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		g := open(t, t.TempDir())
		a := c.ask
		a.ID, a.Actor, a.Session, a.Policy, a.Cwd, a.Home = "job", agent, "s", "listed", root, "/home/u"
		if a.Kind == "" {
			a.Kind = Line
		}
		p := waiting(t, g, a)
		if err := os.WriteFile(filepath.Join(root, "s.sh"), []byte("evil\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := g.Answer(t.Context(), p.ID(), person, api.ApprovalAnswer{Answer: "once"}); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Wait(t.Context()); (codeOf(err) == api.CodeDenied) != c.held || !c.held && err != nil {
			t.Errorf("%s%q: %v", a.Line, a.Argv, err)
		}
	}
}

// TestLineIsForTheFilesThatStart checks that a file that is exchanged between the answer and its execution is not
// executed.
//
// FEATURES: R63 R107
func TestLineIsForTheFilesThatStart(t *testing.T) {
	for name, swap := range map[string]func(file string) error{
		"as it was": func(string) error { return nil },
		"rewritten": func(file string) error { return os.WriteFile(file, []byte("#!/bin/sh\nevil\n"), 0o755) },
		"exchanged": func(file string) error {
			return errors.Join(os.WriteFile(file+"2", []byte("#!/bin/sh\ngood\n"), 0o755), os.Rename(file+"2", file))
		},
	} {
		for _, again := range []bool{false, true} {
			dir, root := t.TempDir(), t.TempDir()
			file := filepath.Join(root, "prog")
			if err := os.WriteFile(file, []byte("#!/bin/sh\ngood\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			g := open(t, dir)
			a := line("job", "sleep 1; ./prog x", agent)
			a.Policy, a.Cwd = "listed", root
			p := waiting(t, g, a)
			if _, err := g.Answer(t.Context(), p.ID(), person, api.ApprovalAnswer{Answer: "once"}); err != nil {
				t.Fatal(err)
			}
			if _, err := p.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := swap(file); err != nil {
				t.Fatal(err)
			}
			if again {
				g = open(t, dir)
				g.Recall(t.Context(), a.Session, a)
			}
			_, p, err := g.Begin(t.Context(), Request{
				ID: "e", Kind: Execution, Actor: agent, Session: "s", Path: file, Argv: []string{"./prog", "x"}, Cwd: root, Home: "/home/u", Policy: "listed",
			})
			if asked := p != nil; err != nil || asked != (name != "as it was") {
				t.Errorf("%s, another daemon %v: asked %v, %v", name, again, asked, err)
			}
		}
	}
}

// TestLineThatChangesItsScript checks that a line that changes a script and then runs it needs one approval, with both
// reasons. If the line does not show the change, a changed file needs a new one.
//
// FEATURES: R63 R107
func TestLineThatChangesItsScript(t *testing.T) {
	sh := realFile("/bin/sh")
	for text, c := range map[string]struct {
		told, asked bool
	}{
		"sed -i s/good/other/ ./s.sh && sh ./s.sh":   {true, false},
		"echo other >> s.sh; sh s.sh":                {true, false},
		"sed -i s/good/other/ s.sh && ./s.sh":        {true, false},
		"cp other.sh s.sh && ./s.sh":                 {false, true}, // the request was about other.sh
		"sleep 1 && sh ./s.sh":                       {false, true},
		"sh ./s.sh; sed -i s/good/other/ ./s.sh":     {false, true},
		"sed -i s/good/other/ other.sh && sh ./s.sh": {false, true},
		"sed s/good/other/ ./s.sh && sh ./s.sh":      {false, true},
	} {
		for _, again := range []bool{false, true} {
			dir, root := t.TempDir(), t.TempDir()
			for _, name := range []string{"s.sh", "other.sh"} {
				if err := os.WriteFile(filepath.Join(root, name), []byte("good\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			g := open(t, dir)
			a := line("job", text, agent)
			a.Policy, a.Cwd = "listed", root
			p := waiting(t, g, a)
			v, err := g.Answer(t.Context(), p.ID(), person, api.ApprovalAnswer{Answer: "once"})
			if err != nil {
				t.Fatal(err)
			}
			told := slices.ContainsFunc(v.Judgement.Commands, func(c api.Judged) bool {
				return strings.Contains(c.Why, "; this line changes "+filepath.Join(root, "s.sh")+" before it runs it")
			})
			if told != c.told {
				t.Errorf("%s: reported %v: %+v", text, told, v.Judgement.Commands)
			}
			if _, err := p.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, "s.sh"), []byte("other\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			if again {
				g = open(t, dir)
				g.Recall(t.Context(), a.Session, a)
			}
			e := Request{ID: "e", Kind: Execution, Actor: agent, Session: "s", Path: sh, Argv: []string{"sh", "./s.sh"}, Cwd: root, Home: "/home/u", Policy: "listed"}
			switch {
			case strings.HasSuffix(text, "&& ./s.sh"):
				e.Path, e.Argv = filepath.Join(root, "s.sh"), []string{"./s.sh"}
			case strings.HasSuffix(text, " sh s.sh"):
				e.Argv[1] = "s.sh"
			}
			_, q, err := g.Begin(t.Context(), e)
			if asked := q != nil; err != nil || asked != c.asked {
				t.Errorf("%s, another daemon %v: asked %v, %v", text, again, asked, err)
			}
		}
	}
}

// TestNamesThatAreLinks checks that the system's interpreter behind a shown name is the shown one, whatever its file
// name. No other file is.
func TestNamesThatAreLinks(t *testing.T) {
	sh := realFile("/bin/sh")
	if filepath.Base(sh) == "sh" || !isSystemProgram(sh) || !slices.Contains(interpreters, filepath.Base(sh)) {
		t.Skip("sh is no link to another shell here")
	}
	for _, c := range []struct {
		shown, file string
		executed    string
		want        bool
	}{
		{"sh", "", sh, true}, {"/bin/sh", "/usr/bin/sh", sh, true},
		{"sh", "", "/tmp/" + filepath.Base(sh), false}, {"./sh", "/tmp/sh", sh, false}, {"perl", "", sh, false}, {"true", "", sh, false},
	} {
		allowed := []shownCommand{{argv: []string{c.shown, "x"}, file: c.file}}
		if got := allowsAll(allowed, []policy.Command{{Argv: []string{c.executed, "x"}, Verdict: policy.Ask}}, "/h"); got != c.want {
			t.Errorf("%s executed as %s: %v", c.shown, c.executed, got)
		}
	}
}
