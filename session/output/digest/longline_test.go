package digest

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestLongLine_CutWithNote checks that a cut line has its head, its tail, its problem words and a note whose offsets
// read the omitted bytes.
//
// FEATURES: R88, R105
func TestLongLine_CutWithNote(t *testing.T) {
	a, b := strings.Repeat("a", 30_000), strings.Repeat("b", 30_000)
	for name, c := range map[string]struct {
		lines []string
		want  []string
	}{
		"alone":         {[]string{a + " ERROR: here " + b}, []string{"ERROR: here", "aaaa[… ", "]bbbb"}},
		"before others": {[]string{strings.Repeat("x", 20_000), "error: bad"}, []string{"x[… ", "]xxx", "\nerror: bad\n"}},
		"behind many":   {append(buildLog(4000, -200), a+`"error":"boom"`+b, "the end"), []string{`"error":"boom"`, "bytes left out", "the end"}},
	} {
		d := &Digest{Max: 8000}
		text, left := addAll(d, c.lines...)
		for _, w := range c.want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: got no %q in\n%.300s…%s", name, w, text, text[max(0, len(text)-300):])
			}
		}
		if len(text) > 8000 || left.Bytes < 10_000 || left.To-left.From < 10_000 {
			t.Errorf("%s: got %d bytes, %+v", name, len(text), left)
		}
		var bytes, from, to int
		if _, note, ok := strings.Cut(text, "[… "); name == "alone" {
			if n, _ := fmt.Sscanf(note, "%d bytes left out, from %d to %d", &bytes, &from, &to); !ok || n != 3 || bytes != left.Bytes {
				t.Fatalf("%s: got note %.100s", name, note)
			}
			if head := strings.Index(text, "[…"); head != from || !strings.HasSuffix(text, c.lines[0][to:]+"\n") && len(c.lines[0])-to > 4000 {
				t.Errorf("%s: got offsets %d to %d, want the bytes after the head of %d bytes", name, from, to, head)
			}
		}
	}
}

// TestLongLine_InPieces checks that a line that arrives in pieces is cut like a whole one.
func TestLongLine_InPieces(t *testing.T) {
	d := &Digest{Max: 8000}
	for i := range 100 {
		piece := strings.Repeat("x", 999) + "y"
		if i == 50 {
			piece = strings.Repeat("-", 500) + "fatal: no" + strings.Repeat("-", 491)
		}
		d.Add([]byte(piece), uint64(i*1000), uint64(i*1000+1000), i < 99)
	}
	text, left := d.Finish()
	if !strings.Contains(text, "fatal: no") || !strings.HasSuffix(text, "xxy\n") || !strings.HasPrefix(text, "xxx") || left.Bytes < 90_000 {
		t.Errorf("got %d bytes, %+v:\n%s", len(text), left, text)
	}
}

// TestLongLine_WideCharacters checks that cuts fall between characters, and the smallest budget shows some text.
func TestLongLine_WideCharacters(t *testing.T) {
	for _, c := range []string{"é", "漢", "🎉"} {
		for _, budget := range []int{200, 300, 8000} {
			text, left := digestOf(budget, strings.Repeat(c, 20_000))
			if !utf8.ValidString(text) || strings.ContainsRune(text, utf8.RuneError) || !strings.Contains(text, c) {
				t.Errorf("%s in %d bytes: got %q", c, budget, text)
			}
			if left.Bytes < 10_000 || left.To <= left.From {
				t.Errorf("%s in %d bytes: got %+v", c, budget, left)
			}
		}
	}
}
