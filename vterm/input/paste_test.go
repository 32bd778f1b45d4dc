package input

import (
	"bytes"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/vterm"
)

// TestPaste checks pastes with and without brackets. Source: xterm ctlseqs, "Bracketed Paste Mode".
func TestPaste(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"plain é 世\tx", "plain é 世\tx"},
		{"a\nb\r\nc\rd\n", "a\rb\rc\rd\r"},
		{"\n\r\n\n", "\r\r\r"},
		{"rm\x1b[201~\nevil", "rm[201~\revil"},
		{"a\x1b\x1b[[201~", "a[[201~"},
		{"a\x03\x04\x7f\x00b", "ab"},
		{"a\u009b201~b", "a201~b"},
		{"a\x9b201~b\xc3", "a201~b\xc3"},
		{"latin \xe9t\xe9", "latin \xe9t\xe9"},
	} {
		if got := string(AppendPaste(nil, []byte(tt.in), &vterm.Modes{})); got != tt.want {
			t.Errorf("%q is pasted as %q, want %q", tt.in, got, tt.want)
		}
		want := "\x1b[200~" + tt.want + "\x1b[201~"
		if got := string(AppendPaste(nil, []byte(tt.in), &vterm.Modes{BracketedPaste: true})); got != want {
			t.Errorf("%q is pasted as %q, want %q", tt.in, got, want)
		}
	}
}

// FEATURES: R49
func TestPasteOfAMegabyte(t *testing.T) {
	text := strings.Repeat("line of text\n", 1<<20/13)
	got := AppendPaste(nil, []byte(text), &vterm.Modes{})
	if string(bytes.ReplaceAll(got, []byte("\r"), []byte("\n"))) != text {
		t.Error("it did not arrive completely")
	}
}

func FuzzAppendPaste(f *testing.F) {
	f.Add([]byte("a\x1b[201~\r\n\xc2\x9b"))
	f.Fuzz(func(t *testing.T, p []byte) {
		got := AppendPaste(nil, p, &vterm.Modes{BracketedPaste: true})
		body, ok := bytes.CutPrefix(got, []byte(pasteStart))
		body, ok2 := bytes.CutSuffix(body, []byte(pasteEnd))
		if !ok || !ok2 || bytes.ContainsAny(body, "\x1b\x03\n\x7f\x00\u009b") || len(body) > len(p) {
			t.Fatalf("%q is pasted as %q", p, got)
		}
	})
}
