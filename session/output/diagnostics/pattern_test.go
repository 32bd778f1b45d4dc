package diagnostics

import (
	"regexp"
	"testing"
)

func TestPatterns(t *testing.T) {
	for _, src := range sources {
		if _, err := regexp.Compile(src); err != nil {
			t.Error(err)
		}
	}
	if len(sources) < 40 {
		t.Errorf("only %d patterns", len(sources))
	}
}
