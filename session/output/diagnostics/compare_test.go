package diagnostics

import (
	"slices"
	"testing"
	"time"
)

func runOf(line string, exit int, d time.Duration, text string) *Run {
	return &Run{Exit: &exit, Duration: d, Result: Parse(line, &exit, text)}
}

// FEATURES: R82
func TestCompare(t *testing.T) {
	before := runOf("make", 2, 3*time.Second, "a.c:3:1: error: one\na.c:9:1: error: two\na.c:20:1: error: two\na.c:1:1: warning: w\n")
	after := runOf("make", 1, 2*time.Second, "a.c:5:1: error: two\nb.c:1:1: error: three\n")
	c := Compare(before, after)
	if got := messages(c.NewErrors); !slices.Equal(got, []string{"b.c three"}) {
		t.Errorf("new: %v", got)
	}
	if got := messages(c.FixedErrors); !slices.Equal(got, []string{"a.c one", "a.c two"}) {
		t.Errorf("fixed: %v", got)
	}
	if !c.ExitChanged || *c.ExitBefore != 2 || c.Slower != -time.Second {
		t.Errorf("%+v", c)
	}
	if c := Compare(after, after); len(c.NewErrors)+len(c.FixedErrors) > 0 || c.ExitChanged {
		t.Errorf("the same run differs: %+v", c)
	}
}

// FEATURES: R82
func TestCompareTests(t *testing.T) {
	const fails = "--- FAIL: TestA (0.00s)\n    a_test.go:5: no\n--- FAIL: TestB (0.00s)\nFAIL\nFAIL\texample.org/m\t0.01s\nFAIL\n"
	const fewer = "--- FAIL: TestB (0.00s)\n--- FAIL: TestC (0.00s)\nFAIL\nFAIL\texample.org/m\t0.01s\nFAIL\n"
	first := runOf("go test ./...", 1, 0, fails)
	c := Compare(first, runOf("go test ./...", 1, 0, fewer))
	if !slices.Equal(c.NewFailures, []string{"example.org/m TestC"}) || !slices.Equal(c.FixedTests, []string{"example.org/m TestA"}) {
		t.Errorf("%+v", c)
	}
	if c := Compare(first, runOf("go test ./...", 0, 0, "ok  \texample.org/m\t0.01s\n")); len(c.FixedTests) != 2 {
		t.Errorf("%+v", c)
	}
}

func messages(list []Diagnostic) []string {
	var out []string
	for _, d := range list {
		out = append(out, d.File+" "+d.Message)
	}
	return out
}
