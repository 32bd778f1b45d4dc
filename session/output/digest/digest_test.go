package digest

import (
	"fmt"
	"strings"
	"testing"
)

// digestOf returns the digest of lines.
func digestOf(maxBytes int, lines ...string) (string, Omission) {
	return addAll(&Digest{Max: maxBytes}, lines...)
}

// buildLog returns the output of a build of n files with an error after file failsAt and a warning 100 files later.
func buildLog(n, failsAt int, last ...string) []string {
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprintf("cc -c file%d.c", i))
		if i == failsAt {
			lines = append(lines, "file.c:12:3: error: expected expression", "  12 |   int x", "     |   ^")
		}
		if i == failsAt+100 {
			lines = append(lines, "other.c:1:1: warning: unused variable")
		}
	}
	return append(lines, last...)
}

// FEATURES: R88, R105
func TestDigest_IncludesFailuresAndEnd(t *testing.T) {
	lines := buildLog(40_000, 20_000, "make: *** [all] Error 1")
	text, left := digestOf(2000, lines...)
	for _, want := range []string{"file.c:12:3: error: expected expression", "  12 |   int x", "other.c:1:1: warning", "make: *** [all] Error 1", "cc -c file0.c", "cc -c file19998.c"} {
		if !strings.Contains(text, want) {
			t.Errorf("got no %q in:\n%s", want, text)
		}
	}
	if len(text) > 2000 {
		t.Errorf("got %d bytes, want at most 2000", len(text))
	}
	if left.Lines < 39_000 || left.Bytes < 600_000 || left.To <= left.From {
		t.Errorf("got omission %+v", left)
	}
	all := strings.Join(lines, "\n") + "\n"
	if gap := all[left.From:left.To]; !strings.HasPrefix(gap, "cc -c") || !strings.HasSuffix(gap, "\n") || strings.Contains(text, gap[:len(gap)/2]) {
		t.Errorf("got offsets of the gap that are not line boundaries")
	}
}

func TestDigest_NotesCountOmissions(t *testing.T) {
	lines := buildLog(3000, 100, "the end")
	text, left := digestOf(1500, lines...)
	kept, noted := 0, 0
	for l := range strings.Lines(text) {
		var n int
		if _, err := fmt.Sscanf(l, "[… %d line", &n); err == nil {
			noted += n
			continue
		}
		kept++
	}
	if kept+noted != len(lines) || left.Lines != noted {
		t.Errorf("got %d lines kept and %d noted, want %d in all; %+v", kept, noted, len(lines), left)
	}
}

func TestDigest_WholeOutput_WhenItFits(t *testing.T) {
	text, left := digestOf(100, "one", "two error: no", "three")
	if text != "one\ntwo error: no\nthree\n" || left != (Omission{}) {
		t.Errorf("got %q, %+v, want the whole output", text, left)
	}
}

func TestDigest_IncludesFailure_InSmallBudget(t *testing.T) {
	lines := append(slicesOf("    --option-of-some-length     what it does", 50), "", "sh: nosuchcmd: command not found")
	if text, _ := digestOf(240, lines...); !strings.Contains(text, "nosuchcmd") {
		t.Errorf("got no failure in:\n%s", text)
	}
	lines = append(lines, slicesOf("and many lines of a usage after it", 50)...)
	if text, _ := digestOf(240, lines...); !strings.Contains(text, "nosuchcmd") {
		t.Errorf("got no failure in:\n%s", text)
	}
}

func TestDigest_StaysWithinBudget(t *testing.T) {
	for _, budget := range []int{200, 400, 4000} {
		for name, lines := range map[string][]string{
			"one long line":   {strings.Repeat("x", 100_000)},
			"errors only":     slicesOf("error: it failed badly and at length", 5000),
			"warnings only":   slicesOf("warning: this is not so good", 5000),
			"long lines":      slicesOf(strings.Repeat("y", 3000), 50),
			"no text at all":  slicesOf("", 5000),
			"broken encoding": slicesOf("\xff\xfe error: \x80", 5000),
		} {
			text, _ := digestOf(budget, lines...)
			if len(text) > budget+budget/4 || text == "" {
				t.Errorf("%s: got %d bytes, want at most %d", name, len(text), budget)
			}
		}
	}
}

