package diagnostics

import (
	"bytes"
	"testing"
)

// TestNonDigitPrefix puts every byte at every position, between neighbours that carry or borrow.
func TestNonDigitPrefix(t *testing.T) {
	for _, around := range []string{"/", ":", "\xff", "\x00", "\x7f", "\x80", "a", "\xb0"} {
		for c := range 256 {
			for at := range 20 {
				b := bytes.Repeat([]byte(around), 20)
				b[at] = byte(c)
				want := 20
				if c >= '0' && c <= '9' {
					want = at
				}
				if got := nonDigitPrefix(b); got != want {
					t.Fatalf("byte %#x at %d between %q: %d, want %d", c, at, around, got, want)
				}
			}
		}
	}
}
