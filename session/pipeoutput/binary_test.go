package pipeoutput

import (
	"bytes"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"
)

// FEATURES: R22
func TestBinary(t *testing.T) {
	random := make([]byte, 20<<10)
	rng := rand.NewChaCha8([32]byte{1})
	_, _ = rng.Read(random)
	var gz bytes.Buffer
	w := gzip.NewWriter(&gz)
	_, _ = io.CopyN(w, rand.NewChaCha8([32]byte{2}), 20<<10)
	_ = w.Close()
	exe, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		data   []byte
		binary bool
	}{
		{"nothing", nil, false},
		{"ASCII", bytes.Repeat([]byte("hello world\r\n"), 1000), false},
		{"UTF-8", []byte(strings.Repeat("größe 日本語 👍\n", 1000)), false},
		{"colours", []byte(strings.Repeat("\x1b[31mred\x1b[0m\x07\b", 1000)), false},
		{"Latin-1", []byte(strings.Repeat("Gr\xf6\xdfe der Datei in Bytes und mehr\n", 500)), false},
		{"one NUL", append(bytes.Repeat([]byte("x"), 200), 0), false},
		{"one NUL in few bytes", []byte(strings.Repeat("a", 64) + "\x00\x1b[31mred\x1b[0m\n"), false},
		{"fields", []byte(strings.Repeat("HOME=/home/me/and/more\x00", leastNULs-1)), false},
		{"many fields", []byte(strings.Repeat("a\x00", 50)), true},
		{"head of a picture", []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x90\x00\x00\x01,\x08\x06\x00\x00\x00\xc3\xf2\xa1\xb5\x00\x00\x00\x04sBIT\x08\x08\x08\x08|\x08d\x88\x00\x00\x00\tpHYs\x00\x00\x0b\x13\x00\x00\x0b\x13\x01\x00\x9a\x9c\x18"), true},
		{"head of a program", exe[:64], true},
		{"head of gzip", gz.Bytes()[:64], true},
		{"few wrong bytes", []byte("\xff\xfe"), false},
		{"random", random, true},
		{"gzip", gz.Bytes(), true},
		{"program", exe[:64<<10], true},
		{"short program", exe[:300], true},
		{"UTF-16", []byte(strings.Repeat("h\x00i\x00\n\x00", 500)), true},
		{"text, then random", append(bytes.Repeat([]byte("fine\n"), 5000), random...), true},
	} {
		var whole, bytewise Binary
		whole.Take(c.data)
		for i := range c.data {
			bytewise.Take(c.data[i : i+1])
		}
		if got := whole.End(); got != c.binary {
			t.Errorf("%s: %v", c.name, got)
		}
		if bytewise.End(); bytewise != whole {
			t.Errorf("%s: splits matter: %+v, %+v", c.name, bytewise, whole)
		}
	}
}

// FEATURES: R22
func TestBinaryComesToAnEnd(t *testing.T) {
	var b Binary
	zeros := make([]byte, 3*windowBytes)
	if b.Take(zeros[:leastBytes-1]) || b.End() {
		t.Error("judged by too little")
	}
	if !b.Take(zeros) {
		t.Fatal("zeros are text")
	}
	text := bytes.Repeat([]byte("text\n"), windowBytes)
	if !b.Take(text[:windowBytes]) {
		t.Error("text again after one window")
	}
	if b.Take(text[:(calmWindows+1)*windowBytes]) {
		t.Error("never text again")
	}
	b.Take(zeros)
	b.Restart()
	if b.Take(nil) {
		t.Error("the command before is remembered")
	}
}

// FEATURES: R22
func TestBinaryProgress(t *testing.T) {
	var b Binary
	now := time.Unix(100, 0)
	if _, due := b.Progress(now); due {
		t.Error("due for text")
	}
	b.Take(make([]byte, 2*windowBytes))
	if n, due := b.Progress(now); !due || n != 2*windowBytes {
		t.Errorf("%d, %v", n, due)
	}
	b.Take(make([]byte, 100))
	if _, due := b.Progress(now.Add(999 * time.Millisecond)); due {
		t.Error("due again before a second")
	}
	if n, due := b.Progress(now.Add(time.Second)); !due || n != 2*windowBytes+100 {
		t.Errorf("%d, %v", n, due)
	}
}

func FuzzBinary(f *testing.F) {
	f.Add([]byte("größe\x00\xff\xe2\x82"), uint16(3))
	f.Add(bytes.Repeat([]byte("\xf0\x9f\x91\x8d"), 2000), uint16(4095))
	f.Fuzz(func(t *testing.T, data []byte, at uint16) {
		var one, two Binary
		i := min(int(at), len(data))
		two.Take(data[:i])
		if one.Take(data) != two.Take(data[i:]) || one != two {
			t.Errorf("splits matter: %+v, %+v", one, two)
		}
	})
}

func BenchmarkBinary(b *testing.B) {
	data := []byte(strings.Repeat("größe of some output\n", 50_000))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		var d Binary
		d.Take(data)
	}
}

// TestASCIIText puts every byte at every place, between neighbours that borrow.
func TestASCIIText(t *testing.T) {
	for _, around := range []string{"\x01", "a", "\x7f"} {
		for c := range 256 {
			for at := range 24 {
				p := bytes.Repeat([]byte(around), 24)
				p[at] = byte(c)
				want := 24
				if c == 0 || c >= 0x80 {
					want = at - at%8
				}
				if got := asciiText(p); got != want {
					t.Fatalf("byte %#x at %d between %q: %d, want %d", c, at, around, got, want)
				}
			}
		}
	}
}
