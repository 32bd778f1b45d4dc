package vterm

import "testing"

// TestOuter checks that programs get the colours, the scheme and the keyboard of the outer terminal, unless they set
// others.
//
// FAULT: H8
// FAULT: H10
func TestOuter(t *testing.T) {
	e := New(Options{Cols: 20, Rows: 3})
	ask := func(query string) string {
		_, _ = e.Write([]byte(query))
		return string(e.Replies(nil))
	}
	before := ask("\x1b]11;?\x1b\\")
	e.SetOuter(Outer{Foreground: "rgb:0000/0000/0000", Background: "rgb:ffff/ffff/dddd", Scheme: SchemeLight, Keys: KeysPress})
	for query, want := range map[string]string{
		"\x1b]11;?\x1b\\": "\x1b]11;rgb:ffff/ffff/dddd\x1b\\", "\x1b]10;?\x1b\\": "\x1b]10;rgb:0000/0000/0000\x1b\\", "\x1b[?996n": "\x1b[?997;2n",
		"\x1b]21;background=?\x1b\\": "\x1b]21;background=rgb:ffff/ffff/dddd\x1b\\", "\x1b[=31u\x1b[?u": "\x1b[?25u",
		"\x1b]11;#102030\x1b\\\x1b]11;?\x1b\\\x1b]111\x1b\\": "\x1b]11;rgb:1010/2020/3030\x1b\\",
	} {
		if got := ask(query); got != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
	_, _ = e.Write([]byte("\x1b[?2031h"))
	e.SetOuter(Outer{Scheme: SchemeDark, Keys: KeysAll, Background: "?;1"})
	if got := ask("\x1b[=31u\x1b[?u\x1b]11;?\x1b\\"); got != "\x1b[?997;1n\x1b[?31u"+before {
		t.Errorf("%q", got)
	}
	e.SetOuter(Outer{Keys: KeysNone, CellWidth: 9, CellHeight: 18})
	if got := ask("\x1b[?u\x1b[14t\x1b[16t\x1b[18t"); got != "\x1b[4;54;180t\x1b[6;18;9t\x1b[8;3;20t" {
		t.Errorf("%q", got)
	}
}
