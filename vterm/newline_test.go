package vterm

import "testing"

// TestNewLineOption checks that text from a pipe, which has line feeds alone, stays at the left, also after a reset.
func TestNewLineOption(t *testing.T) {
	for _, in := range []string{"one\ntwo", "\x1bcone\ntwo", "\x1b[!pone\ntwo"} {
		term := New(Options{Cols: 10, Rows: 3, NewLine: true})
		_, _ = term.Write([]byte(in))
		var f Frame
		term.Frame(&f, Query{})
		if f.Cursor.Row != 1 || f.Cursor.Col != 3 {
			t.Errorf("%q: the cursor is at row %d, column %d", in, f.Cursor.Row, f.Cursor.Col)
		}
	}
}
