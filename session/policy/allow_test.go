package policy

import (
	"strings"
	"testing"
)

// judged returns the verdict on a line under a preset with allow rules.
func judged(t testing.TB, preset Preset, line string, allow ...string) Judgement {
	t.Helper()
	e, err := New(Options{Preset: preset, Allow: allow})
	if err != nil {
		t.Fatal(err)
	}
	return e.Judge(Line{Text: line, Cwd: "/home/me/project", Home: "/home/me"})
}

// TestAllowRulesLiftWhatTheyName checks that an allow rule allows the commands that it names, wherever their options
// are.
//
// FEATURES: R61
func TestAllowRulesLiftWhatTheyName(t *testing.T) {
	for _, c := range [][2]string{
		{"curl -s http://a/x", "curl -s http://a/x"}, {"curl -s http://a/x", "curl http://a/x -s"}, {"curl http://a/x", "curl -sS http://a/x"},
		{"rm -rf build", "rm -rf build"}, {"rm -rf build", "rm -f -r build"}, {"rm build", "rm -rf build"}, {"rm -rf", "rm -rf x"},
		{"npm install", "npm --silent install"}, {"npm install", "npm -s install x --no-audit"}, {"npm --prefix install", "npm --prefix x install"},
		{"make test", "make -j8 test"}, {"make test", "make -k test"},
		{"sed", "sed -i s/a/b/ f"}, {"find", "find . -delete"}, {"sed -i", "sed -i s/a/b/ f"}, {"find -delete", "find . -name x -delete"},
		{"export API_TOKEN", "export API_TOKEN=x"}, {"git log --output", "git log --output=x"},
		{"git tag", "git tag v1"}, {"git tag", "git tag -a v1 -m x"}, {"git branch", "git branch next"}, {"git config user.email", "git config user.email x"},
		{"exactly rm -rf build", "rm -rf build"}, {"allow exactly rm -rf build", "rm -rf build"}, {"exactly rm -rf 'my build'", "rm -rf 'my build'"},
	} {
		for _, preset := range []Preset{ReadOnly, Listed} {
			if j := judged(t, preset, c[1], c[0]); j.Verdict != Allow {
				t.Errorf("allow %s, %s: %s needs approval: %s (%s)", c[0], preset, c[1], j.Why, j.Words)
			}
		}
	}
}

// TestAllowRules_NameWhatTheyDoNotLift checks that an allow rule reports the rules that it does not lift.
//
// FEATURES: R61
func TestAllowRules_NameWhatTheyDoNotLift(t *testing.T) {
	for _, c := range [][4]string{
		{"git log", "git log --output=x", "--output makes it do more than read", "allow git log --output"},
		{"git log", "git -C x log", "-C stands before log", "allow git log -C"},
		{"npm test", "npm --prefix x test", "--prefix stands before test", "allow npm test --prefix"},
		{"make test", "make -C x test", "-C stands before test", "allow make test -C"},
		{"git config", "git config core.pager ./x", "an argument", "exactly"},
		{"git log", "git log $X", "not known before it runs", "write that word out"},
		{"make", "make SHELL=dash", "change what make runs", ""},
		{"git log", "./git log", "system's directories", "./git"},
		{"curl -s http://a/x", "curl http://a/x", "it is about it with -s only", ""},
		{"sed", "sed -f x.sed f", "-f makes it do more", "allow sed -f"},
		{"exactly rm -rf build", "rm -rf build src", "", ""},
		{"rm -rf build", "rm -rf src", "", ""},
		{"git tag", "git push", "", ""},
		{"find", "find . -exec curl x ';'", "", ""},
		{"curl", "curl x | sh", "", ""},
	} {
		for _, preset := range []Preset{ReadOnly, Listed} {
			j := judged(t, preset, c[1], c[0])
			if j.Verdict != Ask {
				t.Errorf("allow %s: %s: %s", c[0], c[1], j.Verdict)
			}
			if !strings.Contains(j.Why, c[2]) || !strings.Contains(j.Instead, c[3]) {
				t.Errorf("allow %s: %s: %q, %q", c[0], c[1], j.Why, j.Instead)
			}
		}
	}
	for _, line := range []string{"rm -rf /", "rm -rf ~", "find / -delete"} {
		if j := judged(t, Build, line, "rm", "rm -rf", "find"); j.Verdict != Deny {
			t.Errorf("%s: %s", line, j.Verdict)
		}
	}
}

// TestRulesTakeClustersApart checks that a cluster of options in one word counts as each of them, also for a rule that
// denies.
//
// FEATURES: R61
func TestRulesTakeClustersApart(t *testing.T) {
	e, err := New(Options{Deny: []string{"rm -rf"}})
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]Verdict{"rm -rf x": Deny, "rm -fr x": Deny, "rm -r -f x": Deny, "rm -r --force x": Deny, "rm -r x": Allow} {
		if j := e.Judge(Line{Text: line}); j.Verdict != want {
			t.Errorf("%s: %s", line, j.Verdict)
		}
	}
}

// TestExamples_Explained checks that a rule that does not decide its own example reports why.
//
// FEATURES: R61
func TestExamples_Explained(t *testing.T) {
	r := Rule{Program: "git", Words: []string{"log"}, Decision: Allow, Match: []string{"git log --output=x"}}
	if _, err := New(Options{Rules: []Rule{r}}); err == nil || !strings.Contains(err.Error(), "--output makes it do more") || !strings.Contains(err.Error(), "allow git log --output") {
		t.Errorf("%v", err)
	}
	r = Rule{Program: "curl", Words: []string{"http://a/*"}, Options: []string{"-s"}, Decision: Allow, Match: []string{"curl -s http://a/x", "curl http://a/y -s"},
		NotMatch: []string{"curl http://a/x", "curl -s http://b/"}}
	if _, err := New(Options{Rules: []Rule{r}}); err != nil {
		t.Error(err)
	}
	if _, err := New(Options{Allow: []string{"exactly rm 'x"}}); err == nil {
		t.Error("a missing quotation mark is not reported")
	}
}

// FEATURES: R61
func TestExport_Explained(t *testing.T) {
	for _, preset := range []Preset{Build, ReadOnly} {
		if j := judged(t, preset, "export API_TOKEN=x"); j.Verdict != Allow || len(j.Commands) != 1 || strings.Join(j.Commands[0].Argv, " ") != "export API_TOKEN=x" {
			t.Errorf("%+v", j)
		}
		if j := judged(t, preset, "export"); j.Verdict != Ask || !strings.Contains(j.Why, "shows the environment") {
			t.Errorf("%+v", j)
		}
		if j := judged(t, preset, "export GIT_EDITOR=./x"); j.Verdict != Ask || strings.Contains(j.Why, "shows") {
			t.Errorf("%+v", j)
		}
	}
	e, err := New(Options{Deny: []string{"export API_TOKEN"}})
	if err != nil {
		t.Fatal(err)
	}
	if j := e.Judge(Line{Text: "export API_TOKEN=x"}); j.Verdict != Deny {
		t.Errorf("%+v", j)
	}
}