// slicesOf returns n copies of s.
func slicesOf(s string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = s
	}
	return all
}

func FuzzDigest(f *testing.F) {
	f.Add("a\nerror: b\nc\n", 100, true)
	f.Add(strings.Repeat("warning: x\n", 100), 64, false)
	f.Fuzz(func(t *testing.T, text string, budget int, pieces bool) {
		budget = max(64, min(budget, 1<<16))
		d := &Digest{Max: budget, Fold: len(text)%2 == 0}
		at := uint64(0)
		for l := range strings.Lines(text) {
			l, whole := strings.CutSuffix(l, "\n")
			half := len(l) / 2
			if pieces {
				d.Add([]byte(l[:half]), at, at+uint64(half), true)
				at += uint64(half)
				l = l[half:]
			}
			d.Add([]byte(l), at, at+uint64(len(l))+1, !whole)
			at += uint64(len(l)) + 1
		}
		out, left := d.Finish()
		if len(out) > 2*budget+256 || left.Bytes < 0 || left.From > left.To || left.To > at {
			t.Fatalf("got %d bytes, want at most %d; omission %+v of %d bytes", len(out), budget, left, at)
		}
	})
}

// TestDigest_KeepsFirstFailure_WithoutRoomForContext checks that the first failure is kept even if the budget has no
// space for the lines above it.
func TestDigest_KeepsFirstFailure_WithoutRoomForContext(t *testing.T) {
	for _, max := range []int{250, 300, 400} {
		d := &Digest{Max: max}
		for i := range 2001 {
			text := "a line of output"
			if i == 1000 {
				text = "main.go:7:2: error: undefined: x"
			}
			d.Add([]byte(text), uint64(i*20), uint64(i*20+20), false)
		}
		if s, _ := d.Finish(); !strings.Contains(s, "undefined: x") || len(s) > max {
			t.Errorf("with %d bytes: got %q, want the failure", max, s)
		}
	}
}

// TestFold_SimilarLines checks that a few of the lines that differ only in numbers are kept, and every different line
// wherever it is.
//
// FEATURES: R105
func TestFold_SimilarLines(t *testing.T) {
	var lines []string
	for i := range 3000 {
		lines = append(lines, fmt.Sprintf("[%4d/3000] cc -c src/module_%05d.c -o %x.o", i+1, i, 0xabcdef0123+i))
		switch i {
		case 700:
			lines = append(lines, "note: the cache is cold")
		case 2000:
			lines = append(lines, "src/a.c:3:1: error: no such type", "src/b.c:4:1: error: no such type")
		}
	}
	lines = append(lines, "linking 3000 objects")
	text, left := foldedDigestOf(8000, lines...)
	for _, want := range []string{"[   1/3000]", "the cache is cold", "src/a.c:3:1: error", "src/b.c:4:1: error", "[2001/3000]", "[3000/3000]", "linking"} {
		if !strings.Contains(text, want) {
			t.Errorf("got no %q in:\n%s", want, text)
		}
	}
	if n := strings.Count(text, "cc -c"); n > 8 || len(text) > 900 {
		t.Errorf("got %d similar lines in %d bytes:\n%s", n, len(text), text)
	}
	kept, noted := 0, 0
	for l := range strings.Lines(text) {
		if n := 0; strings.HasPrefix(l, "[… ") {
			_, _ = fmt.Sscanf(l, "[… %d line", &n)
			noted += n
			continue
		}
		kept++
	}
	if kept+noted != len(lines) || left.Lines != noted {
		t.Errorf("got %d lines kept and %d noted, want %d in all; %+v", kept, noted, len(lines), left)
	}
	if n := strings.Count(text, "cc -c"); n > 5 { // the first, the last, and those next to the note and the errors
		t.Errorf("got %d similar lines, want at most 5:\n%s", n, text)
	}
	if text, _ := foldedDigestOf(8000, lines[:100]...); text != strings.Join(lines[:100], "\n")+"\n" {
		t.Errorf("got a folded output that fits:\n%s", text)
	}
}

