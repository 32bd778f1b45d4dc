package pipeoutput

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// gateText returns the text that a gate passes of output that arrives in pieces.
func gateText(pieces [][]byte) (text string, held uint64) {
	var b bytes.Buffer
	g := Gate{W: &b, Progress: func(uint64) {}}
	for _, p := range pieces {
		_, _ = g.Write(p) // never fails
	}
	return b.String(), g.HeldBytes()
}

// TestTextBesideBinaryData checks that text beside binary data is returned in whole lines, and that only the binary
// data is counted.
//
// FEATURES: R22 R24
func TestTextBesideBinaryData(t *testing.T) {
	random := make([]byte, 1<<20)
	_, _ = rand.NewChaCha8([32]byte{9}).Read(random) // never fails
	elf := "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x3e\x00\x01\x00\x00\x00\xa0\x30\x00\x00\x00\x00\x00\x00\x40\x00\x00\x00\x00\x00\x00\x00"
	lines := "line 1\nline 2\nok\n\x1b[31merror: größer\x1b[m\n"
	for _, tt := range []struct{ name, in, want string }{
		{"few lines around few bytes", lines + elf + "\n" + lines, lines + lines},
		{"noise, then an error", "begin\n" + string(random[:3000]) + "\n\nerror: after it\nlast\n", "error: after it\nlast\n"},
		{"noise, then much", string(random[:9000]) + "\n" + strings.Repeat("a line of a log\n", 5000), strings.Repeat("a line of a log\n", 5000)},
		{"lines between noise", string(random[:5000]) + "\nthe one line that counts\n" + string(random[5000:9000]), "the one line that counts\n"},
		{"a line that goes on as noise", strings.Repeat("fine\n", 820) + "a line that has its end in" + elf + elf + "\n" + lines, strings.Repeat("fine\n", 820) + lines},
	} {
		for _, apart := range []bool{false, true} {
			pieces := [][]byte{[]byte(tt.in)}
			if apart { // it is judged by less
				pieces = [][]byte{[]byte(tt.in[:len(tt.in)/2]), []byte(tt.in[len(tt.in)/2:])}
			}
			text, held := gateText(pieces)
			if !apart && !strings.HasSuffix(text, tt.want) || !strings.Contains(text, "\n") || held+uint64(len(text)) > uint64(len(tt.in)) || !apart && held+uint64(len(text)) != uint64(len(tt.in)) {
				t.Errorf("%s, by stream %t: %.300q, %d held back", tt.name, apart, text, held)
			}
		}
		masked := []byte(tt.in)
		var m Mask
		m.Apply(masked)
		if text, held := gateText([][]byte{[]byte(tt.in)}); m.MaskedBytes() != held || string(bytes.ReplaceAll(masked, []byte{0}, nil)) != text {
			t.Errorf("%s: a terminal's output is %.300q, that of a pipe %.300q", tt.name, masked, text)
		}
	}
	if text, held := gateText([][]byte{random}); len(text) > 100 || held+uint64(len(text)) != uint64(len(random)) {
		t.Errorf("%d bytes of noise are text: %.300q", len(text), text)
	}
}

// TestGateWriteFails checks that an error of the gate's writer is returned.
func TestGateWriteFails(t *testing.T) {
	g := Gate{W: failing{}}
	if _, err := g.Write(append(make([]byte, 100), "\na line of text\nand more of it\n"...)); err == nil {
		t.Error("it is lost")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, bytes.ErrTooLarge }

func FuzzLines(f *testing.F) {
	f.Add([]byte("text\n\x00\xff\nerror: größer\n"), uint16(9))
	f.Add([]byte("\x1b[31mred\x1b[m\n\x1b[\n\xe2\x82"), uint16(4))
	f.Fuzz(func(t *testing.T, data []byte, at uint16) {
		var l lines
		i := min(int(at), len(data))
		var all []byte
		for _, p := range [][]byte{data[:i], data[i:]} {
			l.split(p, func(part []byte, text bool) {
				if text && bytes.ContainsAny(part, "\x00\x0e\x7f") {
					t.Errorf("%q is treated as text", part)
				}
				all = append(all, part...)
			})
		}
		if !bytes.Equal(all, data) {
			t.Errorf("%q became %q", data, all)
		}
	})
}
