package rulebook

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/config/tomldoc"
	"github.com/longterm-dev/longterm/session/policy"
)

// FEATURES: R61
func TestDecode(t *testing.T) {
	f, err := Decode("p", []byte(`
preset = "build"
allow = ["git log"]
[[rules]]
name = "no force"
program = "git"
words = ["push", "orig*|up"]
options = ["-f|--force"]
decision = "deny"
reason = "history is shared"
instead = "git push --force-with-lease"
cwd = ["~/work", "/srv"]
until = 2026-12-01T10:00:00Z
match = ["git push -f origin"]
not_match = ["git push origin", "git push -f other"]
[[rules]]
program = "/opt/tool/run"
words = ["-x", "a b"]
exact = true
decision = "allow"
[[sections]]
name = "prod"
agents = ["*"]
deny = ["curl"]
[[sections.rules]]
program = "make"
decision = "ask"
[[sections]]
labels = ["a=b"]
[[sections.rules]]
program = "x"
decision = "ask"
`), false)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range f.Sections {
		for _, r := range s.Rules {
			got = append(got, fmt.Sprintf("%s:%d:%d %s %q %q", s.Name, r.At.Line, r.At.Column, r.Name, r.Why, r.Cwd))
		}
	}
	slices.Sort(got)
	want := []string{
		`:16:3 allow exactly /opt/tool/run -x 'a b' "" []`,
		`:3:10 allow git log "" []`,
		`:30:3 ask x "rule ask x" []`,
		`:4:3 no force "history is shared" ["~/work" "/srv"]`,
		`prod:24:9 deny curl "rule deny curl" []`,
		`prod:25:3 ask make "rule ask make" []`,
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if f.Sections[0].Preset != policy.Build || f.Hash != HashOf([]byte("")) && len(f.Hash) != 64 {
		t.Errorf("%+v", f)
	}
}

// TestDecode_ErrorsNamePlaceAndFix checks that errors are reported with their position and a hint.
//
// FEATURES: R61
func TestDecode_ErrorsNamePlaceAndFix(t *testing.T) {
	const rule = "[[rules]]\nprogram = \"git\"\ndecision = \"deny\"\n"
	for src, want := range map[string]string{
		"preset = 3":                                             `1:10: preset: found a number, want a text in quotes`,
		"preset = \"redonly\"":                                   `1:10: preset: no preset "redonly"; did you mean "readonly"?`,
		"preset = \"off\"":                                       `1:10: preset: a file cannot use preset off, since files only make things stricter: remove the line, and set the default elsewhere: ` + "`longterm config set policy.agents off`",
		"prest = \"hard\"":                                       `1:1: prest: no such key; did you mean "preset"?`,
		"a.b = 1":                                                `1:1: a: no such key; the file has preset`,
		"program = \"git\"":                                      `1:1: program: this is a key of a rule; write [[rules]] above it`,
		"deny = \"curl\"":                                        `1:8: deny: found a text, want a list of texts, as in`,
		"deny = [\"curl\",\n 3]":                                 `2:2: deny: list contains a number`,
		"deny = [\"curl\", \"\"]":                                `1:17: deny: list contains an empty text; remove it`,
		"deny = [\"./x\"]":                                       `1:9: program: write it without its directory, as in "x", or absolute`,
		"deny = [\"curl | sh\"]":                                 `1:9: deny: "curl | sh" is about one command, and no shell reads it: | means nothing in it`,
		"deny = [\"git push && git tag\"]":                       `&& means nothing in it`,
		"deny = [\"rm -rf $HOME\"]":                              `$HOME means nothing in it`,
		"deny = [\"-rf\"]":                                       `-rf means nothing in it`,
		"deny = [\"a\\nb\"]":                                     `a line break means nothing in it`,
		"deny = [\"a*\"]":                                        `1:9: program: a rule is about one program`,
		"[rules]\nprogram = \"git\"":                             `1:2: rules: there may be several of these; write [[rules]]`,
		"[[rule]]\nprogram = \"git\"":                            `1:3: rule: no such section; did you mean "rules"?`,
		"[rules.0]\nprogram = \"git\"":                           `1:2: rules.0: no such section`,
		"rules.0.program = \"git\"":                              `1:1: rules: rules start with a line [[rules]]`,
		"sections.0.name = \"git\"":                              `1:1: sections: sections start with a line [[sections]]`,
		"sections = 3":                                           `1:1: sections: sections start with a line [[sections]]`,
		"rules = [{program = \"x\"}]":                            `1:1: rules: rules start with a line [[rules]]`,
		"rules = {program = \"x\"}":                              `1:1: rules: this is a table in one line`,
		"[[sections.rules]]\nprogram = \"x\"":                    ``,
		"[[sections]]\nagent = [\"x\"]":                          `2:1: agent: no such key; did you mean "agents"?; [[sections]] has name, agents`,
		"[[sections]]\nagents = []":                              `2:10: agents: the list is empty`,
		"[[sections]]\nname = \"hard\"":                          `2:8: name: "hard" is no name of a section`,
		"[[sections]]\nname = \"a b\"":                           `2:8: name: "a b" is no name of a section`,
		"[[sections]]\nname = \"a\"\n[[sections]]\nname = \"a\"": `4:8: name: another section has the name "a"; choose another`,
		"[[rules]]\ndecision = \"deny\"":                         `1:3: program: the rule names no program`,
		"[[rules]]\nprogram = \"git\"":                           `1:3: decision: the rule lacks a decision; add decision =`,
		rule + "decison = 1":                                     `4:1: decison: no such key; did you mean "decision"?`,
		rule + "words = [\"-f\"]":                                `4:10: words: "-f" is an option; write it under options`,
		rule + "options = [\"f\"]":                               `4:12: options: "f" is not an option`,
		rule + "exact = 1":                                       `4:9: exact: found a number, want true or false, without quotes`,
		rule + "exact = true\noptions = [\"-f\"]":                `1:3: options: a rule about exact words has no options`,
		rule + "cwd = [\"x\"]":                                   `4:8: cwd: "x": want an absolute path, or one below ~/`,
		rule + "until = \"soon\"":                                `4:9: until: this is no day and no time; write it as 2026-12-01`,
		rule + "until = 12:00:00":                                `4:9: until: this is no day and no time`,
		rule + "name = \"hard:x\"":                               `4:8: name: "hard:x" is the name of something built in`,
		rule + "name = \"unknown\"":                              `4:8: name: "unknown" is the name of something built in`,
		rule + "name = \"\"":                                     `4:8: name: a name has 1 to 200 letters`,
		rule + "name = \"x\"\n" + rule + "name = \"x\"":          `5:3: name: another rule has the name "x"`,
		rule + "match = [\"git x\",\n  \"ls\"]":                  `5:3: match: rule "deny git" must match "ls", but the verdict is allow`,
		rule + "not_match = [\"sudo git x\"]":                    `4:14: not_match: rule "deny git" must not match "sudo git x", but the verdict is deny`,
		"[[rules]]\nprogram = \"git x\"\ndecision = \"deny\"":    `2:11: program: "git x" is no name of a program; write its arguments`,
		"[[rules]]\nprogram = \"git\"\ndecision = \"dney\"":      `3:12: decision: "dney" is no decision; did you mean "deny"?`,
		"deny = [\"x\"":                                          `1:`,
		"x = \"\xff\"":                                           `1:6: this is no text in UTF-8`,
		"preset = \"hard\"\n\x00":                                `2:1: this is no text in UTF-8`,
		strings.Repeat("#", maxFile+1):                           `the file has more than 524288 bytes`,
		strings.Repeat("a=1\n", maxKeys+1):                       `the file has more than 10000 keys`,
		strings.Repeat("[[rules]]\n", maxRules+1):                `2001:3: rules: there are more than 2000 rules`,
		"deny = " + strings.Repeat("[", 100_000):                 `there are more than 500 open brackets`,
		rule + "match = [" + strings.Repeat("\"git\",", maxExamples+1) + "]": `there are more than 5000 examples`,
	} {
		_, err := Decode("p.toml", []byte(src), false)
		if want == "" {
			if err == nil {
				t.Errorf("%.60q is accepted", src)
			}
			continue
		}
		var p tomldoc.Problems
		if !errors.As(err, &p) || !strings.HasPrefix(err.Error(), "p.toml:") || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v\nwant %s", src, err, want)
		}
	}
	// All at once, in the file's order, and not without end.
	_, err := Decode("p", []byte("x = 1\ny = 2\n[[rules]]\nz = 3\n"), false)
	if p := tomldoc.ProblemsOf(err); len(p) != 3 || p[0].Line != 1 || p[2].Line != 4 {
		t.Errorf("%v", err)
	}
	_, err = Decode("p", []byte("allow = [\"git log\", \"\", 3, \"ls && rm\"]\ndeny = [\"a|b\"]\n"), false)
	if p := tomldoc.ProblemsOf(err); len(p) != 4 || p[0].Column != 21 || p[1].Column != 25 || p[2].Column != 28 || p[3].Line != 2 {
		t.Errorf("%v", err)
	}
	_, err = Decode("p", []byte(strings.Repeat("[[rules]]\nx = 1\n", 100)), false)
	if p := tomldoc.ProblemsOf(err); len(p) != maxProblems+1 {
		t.Errorf("%d problems", len(p))
	}
	// A project names directories below itself.
	if _, err := Decode("p", []byte(rule+"cwd = [\"sub/x\", \".\"]"), true); err != nil {
		t.Error(err)
	}
	if _, err := Decode("p", []byte(rule+"cwd = [\"../x\"]"), true); err == nil || !strings.Contains(err.Error(), "it leaves the project") {
		t.Error(err)
	}
}