// TestFold_OutputThatFits checks that output that fits is folded only if it exceeds Whole bytes and folding saves half
// of it.
//
// FEATURES: R105
func TestFold_OutputThatFits(t *testing.T) {
	fold := func(whole int, lines ...string) string {
		text, _ := addAll(&Digest{Max: 8000, Fold: true, MaxUnfolded: whole}, lines...)
		return text
	}
	var alike, unlike []string
	for i := range 100 {
		alike = append(alike, fmt.Sprintf("compiling target %d of 100", i))
		unlike = append(unlike, "step "+strings.Repeat(string(rune('a'+i%26)), 1+i/26))
	}
	alike[50] = "warning: it is slow"
	all := strings.Join(alike, "\n") + "\n"
	if text := fold(1000, alike...); len(text) > 300 || !strings.Contains(text, "target 0 ") || !strings.Contains(text, "target 99 ") || !strings.Contains(text, "it is slow") {
		t.Errorf("got %d bytes:\n%s", len(text), text)
	}
	for name, whole := range map[string]int{"what fits": 0, "no more than is wanted whole": len(all)} {
		if text := fold(whole, alike...); text != all {
			t.Errorf("%s: got a folded output:\n%s", name, text)
		}
	}
	if text := fold(100, unlike...); text != strings.Join(unlike, "\n")+"\n" {
		t.Errorf("got a folded output of different lines:\n%s", text)
	}
}

// foldedDigestOf returns the folded digest of lines.
func foldedDigestOf(maxBytes int, lines ...string) (string, Omission) {
	return addAll(&Digest{Max: maxBytes, Fold: true}, lines...)
}

// addAll adds lines to a digest and returns its result.
func addAll(d *Digest, lines ...string) (string, Omission) {
	at := uint64(0)
	for _, l := range lines {
		d.Add([]byte(l), at, at+uint64(len(l))+1, false)
		at += uint64(len(l)) + 1
	}
	return d.Finish()
}

func TestShapeOf(t *testing.T) {
	for a, b := range map[string]string{
		"[##   ]  9%":                 "[#### ] 88%",
		"request 1 done in 12 ms":     "request 77 done in 3 ms",
		"id 7f3a-11d0 took 1.5s":      "id 00ab9-2 took 22.2500s",
		"building CXX object f1.o":    "building CXX object f22.o",
		"[    1/4000] cc":             "[1000/4000] cc",
		"   7 files":                  "1234 files",
		"2026-01-01T00:00:00Z info x": "2027-11-21T10:59:59Z info x",
	} {
		if shapeOf(a) != shapeOf(b) {
			t.Errorf("got different shapes of %q and %q", a, b)
		}
	}
	for a, b := range map[string]string{"compiling serde": "compiling tokio", "": "#", "a 1": "b 1", "x": "1"} {
		if shapeOf(a) == shapeOf(b) {
			t.Errorf("got one shape of %q and %q", a, b)
		}
	}
}

// TestDigest_LeavesUnfinishedLineUnended checks that a digest adds no line end that the output lacks.
//
// FEATURES: R88
func TestDigest_LeavesUnfinishedLineUnended(t *testing.T) {
	many := buildLog(3000, 100)
	for name, lines := range map[string][]string{"alone": {"Name? "}, "behind others": {"one", ">>> "}, "behind many": append(many, ">>> ")} {
		for _, more := range []bool{true, false} {
			for _, d := range []*Digest{{Max: 1500}, {Max: 1500, Fold: true, MaxUnfolded: 2}} {
				for i, l := range lines {
					d.Add([]byte(l), uint64(i), uint64(i+1), more && i == len(lines)-1)
				}
				text, _ := d.Finish()
				if want := lines[len(lines)-1]; !strings.HasSuffix(strings.TrimSuffix(text, "\n"), want) || strings.HasSuffix(text, "\n") == more {
					t.Errorf("%s, unfinished %v: got …%q", name, more, text[max(0, len(text)-30):])
				}
			}
		}
	}
}
