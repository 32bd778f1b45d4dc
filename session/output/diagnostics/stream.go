package diagnostics

import "strings"

// Stream finds problems in output while it comes, as Parse does afterwards. Its memory is
// bounded; time is linear in the text without an end to it, so that a caller that reads a
// flood has to pace itself.
type Stream struct {
	probs *problems // nil: the command repeats other output
	sum   summarizer
	lines int
	first *Diagnostic

	failed     int    // tests
	failedName string // the newest
	failure    *Diagnostic

	harmless shapes // shapes of lines without problems
}

// NewStream reads a command's output with the built-in problem matchers.
func NewStream(line string) *Stream { return builtin().Stream(line) }

// Stream reads a command's output line by line.
func (p *Parser) Stream(line string) *Stream {
	c := ParseCommand(line)
	s := &Stream{}
	if specialReader(c) == nil && !quotesOthers[c.Name] {
		s.probs = p.problems(c)
	}
	return s
}

// Line takes the next line, without its end, and returns its index.
func (s *Stream) Line(line string) int {
	if s.probs == nil {
		s.lines++
		return s.lines - 1
	}
	shape, shaped := s.harmless.of(line)
	return s.take(line, shape, shaped)
}

// take takes the next line, with its shape if it has one.
func (s *Stream) take(line string, shape uint64, shaped bool) int {
	i := s.lines
	s.lines++
	line = line[:min(len(line), maxLineBytes)]
	may := shaped && s.idle() && !s.harmless.off
	if may && s.harmless.has(shape) { // a line like it had no problem
		s.sum.note(i, line)
		return i
	}
	before := s.counts()
	s.sum.read(i, line)
	s.probs.read(i, line)
	s.probs.judged, s.sum.judged = 0, 0 // the bounds of one Parse
	nothing := s.counts() == before
	s.keep()
	s.test(i, line)
	if may && nothing {
		s.learn(shape, line)
	}
	return i
}

// counts returns the counts of findings so far, notes included.
func (s *Stream) counts() [7]int {
	return [7]int{s.probs.dirs.reports, s.probs.errors, s.probs.warnings, len(s.probs.found), s.probs.lost, s.sum.errors, s.sum.warnings}
}

// test counts a failed test as go test and cargo report it at once; other runners' tests are lines that look like
// errors. A test and its failed subtest count as one.
func (s *Stream) test(i int, line string) {
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
	if s.failedName == "" || !strings.HasPrefix(name, s.failedName+"/") {
		s.failed++
	}
	s.failedName = strings.Clone(name)
	if s.failure == nil {
		s.failure = &Diagnostic{Severity: Error, Message: s.failedName + " failed", Matcher: "test", At: i}
	}
}

// keep takes what was found: only the newest stays with the reader, for its notes.
func (s *Stream) keep() {
	f := s.probs.found
	for i := range f {
		if s.first == nil && f[i].Severity == Error {
			d := f[i]
			s.first = &d
		}
	}
	if n := len(f); n > 1 {
		f[0] = f[n-1]
		s.probs.found = f[:1]
	}
}

// Gap records that lines are missing.
func (s *Stream) Gap() {
	if s.probs != nil {
		s.probs.gap(s.lines)
	}
}

// Lines returns how many lines were read.
func (s *Stream) Lines() int { return s.lines }

// Directory returns the index of the line that reported the current directory; ok is false without one. told counts the
// lines that reported a directory.
func (s *Stream) Directory() (at, told int, ok bool) {
	if s.probs == nil {
		return 0, 0, false
	}
	d := &s.probs.dirs
	return d.at, d.reports, len(d.open) > 0
}

// Counts returns the errors and warnings so far: problems, else failed tests, else lines that look like errors.
func (s *Stream) Counts() (errors, warnings int) {
	if s.probs == nil {
		return 0, 0
	}
	if p := s.probs; p.errors+p.warnings > 0 {
		return p.errors, p.warnings
	}
	if s.failed > 0 {
		return s.failed, s.sum.warnings
	}
	return s.sum.errors, s.sum.warnings
}

// First returns the first error so far. A line that only looks like an error has no file.
func (s *Stream) First() (Diagnostic, bool) {
	switch {
	case s.probs == nil:
	case s.first != nil:
		return *s.first, true
	case s.failure != nil && s.probs.errors == 0:
		return *s.failure, true
	case s.probs.errors+s.probs.warnings == 0 && s.sum.first != nil:
		return Diagnostic{Severity: Error, Message: s.sum.first.Text, At: s.sum.first.At}, true
	}
	return Diagnostic{}, false
}

// Judge reads the next line like Line and returns its severity by itself: Error, Warning or "".
func (s *Stream) Judge(line string) Severity {
	severity, _, _ := s.JudgeShape(line)
	return severity
}

// JudgeShape is Judge plus the line's shape, which is equal for lines that differ only in the digits of their numbers.
// shaped is false if the line is too long.
func (s *Stream) JudgeShape(line string) (severity Severity, shape uint64, shaped bool) {
	shape, shaped = s.harmless.of(line)
	return s.judge(line, shape, shaped), shape, shaped
}

func (s *Stream) judge(line string, shape uint64, shaped bool) Severity {
	if s.probs == nil {
		return ""
	}
	errors, warnings := s.probs.errors+s.sum.errors+s.failed, s.probs.warnings+s.sum.warnings
	s.take(line, shape, shaped)
	switch {
	case s.probs.errors+s.sum.errors+s.failed > errors:
		return Error
	case s.probs.warnings+s.sum.warnings > warnings:
		return Warning
	}
	return ""
}
