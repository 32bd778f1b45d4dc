package respond

import (
	"bytes"
	"fmt"
	"testing"
	"time"
)

// benchRules are ten typical rules.
var benchRules = Set{Rules: []Rule{
	{Text: "Continue? [y/N] ", Reply: textReply("y\r")},
	{Text: "Are you sure you want to continue connecting", Reply: textReply("yes\r")},
	{Regexp: `(?i)password( for \w+)?: ?$`, Reply: textReply("x")},
	{Regexp: `(?i)passphrase for .*: ?$`, Reply: textReply("x")},
	{Regexp: `\[(Y|y)/(N|n)\] ?$`, Reply: textReply("y\r")},
	{Regexp: `^-- ?More ?--`, Reply: textReply(" ")},
	{Regexp: `[$#>] $`, On: OnPrompt, Reply: textReply("ls\r")},
	{Regexp: `fatal: (.*)`, Reply: textReply("x"), Max: 1},
	{Regexp: `(\d+) packages can be upgraded`, Reply: textReply("x")},
	{Regexp: `^Enter (name|value|number):`, Reply: textReply("x")},
}}

func BenchmarkOutput(b *testing.B) {
	const total = 100 << 20
	for _, bb := range []struct{ name, line string }{
		{"log", "2026-01-02T03:04:05.678Z INFO  worker[%d]: processed batch of records without any trouble\r\n"},
		{"coloured", "\x1b[32mok\x1b[0m   \x1b[1;34mpkg/name/%d\x1b[0m \x1b[38;5;244m0.123s\x1b[0m\r\n"},
		{"near", "Continue? [y/n] password phrase: %d > $ more fata: packages\r\n"},
		{"short", "%d\r\n"},
		{"one line", "%d,"},
	} {
		var in bytes.Buffer
		for i := 0; in.Len() < 64<<10; i++ {
			fmt.Fprintf(&in, bb.line, i)
		}
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(total)
			for b.Loop() {
				e, err := New(benchRules)
				if err != nil {
					b.Fatal(err)
				}
				now := epoch
				for off := uint64(0); off < total; off += uint64(in.Len()) {
					now = now.Add(time.Millisecond)
					e.Output(now, off, in.Bytes())
				}
			}
		})
	}
}

// BenchmarkLongLine processes a line of 1 MiB byte by byte.
func BenchmarkLongLine(b *testing.B) {
	const total = 1 << 20
	b.SetBytes(total)
	for b.Loop() {
		e, err := New(benchRules)
		if err != nil {
			b.Fatal(err)
		}
		now := epoch
		for off := range uint64(total) {
			now = now.Add(time.Microsecond)
			e.Output(now, off, []byte("x"))
		}
	}
}

// TestEngine_Output_DoesNotAllocate checks that lines that no rule can match allocate nothing.
func TestEngine_Output_DoesNotAllocate(t *testing.T) {
	e, err := New(benchRules)
	if err != nil {
		t.Fatal(err)
	}
	line, off := []byte("2026-01-02 worker 7: done\r\n"), uint64(0)
	n := testing.AllocsPerRun(1000, func() {
		e.Output(epoch, off, line)
		off += uint64(len(line))
	})
	if n > 0 {
		t.Errorf("got %v allocations per line, want 0", n)
	}
}
