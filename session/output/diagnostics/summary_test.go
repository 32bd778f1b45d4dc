package diagnostics

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// FEATURES: R28
func TestSummary(t *testing.T) {
	zero, one, two := 0, 1, 2
	for _, c := range []struct {
		name, line       string
		exit             *int
		text             string
		first            int // index, -1: none
		errors, warnings int
		gist             string
	}{
		{"no output", "true", &zero, "", -1, 0, 0, "no output"},
		{"plain", "./run", &zero, "hello\nworld\n\n", -1, 0, 0, "world"},
		{"error line", "./run", &two, "start\nERROR: it broke\nbye\n", 1, 1, 0, "exit 2; 1 error, 0 warnings; first: ERROR: it broke"},
		{"log lines", "./run", nil, "2026-01-01 [error] a\nWARN: b\n[WARNING] c\n", 0, 1, 2, "1 error, 2 warnings; first: 2026-01-01 [error] a"},
		{"counts are no errors", "./run", &zero, "0 errors, 0 warnings\nno errors found\nerrors.go ok\nsrc/error.c\n", -1, 0, 0, "src/error.c"},
		{"shell", "nosuch", &two, "bash: nosuch: command not found\n", 0, 1, 0, "exit 2; 1 error, 0 warnings; first: bash: nosuch: command not found"},
		{"diagnostics count", "gcc x.c", &two, "x.c: In function f:\nx.c:1:2: warning: w\nx.c:3:4: error: e\n", 2, 1, 1, "exit 2; 1 error, 1 warning; first: x.c:3:4: e"},
		{"quotations", "cat log", &zero, "ERROR: of yesterday\n", -1, 0, 0, "ERROR: of yesterday"},
		{"a quoter that fails", "cat nosuch", &two, "cat: nosuch: No such file or directory\n", 0, 1, 0, "exit 2; 1 error, 0 warnings; first: cat: nosuch: No such file or directory"},
		{"tests", "go test", &two, goVerbose, 6, 2, 0, "exit 2; 2 failed, 2 passed, 1 skipped; first: TestBad"},
		{"listing", "ls", &zero, "error.log  panic\n", -1, 0, 0, "2 entries"},
		{"status", "git status", &zero, "On branch main\nnothing to commit, working tree clean\n", -1, 0, 0, "main; clean"},
		{"changes", "git status -sb", &zero, "## a...b [ahead 1]\nMM x\n?? y\n", -1, 0, 0, "a; 1 ahead, 0 behind; 1 staged, 1 changed, 1 untracked"},
		{"conflicts", "git status -s", &one, "UU x\nAA y\n", -1, 0, 0, "exit 1; 2 conflicts; 0 staged, 0 changed, 0 untracked"},
		{"log", "git log --oneline", &zero, "ceeb46c Fix error: all\n", -1, 0, 0, "1 commit; newest: Fix error: all"},
	} {
		s := Parse(c.line, c.exit, c.text).Summary
		at := -1
		if s.FirstError != nil {
			at = s.FirstError.At
		}
		if at != c.first || s.Errors != c.errors || s.Warnings != c.warnings || s.Gist != c.gist {
			t.Errorf("%s: %+v, first %+v", c.name, s, s.FirstError)
		}
	}
	s := Parse("./run", nil, strings.Repeat("x\n\n", 50)+"last\r\n").Summary
	if len(s.Last) != maxLast || s.Last[maxLast-1] != "last" || s.Lines != 101 {
		t.Errorf("%+v", s)
	}
	long := Parse("./run", nil, "Error: "+strings.Repeat("ü", 10_000)).Summary
	if n := len(long.FirstError.Text); n > maxSummaryBytes+3 || strings.ContainsRune(long.Gist, '\ufffd') {
		t.Errorf("%d bytes: %q", n, long.Gist)
	}
}

// bigOutput returns 10 MiB of a build's output.
func bigOutput() string {
	unit := "gcc -O2 -Wall -c -o build/file.o src/file.c\nsrc/file.c:12:5: warning: unused variable 'x' [-Wunused-variable]\n" +
		"   12 |   int x;\n      |       ^\n  CC      src/other.o\n[ 45%] Building C object CMakeFiles/x.dir/src/x.c.o\n"
	return strings.Repeat(unit, 10<<20/len(unit))
}

