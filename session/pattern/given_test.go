package pattern

import (
	"strings"
	"testing"
)

// TestLargePatternsAreRefused checks that a pattern whose program would need a second for a few bytes is rejected,
// however short it is.
func TestLargePatternsAreRefused(t *testing.T) {
	for _, large := range []string{strings.Repeat("(a*)*", 10_000), strings.Repeat("x", MaxBytes+1), "((a{9}b{9}){9}){9}((c{99}){9}){9}", "(" + strings.Repeat("(a|b){200}", 20) + ")"} {
		if re, err := Compile(large); err == nil {
			t.Errorf("%.40s of %d bytes is compiled: %v", large, len(large), re.NumSubexp())
		}
	}
	for _, fine := range []string{"", "^ready", `(?i)listening on .*:\d{1,5}`, strings.Repeat("word|", 190) + "last", `[\pL\d]{1,500}`} {
		if _, err := Compile(fine); err != nil {
			t.Errorf("%.40s: %v", fine, err)
		}
	}
	if _, err := Compile("("); err == nil || !strings.Contains(err.Error(), "missing closing )") {
		t.Errorf("%v", err)
	}
}
