package shell

import (
	"strings"
	"testing"
)

// TestPwshScript_IsWellFormed checks that without a pwsh its script is at least well-formed: brackets and quotes are
// balanced, and it prints the known marks.
func TestPwshScript_IsWellFormed(t *testing.T) {
	b, err := scripts.ReadFile("scripts/longterm.ps1")
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	code := strings.NewReplacer("']'", "", `"]133`, "133").Replace(text) // brackets in strings
	for _, pair := range []string{"{}", "()", "[]"} {
		if strings.Count(code, pair[:1]) != strings.Count(code, pair[1:]) {
			t.Errorf("got unbalanced %s", pair)
		}
	}
	for _, mark := range []string{"133;A;$(__Longterm-Ours)", "133;B;$(__Longterm-Ours)", "133;C;$(", "133;D;", ";m=$Global:", "7;file://", "longterm-env 1 nul", "# end "} {
		if !strings.Contains(text, mark) {
			t.Errorf("no %s", mark)
		}
	}
	if strings.Contains(text, "\r") || strings.Contains(text, "\t") {
		t.Error("carriage returns or tabs")
	}
}
