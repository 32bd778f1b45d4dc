package plaintext

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestVisible checks that characters that change the direction of writing or show nothing are made visible, and that
// joiners of letters and emoji stay.
//
// FEATURES: R110
func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain äöü 漢字":            "plain äöü 漢字",
		"rm \u202ecod.txt":        "rm <U+202E>cod.txt",
		"a\u200bb\ufeffc\u00ad":   "a<U+200B>b<U+FEFF>c<U+00AD>",
		"\U000e0072\U000e006d":    "<U+E0072><U+E006D>",
		"👩\u200d👩\u200d👧 ❤\ufe0f": "👩\u200d👩\u200d👧 ❤\ufe0f",
		"bad \xff\u2066byte":      "bad \xff<U+2066>byte",
		"":                        "",
	} {
		if got := Visible(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("a\u202eb\xff")
	f.Fuzz(func(t *testing.T, in string) {
		got := Visible(in)
		if strings.ContainsFunc(got, IsHidden) || utf8.ValidString(in) != utf8.ValidString(got) || Visible(got) != got {
			t.Errorf("%q: %q", in, got)
		}
	})
}
