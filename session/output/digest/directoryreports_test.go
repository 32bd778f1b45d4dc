package digest

import (
	"fmt"
	"strings"
	"testing"
)

// TestDigest_KeepsDirectoryReports checks that the line that reports an error's directory is kept with the error,
// however far above it is.
//
// FEATURES: R82 R105
func TestDigest_KeepsDirectoryReports(t *testing.T) {
	var text strings.Builder
	text.WriteString("make: Entering directory '/w'\n")
	for _, dir := range []string{"quiet", "broken"} {
		fmt.Fprintf(&text, "make[1]: Entering directory '/w/%s'\n", dir)
		for i := range 400 {
			fmt.Fprintf(&text, "cc -c file%d.c: all is as it should be here\n", i)
		}
		if dir == "broken" {
			text.WriteString("a.c:1:2: error: e\n")
		}
		fmt.Fprintf(&text, "make[1]: Leaving directory '/w/%s'\n", dir)
	}
	for _, fold := range []bool{false, true} {
		d := Digest{Max: 1000, Fold: fold}
		at := uint64(0)
		for line := range strings.Lines(text.String()) {
			to := at + uint64(len(line))
			d.Add([]byte(strings.TrimSuffix(line, "\n")), at, to, false)
			at = to
		}
		got, _ := d.Finish()
		if !strings.Contains(got, "Entering directory '/w/broken'\n") || !strings.Contains(got, "a.c:1:2: error") || len(got) > d.Max {
			t.Errorf("folded %v: got no directory report in:\n%s", fold, got)
		}
	}
}
