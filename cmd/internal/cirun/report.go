//go:build unix

package cirun

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/sourcepos"
	"github.com/longterm-dev/longterm/session/output/junit"
)

// Bounds of the summary.
const (
	maxErrors   = 20
	maxFailures = 50
	maxMessage  = 300 // characters
)

// summary returns the job's summary in Markdown.
func summary(f *findings) string {
	mark := "✅"
	if f.hasFailed() {
		mark = "❌"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "### %s %s\n\n%s", mark, code(f.line), f.status())
	if n := len(f.errors); n > 0 {
		b.WriteString(", " + output.CountsText(n, 0)[0] + " with a file")
	}
	if t := f.result.Tests; t != nil {
		fmt.Fprintf(&b, ", tests: %d passed, %d failed, %d skipped", t.Passed, t.Failed, t.Skipped)
	}
	b.WriteString("\n\n")
	if len(f.errors) > 0 {
		b.WriteString("| place | error |\n|---|---|\n")
		for i := range f.errors[:min(len(f.errors), maxErrors)] {
			p := f.errors[i]
			message := p.Message
			p.Message = ""
			fmt.Fprintf(&b, "| %s | %s |\n", cell(strings.TrimSuffix(p.String(), ": ")), cell(message))
		}
		b.WriteString(more(len(f.errors), maxErrors) + "\n")
	} else if first := f.result.Summary.FirstError; first != nil && f.hasFailed() {
		b.WriteString(code(first.Text) + "\n\n")
	}
	if t := f.result.Tests; t != nil && len(t.Failures) > 0 {
		b.WriteString("Failed tests:\n\n")
		for i := range t.Failures[:min(len(t.Failures), maxFailures)] {
			b.WriteString("- " + code(testName(t.Failures[i].Suite, t.Failures[i].Name)) + "\n")
		}
		b.WriteString(more(len(t.Failures), maxFailures) + "\n")
	}
	return b.String()
}

func more(all, most int) string {
	if all <= most {
		return ""
	}
	return fmt.Sprintf("\n%d more\n", all-most)
}

func testName(suite, name string) string {
	if suite == "" {
		return name
	}
	return suite + " " + name
}

// code returns text as a code span of Markdown: no markup in it has an effect.
func code(s string) string {
	s = strings.TrimSpace(output.Shorten(output.Printable(s), maxMessage))
	if s == "" {
		return "-"
	}
	longest, run := 0, 0
	for _, r := range s {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	if longest > 0 {
		s = " " + s + " "
	}
	return fence + s + fence
}

// cell returns text as a code span in a table.
func cell(s string) string { return strings.ReplaceAll(code(s), "|", `\|`) }

// quality is an entry of GitLab's code quality report.
type quality struct {
	Description string          `json:"description"`
	CheckName   string          `json:"check_name"`
	Fingerprint string          `json:"fingerprint"`
	Severity    string          `json:"severity"`
	Location    qualityLocation `json:"location"`
}

type qualityLocation struct {
	Path  string       `json:"path"`
	Lines qualityLines `json:"lines"`
}

type qualityLines struct {
	Begin int `json:"begin"`
}

// writeQuality writes errors and warnings as a code quality report. A fingerprint has no line number, so that a message
// stays the same one when lines are added above.
func writeQuality(path string, f *findings) error {
	list, seen := []quality{}, map[string]int{}
	add := func(severity string, places []sourcepos.Place) {
		for i := range places {
			p := &places[i]
			key := p.File() + "\x00" + p.Message
			seen[key]++
			sum := sha256.Sum256([]byte(severity + "\x00" + key + "\x00" + strconv.Itoa(seen[key])))
			list = append(list, quality{output.Printable(p.Message), "longterm", fmt.Sprintf("%x", sum[:16]), severity,
				qualityLocation{p.File(), qualityLines{max(p.Line, 1)}}})
		}
	}
	add("major", f.errors)
	add("minor", f.warnings)
	b, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}

// writeJUnit writes the results of tests. Runners report counts, and only failed tests by name; output without tests makes
// one case of the whole command.
func writeJUnit(path string, f *findings) error {
	s := junit.Suite{Name: output.Printable(f.line), Time: junit.Seconds(f.job.DurationMS), Timestamp: junit.Timestamp(f.job.Started)}
	if t := f.result.Tests; t != nil {
		s.Name = cmp.Or(t.Framework, s.Name)
		s.Tests, s.Failures, s.Skipped = t.Passed+t.Failed+t.Skipped, t.Failed, t.Skipped
		for i := range t.Failures {
			c := &t.Failures[i]
			s.Cases = append(s.Cases, junit.Case{Name: c.Name, Class: cmp.Or(c.Suite, s.Name), Time: junit.Seconds(0),
				Failure: &junit.Failure{Message: c.Name + " failed", Text: c.Excerpt}})
		}
	} else {
		c := junit.Case{Name: s.Name, Class: "command", Time: s.Time}
		if s.Tests = 1; f.hasFailed() {
			s.Failures, c.Failure = 1, &junit.Failure{Message: f.status(), Text: f.result.Summary.Gist}
		}
		s.Cases = append(s.Cases, c)
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(junit.Write(out, []junit.Suite{s}), out.Close())
}