func TestParseText(t *testing.T) {
	for text, want := range map[string]string{
		"git push": "allow git push", "allow git push --force": "allow git push --force", "deny curl": "deny curl",
		"ask rm -r": "ask rm -r", "allow exactly rm -rf 'a b' \"c\\\"d\"": `allow exactly rm -rf 'a b' 'c"d'`, "exactly x ''": "allow exactly x ''",
		"deny": "allow deny",
	} {
		r, err := policy.ParseText(text)
		if err != nil || r.String() != want {
			t.Errorf("%s: %s, %v, want %s", text, r.String(), err, want)
			continue
		}
		f, err := Decode("p", []byte(RuleTOML(r, "why\n[x]")), false) // its written form is read back
		if err != nil || f.Rules() != 1 || f.Sections[0].Rules[0].String() != want {
			t.Errorf("%s: %v\n%s", text, err, RuleTOML(r, ""))
		}
	}
	for _, text := range []string{"", " ", "'", "a\nb", "a\x00"} {
		if r, err := policy.ParseText(text); err == nil {
			t.Errorf("%q: %v", text, r)
		}
	}
}

// FEATURES: R108
func TestLint(t *testing.T) {
	f, err := Decode("p", []byte(`
deny = ["git push --force"]
ask = ["git push", "git push origin"]
allow = ["git push origin main", "ls"]
[[rules]]
program = "git"
words = ["push", "a|b"]
options = ["--force"]
decision = "deny"
[[rules]]
program = "x"
decision = "deny"
until = 2026-01-01
[[sections]]
agents = ["a"]
ask = ["git push up", "x", "x"]
`), false)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range Lint(f, false, time.Date(2026, 11, 22, 0, 0, 0, 0, time.Local)) {
		got = append(got, fmt.Sprintf("%d %s: %.12s", p.Line, p.Key, p.Text))
	}
	slices.Sort(got)
	want := []string{
		"10 deny x: expired on 2", `16 ask git push up: redundant: "`, `16 ask x: redundant: "`, `3 ask git push origin: redundant: "`,
		"4 allow git push origin main: never decide", "4 allow git push origin main: no preset of", `5 deny git push 'a|b' --force: redundant: "`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	// The configuration counts too: there the rule lifts an approval requirement.
	for preset, lifts := range map[policy.Preset]bool{policy.Hard: false, policy.Build: true, policy.Listed: true, policy.Off: false, "": false} {
		odd := Lint(f, false, time.Date(2026, 11, 22, 0, 0, 0, 0, time.Local), policy.Hard, preset)
		if says := slices.ContainsFunc(odd, func(p tomldoc.Problem) bool { return strings.HasPrefix(p.Text, "no preset of") }); says == lifts {
			t.Errorf("policy.agents = %q: reports a rule without effect: %v", preset, says)
		}
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"", "", true}, {"*", "", true}, {"*", "x", true}, {"a*", "ab", true}, {"a*", "b", false}, {"*b", "ab", true}, {"a?c", "abc", true},
		{"a?c", "ac", false}, {"*a*b*", "xxaxxbxx", true}, {"*a*b", "ba", false}, {"a", "ab", false}, {"**", "x/y", true},
		{strings.Repeat("*a", 500), strings.Repeat("a", 5000) + "b", false},
	} {
		if glob(c.pattern, c.name) != c.want {
			t.Errorf("%.20s, %.20s", c.pattern, c.name)
		}
	}
}

