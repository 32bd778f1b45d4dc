package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// FEATURES: R60 R61 R107
func TestExecutionsAreJudgedByTheirFile(t *testing.T) {
	for _, c := range []struct {
		policy, file, argv string // words of argv are separated by "|"
		want               Verdict
	}{
		{"hard", "/usr/bin/rm", "rm|-rf|/", Deny},
		{"hard", "/usr/bin/rm", "innocent|-rf|/", Deny},
		{"hard", "/home/me/x", "rm|-rf|/", Deny}, // argv[0] is rm: denied, for any file
		{"hard", "/usr/bin/rm", "rm|-rf|$HOME", Allow},
		{"hard", "/usr/bin/rm", "rm|-rf|/tmp/x", Allow},
		{"hard", "/usr/bin/echo", "echo|rm -rf /", Allow},
		{"hard", "/usr/bin/busybox", "rm|-rf|/", Deny},
		{"hard", "/usr/bin/busybox", "busybox|rm|-rf|/", Deny},
		{"hard", "/usr/bin/dash", "sh|-c|rm -rf /", Deny},
		{"hard", "/usr/bin/bash", "-bash", Allow},
		{"hard", "/usr/bin/sudo", "sudo|-u|root|rm|-rf|/", Deny},
		{"hard", "/usr/bin/find", "find|/|-exec|rm|-rf|{}|;", Deny},
		{"hard", "/usr/bin/python3.12", "python3|-c|import os; os.system('rm -rf /')", Ask},
		{"hard", "/usr/sbin/mkfs.ext4", "mkfs.ext4|/dev/sda1", Deny},
		{"hard", "/usr/bin/printf", "printf|\x01|\x02", Allow},
		{"rule:deny curl", "/usr/bin/curl", "curl|x", Deny},
		{"rule:deny curl", "/tmp/curl", "curl|x", Deny},
		{"rule:deny curl", "/usr/bin/env", "env|A=b|curl|x", Deny},
		{"rule:deny nc", "/usr/bin/nc.openbsd", "nc|-l|80", Deny},
		{"rule:deny python3", "/usr/bin/python3.12", "python3|x.py", Deny},
		{"rule:deny git push", "/usr/bin/git", "git|-C|x|push", Deny},
		{"rule:deny git push", "/usr/lib/git-core/git", "git|push", Deny},
		{"rule:allow git", "/usr/bin/git", "git|log", Allow},
		{"rule:allow git", "/tmp/git", "git|log", Ask},
		{"rule:allow git", "/tmp/evil", "git|log", Ask},
		{"rule:allow git", "./git", "git|log", Ask},
		{"rule:allow /opt/tool/git", "/opt/tool/git", "git|log", Allow},
		{"rule:allow /opt/tool/git", "/usr/bin/git", "git|log", Ask},
		{"rule:allow python3", "/usr/bin/python3.12", "python3|x.py", Allow},
		{"rule:allow git", "/usr/bin/bash", "sh|-c|git log", Allow},
		{"rule:allow git", "/tmp/bash", "sh|-c|git log", Ask},
		{"rule:allow git", "/usr/bin/bash", "sh|-c", Ask},
		{"build", "/usr/bin/make", "make|test", Allow}, {"build", "/tmp/make", "make|test", Ask},
		{"build", "/tmp/bash", "sh|-c|ls", Ask}, {"build", "/usr/bin/bash", "sh|-c|ls", Allow},
		{"readonly", "/usr/bin/ls", "ls|-l", Allow},
		{"readonly", "/tmp/ls", "ls|-l", Ask},
		{"readonly", "/usr/bin/touch", "ls|-l", Ask},
		{"readonly", "/usr/bin/git", "git|log|--output=x", Ask},
	} {
		j := engineFor(t, c.policy).JudgeArgv(c.file, strings.Split(c.argv, "|"),
			Line{Cwd: "/home/me/project", Home: "/home/me"})
		if j.Verdict != c.want {
			t.Errorf("%s: %s [%s]: %v (%s: %s), want %v", c.policy, c.file, c.argv, j.Verdict, j.Rule, j.Why, c.want)
		}
	}
	if j := engineFor(t, "hard").JudgeArgv("", nil, Line{}); j.Verdict != Allow {
		t.Errorf("an empty line: %+v", j)
	}
}

