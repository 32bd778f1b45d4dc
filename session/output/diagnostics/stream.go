package diagnostics

import "strings"

// Stream finds problems in output while it arrives, as Parse does afterwards. Its memory is bounded. Time is linear in the
// text without a limit, so the caller must limit the rate of long outputs.
type Stream struct {
	problems   *problemFinder // nil: the command repeats other output
	summarizer summarizer
	lines      int
	first      *Diagnostic

	failedTests      int    // number of failed tests
	lastFailedTest   string // the newest failed test
	firstTestFailure *Diagnostic

	harmless shapeSet // shapes of lines without problems
}

// NewStream reads a command's output with the built-in problem matchers.
func NewStream(line string) *Stream { return builtin().Stream(line) }

// Stream returns a stream that reads a command's output line by line.
func (p *Parser) Stream(line string) *Stream {
	c := ParseCommand(line)
	s := &Stream{}
	if newCommandReader(c) == nil && !quotingCommands[c.Name] {
		s.problems = p.newProblemFinder(c)
	}
	return s
}

// ReadLine reads the next line, without its end, and returns its index.
func (s *Stream) ReadLine(line string) int {
	if s.problems == nil {
		s.lines++
		return s.lines - 1
	}
	shape, shaped := s.harmless.shapeOf(line)
	return s.readShaped(line, shape, shaped)
}

// readShaped reads the next line, with its shape if it has one.
func (s *Stream) readShaped(line string, shape uint64, shaped bool) int {
	i := s.lines
	s.lines++
	line = line[:min(len(line), maxLineBytes)]
	isCacheable := shaped && s.isBetweenProblems() && !s.harmless.isDisabled
	if isCacheable && s.harmless.has(shape) { // a line of this shape had no problem
		s.summarizer.countLine(i, line)
		return i
	}
	before := s.findingCounts()
	s.summarizer.read(i, line)
	s.problems.read(i, line)
	s.problems.scannedBytes, s.summarizer.scannedBytes = 0, 0 // these bounds are for one Parse
	unchanged := s.findingCounts() == before
	s.keepNewest()
	s.countFailedTest(i, line)
	if isCacheable && unchanged {
		s.learnShape(shape, line)
	}
	return i
}

// findingCounts returns the counts of findings so far, notes included.
func (s *Stream) findingCounts() [7]int {
	return [7]int{s.problems.dirs.reportCount, s.problems.errors, s.problems.warnings, len(s.problems.found), s.problems.dropped, s.summarizer.errors, s.summarizer.warnings}
}

// countFailedTest counts a failed test that go test or cargo report at once; lines of other runners look like errors. A
// test and its failed subtest count as one.
func (s *Stream) countFailedTest(i int, line string) {
	var name string
	if strings.Contains(line, "--- FAIL: ") {
		outcome, test, ok := goResult(line)
		if !ok || outcome != "FAIL" {
			return
		}
		name = test
	} else if test, ok := strings.CutSuffix(line, " ... FAILED"); ok {
		if name, ok = strings.CutPrefix(test, "test "); !ok {
			return
		}
	}
	if name == "" {
		return
	}
	if s.lastFailedTest == "" || !strings.HasPrefix(name, s.lastFailedTest+"/") {
		s.failedTests++
	}
	s.lastFailedTest = strings.Clone(name)
	if s.firstTestFailure == nil {
		s.firstTestFailure = &Diagnostic{Severity: Error, Message: s.lastFailedTest + " failed", Matcher: "test", At: i}
	}
}

// keepNewest drops all findings but the newest, which stays for its notes.
func (s *Stream) keepNewest() {
	f := s.problems.found
	for i := range f {
		if s.first == nil && f[i].Severity == Error {
			d := f[i]
			s.first = &d
		}
	}
	if n := len(f); n > 1 {
		f[0] = f[n-1]
		s.problems.found = f[:1]
	}
}

// NoteGap records that lines are missing.
func (s *Stream) NoteGap() {
	if s.problems != nil {
		s.problems.skipGap(s.lines)
	}
}

// Lines returns how many lines were read.
func (s *Stream) Lines() int { return s.lines }

// Directory returns the index of the line that reported the current directory; ok is false without one. reports counts the
// lines that reported a directory.
func (s *Stream) Directory() (at, reports int, ok bool) {
	if s.problems == nil {
		return 0, 0, false
	}
	d := &s.problems.dirs
	return d.reportLine, d.reportCount, len(d.openDirs) > 0
}

// Counts returns the errors and warnings so far: problems, else failed tests, else lines that look like errors.
func (s *Stream) Counts() (errors, warnings int) {
	if s.problems == nil {
		return 0, 0
	}
	if p := s.problems; p.errors+p.warnings > 0 {
		return p.errors, p.warnings
	}
	if s.failedTests > 0 {
		return s.failedTests, s.summarizer.warnings
	}
	return s.summarizer.errors, s.summarizer.warnings
}

// First returns the first error so far. A line that only looks like an error has no file.
func (s *Stream) First() (Diagnostic, bool) {
	switch {
	case s.problems == nil:
	case s.first != nil:
		return *s.first, true
	case s.firstTestFailure != nil && s.problems.errors == 0:
		return *s.firstTestFailure, true
	case s.problems.errors+s.problems.warnings == 0 && s.summarizer.first != nil:
		return Diagnostic{Severity: Error, Message: s.summarizer.first.Text, At: s.summarizer.first.At}, true
	}
	return Diagnostic{}, false
}

// ReadSeverity reads the next line like ReadLine and returns its severity by itself: Error, Warning or "".
func (s *Stream) ReadSeverity(line string) Severity {
	severity, _, _ := s.ReadShape(line)
	return severity
}

// ReadShape is Judge plus the line's shape, which is equal for lines that differ only in the digits of their numbers.
// shaped is false if the line is too long.
func (s *Stream) ReadShape(line string) (severity Severity, shape uint64, shaped bool) {
	shape, shaped = s.harmless.shapeOf(line)
	return s.judge(line, shape, shaped), shape, shaped
}

func (s *Stream) judge(line string, shape uint64, shaped bool) Severity {
	if s.problems == nil {
		return ""
	}
	errors, warnings := s.problems.errors+s.summarizer.errors+s.failedTests, s.problems.warnings+s.summarizer.warnings
	s.readShaped(line, shape, shaped)
	switch {
	case s.problems.errors+s.summarizer.errors+s.failedTests > errors:
		return Error
	case s.problems.warnings+s.summarizer.warnings > warnings:
		return Warning
	}
	return ""
}
