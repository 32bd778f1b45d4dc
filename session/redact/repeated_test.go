package redact

import (
	"strings"
	"testing"
)

// TestMask_RepeatAndInsertMode checks that a value is masked if the terminal repeats its characters (REP), and in
// insert mode.
//
// FAULT: G17
func TestMask_RepeatAndInsertMode(t *testing.T) {
	s := newTestVault(t, "hunter22", "aaaaaaaa").Set()
	for in, want := range map[string]string{
		"hunter2\x1b[b x":               "*******\x1b[b x",
		"a\x1b[7b.":                     "*\x1b[7b.",
		"hunter2\x1b[1mx\b2":            "*******\x1b[1m*\b*",
		"ter22\r\x1b[4hhun\x1b[4l":      "*****\r\x1b[4h***\x1b[4l",
		"hun22\b\b\x1b[4hter\x1b[4l ok": "*****\b\b\x1b[4h***\x1b[4l ok",
		"ab\x1b[9999999b":               "ab\x1b[9999999b",
		"\x1b[5b":                       "\x1b[5b",
	} {
		if got := s.RedactText(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if text := strings.Repeat("x\x1b[9999b", 5000); s.RedactText(text) != text {
		t.Error("got masked characters that are only repeated")
	}
}
