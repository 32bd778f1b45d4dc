//go:build unix

package program

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkExpect_Flood reads 100 MB of a log up to a text at their end.
func BenchmarkExpect_Flood(b *testing.B) {
	var log strings.Builder
	for i := 0; log.Len() < 1_000_000; i++ {
		fmt.Fprintf(&log, "2026-01-02T03:04:05.678Z INFO  worker[%d]: processed batch of records without any trouble\n", i)
	}
	path := filepath.Join(b.TempDir(), "log")
	if err := os.WriteFile(path, []byte(log.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	end := filepath.Join(b.TempDir(), "end")
	if err := os.WriteFile(end, []byte("the end\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(100 * int64(log.Len()))
	for b.Loop() {
		p, err := Start(b.Context(), Cmd{Line: "exec cat " + strings.Repeat(path+" ", 100) + end})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.Expect(b.Context(), Text("the end")); err != nil {
			b.Fatal(err)
		}
		if err := p.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkExpect_Prompt waits for a prompt and answers it.
func BenchmarkExpect_Prompt(b *testing.B) {
	p, err := Start(b.Context(), Cmd{Line: "while :; do printf 'next: '; read -r a; done"})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := p.Expect(b.Context(), Text("next: ")); err != nil {
			b.Fatal(err)
		}
		if err := p.Send("x\r"); err != nil {
			b.Fatal(err)
		}
	}
	if err := p.Close(); err != nil {
		b.Fatal(err)
	}
}
