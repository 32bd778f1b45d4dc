package compare

import (
	"fmt"
	"strings"
	"testing"
)

// failuresOf returns the lines that failed runs printed and good runs did not.
func failuresOf(failed, good []string) *Failures {
	f := NewFailures()
	for _, text := range failed {
		eachLine(text, f.NewFailedRun())
	}
	for _, text := range good {
		eachLine(text, f.AddGood)
	}
	f.Finish()
	return f
}

func eachLine(text string, add func([]byte)) {
	for l := range strings.Lines(text) {
		add([]byte(strings.TrimSuffix(l, "\n")))
	}
}

// firstOf returns the first line of a run that is one of earlier failures.
func firstOf(f *Failures, run string) (first string) {
	eachLine(run, func(line []byte) {
		if first == "" && f.Has(line) {
			first = string(line)
		}
	})
	return first
}

// TestFailures_FirstLine checks that in scripted builds, lines that differ between all runs are no anomaly, and that a
// line which only failed runs had is one.
//
// FEATURES: R127
func TestFailures_FirstLine(t *testing.T) {
	for _, c := range []struct {
		name, run, want string
		failed, good    []string
	}{
		{
			name:   "make: numbers, paths and times differ",
			failed: []string{"[1/3] cc /home/a/x/a.c 0.1s\n[2/3] cc /home/a/x/b.c\nb.c:7:3: error: expected ';'\nmake: *** [Makefile:4: b.o] Error 1\n"},
			good:   []string{"[1/3] cc /home/a/x/a.c 0.1s\n[2/3] cc /home/a/x/b.c\n[3/3] link\ndone in 2s\n"},
			run:    "[1/12] cc /srv/ci/17/a.c 12.1s\n[2/12] cc /srv/ci/17/b.c\n[3/12] link\ndone in 31.5s\n",
		},
		{
			name:   "make: the same kind of error elsewhere",
			failed: []string{"cc a.c\nb.c:7:3: error: expected ';' before 'int'\nmake: *** [Makefile:4: b.o] Error 1\n"},
			good:   []string{"cc a.c\ncc b.c\n"},
			run:    "cc a.c\nb.c:112:9: error: expected ';' before 'int'\n", want: "b.c:112:9: error: expected ';' before 'int'",
		},
		{
			name:   "parallel parts in another order",
			failed: []string{"start a\nstart b\nb: error: no b\na done\n"},
			good:   []string{"start a\nstart b\na done\nb done\n", "start b\nb done\nstart a\na done\n"},
			run:    "start b\nstart a\na done\nb done\n",
		},
		{
			name:   "go test: failed, with cached and timed packages",
			failed: []string{"ok  \tp/a\t0.1s\n--- FAIL: TestX (0.00s)\n    x_test.go:9: got 1, want 2\nFAIL\tp/b\t0.2s\n"},
			good:   []string{"ok  \tp/a\t(cached)\nok  \tp/b\t0.3s\n"},
			run:    "ok  \tp/a\t3.1s\n--- FAIL: TestX (1.20s)\n", want: "--- FAIL: TestX (1.20s)",
		},
		{
			name:   "a warning that good runs print too",
			failed: []string{"a.c:3:1: warning: unused x\na.c:4:1: error: no x\n"},
			good:   []string{"ok\n", "a.c:9:1: warning: unused x\nok\n"},
			run:    "a.c:77:1: warning: unused x\nok\n",
		},
		{
			name:   "a file that only failed runs compiled so far",
			failed: []string{"cc a.c\ncc new.c\nnew.c:1:1: error: no x\n"},
			good:   []string{"cc a.c\n"},
			run:    "cc a.c\ncc new.c\n",
		},
		{
			name:   "a count of failures",
			failed: []string{"10 passed, 2 failed\n"},
			good:   []string{"12 passed, 0 failed\n"},
			run:    "9 passed, 3 failed\n", want: "9 passed, 3 failed",
		},
		{
			name:   "no failures were counted",
			failed: []string{"10 passed, 2 failed\n"},
			good:   []string{"12 passed, 0 failed\n"},
			run:    "13 passed, 0 failed\n",
		},
		{
			name:   "the cause below its heading",
			failed: []string{"thread 'a' panicked at src/lib.rs:3:9:\nbad luck\n"},
			good:   []string{"ok\n"},
			run:    "bad luck\n", want: "bad luck",
		},
		{
			name:   "a new error is none of earlier failures",
			failed: []string{"b.c:7:3: error: expected ';'\n"},
			good:   []string{"ok\n"},
			run:    "b.c:7:3: error: undeclared y\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := firstOf(failuresOf(c.failed, c.good), c.run); got != c.want {
				t.Errorf("first line: %q, want %q", got, c.want)
			}
		})
	}
}

// FEATURES: R127
func TestFailures_Bounded(t *testing.T) {
	f := NewFailures()
	add := f.NewFailedRun()
	var line []byte
	for i := range 2 * maxSeen { // letters only: each line has a separate template
		line = append(line[:0], "error: "...)
		for n := i + 1; n > 0; n /= 26 {
			line = append(line, byte('a'+n%26))
		}
		add(line)
	}
	if len(f.seen) > maxSeen || len(f.known) != maxFailures || !f.Has([]byte("error: b")) {
		t.Errorf("%d seen, %d known", len(f.seen), len(f.known))
	}
	f.AddGood([]byte("error: b"))
	if f.Has([]byte("error: b")) || !f.Finish() || f.seen != nil {
		t.Error("a line of a good run remains")
	}
	line = []byte("[12/340] cc /home/a/x.c 0.12s")
	allocs := testing.AllocsPerRun(100, func() { f.Has(line) })
	if allocs > 0 {
		t.Errorf("%v allocations per line", allocs)
	}
}

// BenchmarkFailures checks a run of 25 MB against earlier failures.
func BenchmarkFailures(b *testing.B) {
	f := failuresOf([]string{"x.c:1:1: error: no x\n"}, nil)
	var text strings.Builder
	for i := 0; text.Len() < 25<<20; i++ {
		fmt.Fprintf(&text, "[%d/90000] gcc -O2 -Wall -c -o build/obj/module_%d.o /home/user/project/src/module_%d.c  %d.%02ds\n", i, i%500, i, i%7, i%100)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if got := firstOf(f, text.String()); got != "" {
			b.Fatal(got)
		}
	}
}
