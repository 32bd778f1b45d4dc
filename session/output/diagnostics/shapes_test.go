package diagnostics

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// checkShapesChangeNothing compares the verdicts with and without remembered shapes.
func checkShapesChangeNothing(t *testing.T, text string) {
	t.Helper()
	quick, slow := NewStream(""), NewStream("")
	slow.harmless.isDisabled = true
	for i, line := range strings.Split(text, "\n") {
		if got, want := quick.ReadSeverity(line), slow.ReadSeverity(line); got != want {
			t.Fatalf("line %d, %q, is classified %q, without a cache %q", i, line, got, want)
		}
	}
	if quick.summarizer.lastLines != slow.summarizer.lastLines || quick.lines != slow.lines || len(quick.problems.found) != len(slow.problems.found) {
		t.Fatalf("the last lines are %q, without a cache %q", quick.summarizer.lastLines, slow.summarizer.lastLines)
	}
	a, b := quick.Counts()
	if c, d := slow.Counts(); a != c || b != d {
		t.Fatalf("%d errors and %d warnings, without a cache %d and %d", a, b, c, d)
	}
}

// TestShapes_KeepVerdicts checks that remembered shapes do not change verdicts: of real tools' output, repeated and
// chunked, and of lines whose numbers matter.
//
// FEATURES: R28 R105
func TestShapes_KeepVerdicts(t *testing.T) {
	files, err := filepath.Glob("testdata/recorded/*")
	if err != nil || len(files) == 0 {
		t.Fatal(err, len(files))
	}
	var all []string
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		text := plainText(b, false)
		checkShapesChangeNothing(t, text+"\n"+text)
		all = append(all, strings.Split(text, "\n")...)
	}
	for n := range 20 {
		all = append(all, fmt.Sprintf("%d errors, %d failed", n, n), fmt.Sprintf("  %d failing", n), fmt.Sprintf("main.c:%d:%d: error: x", n, n),
			fmt.Sprintf("a.py:%d:%d: F%03d x", n, n, n), fmt.Sprintf("worker %d of %d is done", n, n*n), "Traceback (most recent call last):",
			fmt.Sprintf(`  File "x.py", line %d`, n), "ValueError: bad", fmt.Sprintf("error[E%04d]: borrowed", n), fmt.Sprintf("  --> src/main.rs:%d:3", n))
	}
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 2))
		lines := make([]string, 2000)
		for i := range lines {
			lines[i] = all[r.IntN(len(all))]
		}
		checkShapesChangeNothing(t, strings.Join(lines, "\n"))
	}
}

func FuzzShapes(f *testing.F) {
	f.Add("worker 1 done\nworker 0 done\n0 failing\n3 failing\na.go:1:2: x\nTraceback (most recent call last):\nworker 2 done\nValueError: x")
	f.Fuzz(func(t *testing.T, text string) {
		checkShapesChangeNothing(t, text+"\n"+text)
	})
}
