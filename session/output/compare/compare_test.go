package compare

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// compareTexts compares two texts line by line.
func compareTexts(good, failed string) Result {
	g := NewGoodRun()
	for l := range strings.Lines(good) {
		g.Add([]byte(strings.TrimSuffix(l, "\n")))
	}
	c := NewComparison(g)
	for l := range strings.Lines(failed) {
		c.Add([]byte(strings.TrimSuffix(l, "\n")))
	}
	return c.Finish()
}

// textsOf returns the texts of lines.
func textsOf(lines []Line) (list []string) {
	for _, l := range lines {
		list = append(list, l.Text)
	}
	return list
}

// FEATURES: R127
func TestComparison_NewAndMissingLines(t *testing.T) {
	r := compareTexts(
		"[1/3] cc a.c\n[2/3] cc b.c\n[3/3] link 0.3s\ndone in 2s\n",
		"[2/3] cc b.c\n[1/3] cc a.c\nb.c:7:3: error: expected ';'\nmake: *** [b.o] Error 1\n")
	if got, want := textsOf(r.New), []string{"b.c:7:3: error: expected ';'", "make: *** [b.o] Error 1"}; !reflect.DeepEqual(got, want) || r.NewLines != 2 {
		t.Errorf("new: %q, %d", got, r.NewLines)
	}
	if got, want := textsOf(r.Missing), []string{"[3/3] link 0.3s", "done in 2s"}; !reflect.DeepEqual(got, want) || r.MissingLines != 2 {
		t.Errorf("missing: %q, %d", got, r.MissingLines)
	}
	if r.New[0].Number != 3 || !r.New[0].IsLikelyCause {
		t.Errorf("the first new line: %+v", r.New[0])
	}
}

func TestComparison_Pick_FirstAndMostTelling(t *testing.T) {
	var failed strings.Builder
	failed.WriteString("starting a new way\n")
	for i := range 30 {
		fmt.Fprintf(&failed, "step %s of it\n", strings.Repeat("x", i+1))
	}
	failed.WriteString("Error: config.json: no such file\nexit status 1\n")
	r := compareTexts("hello\n", failed.String())
	if got, want := textsOf(r.Pick(2)), []string{"starting a new way", "Error: config.json: no such file"}; !reflect.DeepEqual(got, want) {
		t.Errorf("picked %q", got)
	}
}

// TestComparison_Telling checks that a heading ends with a colon, and the next line has the cause.
func TestComparison_Telling(t *testing.T) {
	r := compareTexts("ok\n", "test a ... FAILED\nfailures:\nthread 'a' panicked at src/lib.rs:3:9:\nbad luck\nexit status 1\n")
	var telling []string
	for _, l := range r.New {
		if l.IsLikelyCause {
			telling = append(telling, l.Text)
		}
	}
	if want := []string{"bad luck"}; !reflect.DeepEqual(telling, want) {
		t.Errorf("result: %q", telling)
	}
}

func TestComparison_Versions(t *testing.T) {
	r := compareTexts(
		"go version go1.25.1 linux/amd64\nPython 3.11.2, pytest-8.1.0\nnode v20.1.0\nbuilt in 1.2s at 12.30.11 with foo@1.2\n",
		"go version go1.26.0 linux/amd64\nPython 3.11.2, pytest-8.2.0\nnode v22.1.0\nbuilt in 9.2s at 12.30.11 with foo@1.3\n")
	want := []Version{{"go", "1.25.1", "1.26.0"}, {"pytest", "8.1.0", "8.2.0"}, {"node", "20.1.0", "22.1.0"}, {"foo", "1.2", "1.3"}}
	if !reflect.DeepEqual(r.Versions, want) || r.NewLines > 0 {
		t.Errorf("versions %+v, new %q", r.Versions, textsOf(r.New))
	}
}

func TestComparison_Bounded(t *testing.T) {
	g := NewGoodRun()
	g.maxTemplates = 20_000
	word := func(i int) []byte { // letters only: each line has a separate template
		b := []byte("line ")
		for ; i > 0; i /= 26 {
			b = append(b, byte('a'+i%26))
		}
		return b
	}
	const n = 21_000
	for i := range n {
		g.Add(word(i + 1))
	}
	c := NewComparison(g)
	for i := range 2 * n {
		c.Add(word(i + 1))
	}
	r := c.Finish()
	if !r.Partial || len(g.templates) > g.maxTemplates || g.textBytes > maxGoodText || len(r.New) > 2*maxNew || len(r.Missing) > maxMissing {
		t.Errorf("partial %v, %d templates, %d bytes, %d new, %d missing", r.Partial, len(g.templates), g.textBytes, len(r.New), len(r.Missing))
	}
	if long := compareTexts("a\n", strings.Repeat("é", 1<<20)+"\n"); len(long.New[0].Text) > maxText+4 {
		t.Errorf("a line of %d bytes is kept", len(long.New[0].Text))
	}
}

// BenchmarkComparison compares two runs of 25 MB, 50 MB in all.
func BenchmarkComparison(b *testing.B) {
	var text strings.Builder
	for i := 0; text.Len() < 25<<20; i++ {
		fmt.Fprintf(&text, "[%d/90000] gcc -O2 -Wall -c -o build/obj/module_%d.o /home/user/project/src/module_%d.c  %d.%02ds\n", i, i%500, i, i%7, i%100)
		if i%50 == 0 {
			fmt.Fprintf(&text, "2026-11-29T12:%02d:11Z INFO request 1f2e3d4c5b6a%04x took %dms\n", i%60, i, i%999)
		}
	}
	var lines [][]byte
	for l := range strings.Lines(text.String()) {
		lines = append(lines, []byte(strings.TrimSuffix(l, "\n")))
	}
	b.SetBytes(2 * int64(text.Len()))
	for b.Loop() {
		g := NewGoodRun()
		for _, l := range lines {
			g.Add(l)
		}
		c := NewComparison(g)
		for _, l := range lines {
			c.Add(l)
		}
		if r := c.Finish(); r.NewLines > 0 {
			b.Fatal(r.New)
		}
	}
}
