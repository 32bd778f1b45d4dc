package search

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// TestFold checks that two runes fold to the same one exactly if they differ only in case according to Unicode.
func TestFold(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		f := fold(r)
		if next := unicode.SimpleFold(r); fold(next) != f {
			t.Fatalf("%U and %U become %U and %U", r, next, f, fold(next))
		}
		if got := string(appendFold(nil, []byte("Aa"+string(r)+"zZ[@`{"))); got != "aa"+string(f)+"zz[@`{" {
			t.Fatalf("%U becomes %q", r, got)
		}
		if f != r && !strings.EqualFold(string(r), string(f)) {
			t.Fatalf("%U becomes %U", r, f)
		}
	}
}

func TestUnfold(t *testing.T) {
	for _, c := range []struct{ line, find, want string }{
		{"ab", "b", "b"},
		{"KKK", "k", "KKK"},
		{"aKb", "b", "b"},
		{"ȺȾx", "x", "x"},
		{"ⱥⱦ Ⱥ", "Ⱥ", "ⱥȺ"},
		{"ſtraße", "STRA", "ſtra"},
		{"日K日", "日", "日日"},
	} {
		needle := appendFold(nil, []byte(c.find))
		ranges, _ := literalMatcher{needle: needle}.match([]byte(c.line), appendFold(nil, []byte(c.line)))
		got := ""
		for _, r := range ranges {
			got += c.line[r.Start:r.End]
		}
		if got != c.want {
			t.Errorf("%s in %s: %q, want %q", c.find, c.line, got, c.want)
		}
	}
}

// FuzzLiteral compares with what regexps find.
func FuzzLiteral(f *testing.F) {
	f.Add("an ERROR here", "error")
	f.Add("KkKſS", "kS")
	f.Add("aaa", "aa")
	f.Fuzz(func(t *testing.T, text, find string) {
		text, find = clean(text), clean(find)
		if find == "" {
			return
		}
		want := regexp.MustCompile("(?i)"+regexp.QuoteMeta(find)).FindAllStringIndex(text, -1)
		got, ok := literalMatcher{needle: appendFold(nil, []byte(find))}.match([]byte(text), appendFold(nil, []byte(text)))
		if len(got) != len(want) || ok != (len(want) > 0) {
			t.Fatalf("%q in %q: %v, want %v", find, text, got, want)
		}
		for i := range got {
			if got[i] != (Range{want[i][0], want[i][1]}) {
				t.Fatalf("%q in %q: %v, want %v", find, text, got, want)
			}
		}
	})
}