// TestTrustRecords checks that a damaged trust record trusts nothing, and that neither does one under another file's
// name.
func TestTrustRecords(t *testing.T) {
	l := newLibrary(t, `preset = "readonly"`)
	dir := l.project("p", `allow = ["npm"]`)
	here := Subject{Agent: "x", Cwd: dir}
	l.trust(dir)
	l.want(here, "npm i", "allow")
	all, err := ListTrusted(l.o.Trust)
	if err != nil || len(all) != 1 || all[0].State != "trusted" || all[0].By != "a test" {
		t.Fatalf("%+v %v", all, err)
	}
	file := trustFile(l.o.Trust, all[0].Path)
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	other := l.project("q", `allow = ["npm"]`)
	l.write(trustFile(l.o.Trust, filepath.Join(other, projectPolicy)), string(good))
	l.want(Subject{Agent: "x", Cwd: other}, "npm i", "ask")
	for _, bad := range []string{"", "{", "[]", strings.Replace(string(good), all[0].Hash, "x", 1)} {
		l.write(file, bad)
		l.want(here, "npm i", "ask")
	}
	l.write(file, string(good))
	l.want(here, "npm i", "allow")
	l.project("p", "")
	if all, _ := ListTrusted(l.o.Trust); len(all) != 1 || all[0].State != "changed" {
		t.Errorf("%+v", all)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	l.at = l.at.Add(2 * missingTime)
	if all, _ := ListTrusted(l.o.Trust); len(all) != 1 || all[0].State != "gone" {
		t.Errorf("%+v", all)
	}
	if was, err := Untrust(l.o.Trust, filepath.Join(dir, projectPolicy)); !was || err != nil {
		t.Error(was, err)
	}
	for _, path := range []string{dir, l.write("x.toml", ""), "/"} {
		if _, err := ReadCandidate(path); err == nil {
			t.Errorf("%s can be trusted", path)
		}
	}
	if _, err := ReadCandidate(l.write(filepath.Join("home", "r", projectPolicy), "nonsense")); errors.Is(err, fs.ErrNotExist) || err == nil {
		t.Error(err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("preset = \"build\"\nallow = [\"git log\"]\n[[rules]]\nprogram = \"git\"\nwords = [\"push\"]\noptions = [\"-f|--force\"]\n"+
		"decision = \"deny\"\nreason = \"r\"\ninstead = \"i\"\ncwd = [\"~/w\"]\nuntil = 2026-12-01\nmatch = [\"git push -f\"]\nnot_match = [\"ls\"]\n"), false)
	f.Add([]byte("[[sections]]\nname = \"x\"\nagents = [\"*\"]\nlabels = [\"a=b\"]\nsessions = [\"s\"]\n[[sections.rules]]\nprogram = \">\"\nexact = true\nwords = [\"/x\"]\ndecision = \"ask\"\n"), true)
	f.Add([]byte("[rules]\n[[rule]]\nrules.0.a = {b = [1, {c = 2}]}\nuntil = 3\n"), true)
	f.Fuzz(func(t *testing.T, src []byte, project bool) {
		file, err := Decode("p", src, project)
		if err != nil {
			for _, p := range tomldoc.ProblemsOf(err) {
				if p.Text == "" || p.Line < 0 {
					t.Errorf("%+v", p)
				}
			}
			return
		}
		Lint(file, project, time.Unix(0, 0))
		// An accepted file can be compiled for any caller, and rules can be added to it.
		b := Open(Options{})
		k := &fileState{path: "p", project: project, file: file, using: "file", existed: true}
		c := chooser{book: b, subject: &Subject{Agent: "x", Session: "s", Labels: map[string]string{"a": "b"}, Home: "/home/me", Policy: "x"}}
		c.add(k, &trustRecord{Hash: file.Hash})
		made := c.compile()
		if made.engine == nil || made.sources.Preset == policy.Listed && strings.HasPrefix(made.sources.From, "policy:") {
			t.Errorf("%+v", made.sources)
		}
		made.engine.Judge(policy.Line{Text: "git push -f; cd /x && make", Cwd: "/home/me"})
		if !project {
			added := slices.Concat(src, []byte("\n\n"+RuleTOML(policy.Rule{Program: "zz", Decision: policy.Allow}, "c")))
			if _, err := Decode("p", added, false); err != nil && len(added) < maxFile {
				t.Errorf("a rule cannot be added: %v", err)
			}
		}
	})
}

// TestKeysOfManyParts checks that a key of very many parts, which an untrusted project may have, is rejected before it
// is parsed.
//
// FEATURES: R93
func TestKeysOfManyParts(t *testing.T) {
	for _, src := range []string{strings.Repeat("a.", 100_000) + "b=1", "deny = []\n[" + strings.Repeat("a.", 100_000) + "b]\n"} {
		_, err := Decode("policy.toml", []byte(src), true)
		if err == nil || !strings.Contains(err.Error(), "parts") {
			t.Errorf("%.80v", err)
		}
	}
	long := `reason = "` + strings.Repeat(".", 5000) + `"`
	if _, err := Decode("policy.toml", []byte("[[rules]]\nprogram = \"x\"\nverdict = \"deny\"\n"+long+"\n"), false); err != nil && strings.Contains(err.Error(), "parts") {
		t.Errorf("dots in a value: %v", err)
	}
}
