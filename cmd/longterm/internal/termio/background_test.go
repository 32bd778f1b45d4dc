//go:build unix

package termio

import (
	"testing"
)

// FAULT: B21
func TestIsLight(t *testing.T) {
	for answer, want := range map[string]bool{
		"\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?64;1c": true, "\x1b]11;rgb:fd/f6/e3\x07": true, "\x1b]11;rgb:0/0/0\x07": false,
		"\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\": false, "x\x1b]11;rgba:ffff/ffff/ffff/ffff\x07": true, "\x1b[?6c": false, "": false,
		"\x1b]11;rgb:0000/0000/ffff\x07": false, "\x1b]11;rgb:zz/zz/zz\x07": false,
	} {
		if got := isLight([]byte(answer)); got != want {
			t.Errorf("%q is light: %v", answer, got)
		}
	}
}

func FuzzIsLight(f *testing.F) {
	f.Add([]byte("\x1b]11;rgb:ffff/f/00\x07"))
	f.Fuzz(func(_ *testing.T, b []byte) { isLight(b) })
}
