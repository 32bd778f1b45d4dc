//go:build unix

package sessiontest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/program"
)

var _ = flag.Bool("update", false, "write golden files")

// FEATURES: R87
func TestProgram(t *testing.T) {
	p := Start(t, "sh", "-c", `printf 'Name: '; read -r n; echo "Hello, $n!"; printf 'Again (yes/no)? '; read -r a; exit 3`)
	p.Expect("Name: ")
	p.Line("bob")
	if m := p.Expect("Goodbye", "Hello, bob"); m.Pattern != 1 {
		t.Errorf("%+v", m)
	}
	if m := p.ExpectRegexp(`Again \((\w+)/(?P<other>\w+)\)\? $`); m.Groups[1] != "yes" || m.NamedGroups["other"] != "no" {
		t.Errorf("%+v", m)
	}
	p.Send("n")
	p.Keys("o<Enter>")
	p.ExpectAny(program.Ended)
	p.ExpectExit(3)
	if s := p.Screen(); s != "Name: bob\nHello, bob!\nAgain (yes/no)? no\n" {
		t.Errorf("%q", s)
	}
}

// FEATURES: R87
func TestShell(t *testing.T) {
	p := Shell(t, "sh")
	if r := p.Exec("echo one; false"); r.Output != "one\n" || *r.Exit != 1 {
		t.Errorf("%+v", r)
	}
	p.WaitFor(session.Cond{Kind: session.CondPrompt})
	p.Line("exit 2")
	p.ExpectExit(2)
}

// failure runs f as a test that may fail, and returns its messages.
type failure struct {
	testing.TB
	said   strings.Builder
	failed bool
}

func (f *failure) Helper()        {}
func (f *failure) Cleanup(func()) {}
func (f *failure) Fatal(args ...any) {
	f.failed = true
	fmt.Fprint(&f.said, args...)
	panic(f)
}

func (f *failure) Fatalf(format string, args ...any) { f.Fatal(fmt.Sprintf(format, args...)) }

// fails runs f with p as in a failing test, and checks its message.
func fails(t *testing.T, p *Program, f func(), wants ...string) {
	t.Helper()
	fake := &failure{TB: t}
	p.t, p.Timeout = fake, 50*time.Millisecond
	func() {
		defer func() {
			if r := recover(); r != nil && r != fake {
				panic(r)
			}
		}()
		f()
	}()
	p.t, p.Timeout = t, DefaultTimeout
	if !fake.failed {
		t.Error("no failure")
	}
	for _, want := range wants {
		if !strings.Contains(fake.said.String(), want) {
			t.Errorf("no %q in:\n%s", want, fake.said.String())
		}
	}
}

// TestFailuresExplain checks that a failure shows the awaited text, the unread output, and the screen.
// FEATURES: R87
func TestFailuresExplain(t *testing.T) {
	p := Start(t, "sh", "-c", `echo read; echo unread; printf 'Name: '; read -r n; exit 3`)
	p.Expect("read")
	p.WaitFor(session.Cond{Kind: session.CondText, Text: "Name"})
	fails(t, p, func() { p.Expect("nothing", "like it") }, `"nothing" or "like it" did not appear: time ran out`, "| unread\n  | Name:", "screen:\n")
	fails(t, p, func() { p.Secret("hunter2") }, "typing a secret", "Name:")
	fails(t, p, func() { p.Keys("<Nonsense>") }, "Nonsense")
	fails(t, p, func() { p.Golden("no/such/file") }, "-update", "| Name:")
	fails(t, p, func() { p.ExpectExit(0) }, "waiting for the program's end: time ran out", "| Name:")
	p.Line("")
	p.ExpectExit(3)
	fails(t, p, func() { p.ExpectExit(0) }, "exit status 3 (ended by itself), not 0")
	fails(t, p, func() { p.Expect("more") }, "ended")
}

// FEATURES: R87
func TestGolden(t *testing.T) {
	p := Start(t, "sh", "-c", `printf '\033]2;the title\007'; echo "It is $(date +%H:%M:%S)."; printf '\033[1;31mred\033[0m and \033[48;2;1;2;3mdeep\033[0m\n'
		printf 'Name: '; read -r n; printf '\033[?1049h\033[?25l\033[2;5Hfull'; read -r n`)
	clock := Replace(`\d\d:\d\d:\d\d`, "TIME")
	p.Golden("prompt", clock)
	p.Golden("styled", clock, Styles)
	p.Line("bob")
	p.Golden("full")
	if updating() {
		return
	}
	fails(t, p, func() { p.Golden("prompt", clock) }, "-80×24, cursor 2,6, title", "+80×24, cursor 1,8 hidden, alternate screen", "-|Name:", "+|    full")
}

// FEATURES: R87
func TestDiff(t *testing.T) {
	for _, tt := range []struct{ want, got, diff string }{
		{"a\nb\nc", "a\nb\nc", " a\n b\n c\n"},
		{"a\nb\nc", "b\nc\nd", "-a\n b\n c\n+d\n"},
		{"a\nb", "a\nx\nb", " a\n+x\n b\n"},
		{"a", "b", "-a\n+b\n"},
	} {
		if got := diff(lines(tt.want), lines(tt.got)); got != tt.diff {
			t.Errorf("%q and %q: %q", tt.want, tt.got, got)
		}
	}
}

// FEATURES: R87
func TestBuild(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	if home := os.Getenv("HOME"); home != "" && os.Getenv("GOCACHE") == "" {
		t.Setenv("GOCACHE", filepath.Join(home, ".cache", "go-build"))
	}
	p := Start(t, Build(t, "./testdata/hello"), "bob")
	p.Expect("Hello, bob")
	p.ExpectExit(0)
	first := Build(t, "./testdata/hello")
	before, err := os.Stat(first)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	again, err := goBuild(dir, "./testdata/hello", nil) // as the next run does
	if err != nil || again != first {
		t.Errorf("%s, %v", again, err)
	}
	if after, err := os.Stat(again); err != nil || !os.SameFile(before, after) {
		t.Errorf("an up-to-date program was built again (%v)", err)
	}
	for _, pkg := range []string{"./testdata", "./no/such/package"} {
		if _, err := goBuild(dir, pkg, nil); err == nil || !strings.Contains(err.Error(), "build "+pkg) {
			t.Errorf("%s: %v", pkg, err)
		}
	}
}
