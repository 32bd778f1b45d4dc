package render

import (
	"reflect"
	"testing"

	"github.com/longterm-dev/longterm/vterm"
)

// A client that joins in the middle goes on as one that was there from the beginning.
//
// FEATURES: R75, R90
func TestJoinsInTheMiddle(t *testing.T) {
	for _, c := range []struct{ before, after string }{
		{"plain", " more"},
		{"shell\r\n$ \x1b[?1049h\x1b[2J\x1b[3;4Heditor", "x"},
		{"shell\r\n$ \x1b[?1049h\x1b[2J\x1b[3;4Heditor", "x\x1b[?1049ly"},
		{"\x1b[1;31;48;5;100mred", " still\r\n\x1b[mnot"},
		{"\x1b[4:3;58;2;1;2;3mcurly", "x"},
		{"0123456789", "x"},              // the cursor waits behind the last column
		{"\x1b[31m0123456789", "x\n\ny"}, // with a pen
		{"\x1b[2;4r\x1b[4;1Hend", "\n\n\nscrolled"},
		{"\x1b[2;4r\x1b[?6h\x1b[2;2H", "x\x1b[1;1Hy"},
		{"\x1b[?69h\x1b[3;7s\x1b[1;3H", "abcdefghijk"},
		{"\x1b(0qqq", "xxx\x1b(Bx"},
		{"\x1b)0a\x0eq", "q\x0fq"},
		{"\x1b.A\x1b-A", "\x1bnx"},
		{"abc\x1b[1;2H\x1b[4h", "xyz"},
		{"\x1b[?7l", "0123456789abc"},
		{"\x1b[2;3H\x1b[32m\x1b7\x1b[m\x1b[5;5H", "x\x1b8y"},
		{"\x1b[2;3H\x1b(0\x1b7\x1b(B\x1b[H", "q\x1b8q"},
	} {
		program, client := native(10, 5), native(10, 5)
		_, _ = client.Write([]byte("\x1b[2;3r\x1b[?6h\x1b[4h\x1b(0\x1b[7;33mgarbage"))
		_, _ = program.Write([]byte(c.before))
		var f, behind vterm.Frame
		program.Frame(&f, vterm.Query{})
		program.Frame(&behind, vterm.Query{Screen: vterm.ScreenPrimary})
		_, _ = client.Write(AppendTerminal(nil, program, &f, &behind))
		want, got := frameOf(program, c.after), frameOf(client, c.after)
		got.Cursor.Blink = want.Cursor.Blink // the person's own setting
		if picture(got) != picture(want) || got.Cursor != want.Cursor {
			t.Errorf("%q then %q:\n%s%+v\nwant\n%s%+v", c.before, c.after, picture(got), got.Cursor, picture(want), want.Cursor)
		}
		for i := range want.Lines {
			for col, cell := range want.Lines[i].Cells {
				if a, b := want.Style(cell), got.Style(got.Lines[i].Cells[col]); cell.Rune() > ' ' && !reflect.DeepEqual(a, b) {
					t.Errorf("%q then %q: row %d column %d is %+v, want %+v", c.before, c.after, i, col, b, a)
				}
			}
		}
	}
}
