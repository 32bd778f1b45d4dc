package pipeoutput

import (
	"bytes"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// terminalText returns output as text, without binary data.
func terminalText(p []byte) (text string, held uint64) {
	var m Mask
	var plain plaintext.Writer
	p = bytes.Clone(p)
	m.Apply(p)
	_, _ = plain.Write(p) // never fails
	var b strings.Builder
	plain.Lines(func(l plaintext.Line) {
		b.Write(l.Text)
		b.WriteByte('\n')
	})
	rest, _, _ := plain.AppendUnfinished(nil)
	b.Write(rest)
	return b.String(), m.MaskedBytes()
}

// FAULT: B8
// FEATURES: R24
func TestMask(t *testing.T) {
	random := make([]byte, 20_000)
	rnd := rand.NewChaCha8([32]byte{8})
	_, _ = rnd.Read(random) // never fails
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	program := make([]byte, 30_000)
	if _, err := f.Read(program); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("a line of a log, grün und 你好\r\n", 2000)
	for _, tt := range []struct {
		name, in, want string
		held           bool
	}{
		{"text", "one\r\ntwo\r\n", "one\ntwo\n", false},
		{"long text", long, strings.ReplaceAll(long, "\r", ""), false},
		{"colours and motion", strings.Repeat("\x1b[1;38;2;1;2;3mx\x1b[m\x1b]8;;http://x\x1b\\y\x1b]8;;\x1b\\\x1b[2K\rz\r\n", 500), strings.Repeat("z\n", 500), false},
		{"an image of the kitty protocol", "\x1b_Ga=T,f=24,s=9,v=9;" + strings.Repeat("AAAA", 5000) + "\x1b\\done\r\n", "done\n", false},
		{"some Latin-1", strings.Repeat("gr\xfcn und noch viel mehr Text dazu\r\n", 500), strings.Repeat("gr\ufffdn und noch viel mehr Text dazu\n", 500), false},
		{"random", string(random), "", true},
		{"a program", string(program), "", true},
		{"random, then text", string(random) + strings.Repeat("all is well\r\n", 4000), "all is well\n", true},
	} {
		text, held := terminalText([]byte(tt.in))
		switch {
		case tt.held != (held > 0):
			t.Errorf("%s: %d bytes are binary", tt.name, held)
		case !tt.held && text != tt.want:
			t.Errorf("%s became %.200q", tt.name, text)
		case tt.held && !strings.HasSuffix(text, tt.want), strings.ContainsRune(text, '\ufffd') && tt.held:
			t.Errorf("%s became %.200q", tt.name, text)
		}
	}
}

// TestMaskFullScreen checks that the drawing of an editor is not text of a command.
func TestMaskFullScreen(t *testing.T) {
	vim := "opening\r\n\x1b[?1049h\x1b[1;24r\x1b[2;1H" + strings.Repeat("~\r\n", 22) + "\x1b[24;1H:q\x1b[?1049lclosed\r\n"
	if text, held := terminalText([]byte(vim)); text != "opening\nclosed\n" || held > 0 {
		t.Errorf("%q, %d bytes are binary", text, held)
	}
	var m Mask
	m.Apply([]byte("\x1b[?1049h~~"))
	if n, still := m.Drawn(); n != 2 || !still {
		t.Errorf("%d bytes are drawn, still: %v", n, still)
	}
}

// FuzzMask checks that a mask changes only what it counts, and that only to NULs, and NULs to ends of lines.
func FuzzMask(f *testing.F) {
	f.Add([]byte("text\x00\xff\x1b[m"), 3)
	f.Add([]byte("a\x1b[?1049h~\x1b[?1049lb"), 5)
	f.Fuzz(func(t *testing.T, p []byte, cut int) {
		q := bytes.Clone(p)
		var m Mask
		n := int(uint(cut) % uint(len(p)+1))
		m.Apply(q[:n])
		m.Apply(q[n:])
		changed := uint64(0)
		for i := range p {
			switch {
			case p[i] == 0 && q[i] == '\n', i > 0 && p[i] != q[i] && (p[i] == '\n' || p[i] == '\r') && (p[i-1] == 0 || p[i-1] == '\r'): // a field's end
			case p[i] != q[i]:
				if changed++; q[i] != 0 {
					t.Fatalf("byte %d became %q", i, q[i])
				}
			}
		}
		if drawn, _ := m.Drawn(); changed > m.MaskedBytes()+drawn {
			t.Fatalf("%d bytes changed, %d and %d are counted", changed, m.MaskedBytes(), drawn)
		}
	})
}
