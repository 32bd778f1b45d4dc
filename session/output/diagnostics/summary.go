package diagnostics

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/pattern"
)

// Summary summarizes output that is not shown whole.
type Summary struct {
	Lines      int      `json:"lines"`
	FirstError *Excerpt `json:"first_error,omitempty"`
	Last       []string `json:"last,omitempty"` // the last lines that are not blank
	Errors     int      `json:"errors"`         // of compilers, else failed tests and packages not built, else lines that look like errors
	Warnings   int      `json:"warnings"`
	Gist       string   `json:"gist"` // one line
}

// Excerpt is a line of the output.
type Excerpt struct {
	At   int    `json:"at"` // index
	Text string `json:"text"`
}

// summarizer collects a Summary.
type summarizer struct {
	lines            int
	first            *Excerpt
	lastLines        [maxLast]string // the last lines that are not blank, as a ring
	nonBlank         int             // number of lines that are not blank
	errors, warnings int
	scannedBytes     int // bytes of lines that may be errors or warnings
}

// A line is an error if it matches errorLine and not falseError, which matches counts, names and options with such words;
// warnings are found likewise. Most lines contain no hint, and are not matched at all.
var (
	errorHints   = []string{"rror", "RROR", "atal", "FATAL", "panic:", "xception", "FAIL", "ailed", "enied", "ot found", "o such ", "raceback", "annot ", "egmentation"}
	warningHints = []string{"arning", "ARNING", "WARN"}

	errorLine = pattern.Lazy(`(?i)(?:^|[\s\[(:!*])(?:\w*error|fatal(?: error)?|\w*exception|panic|critical)(?:\[[^\]]*\]|\s+\w+\d+)?\s*(?:[:!\])]|$)|` +
		`^(?:error|fatal|panic|traceback|FAILED?)\b|\b(?:command not found|permission denied|no such file or directory|access denied|segmentation fault|core dumped)\b|` +
		`\b(?:cannot|could not|failed to|unable to)\s+[a-z]+`)
	falseError   = pattern.Lazy(`(?i)\b(?:0|no) (?:errors?|failures?|failed)\b|\berrors?:? 0\b|[-_./]errors?\b|\berrors?\.\w`)
	warningLine  = pattern.Lazy(`(?i)(?:^|[\s\[(:])warn(?:ing)?\s*(?:\[[^\]]*\])?\s*[:\])]|^warn(?:ing)?\b`)
	falseWarning = pattern.Lazy(`(?i)\b(?:0|no) warnings?\b`)
)

func (s *summarizer) read(i int, line string) {
	if s.countLine(i, line) && s.scannedBytes <= maxJudgedBytes/2 {
		s.classify(i, line[:min(len(line), maxSummaryBytes)])
	}
}

// countLine counts a line that is not classified and reports whether it has text.
func (s *summarizer) countLine(i int, line string) bool {
	s.lines = i + 1
	if strings.TrimSpace(line) == "" {
		return false
	}
	s.lastLines[s.nonBlank%maxLast] = line
	s.nonBlank++
	return true
}

// classify counts a line that looks like an error or a warning.
func (s *summarizer) classify(i int, line string) {
	isError, isWarning := findHints(line)
	if !isError && !isWarning {
		return
	}
	s.scannedBytes += len(line)
	switch {
	case isError && errorLine.MatchString(line) && !falseError.MatchString(line):
		s.errors++
		if s.first == nil {
			s.first = &Excerpt{i, truncate(line)}
		}
	case isWarning && warningLine.MatchString(line) && !falseWarning.MatchString(line):
		s.warnings++
	}
}

// hintsByFirstByte maps first bytes to both kinds of hints.
var hintsByFirstByte = sync.OnceValue(func() *[256][]hint {
	var by [256][]hint
	for _, w := range errorHints {
		by[w[0]] = append(by[w[0]], hint{w, true})
	}
	for _, w := range warningHints {
		by[w[0]] = append(by[w[0]], hint{w, false})
	}
	return &by
})

// hint is part of a word in errors or warnings, without its first letter if that may be a capital.
type hint struct {
	text    string
	isError bool
}

// findHints returns which kinds of hints a line has. It scans the line once, since nearly all lines have none.
func findHints(line string) (isError, isWarning bool) {
	by := hintsByFirstByte()
	for i := range len(line) {
		for _, h := range by[line[i]] {
			if strings.HasPrefix(line[i:], h.text) {
				isError, isWarning = isError || h.isError, isWarning || !h.isError
			}
		}
		if isError && isWarning {
			break
		}
	}
	return isError, isWarning
}

