package vterm

import (
	"bytes"
	"testing"
)

// TestBlankRowsAreMadeWhenWritten checks that unwritten rows take no memory, also after the screen was read or stored,
// and look the same.
func TestBlankRowsAreMadeWhenWritten(t *testing.T) {
	made := func(term *Terminal) (n int) {
		for _, r := range term.scr.Window() {
			if r != nil {
				n++
			}
		}
		return n
	}
	lazy, eager := New(Options{Cols: 80, Rows: 24}), New(Options{Cols: 80, Rows: 24})
	var f Frame
	for _, text := range []string{"", "\x1b[3;5Hx"} {
		for i := range 24 {
			eager.scr.At(i)
		}
		_, _ = lazy.Write([]byte(text))
		_, _ = eager.Write([]byte(text))
		lazy.Frame(&f, Query{})
		snap := lazy.AppendSnapshot(nil)
		if n := made(lazy); n > min(len(text), 2) || made(eager) != 24 {
			t.Errorf("%q: %d rows are allocated", text, n)
		}
		if len(f.Lines) != 24 || !bytes.Equal(snap, eager.AppendSnapshot(nil)) {
			t.Errorf("%q: an unallocated row is not blank", text)
		}
		again := New(Options{Cols: 80, Rows: 24})
		if err := again.Restore(snap); err != nil {
			t.Fatal(err)
		}
	}
}
