//go:build unix

package cirun

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/sourcepos"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/output/diagnostics"
)

func ended(status int) api.Job {
	return api.Job{ID: "11111111-2222", Session: "s", DurationMS: 1234, Result: &api.Result{ExitCode: &status}}
}

func places(n int) (list []sourcepos.Place) {
	for i := range n {
		list = append(list, sourcepos.Place{Path: fmt.Sprintf("/src/f%d.c", i), Line: i + 1, Column: 2, Message: fmt.Sprint("bad ", i)})
	}
	return list
}

// FEATURES: R133
func TestReadEnv(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want Env
	}{
		{nil, Env{System: Other}},
		{map[string]string{"CI": "true"}, Env{System: Other}},
		{map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": "/w", "GITHUB_STEP_SUMMARY": "/s"}, Env{GitHub, "/w", "/s"}},
		{map[string]string{"GITLAB_CI": "true", "CI_PROJECT_DIR": "/p"}, Env{System: GitLab, Root: "/p"}},
	} {
		if got := ReadEnv(func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.env, got, c.want)
		}
	}
}

// FEATURES: R133
func TestAnnotations(t *testing.T) {
	odd := []sourcepos.Place{{Path: "/src/a,b:c.go", Line: 3, Message: "100% bad\r\n::set-output name=x::y\x1b[31m"}, {Path: "/other/x", Message: "no line"}}
	f := &findings{job: ended(1), errors: within("/src", odd), warnings: within("/src", places(1))}
	want := `::error file=a%2Cb%3Ac.go,line=3::100%25 bad%0A::set-output name=x::y` + "\ufffd[31m" + `
::error file=/other/x::no line
::warning file=f0.c,line=1,col=2::bad 0
`
	if got := annotations(GitHub, f); got != want {
		t.Errorf("%q, want\n%q", got, want)
	}
	many := &findings{job: ended(1), errors: places(12), warnings: places(12)}
	if got := annotations(GitHub, many); strings.Count(got, "::error ") != 10 || strings.Count(got, "::warning ") != 10 {
		t.Errorf("more than GitHub shows:\n%s", got)
	}
	if got := annotations(GitLab, many); strings.Count(got, "\n") != 12 || !strings.HasPrefix(got, "/src/f0.c:1:2: bad 0\n") {
		t.Errorf("GitLab: %s", got)
	}
	plain := &findings{job: ended(2), result: diagnostics.Parse("x", nil, "ERROR: it broke\n")}
	if got := annotations(GitHub, plain); got != "::error::exit status 2 after 1.2s: ERROR: it broke\n" {
		t.Errorf("without a file: %q", got)
	}
	if got := annotations(GitHub, &findings{job: ended(0)}); got != "" {
		t.Errorf("success: %q", got)
	}
}

// FuzzAnnotation checks that no text in an annotation becomes another command.
func FuzzAnnotation(f *testing.F) {
	for _, s := range []string{"a", "a\nb", "%0A::error::x", "a,b:c", "\r\n::set-env name=x::y", "\u2028::", "\x85", "\xff\x00"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, path, message string) {
		line := annotation("error", &sourcepos.Place{Path: path, Line: 1, Column: 1, Message: message})
		body, ok := strings.CutSuffix(line, "\n")
		if !ok || strings.ContainsAny(body, "\r\n\x1b\x00\u0085\u2028\u2029") {
			t.Fatalf("%q", line)
		}
		props, _, ok := strings.Cut(strings.TrimPrefix(body, "::error"), "::")
		if !ok || path != "" && strings.Count(props, ",") != 2 || strings.Contains(props, ":") {
			t.Errorf("%q has the properties %q", line, props)
		}
	})
}

// FEATURES: R133
func TestSummary(t *testing.T) {
	f := &findings{line: "make `x`", job: ended(2), errors: within("/src", places(21))}
	f.errors[0].Message = "<img src=x> | ` ** [a](b)"
	f.result.Tests = &diagnostics.Tests{Passed: 3, Failed: 1, Failures: []diagnostics.Failure{{Name: "TestA", Suite: "pkg"}}}
	got := summary(f)
	for _, want := range []string{
		"### ❌ `` make `x` ``\n\nexit status 2 after 1.2s, 21 errors with a file, tests: 3 passed, 1 failed, 0 skipped\n",
		"| `f0.c:1:2` | `` <img src=x> \\| ` ** [a](b) `` |\n", "\n1 more\n", "Failed tests:\n\n- `pkg TestA`\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nlacks %q", got, want)
		}
	}
	path := filepath.Join(t.TempDir(), "summary")
	for range 2 {
		if err := appendTo(path, "x\n"); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "x\nx\n" {
		t.Errorf("%q, %v", b, err)
	}
}

// FEATURES: R133
func TestReports(t *testing.T) {
	dir := t.TempDir()
	f := &findings{line: "go test ./...", job: ended(1), errors: places(1), warnings: places(1)}
	f.errors = append(f.errors, f.errors[0])
	if err := writeQuality(filepath.Join(dir, "q"), f); err != nil {
		t.Fatal(err)
	}
	var list []quality
	b, err := os.ReadFile(filepath.Join(dir, "q"))
	if err != nil || json.Unmarshal(b, &list) != nil || len(list) != 3 {
		t.Fatalf("%s, %v", b, err)
	}
	if list[0].Severity != "major" || list[2].Severity != "minor" || list[0].Location.Lines.Begin != 1 || list[0].Fingerprint == list[1].Fingerprint {
		t.Errorf("%+v", list)
	}
	f.result.Tests = &diagnostics.Tests{Framework: "go", Passed: 2, Failed: 1, Failures: []diagnostics.Failure{{Name: "TestA", Suite: "pkg", Excerpt: "a_test.go:1: \x1b no"}}}
	for _, c := range [][2]string{{"tests", `name="go" tests="3" failures="1"`}, {"command", `name="go test ./..." tests="1" failures="1"`}} {
		name, want := c[0], c[1]
		path := filepath.Join(dir, name)
		if err := writeJUnit(path, f); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(b), want) || xml.Unmarshal(b, new(struct{})) != nil {
			t.Errorf("%s: %s, %v", name, b, err)
		}
		f.result.Tests = nil
	}
}

// FEATURES: R133
func TestStatus(t *testing.T) {
	zero := 0
	for want, r := range map[string]*api.Result{
		"exit status 0 after 1.2s": {ExitCode: &zero}, "signal KILL after 1.2s": {Signal: "KILL"}, "timeout after 1.2s": {TimedOut: "wall"},
		"lost after 1.2s": {State: "lost"}, "done after 1.2s": nil,
	} {
		f := findings{job: api.Job{State: "done", DurationMS: 1234, Result: r}}
		if got := f.status(); got != want || f.hasFailed() != (r == nil || r.ExitCode == nil) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