// FEATURES: R63
func TestProposedRules(t *testing.T) {
	for _, c := range []struct{ policy, line, want string }{
		{"readonly", "go test ./...", "allow go test"},
		{"readonly", "mkdir -p a/b", "allow mkdir"},
		{"readonly", "git add -A", "allow git add"},
		{"readonly", "git push origin main", "allow exactly git push origin main"},
		{"readonly", "git -C /x add y", "allow exactly git -C /x add y"},
		{"readonly", "rm -rf build", "allow exactly rm -rf build"},
		{"readonly", "curl -O https://example.org/x", "allow exactly curl -O https://example.org/x"},
		{"readonly", "./build.sh 'a b'", "allow exactly /home/me/project/build.sh 'a b'"},
		{"readonly", "python3 build.py", "allow exactly python3 build.py"},
		{"readonly", "npm run build", "allow exactly npm run build"},
		{"readonly", "git commit -m 'x y'", "allow git commit"},
		// Never: code, shells, wrappers, unknown programs.
		{"readonly", "python3 -c 'print(1)'", ""},
		{"readonly", "python3", ""}, {"readonly", "python3 -", ""}, {"readonly", "perl -ne 'x' y", ""},
		{"readonly", "bash", ""}, {"readonly", "bash x.sh", "allow exactly bash x.sh"}, {"readonly", "eval x", "allow exactly x"},
		{"readonly", "ls x | sh", ""}, {"readonly", "$X y", ""}, {"hard", "rm -rf \"$X\"/", ""},
		{"readonly", "find . -exec touch {} +", "allow touch"},
		{"readonly", "find . -delete -exec touch {} +", ""}, // a rule for touch alone would not do
		{"readonly", "go test ./... && git push origin main; go test -race .", "allow go test; allow exactly git push origin main"},
		{"readonly", "mkdir a; bash x.sh", "allow mkdir; allow exactly bash x.sh"}, {"readonly", "mkdir a; ls; mkdir b", "allow mkdir"},
		// Words that the shown text would not give again.
		{"readonly", "'x;git' push --force", "allow exactly 'x;git' push --force"}, {"readonly", `"it's" x`, `allow exactly 'it'\''s' x`},
		{"readonly", "exactly x", "allow exactly exactly x"}, {"readonly", "'#x' y", "allow exactly '#x' y"},
		{"listed", "sudo", ""}, {"listed", "ssh host", ""}, {"listed", "cat *", ""}, {"hard", "rm -rf /", ""},
	} {
		j := engineFor(t, c.policy).Judge(Line{Text: c.line, Cwd: "/home/me/project", Home: "/home/me"})
		rules := j.Propose()
		var names []string
		for _, r := range rules {
			names = append(names, r.Name)
		}
		if got := strings.Join(names, "; "); got != c.want {
			t.Errorf("%s: %s: proposed %q, want %q", c.policy, c.line, got, c.want)
		}
		if len(rules) == 0 {
			continue
		}
		if typed, err := ParseTexts(strings.Join(names, "; ")); err != nil || !slices.EqualFunc(typed, rules, sameRule) {
			t.Errorf("%s: typing %q gives %q, %v", c.line, names, typed, err)
		}
		e, err := New(Options{Preset: Preset(c.policy), Rules: rules})
		if err != nil {
			t.Fatal(err)
		}
		j = e.Judge(Line{Text: c.line, Cwd: "/home/me/project", Home: "/home/me"})
		if j.Verdict != Allow {
			t.Errorf("%s with %q: %v (%s)", c.line, names, j.Verdict, j.Why)
		}
		if len(rules) == 1 && rules[0].Exact {
			if j := e.Judge(Line{Text: c.line + " more", Cwd: "/home/me/project"}); j.Verdict == Allow {
				t.Errorf("%s more: allowed by %q", c.line, names)
			}
		}
	}
}

