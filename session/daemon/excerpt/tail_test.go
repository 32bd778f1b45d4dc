//go:build unix

package excerpt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// TestTail checks that the end of the output is kept, as whole lines if they fit, and that the omitted part is counted.
func TestTail(t *testing.T) {
	for _, c := range []struct {
		limit, lines, length int
	}{{100, 5, 9}, {100, 10, 9}, {100, 11, 9}, {100, 5000, 9}, {100, 3, 500}, {1, 3, 9}} {
		k, whole := Tail{Limit: c.limit}, ""
		for i := range c.lines {
			line := fmt.Sprintf("%0*d", c.length, i)
			whole += line + "\n"
			k.Add(line)
		}
		text, left := k.Text()
		if left == nil {
			left = &api.Omitted{}
		}
		if !strings.HasSuffix(whole, text) || len(text) > c.limit || int64(len(whole)-len(text)) != left.Bytes || (left.Lines > 0) != (len(text) < len(whole)) {
			t.Errorf("%+v: %d bytes, %d and %d lines omitted", c, len(text), left.Bytes, left.Lines)
		}
	}
}
