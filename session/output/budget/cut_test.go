package budget

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// FEATURES: R23
func TestCut(t *testing.T) {
	var lines strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&lines, "line %d\n", i)
	}
	text := lines.String()
	got, info := Cut(text, 1000, DefaultHeadShare)
	if len(got) > 1000 || len(got) < 700 {
		t.Errorf("%d bytes", len(got))
	}
	head, tail, ok := strings.Cut(got, fmt.Sprintf("[… %d bytes, %d lines left out …]\n", info.Bytes, info.Lines))
	if !ok || !info.Cut || head != text[:info.HeadEnd] || tail != text[info.TailStart:] {
		t.Fatalf("%+v\n%s", info, got)
	}
	if !strings.HasSuffix(head, "\n") || !strings.HasPrefix(tail, "line ") {
		t.Errorf("not cut between lines: %q … %q", head[len(head)-10:], tail[:10])
	}
	if n := strings.Count(head, "\n") + strings.Count(tail, "\n") + info.Lines; n != 1000 {
		t.Errorf("%d lines", n)
	}
	if share := float64(len(head)) / float64(len(head)+len(tail)); share < 0.2 || share > 0.4 {
		t.Errorf("the head has %.2f", share)
	}
	if got, info := Cut(text, len(text), 0.5); got != text || info.Cut {
		t.Error("cut without need")
	}
	for _, max := range []int{-1, 0, 1, 5, 127, 128, 129, 200} {
		if got, info := Cut(text, max, 0.3); len(got) > max && max >= 0 || !info.Cut {
			t.Errorf("max %d: %d bytes", max, len(got))
		}
	}
	if got, _ := Cut(text, 1000, 1); !strings.HasSuffix(got, "left out …]\n") {
		t.Errorf("only the head: %q", got[len(got)-40:])
	}
	if got, _ := Cut(text, 1000, 0); !strings.HasPrefix(got, "[… ") {
		t.Errorf("only the tail: %q", got[:40])
	}
	if a, _ := Cut(text, 1000, 7); true {
		if b, _ := Cut(text, 1000, DefaultHeadShare); a != b {
			t.Error("a senseless share is not the default")
		}
	}
	if got, _ := Cut(strings.Repeat("a\r\n", 1000), 300, 0.3); strings.Count(got, "\r") != strings.Count(got, "\n")-1 {
		t.Errorf("line ends: %q", got)
	}
}

// FEATURES: R23
func TestCutGraphemes(t *testing.T) {
	for _, cluster := range []string{"é", "e\u0301", "👨‍👩‍👧‍👦", "🇩🇪", "각", "\r\n", "नि"} {
		text := strings.Repeat(cluster, 400)
		for max := 150; max < 150+2*len(cluster)+2; max++ {
			_, info := Cut(text, max, 0.4)
			if info.HeadEnd%len(cluster) != 0 || info.TailStart%len(cluster) != 0 {
				t.Errorf("%q at %d: cut at %d and %d", cluster, max, info.HeadEnd, info.TailStart)
			}
		}
	}
}

// FEATURES: R23
func TestCutANSI(t *testing.T) {
	text := "\x1b[1m\x1b[31m" + strings.Repeat("r", 800) + "\x1b[0m" + strings.Repeat("p", 400) + "\x1b[32m" + strings.Repeat("g", 1500)
	got, info := CutANSI(text, 1024, 0.3)
	if len(got) > 1024 || !info.Cut {
		t.Fatalf("%d bytes, %+v", len(got), info)
	}
	if !strings.Contains(got, "r\x1b[0m\n[… ") {
		t.Errorf("the head's colour runs on: %q", got)
	}
	if !strings.Contains(got, "…]\n\x1b[32mg") || !strings.HasSuffix(got, "ggg") {
		t.Errorf("the tail lost its colour: %q", got)
	}
	// No cut within a sequence, wherever it falls.
	unit := "ab\x1b[38;2;1;2;3mcd\x1b]8;;http://example.org/\x1b\\ef\x1b]8;;\x07"
	text = strings.Repeat(unit, 100)
	for max := 200; max < 200+len(unit); max++ {
		_, info := CutANSI(text, max, 0.5)
		for _, at := range []int{info.HeadEnd, info.TailStart} {
			if inSequence(text, at) {
				t.Errorf("max %d: cut within a sequence: %q | %q", max, text[at-10:at], text[at:at+10])
			}
		}
	}
	open := "\x1b]8;;http://example.org/\x07" + strings.Repeat("x", 3000)
	if got, _ := CutANSI(open, 2000, 0.3); !strings.Contains(got, "x"+closeLink+"\n[…") {
		t.Error("the link runs into the note")
	}
}

