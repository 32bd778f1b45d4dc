package rulebook

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/policy"
)

// library is a Book with its files in a directory of a test, and a clock that the test sets.
type library struct {
	*Book
	t    *testing.T
	dir  string
	home string
	at   time.Time
	age  time.Duration
}

func newLibrary(t *testing.T, person string) *library {
	t.Helper()
	dir := resolve(t.TempDir())
	l := &library{t: t, dir: dir, home: filepath.Join(dir, "home"), at: time.Date(2026, 11, 22, 12, 0, 0, 0, time.Local)}
	l.age = 1000 * time.Hour
	if person != "" {
		l.write("policy.toml", person)
	}
	l.open(Options{})
	return l
}

// open is a process's start.
func (l *library) open(o Options) {
	o.File, o.LastGoodCopy, o.MayDeleteCopy = filepath.Join(l.dir, "policy.toml"), filepath.Join(l.dir, "kept.toml"), true
	o.Trust, o.Home, o.now = filepath.Join(l.dir, "state", "trusted"), l.home, func() time.Time { return l.at }
	l.Book = Open(o)
}

// write writes a file with a separate modification time, long ago.
func (l *library) write(name, content string) string {
	l.t.Helper()
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(l.dir, name)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		l.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		l.t.Fatal(err)
	}
	l.age -= time.Hour
	at := l.at.Add(-l.age)
	if err := os.Chtimes(path, at, at); err != nil {
		l.t.Fatal(err)
	}
	return path
}

// remove removes a file, some time ago.
func (l *library) remove(path string, ago time.Duration) {
	l.t.Helper()
	if err := os.Remove(path); err != nil {
		l.t.Fatal(err)
	}
	at := l.at.Add(-ago)
	if err := os.Chtimes(filepath.Dir(path), at, at); err != nil {
		l.t.Fatal(err)
	}
}

// project writes a project's file of rules and returns its directory.
func (l *library) project(name, content string) string {
	path := l.write(filepath.Join("home", name, projectPolicy), content)
	return filepath.Dir(filepath.Dir(path))
}

