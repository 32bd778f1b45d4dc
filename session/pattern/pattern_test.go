package pattern

import (
	"fmt"
	"slices"
	"testing"
)

var word = Lazy(`(\w+)=(\d+)`)

func TestLazy(t *testing.T) {
	if !slices.Contains(Sources(), `(\w+)=(\d+)`) {
		t.Errorf("not among %q", Sources())
	}
	const text = "a=1 b=22"
	for got, want := range map[string]string{
		fmt.Sprint(word.MatchString(text), word.MatchString("a=b")): "true false",
		fmt.Sprint(word.FindStringSubmatch(text)):                   "[a=1 a 1]",
		fmt.Sprint(word.FindAllStringSubmatch(text, -1)):            "[[a=1 a 1] [b=22 b 22]]",
		word.ReplaceAllString(text, "$2"):                           "1 22",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestWrongPattern checks that an invalid pattern fails when it is used, not when its package is initialised.
func TestWrongPattern(t *testing.T) {
	n := len(sources)
	p := Lazy("(")
	sources = sources[:n]
	defer func() {
		if recover() == nil {
			t.Error("it matches")
		}
	}()
	p.MatchString("(")
}
