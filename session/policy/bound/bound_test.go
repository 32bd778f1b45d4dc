package bound

import (
	"strings"
	"testing"
)

func TestTooDeepLeavesOrdinaryLinesAlone(t *testing.T) {
	for _, line := range []string{
		"echo '" + strings.Repeat("-", 2000) + "'",
		strings.Repeat("for i in 1; do echo $((i+1)); done\n", 1000),
		strings.Repeat("if true; then x=$(echo {a,b}); fi\n", 1000),
		strings.Repeat("make && ", 100) + "true",
	} {
		if IsTooLarge(line) {
			t.Errorf("not parsed: %q", line[:min(len(line), 80)])
		}
	}
}
