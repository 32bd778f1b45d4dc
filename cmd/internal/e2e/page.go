//go:build unix

package e2e

import (
	"regexp"
	"strings"
)

// Step is a command in a documentation page, with its documented output.
type Step struct {
	Line    int
	Command string
	Prints  []string // documented output lines
}

// Steps returns the commands in a page's console blocks: lines that start with "$ ", with their here-documents.
func Steps(page string) []Step {
	var steps []Step
	inside, until := false, ""
	for n, l := range strings.Split(page, "\n") {
		command, isCommand := strings.CutPrefix(l, "$ ")
		switch {
		case strings.HasPrefix(l, "```"):
			inside = l == "```console"
		case !inside:
		case until != "":
			s := &steps[len(steps)-1]
			s.Command += "\n" + l
			if l == until {
				until = ""
			}
		case isCommand:
			steps = append(steps, Step{Line: n + 1, Command: command})
			if strings.HasSuffix(command, "<<'END'") {
				until = "END"
			}
		default:
			s := &steps[len(steps)-1]
			s.Prints = append(s.Prints, l)
		}
	}
	return steps
}

// LoosePattern returns a pattern that matches documented output: … matches anything, a line of … matches any lines, and the
// number of blanks may differ.
func LoosePattern(lines []string) *regexp.Regexp {
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
