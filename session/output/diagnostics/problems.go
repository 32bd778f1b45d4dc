package diagnostics

import (
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// problemFinder finds diagnostics in lines.
type problemFinder struct {
	matchers []*compiledMatcher
	python   traceback

	// A match of several lines in progress: the steps of current from nextStep on are open.
	current  *compiledMatcher
	nextStep int
	partial  Diagnostic

	makeErrors  makeErrors
	dirs        directories
	sinceReport int    // index in found of the first finding since the last directory report
	line        string // current line

	found            []Diagnostic
	errors, warnings int
	dropped          int // findings beyond the bound
	scannedBytes     int // bytes of lines that may contain problems
}

// newProblemFinder returns a finder with all matchers, those for the command first.
func (p *Parser) newProblemFinder(c Command) *problemFinder {
	pr := &problemFinder{}
	for _, isOwn := range []bool{true, false} {
		for _, m := range p.matchers {
			if m.appliesTo(c.Name) == isOwn && (isOwn || len(m.Commands) == 0 || runners[c.Name]) {
				pr.matchers = append(pr.matchers, m)
			}
		}
	}
	return pr
}

// appliesTo reports whether a matcher is made for a program.
func (c *compiledMatcher) appliesTo(name string) bool {
	for _, n := range c.Commands {
		if n == name {
			return true
		}
	}
	return false
}

// runners run other programs by configuration, so any program's problems can be in their output.
var runners = set("make", "gmake", "ninja", "cmake", "npm", "yarn", "pnpm", "bun", "just", "task", "bazel", "gradle", "gradlew", "mvn", "tox", "nox", "sh", "bash", "pre-commit", "turbo", "nx", "rake")

func (p *problemFinder) read(i int, line string) {
	line = goBuildOutput(line)
	line = line[:min(len(line), maxJudgedLine)]
	p.line = line
	if p.readDirectory(i, line) {
		return
	}
	if d, ok := p.python.read(i, line); ok {
		p.add(d)
		return
	}
	if p.current != nil && p.continueMatch(line) {
		return
	}
	p.current = nil
	if line == "" || p.scannedBytes > maxJudgedBytes {
		return
	}
	counted := false
	for _, m := range p.matchers {
		if !m.mayMatch(line) {
			continue
		}
		if !counted && len(m.Contains) > 0 {
			p.scannedBytes += len(line)
			counted = true
		}
		if p.beginMatch(m, i, line) {
			return
		}
	}
}

// readDirectory tracks directory reports of make and similar tools. If a directory is left that was never entered (the
// beginning of the output is missing), earlier findings belong to it.
func (p *problemFinder) readDirectory(i int, line string) bool {
	leftDir, isReport := p.dirs.read(i, line)
	if !isReport {
		return strings.HasPrefix(line, "[… ") && strings.Contains(line, " left out") && p.skipGap(i)
	}
	if p.dirs.keepMoves && leftDir != "" {
		within := directories{openDirs: []directory{{}}, current: leftDir}
		for k := min(p.sinceReport, len(p.found)); k < len(p.found); k++ {
			within.prefixFile(&p.found[k])
			for r := range p.found[k].Related {
				within.prefixFile(&p.found[k].Related[r])
			}
		}
	}
	p.current, p.sinceReport = nil, len(p.found)
	return true
}

// skipGap handles omitted lines. The note about them does not end a problem.
func (p *problemFinder) skipGap(i int) bool {
	p.dirs.closeAllAtGap(i)
	p.sinceReport = len(p.found)
	return false
}

// beginMatch tries a matcher's first line.
func (p *problemFinder) beginMatch(m *compiledMatcher, i int, line string) bool {
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
	p.current, p.nextStep, p.partial = m, 1, d
	return true
}

// continueMatch tries the next line of the match in progress.
func (p *problemFinder) continueMatch(line string) bool {
	s := &p.current.steps[p.nextStep]
	d := p.partial
	if !s.match(line, &d) {
		return false
	}
	switch {
	case s.loop:
		p.partial.At++
		d.At = p.partial.At
		p.add(d)
	case p.nextStep == len(p.current.steps)-1:
		p.add(d)
		p.current = nil
	default:
		p.partial = d
		p.nextStep++
	}
	return true
}

// add keeps a diagnostic. A note is added to the one before it.
func (p *problemFinder) add(d Diagnostic) {
	p.dirs.prefixFile(&d)
	if d.Matcher == "make" && p.makeErrors.isConsequence(p.line, len(p.found) > 0) {
		d.Severity = Note
	} else if d.Severity == Error {
		p.makeErrors.hasCause = d.Matcher != "make"
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
				p.dropped++
			}
			return
		}
	}
	if len(p.found) >= maxDiagnostics {
		p.dropped++
		return
	}
	p.found = append(p.found, d)
}

func (p *problemFinder) finish() []Diagnostic { return p.found }

// traceback reads a Python traceback: the position is that of the last frame, the message is the first line after the
// frames. A syntax error has a frame without the heading.
type traceback struct {
	isOpen          bool
	file            string
	line            int
	linesSinceFrame int // lines since the last frame
}

var (
	frameLine     = pattern.Lazy(`^\s+File "([^"]+)", line (\d+)`)
	exceptionLine = pattern.Lazy(`^((?:\w+\.)*\w*(?:Error|Exception|Warning|Interrupt|Exit|StopIteration|Failed)\w*)(?:: (.*))?$`)
)

func (t *traceback) read(i int, line string) (Diagnostic, bool) {
	line, _ = strings.CutPrefix(line, "E   ") // as pytest prints it
	if strings.HasPrefix(line, "Traceback (most recent call last):") {
		*t = traceback{isOpen: true}
		return Diagnostic{}, false
	}
	if len(line) > 0 && (line[0] == ' ' || line[0] == '\t') {
		if m := matchIfContains(frameLine, `File "`, line); m != nil {
			*t = traceback{isOpen: true, file: m[1], line: number(m[2])}
		}
		if t.linesSinceFrame++; t.linesSinceFrame > 50 {
			t.isOpen = false
		}
		return Diagnostic{}, false
	}
	if !t.isOpen {
		return Diagnostic{}, false
	}
	t.isOpen = false
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

// matchIfContains returns a regular expression's groups. It tries only lines that contain a text.
func matchIfContains(re pattern.Pattern, contains, line string) []string {
	if !strings.Contains(line, contains) {
		return nil
	}
	return re.FindStringSubmatch(line)
}