// units are the repeated parts of texts that are costly to parse.
var units = []string{"\n", "a", " ", "error: ", "a.c:1:1: error: x\n", "{\"", "File \"", "/", "[", "--- FAIL: T (\n", "--- FAIL: T/a/b/c (0s)\n=== RUN x\n", "* | ", "(", "test x ... FAILED\n", "___ x ___\n", "● x\n", "    "}

// TestParse_LinearWork checks that the work, measured in allocated bytes, is linear in the text, whatever it contains.
//
// FEATURES: R28
func TestParse_LinearWork(t *testing.T) {
	work := func(line, text string) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		Parse(line, nil, text)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	for _, unit := range units {
		for _, line := range []string{"make", "ls -l", "git log", "git status"} {
			work1 := work(line, strings.Repeat(unit, 10_000/len(unit)))
			work8 := work(line, strings.Repeat(unit, 80_000/len(unit)))
			// A buffer that doubles may double the work; quadratic work would be 64 times as much.
			if work8 > 30*work1+1<<20 {
				t.Errorf("%q, %s: %d bytes for one, %d for eight", unit, line, work1, work8)
			}
		}
	}
}

// BenchmarkUnits parses texts of one unit: the throughput does not fall with the size.
func BenchmarkUnits(b *testing.B) {
	for _, unit := range units {
		for _, size := range []int{10_000, 80_000} {
			b.Run(fmt.Sprintf("%.8q/%d", unit, size), func(b *testing.B) {
				text := strings.Repeat(unit, size/len(unit))
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					Parse("make", nil, text)
				}
			})
		}
	}
}

func BenchmarkParse(b *testing.B) {
	text := bigOutput()
	for _, line := range []string{"make", "gcc a.c", "cat x"} {
		b.Run(line, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				Parse(line, nil, text)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	one := 1
	for _, line := range []string{"make", "ls -la a b", "ls", "git status", "git log", "go test", "pytest", "cargo test", "jest", "node --test", "npm run lint"} {
		for _, text := range []string{goVerbose, "a.c:7:10: error: x\n", "drwxr-xr-x 3 root root 4096 Nov 21 21:23 .\n\na:\nx  'y z'\n",
			"## main...origin/main [ahead 1]\n M a\nR  \"b\" -> \"c\"\n1 .M N... 1 1 1 1 1 a\n2 R. N... 1 1 1 1 1 R1 d\tb\nu UU N... 1\n",
			"On branch x\nChanges to be committed:\n\trenamed:    b -> d\n", "* commit 906a06de5c (a)\n| Author: A <b>\n|     x\n906a06d (x) y\n",
			"Traceback (most recent call last):\n  File \"x\", line 1\nE   ValueError: x\n", "test a ... FAILED\n---- a stdout ----\nx\ntest result: FAILED. 0 passed; 1 failed; 0 ignored;\n",
			"FAIL a.js\n  ● x\ny\nTests:  1 failed\n FAIL  a > b\nz\n Tests  1 failed\n", "✖ a (1ms)\n  x\nℹ pass 1\nℹ fail 1\n", "____ a ____\nE  x\nFAILED a::a - x\n1 failed in 0.1s\n",
			"/a.js\n  1:1  error  x  y\n", `{"Action":"output","Package":"p","Test":"T","Output":"--- FAIL: T (0s)\n"}` + "\n"} {
			f.Add(line, text)
		}
	}
	f.Fuzz(func(t *testing.T, line, text string) {
		r := Parse(line, &one, text)
		lines := strings.Count(text, "\n") + 1
		for _, d := range r.Diagnostics {
			if d.At >= lines || d.Line < 0 || d.Column < 0 {
				t.Errorf("%+v of %d lines", d, lines)
			}
		}
		if r.Tests != nil && (r.Tests.Failed < 0 || r.Tests.Passed < 0) {
			t.Errorf("%+v", r.Tests)
		}
		if strings.ContainsRune(r.Summary.Gist, '\n') || len(r.Summary.Gist) > maxSummaryBytes+3 {
			t.Errorf("%q", r.Summary.Gist)
		}
	})
}
