//go:build unix

package commands

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/e2e"
)

// step is a command of the tour and what it is said to print.
type step struct {
	line    int
	command string
	prints  []string
}

// tourSteps are the commands in a page's console blocks: what begins with "$ ", with the
// lines of its here-document.
func tourSteps(page string) []step {
	var steps []step
	inside, until := false, ""
	for n, l := range strings.Split(page, "\n") {
		command, isCommand := strings.CutPrefix(l, "$ ")
		switch {
		case strings.HasPrefix(l, "```"):
			inside = l == "```console"
		case !inside:
		case until != "":
			s := &steps[len(steps)-1]
			s.command += "\n" + l
			if l == until {
				until = ""
			}
		case isCommand:
			steps = append(steps, step{line: n + 1, command: command})
			if strings.HasSuffix(command, "<<'END'") {
				until = "END"
			}
		default:
			s := &steps[len(steps)-1]
			s.prints = append(s.prints, l)
		}
	}
	return steps
}

// loosely is a pattern for what the tour shows: … stands for anything, and a line of it
// alone for any lines; blanks may be more or fewer.
func loosely(lines []string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`\A`)
	for _, l := range lines {
		if l == "…" {
			b.WriteString(`(?s:.*)`)
			continue
		}
		var words []string
		for _, w := range strings.Fields(l) {
			words = append(words, strings.ReplaceAll(regexp.QuoteMeta(w), "…", ".*"))
		}
		b.WriteString(`[ \t]*` + strings.Join(words, `[ \t]*`) + `[ \t]*\n`)
	}
	return regexp.MustCompile(b.String() + `\z`)
}

// The tour is walked as it stands in the docs.
//
// FEATURES: R2, R36, R50
func TestTour(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	page, err := os.ReadFile("../../../../../docs/tour.md")
	if err != nil {
		t.Fatal(err)
	}
	i := e2e.New(t)
	if err := os.Symlink(i.Exe, filepath.Join(i.Dir, "longterm")); err != nil {
		t.Fatal(err)
	}
	steps := tourSteps(string(page))
	if len(steps) < 20 {
		t.Fatalf("only %d commands were found", len(steps))
	}
	work := t.TempDir()
	status := 0
	for _, s := range steps {
		cmd := exec.CommandContext(t.Context(), bash, "-c", fmt.Sprintf("(exit %d)\n%s", status, s.command))
		cmd.Dir = work
		cmd.Env = append(i.Env, "PATH="+i.Dir+":"+os.Getenv("PATH"), "SHELL="+bash, "HOME="+work)
		out, _ := cmd.CombinedOutput() // its status is the next one's $?
		status = cmd.ProcessState.ExitCode()
		if !loosely(s.prints).Match(out) {
			t.Fatalf("tour.md:%d: %s\nprinted (status %d)\n%s\ninstead of\n%s", s.line, s.command, status, out, strings.Join(s.prints, "\n"))
		}
	}
	for _, m := range regexp.MustCompile(`\]\((pictures/[^)]+)\)`).FindAllStringSubmatch(string(page), -1) {
		if st, err := os.Stat(filepath.Join("../../../../../docs", m[1])); err != nil || st.Size() > 150_000 {
			t.Errorf("%s: %v", m[1], err)
		}
	}
}
