package diagnostics

import (
	"strings"
	"testing"
)

// streamOf returns a stream that has read a text.
func streamOf(command, text string) *Stream {
	s := NewStream(command)
	for line := range strings.Lines(text) {
		s.ReadLine(strings.TrimSuffix(line, "\n"))
	}
	return s
}

// FEATURES: R82
func TestStream(t *testing.T) {
	for _, c := range []struct {
		name, command, text string
		errors, warnings    int
		first               string
		at                  int
	}{
		{"nothing", "make", "cc -c a.c\nall is well\n", 0, 0, "", 0},
		{"problems", "make", "x\na.c:1:2: warning: w\na.c:3:1: error: e\nb.c:1:1: error: f\nb.c:1:1: note: n\n", 2, 1, "a.c e", 2},
		{"several lines", "cargo build", "error[E1]: bad\n --> src/a.rs:4:5\n", 1, 0, "src/a.rs bad", 0},
		{"lines that look like it", "./deploy", "ok\nERROR: no\nwarning: hm\n", 1, 1, " ERROR: no", 1},
		{"problems count more than those", "make", "ERROR: no\na.c:3:1: error: e\n", 1, 0, "a.c e", 1},
		{"a traceback", "python3 x.py", "Traceback (most recent call last):\n  File \"x.py\", line 3, in <module>\nValueError: v\n", 1, 0, "x.py v", 2},
		{"tests", "go test ./...", "--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/x (0.00s)\n--- FAIL: TestB (0.00s)\nFAIL\n", 2, 0, " TestA failed", 0},
		{"what others say", "grep -r error .", "a.c:3:1: error: e\n", 0, 0, "", 0},
	} {
		s := streamOf(c.command, c.text)
		errors, warnings := s.Counts()
		first := ""
		d, ok := s.First()
		if ok {
			first = d.File + " " + d.Message
		}
		if errors != c.errors || warnings != c.warnings || first != c.first || d.At != c.at {
			t.Errorf("%s: %d errors, %d warnings, first %q at %d", c.name, errors, warnings, first, d.At)
		}
	}
}

// TestStream_BoundedMemory checks that a stream keeps a bounded number of findings.
func TestStream_BoundedMemory(t *testing.T) {
	s := streamOf("make", strings.Repeat("a.c:3:1: error: e\na.c:3:1: note: n\n", 5000))
	if n := len(s.problems.found); n > 1 {
		t.Errorf("%d problems are kept", n)
	}
	if errors, _ := s.Counts(); errors != 5000 {
		t.Errorf("%d errors", errors)
	}
}
