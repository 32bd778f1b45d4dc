package diagnostics

import (
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// problems finds diagnostics in lines.
type problems struct {
	matchers []*compiled
	python   traceback

	// A match of several lines under way: the steps of current from next on are open.
	current *compiled
	next    int
	partial Diagnostic

	makes makeErrors
	dirs  directories
	since int    // of found, those since the last directory report
	line  string // that is being read

	found            []Diagnostic
	errors, warnings int
	lost             int // found, but not kept
	judged           int // bytes of lines that may have been problems
}

// problems chooses the matchers for a command: all, those made for it first.
func (p *Parser) problems(c Command) *problems {
	pr := &problems{}
	for _, own := range []bool{true, false} {
		for _, m := range p.matchers {
			if m.isFor(c.Name) == own && (own || len(m.Commands) == 0 || runners[c.Name]) {
				pr.matchers = append(pr.matchers, m)
			}
		}
	}
	return pr
}

func (c *compiled) isFor(name string) bool {
	for _, n := range c.Commands {
		if n == name {
			return true
		}
	}
	return false
}

// runners run other programs by configuration, so that any program's problems can be in
// their output.
var runners = set("make", "gmake", "ninja", "cmake", "npm", "yarn", "pnpm", "bun", "just", "task", "bazel", "gradle", "gradlew", "mvn", "tox", "nox", "sh", "bash", "pre-commit", "turbo", "nx", "rake")

func (p *problems) read(i int, line string) {
	line = goBuildOutput(line)
	line = line[:min(len(line), maxJudgedLine)]
	p.line = line
	if p.moves(i, line) {
		return
	}
	if d, ok := p.python.read(i, line); ok {
		p.add(d)
		return
	}
	if p.current != nil && p.goOn(line) {
		return
	}
	p.current = nil
	if line == "" || p.judged > maxJudgedBytes {
		return
	}
	counted := false
	for _, m := range p.matchers {
		if !m.candidate(line) {
			continue
		}
		if !counted && len(m.Contains) > 0 {
			p.judged += len(line)
			counted = true
		}
		if p.begin(m, i, line) {
			return
		}
	}
}

// moves tracks directory reports of make and similar tools. If a directory is left that was never entered (the
// beginning of the output is missing), earlier findings belong to it.
func (p *problems) moves(i int, line string) bool {
	left, tells := p.dirs.read(i, line)
	if !tells {
		return strings.HasPrefix(line, "[… ") && strings.Contains(line, " left out") && p.gap(i)
	}
	if p.dirs.keep && left != "" {
		within := directories{open: []directory{{}}, now: left}
		for k := min(p.since, len(p.found)); k < len(p.found); k++ {
			within.place(&p.found[k])
			for r := range p.found[k].Related {
				within.place(&p.found[k].Related[r])
			}
		}
	}
	p.current, p.since = nil, len(p.found)
	return true
}

// gap handles omitted lines. The note about them does not end a problem.
func (p *problems) gap(i int) bool {
	p.dirs.forget(i)
	p.since = len(p.found)
	return false
}

// begin tries a matcher's first line.
func (p *problems) begin(m *compiled, i int, line string) bool {
	d := Diagnostic{Severity: m.Severity, Matcher: m.Name, At: i}
	if d.Severity == "" {
		d.Severity = Error
	}
	if !m.steps[0].match(line, &d) {
		return false
	}
	if len(m.steps) == 1 {
		p.add(d)
		return true
	}
	p.current, p.next, p.partial = m, 1, d
	return true
}

// goOn tries the next line of the match under way.
func (p *problems) goOn(line string) bool {
	s := &p.current.steps[p.next]
	d := p.partial
	if !s.match(line, &d) {
		return false
	}
	switch {
	case s.loop:
		p.partial.At++
		d.At = p.partial.At
		p.add(d)
	case p.next == len(p.current.steps)-1:
		p.add(d)
		p.current = nil
	default:
		p.partial = d
		p.next++
	}
	return true
}

// add keeps a diagnostic. A note belongs to the one before it.
func (p *problems) add(d Diagnostic) {
	p.dirs.place(&d)
	if d.Matcher == "make" && p.makes.follows(p.line, len(p.found) > 0) {
		d.Severity = Note
	} else if d.Severity == Error {
		p.makes.cause = d.Matcher != "make"
	}
	switch d.Severity {
	case Error:
		p.errors++
	case Warning:
		p.warnings++
	case Note:
		if n := len(p.found); n > 0 {
			if last := &p.found[n-1]; len(last.Related) < maxRelated {
				last.Related = append(last.Related, d)
			} else {
				p.lost++
			}
			return
		}
	}
	if len(p.found) >= maxDiagnostics {
		p.lost++
		return
	}
	p.found = append(p.found, d)
}

func (p *problems) finish() []Diagnostic { return p.found }

// traceback reads Python's: the place is that of the last frame, the message is the first
// line after the frames. A syntax error has a frame without the heading.
type traceback struct {
	in    bool
	file  string
	line  int
	quiet int // lines since the last frame
}

var (
	frameLine     = pattern.Lazy(`^\s+File "([^"]+)", line (\d+)`)
	exceptionLine = pattern.Lazy(`^((?:\w+\.)*\w*(?:Error|Exception|Warning|Interrupt|Exit|StopIteration|Failed)\w*)(?:: (.*))?$`)
)

func (t *traceback) read(i int, line string) (Diagnostic, bool) {
	line, _ = strings.CutPrefix(line, "E   ") // as pytest prints it
	if strings.HasPrefix(line, "Traceback (most recent call last):") {
		*t = traceback{in: true}
		return Diagnostic{}, false
	}
	if len(line) > 0 && (line[0] == ' ' || line[0] == '\t') {
		if m := match(frameLine, `File "`, line); m != nil {
			*t = traceback{in: true, file: m[1], line: number(m[2])}
		}
		if t.quiet++; t.quiet > 50 {
			t.in = false
		}
		return Diagnostic{}, false
	}
	if !t.in {
		return Diagnostic{}, false
	}
	t.in = false
	m := exceptionLine.FindStringSubmatch(line)
	if m == nil || t.file == "" {
		return Diagnostic{}, false
	}
	msg := m[2]
	if msg == "" {
		msg = m[1]
	}
	return Diagnostic{File: strings.Clone(t.file), Line: t.line, Severity: Error, Code: strings.Clone(m[1]),
		Message: strings.Clone(msg), Matcher: "python", At: i}, true
}

// match returns a regular expression's groups. It is tried only on lines that contain a text.
func match(re pattern.Pattern, contains, line string) []string {
	if !strings.Contains(line, contains) {
		return nil
	}
	return re.FindStringSubmatch(line)
}
