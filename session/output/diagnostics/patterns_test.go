package diagnostics

import (
	"regexp"
	"testing"

	"github.com/longterm-dev/longterm/session/pattern"
)

func TestPatterns(t *testing.T) {
	for _, src := range pattern.Sources() {
		if _, err := regexp.Compile(src); err != nil {
			t.Error(err)
		}
	}
	if n := len(pattern.Sources()); n < 25 {
		t.Errorf("only %d patterns", n)
	}
}
