package digest

import (
	"fmt"
	"strings"
	"testing"
)

// gather gives lines to a digest, with their offsets.
func gather(maxBytes int, lines ...string) (string, Left) {
	d := &Digest{Max: maxBytes}
	at := uint64(0)
	for _, l := range lines {
		to := at + uint64(len(l)) + 1
		d.Add([]byte(l), at, to, false)
		at = to
	}
	return d.Finish()
}

func build(n, failsAt int, last ...string) []string {
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
func TestFailuresAndTheEndAreKept(t *testing.T) {
	lines := build(40_000, 20_000, "make: *** [all] Error 1")
	text, left := gather(2000, lines...)
	for _, want := range []string{"file.c:12:3: error: expected expression", "  12 |   int x", "other.c:1:1: warning", "make: *** [all] Error 1", "cc -c file0.c", "cc -c file19998.c"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	if len(text) > 2000 {
		t.Errorf("%d bytes of 2000", len(text))
	}
	if left.Lines < 39_000 || left.Bytes < 600_000 || left.To <= left.From {
		t.Errorf("left out: %+v", left)
	}
	all := strings.Join(lines, "\n") + "\n"
	if gap := all[left.From:left.To]; !strings.HasPrefix(gap, "cc -c") || !strings.HasSuffix(gap, "\n") || strings.Contains(text, gap[:len(gap)/2]) {
		t.Errorf("the gap's offsets are not those of lines")
	}
}

func TestNotesCountWhatIsLeftOut(t *testing.T) {
	lines := build(3000, 100, "the end")
	text, left := gather(1500, lines...)
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
		t.Errorf("%d lines kept and %d noted of %d; %+v", kept, noted, len(lines), left)
	}
}

func TestAllOfItIsKeptWhereItFits(t *testing.T) {
	text, left := gather(100, "one", "two error: no", "three")
	if text != "one\ntwo error: no\nthree\n" || left != (Left{}) {
		t.Errorf("%q %+v", text, left)
	}
}

func TestTheFailureIsKeptInAFewBytes(t *testing.T) {
	lines := append(slicesOf("    --option-of-some-length     what it does", 50), "", "sh: nosuchcmd: command not found")
	if text, _ := gather(240, lines...); !strings.Contains(text, "nosuchcmd") {
		t.Errorf("%s", text)
	}
	lines = append(lines, slicesOf("and many lines of a usage after it", 50)...)
	if text, _ := gather(240, lines...); !strings.Contains(text, "nosuchcmd") {
		t.Errorf("%s", text)
	}
}

func TestBounds(t *testing.T) {
	for _, budget := range []int{200, 400, 4000} {
		for name, lines := range map[string][]string{
			"one long line":   {strings.Repeat("x", 100_000)},
			"errors only":     slicesOf("error: it failed badly and at length", 5000),
			"warnings only":   slicesOf("warning: this is not so good", 5000),
			"long lines":      slicesOf(strings.Repeat("y", 3000), 50),
			"no text at all":  slicesOf("", 5000),
			"broken encoding": slicesOf("\xff\xfe error: \x80", 5000),
		} {
			text, _ := gather(budget, lines...)
			if len(text) > budget+budget/4 || text == "" {
				t.Errorf("%s: %d bytes of %d", name, len(text), budget)
			}
		}
	}
}

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
		d := &Digest{Max: budget}
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
			t.Fatalf("%d bytes of %d; %+v of %d", len(out), budget, left, at)
		}
	})
}

// The first failure is kept where the budget has no room for the lines above it.
func TestFirstFailureInLittleRoom(t *testing.T) {
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
			t.Errorf("in %d bytes: %q", max, s)
		}
	}
}
