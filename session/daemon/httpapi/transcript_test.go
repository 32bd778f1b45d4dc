//go:build unix

package httpapi

import (
	"fmt"
	"strings"
	"testing"
)

// The end is kept, as whole lines where they fit, and what is left out is counted.
func TestTail(t *testing.T) {
	for _, c := range []struct {
		limit, lines, length int
	}{{100, 5, 9}, {100, 10, 9}, {100, 11, 9}, {100, 5000, 9}, {100, 3, 500}, {1, 3, 9}} {
		k, whole := tail{limit: c.limit}, ""
		for i := range c.lines {
			line := fmt.Sprintf("%0*d", c.length, i)
			whole += line + "\n"
			k.add(line)
		}
		text := k.text()
		if !strings.HasSuffix(whole, text) || len(text) > c.limit || int64(len(whole)-len(text)) != k.bytes || (k.lines > 0) != (len(text) < len(whole)) {
			t.Errorf("%+v: %d bytes, %d and %d lines left out", c, len(text), k.bytes, k.lines)
		}
	}
}
