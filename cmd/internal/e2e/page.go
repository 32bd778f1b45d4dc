//go:build unix

package e2e

import (
	"regexp"
	"strings"
)

// Step is a command of a page and what it is said to print.
type Step struct {
	Line    int
	Command string
	Prints  []string
}

// Steps are the commands in a page's console blocks: what begins with "$ ", with the
// lines of its here-document.
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

// Loosely is a pattern for what a page shows: … stands for anything, and a line of it
// alone for any lines; blanks may be more or fewer.
func Loosely(lines []string) *regexp.Regexp {
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