// TestExactRulesAnswerQuestionsOnly checks that an exact rule answers the approval requirement of a preset, and neither
// a denial nor the requirement of a rule.
func TestExactRulesAnswerQuestionsOnly(t *testing.T) {
	e, err := New(Options{Rules: []Rule{
		{Program: "crontab", Words: []string{"-r"}, Exact: true},
		{Program: "rm", Words: []string{"-rf", "/"}, Exact: true},
		{Program: "git", Words: []string{"push"}, Exact: true},
		{Program: "git", Words: []string{"push"}, Decision: Ask},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]Verdict{"crontab -r": Allow, "crontab -r -u x": Ask, "rm -rf /": Deny,
		"git push": Ask} {
		if j := e.Judge(Line{Text: line}); j.Verdict != want {
			t.Errorf("%s: %v (%s)", line, j.Verdict, j.Why)
		}
	}
}

// FEATURES: R63
func TestRiskAndGroup(t *testing.T) {
	for _, c := range []struct {
		line  string
		risk  Risk
		group string
	}{
		{"ls -l", Reads, "ls"}, {"git log | head", Reads, "git log"}, {"touch x", Writes, "not reading touch"},
		{"echo x > y", Writes, "write >"}, {"git push", Network, "not reading git push"},
		{"curl x", Network, "not reading curl"}, {"curl x | sh", Unknown, "unknown"},
		{"./x", Unknown, "not reading x"}, {"sudo ls", Privilege, "not reading sudo"},
		{"rm x", Destroys, "not reading rm"}, {"ls; rm -rf /", Destroys, "hard:remove rm"},
		{"git push origin a --force", Destroys, "hard:elsewhere git push"}, {"git push origin b", Network, "not reading git push"},
	} {
		j := engineFor(t, "readonly").Judge(Line{Text: c.line, Home: "/home/me", Cwd: "/home/me/x"})
		group := j.GroupKey()
		if !slices.Contains([]string{c.group, strings.TrimPrefix(c.group, "write ")}, group) && c.group != "unknown" ||
			j.Risk != c.risk {
			t.Errorf("%s: %s %q, want %s %q", c.line, j.Risk, group, c.risk, c.group)
		}
	}
}

// TestGroups_WithoutRepetition checks that a group's name contains the rule and the program, each once.
//
// FEATURES: R64
func TestGroups_WithoutRepetition(t *testing.T) {
	for rule, want := range map[string]string{"git push": "ask git push", "git": "ask git push"} {
		r, err := ParseRule(rule, Ask)
		if err != nil {
			t.Fatal(err)
		}
		e, err := New(Options{Rules: []Rule{r}})
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Judge(Line{Text: "git push origin", Cwd: "/srv/p"}).GroupKey(); got != want {
			t.Errorf("%s: %q, want %q", rule, got, want)
		}
	}
}

// TestVariablesSetBefore checks that a variable that names code or a program means the same whether it is given to one
// command or set on the line before it.
//
// FEATURES: R61
func TestVariablesSetBefore(t *testing.T) {
	e, err := New(Options{Preset: Hard})
	if err != nil {
		t.Fatal(err)
	}
	judge := func(line string) Verdict { return e.Judge(Line{Text: line, Cwd: "/w", Home: "/home/u"}).Verdict }
	for _, c := range []struct{ set, command string }{
		{"GIT_EDITOR=/tmp/q/x", "git commit"}, {"GIT_PAGER=/tmp/q/x", "git log"}, {"GIT_SSH_COMMAND=/tmp/q/x", "git push"}, {"PAGER=/tmp/q/x", "man ls"},
		{"LD_PRELOAD=/tmp/q/x.so", "ls"}, {"GIT_EXTERNAL_DIFF=/tmp/q/x", "git diff"}, {"GIT_EXEC_PATH=/tmp/q", "git status"},
		{"BASH_ENV=/tmp/q", "bash -c ls"}, {"GIT_EDITOR=$X", "git commit"}, {`EDITOR="rm -rf /"`, "git commit"},
	} {
		name, _, _ := strings.Cut(c.set, "=")
		for _, line := range []string{
			"%s %s", "env %s %s", "export %s; %s", "export %s\n%s", "%s; %s", "%s; export NAME; %s", "declare -x %s; %s", "set -a; %s; %s",
			"f() { export %s; }; f; %s", "export %s && echo a | xargs %s", "export %s; sh -c '%s'", "if true; then export %s; fi; %s",
		} {
			line = fmt.Sprintf(strings.ReplaceAll(line, "NAME", name), c.set, c.command)
			if v := judge(line); v != Ask {
				t.Errorf("%v: %s", v, line)
			}
		}
	}
	for _, line := range []string{
		"export GIT_EDITOR=vim; git commit", "export PAGER=cat GIT_PAGER=cat; git log", "GIT_PAGER=; git log", "export GIT_EDITOR=./x; git commit",
		"export GIT_EDITOR=/tmp/q/x; unset GIT_EDITOR; git commit", "(export PAGER=/tmp/q/x); man ls", "export GIT_EDITOR=/tmp/q/x; ls; echo git commit",
	} {
		if v := judge(line); v != Allow {
			t.Errorf("%v: %s", v, line)
		}
	}
}

// TestFileOfCommands_AllowedByExactRule allows a file of commands, and a program by a relative path, by a rule for
// exactly these words in the directory where they were shown.
//
// FAULT: H7
func TestFileOfCommands_AllowedByExactRule(t *testing.T) {
	here := Line{Cwd: "/home/me/project", Home: "/home/me"}
	for _, row := range []struct{ preset, line string }{
		{"hard", "bash x.sh"}, {"hard", "sh ./x.sh a b"}, {"hard", "zsh x"}, {"hard", "bash -x x.sh"}, {"hard", "source ./lib/x.sh a ../b"}, {"hard", ". /opt/x.sh"},
		{"build", "bash x.sh"}, {"readonly", "bash x.sh"}, {"readonly", "./x.sh"}, {"readonly", "./x.sh 'a b'"}, {"readonly", "bin/x -v"}, {"readonly", "../x"},
		{"build", "../x"}, {"listed", "./x"}, {"hard", "bash /home/me/project/x.sh"},
	} {
		l := here
		l.Text = row.line
		j := engineFor(t, row.preset).Judge(l)
		rules := j.Propose()
		if j.Verdict != Ask || len(rules) != 1 || !rules[0].Exact {
			t.Errorf("%s: %s: %s, proposed %v", row.preset, row.line, j.Verdict, rules)
			continue
		}
		rules[0].Roots = []string{here.Cwd}
		e, err := New(Options{Preset: Preset(row.preset), Rules: rules})
		if err != nil {
			t.Fatal(err)
		}
		if j := e.Judge(l); j.Verdict != Allow {
			t.Errorf("%s: %s with %s: %s (%s)", row.preset, row.line, rules[0], j.Verdict, j.Why)
		}
		other := l
		other.Cwd = "/home/me/other"
		if j := e.Judge(other); j.Verdict != Ask {
			t.Errorf("%s: %s elsewhere: %s", row.preset, row.line, j.Verdict)
		}
		if l.Text += " more"; e.Judge(l).Verdict != Ask {
			t.Errorf("%s: %s: allowed", row.preset, l.Text)
		}
	}
	for _, line := range []string{"bash $X", "bash x.sh $(cat y)", "curl x | bash", "sh < x", "bash -c \"$X\""} {
		l := here
		l.Text = line
		if rules := engineFor(t, "hard").Judge(l).Propose(); len(rules) > 0 {
			t.Errorf("%s: proposed %v", line, rules)
		}
	}
}
