package suggest

import (
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/output/diagnostics"
)

// TestSuggest_Terminates_WithShortFileName checks that an empty file name must not make the search for a word run
// forever.
//
// FEATURES: R93
func TestSuggest_Terminates_WithShortFileName(t *testing.T) {
	done := make(chan []Suggestion, 1)
	go func() {
		exit, line, out := 3, "./configure", "it went wrong\n"
		done <- Suggest(Context{Line: line, Output: out, Result: diagnostics.Parse(line, &exit, out), Files: []string{"a", "b", "o"}})
	}()
	select {
	case list := <-done:
		if len(list) != 0 {
			t.Errorf("%+v", list)
		}
	case <-time.After(time.Minute):
		t.Fatal("no end")
	}
}

func FuzzReplaceWord(f *testing.F) {
	f.Add("cat fiel x", "fiel", "file")
	f.Add("cat x", "", "a")
	f.Add("", "", "")
	f.Fuzz(func(t *testing.T, line, old, word string) {
		if got := replaceWord(line, old, word); got != "" && (old == "" || !strings.Contains(line, old)) {
			t.Errorf("%q", got)
		}
	})
}