// inSequence reports whether at is within an escape sequence.
func inSequence(text string, at int) bool {
	for i := 0; i < len(text); {
		n := 1
		if text[i] == '\x1b' {
			n = sequenceLen(text[i:])
		}
		if at > i && at < i+n {
			return true
		}
		i += n
	}
	return false
}

// FEATURES: R23
func TestSequence(t *testing.T) {
	for in, want := range map[string]int{
		"\x1b": 1, "\x1b[": 2, "\x1b[31mx": 5, "\x1b[31": 4, "\x1b[3\nm": 3, "\x1b(Bx": 3, "\x1b7x": 2, "\x1b\x1b[m": 1,
		"\x1b]0;t\x07x": 6, "\x1b]0;t\x1b\\x": 7, "\x1b]0;t\x1b[m": 5, "\x1bPq\x18x": 3, "\x1b]0": 3, "\x1bé": 1,
	} {
		if got := sequenceLen(in); got != want {
			t.Errorf("%q: %d, want %d", in, got, want)
		}
	}
}

func FuzzCut(f *testing.F) {
	f.Add("a\r\nb\x1b[31mc\x1b[0m\x1b]8;;u\x07👨‍👩‍👧‍👦é", 130, 0.3)
	f.Add(strings.Repeat("🇩🇪", 100), 200, 0.5)
	f.Add(strings.Repeat("\x1b[1;31mx\n", 100), 300, 0.9)
	f.Fuzz(func(t *testing.T, text string, max int, share float64) {
		max %= 600 // so that most texts are cut
		for _, ansi := range []bool{false, true} {
			cut := Cut
			if ansi {
				cut = CutANSI
			}
			got, info := cut(text, max, share)
			if len(got) > max && (max >= 0 || got != "") {
				t.Fatalf("%d bytes instead of %d", len(got), max)
			}
			if !info.Cut {
				if got != text {
					t.Fatal("changed")
				}
				continue
			}
			if info.HeadEnd < 0 || info.TailStart < info.HeadEnd || info.TailStart > len(text) || info.Bytes != info.TailStart-info.HeadEnd {
				t.Fatalf("%+v", info)
			}
			if !strings.HasPrefix(got, text[:info.HeadEnd]) || !strings.HasSuffix(got, text[info.TailStart:]) {
				t.Fatal("head or tail changed")
			}
			if utf8.ValidString(text) && !utf8.ValidString(got) {
				t.Fatal("cut within a character")
			}
			if ansi && (inSequence(text, info.HeadEnd) || inSequence(text, info.TailStart)) {
				t.Fatalf("cut within a sequence: %+v", info)
			}
			if !ansi && len(text) < maxLookBack && utf8.ValidString(text) && !(onBoundary(text, info.HeadEnd) && onBoundary(text, info.TailStart)) {
				t.Fatalf("cut within a grapheme: %+v", info)
			}
		}
	})
}

// onBoundary reports whether at is between two graphemes.
func onBoundary(text string, at int) bool {
	g := uniseg.NewGraphemes(text)
	for g.Next() {
		if from, to := g.Positions(); at > from && at < to {
			return false
		}
	}
	return true
}

func BenchmarkCutANSI(b *testing.B) {
	text := strings.Repeat("\x1b[32mok\x1b[0m some line of output that has a colour\n", 200_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		CutANSI(text, 16<<10, DefaultHeadShare)
	}
}
