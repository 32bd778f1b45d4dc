//go:build unix

package main

import (
	"strings"
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

// TestViewerOnALightTerminal: the terminal itself says what it looks like.
//
// FAULT: B21
// FEATURES: R76
func TestViewerOnALightTerminal(t *testing.T) {
	for _, tt := range []struct{ name, colour, bar string }{
		{"light", "#fdf6e3", "48;2;228;232;239"}, {"dark", "#002b36", "48;2;27;32;41"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			i := newInstance(t)
			i.env = append(i.env, "COLORFGBG=", "NO_COLOR=", "HOME="+i.dir)
			i.run("new", "-n", "one", "--", "sh", "-c", "echo I am one; exec cat")
			// The viewer's terminal is a session of longterm's own, which tells the colour it was set to.
			i.run("new", "-n", "outer", "--cols", "80", "--rows", "20", "--env", "COLORTERM=truecolor", "--", "sh", "-c",
				"printf '\\033]11;"+tt.colour+"\\007'; LONGTERM_SESSION= exec \"$0\" view one", i.named())
			eventually(t, "the viewer shows the session", func() bool { return strings.Contains(i.run("screen", "outer"), "I am one") })
			if ansi := i.run("screen", "outer", "--format", "ansi"); !strings.Contains(ansi, tt.bar) {
				t.Errorf("no bar of %s in\n%q", tt.bar, ansi)
			}
		})
	}
}
