package vterm

import (
	"bytes"
	"testing"
)

// TestASCIIRun puts every byte at every place of a run.
func TestASCIIRun(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			b := bytes.Repeat([]byte("~ "), 10)
			b[at] = byte(c)
			want := 20
			if c < 0x20 || c >= 0x7f {
				want = at
			}
			if got := asciiRun(b); got != want {
				t.Fatalf("byte %#x at %d: run of %d, want %d", c, at, got, want)
			}
		}
	}
}
