//go:build unix

package spawn

import (
	"strings"
	"testing"
)

// TestCheckLabels checks that labels are shown in lists and sent in notices: no value has control characters, line
// breaks or changes of direction.
//
// FAULT: J
func TestCheckLabels(t *testing.T) {
	for value, ok := range map[string]bool{
		"": true, "a b": true, "größe €": true, strings.Repeat("x", 1024): true,
		strings.Repeat("x", 1025): false, "a\nb": false, "a\tb": false, "\x1b[2J": false, "\x9b2J": false, "\u009b2J": false, "a\x00": false,
		"\u202eabc": false, "\u2028": false, "\x7f": false,
	} {
		if err := CheckLabels(map[string]string{"team": value}); (err == nil) != ok {
			t.Errorf("%q: %v", value, err)
		}
	}
}
