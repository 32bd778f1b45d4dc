package termio

import (
	"strings"
	"testing"
)

func TestConfirm(t *testing.T) {
	for answer, want := range map[string]bool{"y\n": true, " YES \r\n": true, "n\n": false, "\n": false, "yes please\n": false, "y": false, "": false} {
		var out strings.Builder
		if got := Confirm(strings.NewReader(answer), &out, "Go on?"); got != want || out.String() != "Go on? [y/N] " {
			t.Errorf("%q: %t after %q", answer, got, out.String())
		}
	}
}
