package vterm

import (
	"math"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/vterm/payload"
)

// payloadBytes is about how much of each payload is written per round.
const payloadBytes = 1 << 20

// generated is the payload of that name.
func generated(tb testing.TB, name string) []byte {
	tb.Helper()
	p, ok := payload.ByName(name)
	if !ok {
		tb.Fatalf("no payload %s", name)
	}
	return p.Generate(payloadBytes)
}

func BenchmarkWrite(b *testing.B) {
	for _, p := range payload.All {
		b.Run(p.Name, func(b *testing.B) {
			data := p.Generate(payloadBytes)
			t := New(Options{})
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				_, _ = t.Write(data)
			}
		})
	}
}

func BenchmarkFrame(b *testing.B) {
	t := New(Options{})
	_, _ = t.Write(generated(b, "full_screen"))
	var f Frame
	b.Run("full", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			t.Frame(&f, Query{})
		}
	})
	b.Run("one row", func(b *testing.B) {
		b.ReportAllocs()
		line := []byte("\x1b[5;1Hhello")
		for b.Loop() {
			since := t.Version()
			_, _ = t.Write(line)
			t.Frame(&f, Query{Since: since})
		}
	})
}

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		New(Options{})
	}
}

func BenchmarkResize(b *testing.B) {
	t := New(Options{})
	_, _ = t.Write(generated(b, "build_log"))
	for b.Loop() {
		t.Resize(60, 30)
		t.Resize(80, 24)
	}
}

// BenchmarkResizeShown changes the width and reads the screen, with a long line or many lines in the history. "all" also reads the
// whole history.
func BenchmarkResizeShown(b *testing.B) {
	long := longLines(9_750_000)
	for _, c := range []struct{ name, data string }{
		{"a line of 9.75 MB", long["plain"]}, {"a coloured line", long["coloured"]},
		{"10,000 lines", strings.Repeat(strings.Repeat("0123456789", 10)+"\r\n", 10_000)},
	} {
		for _, lines := range []int{64, math.MaxInt} {
			b.Run(c.name+map[int]string{math.MaxInt: ", all"}[lines], func(b *testing.B) {
				t := New(Options{})
				_, _ = t.Write([]byte(c.data))
				var f Frame
				for cols := 81; b.Loop(); cols = 81 + (cols-80)%40 {
					t.Resize(cols, 24)
					t.Recent(lines)
					t.Frame(&f, Query{})
				}
			})
		}
	}
}

func BenchmarkSnapshot(b *testing.B) {
	t := New(Options{})
	_, _ = t.Write(generated(b, "build_log_coloured"))
	var snap []byte
	for b.Loop() {
		snap = t.AppendSnapshot(snap[:0])
	}
	b.SetBytes(int64(len(snap)))
}
