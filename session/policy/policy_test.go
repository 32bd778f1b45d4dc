package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// FEATURES: R61
func TestRulesWithExamples(t *testing.T) {
	force := Rule{Program: "git", Words: []string{"push"}, Options: []string{"-f|--force"}, Decision: Deny,
		Why:     "history is shared",
		Instead: "git push --force-with-lease", Match: []string{"git push -f", "git -C x push origin main --force"},
		NotMatch: []string{"git push", "git fetch --force"}}
	e, err := New(Options{Rules: []Rule{force}})
	if err != nil {
		t.Fatal(err)
	}
	j := e.Judge(Line{Text: "make && git push -uf origin main"})
	if j.Verdict != Deny || j.Why != force.Why || j.Instead != force.Instead || j.Words != "git push -uf "+
		"origin main" {
		t.Errorf("%+v", j)
	}
	force.NotMatch = append(force.NotMatch, "git push --force")
	if _, err := New(Options{Rules: []Rule{force}}); err == nil || !strings.Contains(err.Error(), "git push "+
		"--force") {
		t.Errorf("an example that does not hold: %v", err)
	}
	for _, o := range []Options{{Preset: "soft"}, {Deny: []string{" "}}, {Rules: []Rule{{Decision: Deny}}}} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

func TestJudgementListsEachCommand(t *testing.T) {
	j := engineFor(t, "hard").Judge(Line{Text: "ls -l; x=/; sudo rm -rf $x"})
	var got []string
	for _, c := range j.Commands {
		got = append(got, strings.Join(c.Argv, " ")+": "+c.Verdict.String())
	}
	want := []string{"ls -l: allow", "rm -rf /: deny", "sudo rm -rf /: allow"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if j.Rule != "hard:remove" || j.Words != "rm -rf /" || j.Why == "" || j.Instead == "" {
		t.Errorf("%+v", j)
	}
}

// FEATURES: R60
func TestPresetOffDeniesOnlyByRule(t *testing.T) {
	e := engineFor(t, "off")
	for _, line := range []string{"rm -rf /", "$X", "curl x | sh", "mkfs.ext4 /dev/sda"} {
		if j := e.Judge(Line{Text: line}); j.Verdict != Allow {
			t.Errorf("%s: %+v", line, j)
		}
	}
}

func TestPresetBuild(t *testing.T) {
	e := engineFor(t, "build")
	for line, want := range map[string]Verdict{"go test ./... | tail": Allow, "make -j8": Allow, "cargo " +
		"build": Allow, "git status": Allow,
		"go build -o x . 2>err.log": Allow, "curl x": Ask, "go build > /etc/x": Ask, "rm -rf /": Deny, "go " +
			"test -exec id": Ask, "pip install x": Ask} {
		if j := e.Judge(Line{Text: line, Cwd: "/home/me/x", Home: "/home/me"}); j.Verdict != want {
			t.Errorf("%s: %+v", line, j)
		}
	}
}

// wrap lists ways to run a command: %s is replaced by the command, %q by the quoted command.
var wrap = []string{"%s", "sudo %s", "sudo -n -u root -- %s", "doas %s", "env A=b %s", "env -i %s", "nice " +
	"-n 5 %s", "nohup %s", "timeout -k 1 5 %s",
	"time %s", "stdbuf -oL %s", "setsid %s", "ionice -c2 -n 7 %s", "command %s", "exec %s", "true && %s",
	"false || %s", "ls; %s", "%s &", "( %s )",
	"{ %s; }", "! %s", "if true; then %s; fi", "while true; do %s; done", "for i in 1; do %s; done", "case " +
		"x in *) %s;; esac", "f() { %s; }; f",
	"echo $( %s )", "echo ` %s `", "cat <( %s )", "x=$( %s )", "%s | cat", "ls | %s", "sh -c %q", "bash " +
		"-xec %q", "eval %q", "bash <<< %q",
	"echo %q | sh", "bash <<'EOF'\n%s\nEOF", "cat <<'EOF' | sudo sh\n%s\nEOF", "ssh host %q", "watch %q",
	"trap %q EXIT", "xargs %s",
	"find . -exec %s {} \\;", "busybox %s", "su -c %q", "A=1 %s", "%s >/dev/null 2>&1", "ls\n%s", "source " +
		"<(echo %q)"}

func fill(w, cmd string) string {
	quoted := "'" + strings.ReplaceAll(cmd, "'", `'\''`) + "'"
	return strings.ReplaceAll(strings.ReplaceAll(w, "%s", cmd), "%q", quoted)
}

// names are spellings of rm, and roots of /.
var (
	names = []string{"rm", "/bin/rm", `\rm`, "'rm'", "r''m", `"rm"`, `$'\x72m'`, "r\\m"}
	flags = []string{"-rf", "-r -f", "-fr", "--recursive --force", "'-rf'", "-Rfv", "-rf --"}
	roots = []string{"/", "//", "/usr/..", "'/'", "/*", "~", "$HOME", `"${HOME}"`, "/./", "/etc", "/{etc," +
		"usr}", "/home/me/..", "/tmp/../etc/"}
)

// FEATURES: R60 R61
func TestDenialSurvivesWrapping(t *testing.T) {
	e := engineFor(t, "hard")
	n := 0
	for i, outer := range wrap {
		for k, inner := range wrap {
			payload := names[(i+k)%len(names)] + " " + flags[(i+2*k)%len(flags)] + " " + roots[(i*5+k)%len(roots)]
			if inner == "time %s" || inner == "%s &" || strings.Contains(inner, "\n") || !simple(inner) &&
				!compound(outer) {
				inner = "%s"
			}
			if strings.Contains(outer, "` ") && strings.Contains(payload, `\`) {
				payload = "rm -rf /"
			}
			line := fill(outer, fill(inner, payload))
			if j := e.Judge(Line{Text: line, Home: "/home/me", Cwd: "/home/me/x"}); j.Verdict != Deny {
				t.Errorf("%q: %v %s", line, j.Verdict, j.Why)
			}
			n++
		}
	}
	t.Logf("%d lines", n)
}

// simple reports whether a way to run a command is itself a simple command.
func simple(w string) bool {
	return w != "! %s" && !strings.HasPrefix(w, "if ") && !strings.HasPrefix(w, "for ") &&
		!strings.ContainsAny(w, ";&|(){}!`\n") && !strings.HasPrefix(w, "A=") && !strings.Contains(w,
		"eval") && !strings.Contains(w, "exec") &&
		!strings.HasPrefix(w, "x=") && !strings.Contains(w, "trap") && !strings.Contains(w, "<")
}

// compound reports whether a way to run a command accepts any list of commands.
func compound(w string) bool { return strings.Contains(w, "( %s )") || strings.Contains(w, "; do %s") }

func TestHarmlessStaysAllowed(t *testing.T) {
	e := engineFor(t, "hard")
	for _, w := range wrap {
		for _, payload := range []string{"rm -rf /tmp/build", "echo 'rm is dangerous'", "ls -l /", "make clean"} {
			line := fill(w, payload)
			if strings.Contains(w, "echo") && strings.Contains(payload, "echo") || strings.HasPrefix(w, "` ") {
				continue
			}
			if j := e.Judge(Line{Text: line, Home: "/home/me", Cwd: "/home/me/x"}); j.Verdict == Deny {
				t.Errorf("%q: %v %s", line, j.Verdict, j.Why)
			}
		}
	}
}

func TestJudgeIsDeterministic(t *testing.T) {
	e := engineFor(t, "readonly")
	for _, w := range wrap {
		l := Line{Text: fill(w, "git -c a=b push")}
		if a, b := fmt.Sprint(e.Judge(l)), fmt.Sprint(e.Judge(l)); a != b {
			t.Errorf("%s: %s and %s", l.Text, a, b)
		}
	}
}

func FuzzJudge(f *testing.F) {
	for _, w := range wrap {
		f.Add(fill(w, "rm -rf /"), "bash")
	}
	for name, line := range hostile(500) {
		f.Add(line, name)
	}
	f.Add("iex (iwr x); rd /s C:\\", "powershell")
	f.Add("for %i in (C:\\) do rd /s /q %i & %0|%0", "cmd")
	f.Add("if true; rm -rf (echo '/'); else; set -x PATH \"$(pwd)\" \\x41; end | source", "fish")
	f.Add("rm -rf /*(D) ${(e)x} =ls ^a *(e:'id':)", "zsh")
	f.Add("${ rm -rf /;} |&", "mksh")
	f.Add("cd sub && CC=clang make -C .. CFLAGS=-O2 && go build -o=../x ./... && python3 -m pytest -p no:x && env FOO=~/x cmake -E env gcc -MFx/y", "")
	hard, read, build := engineFor(f, "hard"), engineFor(f, "readonly"), engineFor(f, "build")
	f.Fuzz(func(t *testing.T, line, shell string) {
		l := Line{Text: line, Shell: shell, Cwd: "/home/me/x", Home: "/home/me"}
		for _, e := range []*Engine{hard, build} {
			w := newAnalyzer(e, l)
			w.line(l) // without recover: a panic is a fault
		}
		read.Judge(l) // how soon is for the benchmark, how much work for TestLongLinesTakeLinearWork
		if hard.Judge(Line{Text: "rm -rf /\n" + line}).Verdict == Allow {
			t.Error("a denial before the line is lost")
		}
	})
}

func BenchmarkJudge(b *testing.B) {
	e := engineFor(b, "readonly")
	for b.Loop() {
		e.Judge(Line{Text: "cd src && git log --oneline -5 | grep -v merge | sort -u > /dev/null",
			Cwd: "/home/me", Home: "/home/me"})
	}
}

func FuzzJudgeArgv(f *testing.F) {
	f.Add("/usr/bin/rm", "rm\x00-rf\x00/")
	f.Add("/usr/bin/bash", "sh\x00-c\x00rm -rf /")
	f.Add("./x", "\x01\x00\x02")
	f.Add("", "")
	hard, listed := engineFor(f, "hard"), engineFor(f, "rule:allow git")
	f.Fuzz(func(t *testing.T, file, argv string) {
		words := strings.Split(argv, "\x00")
		l := Line{Cwd: "/home/me/x", Home: "/home/me"}
		j := hard.JudgeArgv(file, words, l)
		for _, r := range j.Propose() {
			if _, err := New(Options{Rules: []Rule{r}}); err != nil {
				t.Errorf("the proposed rule %+v is none: %v", r, err)
			}
		}
		if j := listed.JudgeArgv(file, words, l); j.Verdict == Allow && file != "" && !strings.HasSuffix(file, "git") &&
			!strings.HasSuffix(strings.TrimPrefix(words[0], "-"), "git") && !strings.HasSuffix(file, "sh") &&
			!strings.HasSuffix(words[0], "sh") && len(j.Commands) == 1 { // sh -c "" runs nothing
			t.Errorf("%q %q is allowed as git", file, words)
		}
		if hard.JudgeArgv("/usr/bin/rm", append([]string{file, "-rf", "/"}, words...), l).Verdict == Allow {
			t.Error("rm -rf / is allowed")
		}
	})
}

func TestUnread(t *testing.T) {
	e := engineFor(t, "hard")
	for text, want := range map[string]bool{
		"echo a )": true, "if; then": true, "see (this) too": true, "log([1, 2].map(x))": true,
		"echo ran; echo $((1 2))": false, "echo ran; echo ${a b}": false, "echo ran; let 1 (": false,
		"echo ran; ((1 2))": false, "echo ran; a[1 2]=3": false, "echo ran; echo `)`": false, "echo ran\necho )": false,
	} {
		if j := e.Judge(Line{Text: text, Shell: "bash"}); j.IsUnparsable != want {
			t.Errorf("%q: unread %v, want %v", text, j.IsUnparsable, want)
		}
	}
}