// finish returns the summary of a result whose other parts are complete.
func (s *summarizer) finish(r *Result, p *problemFinder) Summary {
	sum := Summary{Lines: s.lines, FirstError: s.first, Errors: s.errors, Warnings: s.warnings}
	for i := max(0, s.nonBlank-maxLast); i < s.nonBlank; i++ {
		sum.Last = append(sum.Last, truncate(s.lastLines[i%maxLast]))
	}
	switch {
	case r.Kind == Listing || r.Kind == GitStatus || r.Kind == GitLog || quotingCommands[r.Command.Name] && isSuccess(r.Exit):
		// Names and quotations are not errors.
		sum.FirstError, sum.Errors, sum.Warnings = nil, 0, 0
	case p != nil && p.errors+p.warnings > 0:
		sum.Errors, sum.Warnings = p.errors, p.warnings
		if d := firstError(r.Diagnostics); d != nil {
			sum.FirstError = &Excerpt{d.At, truncate(d.text())}
		} else {
			sum.FirstError = nil
		}
	}
	if r.Kind == TestRun && (p == nil || p.errors == 0) {
		sum.Errors = r.Tests.Failed + len(r.Tests.Unbuilt)
		if len(r.Tests.Failures) > 0 {
			f := r.Tests.Failures[0]
			sum.FirstError = &Excerpt{f.At, truncate(f.Name)}
		} else if len(r.Tests.Unbuilt) == 0 {
			sum.FirstError = nil
		}
	}
	sum.Gist = truncate(gist(r, &sum))
	return sum
}

// isSuccess reports whether an exit status is 0.
func isSuccess(exit *int) bool { return exit != nil && *exit == 0 }

func firstError(ds []Diagnostic) *Diagnostic {
	for i := range ds {
		if ds[i].Severity == Error {
			return &ds[i]
		}
	}
	return nil
}

// text returns the diagnostic as one line.
func (d *Diagnostic) text() string {
	var b strings.Builder
	if d.File != "" {
		b.WriteString(d.File)
		for _, n := range []int{d.Line, d.Column} {
			if n > 0 {
				fmt.Fprintf(&b, ":%d", n)
			}
		}
		b.WriteString(": ")
	}
	b.WriteString(d.Message)
	return b.String()
}

// gist returns the result as one line.
func gist(r *Result, s *Summary) string {
	var parts []string
	if r.Exit != nil && *r.Exit != 0 {
		parts = append(parts, fmt.Sprintf("exit %d", *r.Exit))
	}
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch r.Kind {
	case TestRun:
		add("%d failed, %d passed, %d skipped", r.Tests.Failed, r.Tests.Passed, r.Tests.Skipped)
		if n := len(r.Tests.Unbuilt); n > 0 {
			add("%s not built", plural(n, "package", "packages"))
		}
		switch {
		case len(r.Tests.Failures) > 0:
			add("first: %s", r.Tests.Failures[0].Name)
		case s.FirstError != nil && len(r.Tests.Unbuilt) > 0:
			add("first: %s", strings.TrimSpace(s.FirstError.Text))
		}
	case Listing:
		add("%s", plural(len(r.Listing), "entry", "entries"))
	case GitStatus:
		parts = append(parts, r.GitStatus.gist()...)
	case GitLog:
		add("%s", plural(len(r.GitLog), "commit", "commits"))
		add("newest: %s", r.GitLog[0].Subject)
	default:
		if s.Errors+s.Warnings > 0 {
			add("%s, %s", plural(s.Errors, "error", "errors"), plural(s.Warnings, "warning", "warnings"))
		}
		switch {
		case s.FirstError != nil:
			add("first: %s", strings.TrimSpace(s.FirstError.Text))
		case len(s.Last) > 0:
			add("%s", strings.TrimSpace(s.Last[len(s.Last)-1]))
		default:
			add("no output")
		}
	}
	return strings.Join(parts, "; ")
}

func (s *Status) gist() []string {
	var staged, changed, untracked, conflicts int
	for _, c := range s.Changes {
		switch {
		case c.Index == "?":
			untracked++
		case c.Index == "!":
		case c.Index == "U" || c.Worktree == "U" || c.Index+c.Worktree == "AA" || c.Index+c.Worktree == "DD":
			conflicts++
		default:
			if c.Index != " " {
				staged++
			}
			if c.Worktree != " " {
				changed++
			}
		}
	}
	where := s.Branch
	if where == "" && s.Detached != "" {
		where = "detached at " + s.Detached
	}
	var parts []string
	if where != "" {
		parts = append(parts, where)
	}
	if s.Ahead+s.Behind > 0 {
		parts = append(parts, fmt.Sprintf("%d ahead, %d behind", s.Ahead, s.Behind))
	}
	if s.Clean {
		return append(parts, "clean")
	}
	if conflicts > 0 {
		parts = append(parts, plural(conflicts, "conflict", "conflicts"))
	}
	return append(parts, fmt.Sprintf("%d staged, %d changed, %d untracked", staged, changed, untracked))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// truncate truncates a line to maxSummaryBytes.
func truncate(s string) string {
	if len(s) > maxSummaryBytes {
		end := maxSummaryBytes
		for end > maxSummaryBytes-utf8.UTFMax && !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end] + "…"
	}
	return strings.Clone(s)
}
