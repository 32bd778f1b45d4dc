package pipeoutput

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// FEATURES: R4
func TestWindowKeepsHeadAndTail(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"0123456789", "0123456789"},
		{"0123456789a", "01234\n[1 bytes cut]\n6789a"},
		{strings.Repeat("x", 1000) + "the end", "xxxxx\n[997 bytes cut]\ne end"},
		{"1234é" + strings.Repeat("-", 20) + "é1234", "1234\n[24 bytes cut]\n1234"},
	} {
		for step := 1; step <= 12; step++ {
			w := NewWindow(10)
			for in := []byte(c.in); len(in) > 0; {
				n := min(step, len(in))
				_, _ = w.Write(in[:n])
				in = in[n:]
			}
			if got := w.Text(); got != c.want {
				t.Errorf("%q by %d: %q, want %q", c.in, step, got, c.want)
			}
		}
	}
}

// collect writes p in random pieces.
func collect(e Encoding, p []byte) Text {
	o := NewOutput(e, WindowBytes)
	rng := rand.New(rand.NewPCG(1, uint64(len(p))))
	for len(p) > 0 {
		n := 1 + rng.IntN(min(7, len(p)))
		o.Write("stdout", p[:n])
		p = p[n:]
	}
	return o.Finish()
}

// FEATURES: R4
func TestEncodings(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"", "h\xc3\xa9llo \xe4\xbd\xa0\n", "héllo 你\n"},
		{"utf-8", "a\xffb\xc3", "a\ufffdb\ufffd"},
		{"latin1", "h\xe9llo", "héllo"},
		{"shift_jis", "\x93\xfa\x96{", "日本"},
		{"iso-2022-jp", "\x1b$BF|K\\\x1b(B!", "日本!"},
		{"utf-16le", "h\x00\xe9\x00", "hé"},
		{"gbk", "\xc4\xe3\xba\xc3", "你好"},
	} {
		e, err := ParseEncoding(c.name, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := collect(e, []byte(c.in)); got.Stdout != c.want || got.Merged != c.want || got.Binary || !got.Separate {
			t.Errorf("%s: %+v, want %q", c.name, got, c.want)
		}
	}
	if _, err := ParseEncoding("klingon", ""); err == nil || !strings.Contains(err.Error(), "klingon") {
		t.Errorf("unknown encoding: %v", err)
	}
}

// FEATURES: R2, R4
func TestOutputIsInTheOrderItCame(t *testing.T) {
	o := NewOutput(Encoding{}, WindowBytes)
	o.Write("stdout", []byte("a\n"))
	o.Write("stderr", []byte("b\n"))
	o.Write("stdout", []byte("c\n"))
	if got := o.Finish(); got != (Text{Stdout: "a\nc\n", Stderr: "b\n", Merged: "a\nb\nc\n", Separate: true}) {
		t.Errorf("%+v", got)
	}
	o = NewOutput(Encoding{}, WindowBytes)
	o.Write("merged", []byte("both"))
	if got := o.Finish(); got.Separate || got.Merged != "both" {
		t.Errorf("%+v", got)
	}
}

// TestBinaryIsHeldBack checks that binary data is held back and counted, and that the text around it passes.
//
// FEATURES: R22
func TestBinaryIsHeldBack(t *testing.T) {
	o := NewOutput(Encoding{}, WindowBytes)
	noise := make([]byte, 100_000)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	o.Write("stdout", []byte("begin\n"))
	o.Write("stdout", noise)
	o.Write("stderr", []byte("still text\n"))
	got := o.Finish()
	if !got.Binary || got.BinaryBytes != uint64(len(noise)) || got.Stderr != "still text\n" || got.Stdout != "begin\n" {
		t.Errorf("%t %d, %q, %q", got.Binary, got.BinaryBytes, got.Stdout[:min(50, len(got.Stdout))], got.Stderr)
	}
	reports := 0
	var shown bytes.Buffer
	g := Gate{W: &shown, Progress: func(uint64) { reports++ }}
	_, _ = g.Write(noise)
	if shown.Len() > 0 || reports != 1 || g.HeldBytes() != uint64(len(noise)) {
		t.Errorf("%d bytes shown, %d reports, %d held back", shown.Len(), reports, g.HeldBytes())
	}
	for range 100 { // text for long enough is text again
		_, _ = fmt.Fprintf(&g, "%s\n", strings.Repeat("text ", 100))
	}
	if shown.Len() == 0 {
		t.Error("text stays hidden")
	}
}

func FuzzOutput(f *testing.F) {
	f.Add([]byte("a\xffb\xc3\x00\x1b[c"), "", 3, 10)
	f.Add([]byte("\x1b$BF|K\\\x1b(B!"), "iso-2022-jp", 1, 64)
	f.Add([]byte("\xff\xfeh\x00"), "utf-16le", 2, 7)
	f.Fuzz(func(t *testing.T, p []byte, encoding string, step, size int) {
		e, err := ParseEncoding(encoding, "")
		if err != nil {
			return
		}
		size, step = max(0, min(size, 1<<16)), max(1, step)
		o := NewOutput(e, size)
		for n := 0; len(p) > 0; p = p[n:] {
			n = min(step, len(p))
			o.Write([]string{"stdout", "stderr"}[len(p)%2], p[:n])
		}
		got := o.Finish()
		for _, s := range []string{got.Stdout, got.Stderr, got.Merged} {
			if !utf8.ValidString(s) || len(s) > size+64 {
				t.Errorf("%d bytes of %d: %q", len(s), size, s)
			}
		}
	})
}