func (l *library) trust(dir string) {
	l.t.Helper()
	c, err := ReadCandidate(dir)
	if err == nil {
		err = Trust(filepath.Join(l.dir, "state", "trusted"), c, "a test", l.at)
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *library) judge(s Subject, line string) policy.Judgement {
	e, src := l.For(s)
	return src.WaivePresetApprovals(e.Judge(policy.Line{Text: line, Cwd: s.Cwd, Home: l.home}))
}

func (l *library) want(s Subject, line, verdict string) {
	l.t.Helper()
	if j := l.judge(s, line); j.Verdict.String() != verdict {
		_, src := l.For(s)
		l.t.Errorf("%+v: %s: %v (%s: %s), want %s; preset %s of %q, files %+v", s, line, j.Verdict, j.Rule, j.Why, verdict, src.Preset, src.From, src.Files)
	}
}

var agent = Subject{Agent: "claude"}

// FEATURES: R61 R64
func TestRulesOfThePerson(t *testing.T) {
	l := newLibrary(t, `
deny = ["curl"]
ask = ["git push"]
[[rules]]
program = "git"
words = ["push"]
options = ["-f|--force"]
decision = "deny"
reason = "history is shared"
instead = "git push --force-with-lease"
match = ["git push -f origin"]
not_match = ["git push"]
`)
	for line, want := range map[string]string{
		"git push": "ask", "sudo git -C x push -f": "deny", "ls | curl x": "deny", "make": "allow", "rm -rf /": "deny", "git logout": "allow",
	} {
		l.want(Subject{}, line, want)
		l.want(agent, line, want)
	}
	// A preset's requirement applies to no user; a rule's requirement does.
	l.want(Subject{}, "$X y", "allow")
	l.want(agent, "$X y", "ask")
	l.want(Subject{}, "$X y; git push", "ask")
	j := l.judge(agent, "git push --force")
	_, src := l.For(agent)
	if e, ok := src.FindRule(j.Rule); !ok || e.Line != 4 || e.File != l.o.File || j.Instead != "git push --force-with-lease" {
		t.Errorf("%+v: %+v", j, e)
	}
	if j := l.judge(agent, "curl x"); j.Rule != "deny curl" {
		t.Errorf("%+v", j)
	}
}

// FEATURES: R61
func TestSections(t *testing.T) {
	l := newLibrary(t, `
[[sections]]
agents = ["claude*"]
preset = "readonly"
allow = ["go test"]
[[sections]]
sessions = ["prod-?"]
labels = ["env=prod*", "frozen"]
deny = ["kubectl delete"]
[[sections]]
name = "review"
preset = "listed"
  [[sections.rules]]
  program = "git"
  words = ["diff"]
  decision = "allow"
`)
	l.want(Subject{Agent: "claude-2"}, "make", "ask")
	l.want(Subject{Agent: "claude-2"}, "go test ./...", "allow")
	l.want(Subject{Agent: "codex"}, "make", "allow")
	l.want(Subject{}, "make", "allow")
	l.want(Subject{Session: "prod-1", Labels: map[string]string{"env": "prod-eu"}}, "kubectl delete pod x", "deny")
	l.want(Subject{Session: "prod-1", Labels: map[string]string{"frozen": ""}}, "kubectl delete pod x", "deny")
	l.want(Subject{Session: "prod-1"}, "kubectl delete pod x", "allow")
	l.want(Subject{Session: "prod-10", Labels: map[string]string{"frozen": ""}}, "kubectl delete pod x", "allow")
	l.want(Subject{Policy: "review"}, "git diff", "allow")
	l.want(Subject{Policy: "review"}, "git log", "ask")
	l.want(Subject{Policy: "readonly"}, "make", "ask")
	l.want(Subject{Policy: "off"}, "rm -rf /", "deny")
	l.want(Subject{Policy: "gone"}, "ls", "ask")
	if err := l.CheckPolicyName("reviews"); err == nil || !strings.Contains(err.Error(), `did you mean "review"`) {
		t.Error(err)
	}
	if l.CheckPolicyName("review") != nil || l.CheckPolicyName("build") != nil {
		t.Error("names that there are")
	}
}

// TestPresetOfTheFileAsksPersons checks that a preset in the file applies to all callers that it names, including the
// user.
func TestPresetOfTheFileAsksPersons(t *testing.T) {
	l := newLibrary(t, `preset = "build"`)
	l.want(Subject{}, "curl x", "ask")
	l.want(Subject{}, "make", "allow")
	l.SetDefaults(policy.Hard, policy.ReadOnly)
	l.want(agent, "make", "ask")
	l.want(Subject{}, "make", "allow")
}

// FEATURES: R61 R72
func TestRootsOfRules(t *testing.T) {
	l := newLibrary(t, `
[[rules]]
program = "make"
decision = "ask"
cwd = ["~/work"]
[[rules]]
program = "terraform"
words = ["apply"]
decision = "deny"
cwd = ["/srv/prod"]
`)
	work := filepath.Join(l.home, "work")
	if err := os.MkdirAll(filepath.Join(l.dir, "elsewhere"), 0o755); err != nil {
		t.Fatal(err)
	}
	l.want(Subject{Cwd: work}, "make", "ask")
	l.want(Subject{Cwd: work + "/sub"}, "make", "ask")
	l.want(Subject{Cwd: l.home + "/workshop"}, "make", "allow")
	l.want(Subject{Cwd: l.home}, "make", "allow")
	l.want(Subject{Cwd: l.home}, "cd work && make", "ask")
	l.want(Subject{Cwd: l.home}, "(cd work); make", "allow")
	l.want(Subject{Cwd: "/tmp"}, "cd /srv/prod/eu; terraform apply", "deny")
	l.want(Subject{Cwd: "/srv/prod"}, "cd ../test; terraform apply", "allow")
	l.want(Subject{Cwd: "/tmp"}, "cd $WHERE; terraform apply", "ask")
}

// FEATURES: R61
func TestExpiry(t *testing.T) {
	l := newLibrary(t, `
[[rules]]
program = "a"
decision = "deny"
until = 2026-11-22
[[rules]]
program = "b"
decision = "deny"
until = 2026-11-22T12:30:00Z
[[rules]]
program = "c"
decision = "deny"
until = "2026-11-21"
`)
	l.at = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	l.want(agent, "b", "deny")
	l.want(agent, "c", "allow")
	_, src := l.For(agent)
	if len(src.Ineffective) != 1 || !strings.HasSuffix(src.Ineffective[0].Why, "it expired on 2026-11-21") || src.Ineffective[0].Line != 10 {
		t.Errorf("%+v", src.Ineffective)
	}
	if at := src.Rules[1].Until; Until(src.Rules[0].Until) != "2026-11-22" || Until(at) != at.Local().Format(time.DateTime) {
		t.Errorf("%v, %v", Until(src.Rules[0].Until), Until(at))
	}
	l.at = time.Date(2026, 11, 22, 12, 30, 0, 0, time.UTC)
	l.want(agent, "b", "allow")
	l.at = time.Date(2026, 11, 22, 23, 59, 0, 0, time.Local)
	l.want(agent, "a", "deny")
	l.at = l.at.Add(time.Minute)
	l.want(agent, "a", "allow")
}

// TestProjectIsTrustedByItsContent checks that a project's file makes rules stricter at once, and laxer only once it is
// trusted, with exactly that content.
//
// FEATURES: R61
func TestProjectIsTrustedByItsContent(t *testing.T) {
	l := newLibrary(t, `preset = "readonly"
deny = ["npm publish"]`)
	const rules = "allow = [\"npm\"]\ndeny = [\"docker\"]\n"
	dir := l.project("proj", rules)
	here := Subject{Agent: "claude", Cwd: filepath.Join(dir, "sub", "gone")}
	l.want(here, "docker ps", "deny")
	l.want(here, "npm test", "ask")
	_, src := l.For(here)
	if len(src.Ineffective) != 1 || !strings.Contains(src.Ineffective[0].Why, "is not trusted") || src.Files[1].Trusted {
		t.Errorf("%+v", src.Ineffective)
	}
	l.want(agent, "docker ps", "allow") // elsewhere
	l.trust(dir)
	l.want(here, "npm test", "allow")
	l.want(here, "npm publish", "deny") // nothing lifts a denial
	l.want(here, "rm -rf /", "deny")
	l.project("proj", rules+"# changed\n")
	l.want(here, "npm test", "ask")
	l.want(here, "docker ps", "deny")
	if _, src := l.For(here); !src.Files[1].Changed || !strings.Contains(strings.Join(src.Warnings(), ""), "has changed since you trusted it") {
		t.Errorf("%+v", src.Files)
	}
	l.project("proj", rules)
	l.want(here, "npm test", "allow")
	if was, err := Untrust(l.o.Trust, dir); err != nil || !was {
		t.Error(was, err)
	}
	l.want(here, "npm test", "ask")
	// The same content at another place is another file.
	l.trust(dir)
	other := l.project("other", rules)
	l.want(Subject{Agent: "claude", Cwd: other}, "npm test", "ask")
}

// TestWhatAProjectAllowsCountsThere checks that a trusted project's allow rules count in the project, and nowhere else:
// a program may change to another directory.
//
// FEATURES: R61
func TestWhatAProjectAllowsCountsThere(t *testing.T) {
	l := newLibrary(t, `preset = "readonly"`)
	dir := l.project("proj", `allow = ["npm"]
[[rules]]
program = "make"
decision = "allow"
cwd = ["sub"]
match = ["make all"]
[[rules]]
program = "cargo"
decision = "allow"
cwd = ["/", "~"]
[[rules]]
program = "tox"
decision = "allow"
exact = true
words = ["-r"]
[[rules]]
program = "rake"
decision = "allow"
cwd = ["/srv"]
`)
	other := l.project("proj-evil", "")
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	l.trust(dir)
	here := Subject{Agent: "claude", Cwd: dir}
	for line, want := range map[string]string{
		"npm install": "allow", "cd sub && npm install": "allow", "cd .. && npm install": "ask", "cd " + other + " && npm install": "ask",
		"(cd /tmp; npm install)": "ask", "env -C /tmp npm install": "ask", "cd \"$X\" && npm install": "ask", "cd && npm install": "ask",
		"pushd /tmp; npm install": "ask", "cd " + dir + "/sub/../.. && npm install": "ask", "cd /tmp; cd " + dir + "; npm install": "allow",
		"make all": "ask", "cd sub; make all": "allow", "cd sub/..; make all": "ask",
		"cargo run": "allow", "cd /; cargo run": "ask", "tox -r": "allow", "cd /tmp; tox -r": "ask", "rake": "ask", "cd /srv; rake": "ask",
	} {
		l.want(here, line, want)
	}
	e, src := l.For(here)
	if len(src.Ineffective) != 1 || src.Ineffective[0].Program != "rake" || !strings.Contains(src.Ineffective[0].Why, "in the project only") {
		t.Errorf("%+v", src.Ineffective)
	}
	if j := e.Judge(policy.Line{Text: "cd /tmp; npm install", Cwd: dir}); !strings.Contains(j.Why, "it counts in "+dir+" only") {
		t.Errorf("why: %s", j.Why)
	}
	// A session that was started in the project takes no rules along either, and one that arrived through a link is in
	// it.
	l.want(Subject{Agent: "claude", Cwd: other, StartDir: dir}, "npm install", "ask")
	link, into := filepath.Join(l.dir, "link"), filepath.Join(l.dir, "into")
	for name, to := range map[string]string{link: dir, into: filepath.Join(dir, "sub")} {
		if err := os.Symlink(to, name); err != nil {
			t.Skip("no links here: ", err)
		}
	}
	l.want(Subject{Agent: "claude", Cwd: link}, "npm install", "allow")
	l.want(Subject{Agent: "claude", Cwd: filepath.Join(link, "sub")}, "npm install", "allow")
	l.want(Subject{Agent: "claude", Cwd: filepath.Join(link, "sub")}, "cd ../..; npm install", "ask")
	l.want(Subject{Agent: "claude", Cwd: into}, "npm install", "allow")
	l.want(Subject{Agent: "claude", Cwd: into}, "cd ..; npm install", "ask")
	// The user's own rules count wherever the user sets them.
	l.write("policy.toml", "preset = \"readonly\"\nallow = [\"npm\"]")
	l.want(here, "cd /tmp; npm install", "allow")
}

// TestProjectsWithinProjects checks that a file of an inner project gets no allow rule of an outer one, and that the
// project of a session's start keeps counting.
func TestProjectsWithinProjects(t *testing.T) {
	l := newLibrary(t, "")
	outer := l.project("mono", "deny = [\"docker\"]\npreset = \"build\"\n")
	inner := l.project("mono/a/b", "preset = \"hard\"\n")
	l.want(Subject{Agent: "x", Cwd: inner}, "docker ps", "deny")
	l.want(Subject{Agent: "x", Cwd: inner}, "curl x", "ask")
	l.want(Subject{Agent: "x", Cwd: "/", StartDir: outer}, "docker ps", "deny")
	l.want(Subject{Agent: "x", Cwd: "/"}, "docker ps", "allow")
	// A link to the project is the project.
	link := filepath.Join(l.dir, "link")
	if err := os.Symlink(inner, link); err != nil {
		t.Skip("no links here: ", err)
	}
	l.want(Subject{Agent: "x", Cwd: link}, "docker ps", "deny")
	// Neither the home directory nor a directory above it is a project.
	l.write(filepath.Join("home", projectPolicy), `deny = ["ls"]`)
	l.write(projectPolicy, `deny = ["ls"]`)
	l.want(Subject{Agent: "x", Cwd: inner}, "ls", "allow")
	l.want(Subject{Agent: "x", Cwd: l.dir}, "ls", "deny")
}

// FEATURES: R61
func TestBrokenFileKeepsTheLast(t *testing.T) {
	l := newLibrary(t, `deny = ["curl"]`)
	l.want(agent, "curl x", "deny")
	l.write("policy.toml", "deny = [\"wget\"]\ndney = [\"curl\"]\n")
	l.want(agent, "curl x", "deny")
	l.want(agent, "wget x", "allow")
	st := l.Status()
	if st.Using != "kept" || len(st.Problems) != 1 || !strings.Contains(st.Problems[0], `policy.toml:2:1: dney: no such key; did you mean "deny"?`) {
		t.Errorf("%+v", st)
	}
	l.open(Options{}) // and over a restart
	l.want(agent, "curl x", "deny")
	if st := l.Status(); st.Using != "kept" {
		t.Errorf("%+v", st)
	}
	l.write("policy.toml", `deny = ["wget"]`)
	l.want(agent, "curl x", "allow")
	l.want(agent, "wget x", "deny")
	if st := l.Status(); st.Using != "file" || len(st.Problems) != 0 || st.Rules != 1 {
		t.Errorf("%+v", st)
	}
	l.remove(l.o.File, missingTime/2)
	l.want(agent, "wget x", "deny") // an editor may be writing it
	l.at = l.at.Add(missingTime)
	l.want(agent, "wget x", "allow")
	if st := l.Status(); st.Using != "none" {
		t.Errorf("%+v", st)
	}
}

// TestBrokenFromTheStart checks that if the file was never valid, its denials are unknown and callers may only read. An
// invalid file of a project counts for agents.
func TestBrokenFromTheStart(t *testing.T) {
	l := newLibrary(t, "deny = [")
	l.want(agent, "make", "ask")
	l.want(agent, "ls", "allow")
	l.want(Subject{}, "make", "ask")
	l.want(Subject{}, "ls", "allow")
	dir := l.project("p", "nonsense")
	l.write("policy.toml", "")
	l.want(Subject{Cwd: dir}, "make", "allow")
	l.want(agent, "make", "allow")
	l.want(Subject{Agent: "x", Cwd: dir}, "make", "ask")
	_, src := l.For(Subject{Agent: "x", Cwd: dir})
	if !strings.Contains(src.From, "is invalid") || len(src.Warnings()) != 1 {
		t.Errorf("%+v", src)
	}
}

// TestFileIsLeftToSettle checks that a file that is being written is read when it has settled.
func TestFileIsLeftToSettle(t *testing.T) {
	l := newLibrary(t, `deny = ["curl"]`)
	path := l.write("policy.toml", `deny = []`)
	if err := os.Chtimes(path, l.at, l.at.Add(-settleTime/2)); err != nil {
		t.Fatal(err)
	}
	l.want(agent, "curl x", "deny")
	l.at = l.at.Add(settleTime)
	l.want(agent, "curl x", "allow")
}

// FEATURES: R63
func TestAppend(t *testing.T) {
	const before = "# mine\npreset = \"readonly\"   # so\n[[sections]]\nname = \"x\"\nallow = [\"ls\"]"
	l := newLibrary(t, before)
	if err := os.Chmod(l.o.File, 0o640); err != nil {
		t.Fatal(err)
	}
	l.want(agent, "git commit -m x", "ask")
	if err := l.Allow("git commit", "answer to approval A7\n[[rules]]\nby uid 1000"); err != nil {
		t.Fatal(err)
	}
	l.want(agent, "git commit -m x", "allow")
	if err := l.Allow("allow exactly rm -r 'my build' '' --", "A8"); err != nil {
		t.Fatal(err)
	}
	l.want(agent, "rm -r 'my build' '' --", "allow")
	l.want(agent, "rm -r 'my build' '' -- x", "ask")
	b, err := os.ReadFile(l.o.File)
	if err != nil || !strings.HasPrefix(string(b), before+"\n\n# answer to approval A7\n# [[rules]]\n# by uid 1000, 2026-11-22 12:00:00\n[[rules]]\nprogram = \"git\"\nwords = [\"commit\"]\ndecision = \"allow\"\n") {
		t.Errorf("%v\n%s", err, b)
	}
	if st, err := os.Stat(l.o.File); err != nil || st.Mode().Perm() != 0o640 && os.PathSeparator == '/' {
		t.Error(st.Mode(), err)
	}
	for _, wrong := range []string{"", "git 'push", "x/y", "hard: x\n", "./run"} {
		if err := l.Allow(wrong, "no"); err == nil {
			t.Errorf("%q was accepted", wrong)
		}
	}
	if now, _ := os.ReadFile(l.o.File); string(now) != string(b) {
		t.Errorf("%s", now)
	}
	l.write("policy.toml", "nonsense")
	if err := l.Allow("ls", "no"); err == nil || !strings.Contains(err.Error(), "put that right first") {
		t.Error(err)
	}
	if err := os.Remove(l.o.File); err != nil {
		t.Fatal(err)
	}
	l.at = l.at.Add(2 * missingTime)
	l.Status()
	l.at = l.at.Add(2 * missingTime)
	l.Status()
	if err := l.Allow("deny wget", ""); err != nil {
		t.Fatal(err)
	}
	l.want(agent, "wget x", "deny")
}

// TestParseTexts checks that several rules are one text with semicolons between them, and that a quoted semicolon is
// part of a word.
//
// FEATURES: R63
func TestParseTexts(t *testing.T) {
	for text, want := range map[string]string{
		"git push": "allow git push", "mkdir; exactly rm -f zz": "allow mkdir|allow exactly rm -f zz", "mkdir; ": "allow mkdir",
		"exactly echo 'a; b'; deny curl": "allow exactly echo 'a; b'|deny curl", `exactly echo a\;b`: "allow exactly echo 'a;b'",
		"": "", ";": "", "mkdir; 'x": "",
	} {
		rules, err := policy.ParseTexts(text)
		var names []string
		for _, r := range rules {
			names = append(names, r.Name)
		}
		if got := strings.Join(names, "|"); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}

// TestOwnFiles checks that files that state what is allowed are not changed without approval by the callers that they
// restrict.
func TestOwnFiles(t *testing.T) {
	l := newLibrary(t, "")
	dir := l.project("p", "")
	state := filepath.Dir(l.o.Trust)
	s := Subject{Agent: "x", Cwd: dir}
	for _, line := range []string{
		"echo > " + l.o.File, "cp x " + filepath.Join(l.dir, "config.toml"), "rm " + l.o.File, "tee " + l.o.Trust + "/x.json", "rm .longterm/policy.toml",
		"curl --unix-socket " + filepath.Join(l.dir, "run", "daemon.sock") + " http://x/",
		"echo 'allow = [\"npm\"]' >> .longterm/policy.toml", "sed -i s/deny/ask/ " + dir + "/.longterm/policy.toml", "mv x " + dir + "/.longterm/policy.toml",
	} {
		l.want(s, line, "ask")
		l.want(Subject{Cwd: dir}, line, "allow") // a user does as he likes
	}
	l.want(s, "rm -rf "+state, "deny")
	l.want(s, "cat "+l.o.File, "allow")
	l.want(s, "echo > policy.toml", "allow")
}

// TestOwnDirectory checks that with all files in one directory, everything below it is longterm's own, and its parents
// are protected too.
func TestOwnDirectory(t *testing.T) {
	l := newLibrary(t, "")
	s := Subject{Agent: "x", Cwd: "/usr"}
	line := "tee " + l.dir + "/anything < a"
	l.want(s, line, "allow")
	l.o.Root = l.dir
	l.Book = Open(l.o)
	l.want(s, line, "ask")
	l.want(s, "rm -rf "+l.dir, "deny")
	l.want(s, "rm -rf "+filepath.Dir(l.dir), "deny")
	l.want(s, "rm -rf "+l.dir+"x", "allow")
	for line, want := range map[string]string{
		"touch OWN/x": "ask", "mkdir -p OWN/state/x": "ask", "rmdir OWN/state": "ask", "truncate -s0 OWN/policy.toml": "ask", "ln -s /x OWN/y": "ask",
		"ln OWN/policy.toml /tmp/x": "ask", "ln -s OWN/policy.toml x; echo > x": "ask", "cd OWN && touch x": "ask", "find . -exec touch OWN/y ';'": "ask",
		"git clone x OWN/y": "ask", "git -C OWN init": "ask", "git worktree add OWN/w": "ask", `python3 -c 'open("OWN/policy.toml", "w")'`: "ask",
		"git -C OWN status": "allow", "touch -r OWN/x y": "allow", "touch x": "allow", "ls OWN": "allow", "git commit -m OWN/x": "allow", "echo OWN/x": "allow",
	} {
		l.want(s, strings.ReplaceAll(line, "OWN", l.dir), want)
	}
	s.Cwd = filepath.Join(l.dir, "w") // a session's directory
	engine, _ := l.For(s)
	if j := engine.Judge(policy.Line{Text: "rm -rf build", Cwd: s.Cwd}); j.Verdict != policy.Deny || !strings.Contains(j.Why, "LONGTERM_DIR") {
		t.Errorf("%+v", j)
	}
}

func TestEngines_Cached(t *testing.T) {
	l := newLibrary(t, `deny = ["curl"]`)
	a, _ := l.For(Subject{Agent: "a", Cwd: "/tmp"})
	b, _ := l.For(Subject{Agent: "b", Session: "s", Cwd: "/usr"})
	if a != b {
		t.Error("equal rules have two engines")
	}
	for i := range 3 * maxEngines {
		l.For(Subject{Policy: fmt.Sprint("none", i)})
		l.For(Subject{Cwd: fmt.Sprint("/tmp/", i)})
	}
	if len(l.engines) > maxEngines {
		t.Errorf("%d engines are kept", len(l.engines))
	}
}

// TestProjectsOfRealDirectories checks that a directory that the kernel names is checked with fewer calls, and has the
// same rules, also if its project got a file a moment ago, or one that cannot be read.
//
// FEATURES: R107
func TestProjectsOfRealDirectories(t *testing.T) {
	l := newLibrary(t, "")
	deep := filepath.Join(l.dir, "p", "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	same := func(what string, files int) {
		t.Helper()
		for _, dir := range []string{deep, filepath.Join(deep, "gone", "(deleted)"), "relative", ""} {
			engine, from := l.For(Subject{Cwd: dir, Agent: "x"})
			real, realFrom := l.For(Subject{Cwd: dir, Agent: "x", IsCwdResolved: true})
			if engine != real || len(from.Files) != len(realFrom.Files) {
				t.Errorf("%s: %q: %d files, and %d of a real directory", what, dir, len(from.Files), len(realFrom.Files))
			}
			if dir == deep && len(realFrom.Files) != files {
				t.Errorf("%s: %d files; want %d", what, len(realFrom.Files), files)
			}
		}
	}
	same("no project", 1)
	own := filepath.Join(l.dir, "p", ".longterm")
	if err := os.Mkdir(own, 0o755); err != nil {
		t.Fatal(err)
	}
	same("a directory without a file", 1)
	if err := os.WriteFile(filepath.Join(own, "policy.toml"), []byte(`deny = ["curl"]`), 0o644); err != nil {
		t.Fatal(err)
	}
	same("a file", 2)
	l.want(Subject{Cwd: deep, IsCwdResolved: true}, "curl x", "deny")
}

// TestProjectsFarUp checks that a deep directory is still in its project.
//
// FEATURES: R61 R107
func TestProjectsFarUp(t *testing.T) {
	l := newLibrary(t, "")
	dir := l.project("p", `deny = ["curl"]`)
	deep := filepath.Join(dir, strings.Repeat("d/", 200))
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, real := range []bool{false, true} {
		for _, cwd := range []string{deep, filepath.Join(deep, strings.Repeat("gone/", 100)), filepath.Join(deep, strings.Repeat("d/", 2000)), dir + "/" + strings.Repeat("d", 5000)} {
			l.want(Subject{Cwd: cwd, IsCwdResolved: real}, "curl x", "deny")
		}
	}
}

// TestFilesAreSeenOnce checks that one judgement under several names uses one state of the files: they are read once
// for all names, and again for the next judgement, and for another directory.
//
// FEATURES: R61 R107
func TestFilesAreSeenOnce(t *testing.T) {
	l := newLibrary(t, `deny = ["head"]`)
	dir := l.project("p", `deny = ["curl"]`)
	other := l.project("q", `deny = ["wget"]`)
	denied := func(s Subject, programs ...string) {
		t.Helper()
		for _, p := range []string{"head", "rev", "curl", "tac", "wget"} {
			if got := l.judge(s, p+" x").Verdict == policy.Deny; got != slices.Contains(programs, p) {
				t.Errorf("%s in %s under %q, which has seen files (%v): denied %v", p, s.Cwd, s.Policy, s.Cache != nil, got)
			}
		}
	}
	for _, real := range []bool{false, true} {
		s := Subject{Agent: "x", Cwd: dir, IsCwdResolved: real, Cache: new(LookupCache)}
		denied(s, "head", "curl")
		l.write("policy.toml", `deny = ["rev"]`)
		l.project("p", `deny = ["tac"]`)
		s.Policy = "build"
		denied(s, "head", "curl")
		elsewhere := s
		elsewhere.Cwd = other
		denied(elsewhere, "rev", "wget")
		denied(s, "rev", "tac")
		l.write("policy.toml", `deny = ["head"]`)
		l.project("p", `deny = ["curl"]`)
		denied(s, "rev", "tac")
		s.Cache = new(LookupCache)
		denied(s, "head", "curl")
		l.write("policy.toml", `deny = ["rev"]`)
		s.Cache = nil
		denied(s, "rev", "curl")
		l.write("policy.toml", `deny = ["head"]`)
	}
}

func BenchmarkFor(b *testing.B) {
	book := Open(Options{File: filepath.Join(b.TempDir(), "policy.toml")})
	for _, real := range []bool{false, true} {
		b.Run(fmt.Sprintf("real=%v", real), func(b *testing.B) {
			for b.Loop() {
				book.For(Subject{Agent: "x", Cwd: "/usr/share/doc", IsCwdResolved: real})
			}
		})
	}
}
