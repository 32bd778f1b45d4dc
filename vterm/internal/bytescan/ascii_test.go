package bytescan

import (
	"bytes"
	"testing"
)

// TestASCII puts every byte at every place of a run.
func TestASCII(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			b := bytes.Repeat([]byte("~ "), 10)
			b[at] = byte(c)
			want := 20
			if c < 0x20 || c >= 0x7f {
				want = at
			}
			if got := ASCII(b); got != want {
				t.Fatalf("byte %#x at %d: run of %d, want %d", c, at, got, want)
			}
		}
	}
}
