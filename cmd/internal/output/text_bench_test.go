//go:build unix

package output

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// inputs are kinds of output that programs print in large amounts.
func inputs() map[string]string {
	var log, unicode strings.Builder
	for i := 0; log.Len() < 8<<20; i++ {
		fmt.Fprintf(&log, "2026-01-01T00:00:00Z info [worker-%03d] request %07d served from the cache in %d ms\r\n", i%512, i, i%97)
	}
	for i := 0; unicode.Len() < 8<<20; i++ {
		fmt.Fprintf(&unicode, "\x1b[32m✓\x1b[0m Prüfung %d bestanden, 第 %d 項\r\n", i, i%97)
	}
	return map[string]string{
		"short": strings.Repeat("y\r\n", 8<<20/3), "log": log.String(), "coloured": unicode.String(),
		"base64": strings.Repeat(strings.Repeat("QUJD", 19)+"\r\n", 8<<20/78),
		"bar":    strings.Repeat("\r\x1b[K[=====>     ] 42%", 8<<20/21),
	}
}

// BenchmarkText converts output to text as it arrives from a daemon.
func BenchmarkText(b *testing.B) {
	for name, in := range inputs() {
		for _, mode := range []string{"all", "budget"} {
			b.Run(name+"/"+mode, func(b *testing.B) {
				b.SetBytes(int64(len(in)))
				b.ReportAllocs()
				for b.Loop() {
					var w Writer = NewTextWriter(io.Discard)
					if mode == "budget" {
						w = BudgetFlags{Bytes: 2000}.Writer(io.Discard, false, "0123456789", "")
					}
					const piece = 64 << 10
					for at := 0; at < len(in); at += piece {
						data := []byte(in[at:min(len(in), at+piece)])
						if err := w.Put(api.Output{Data: data, From: uint64(at), Next: uint64(at + len(data))}); err != nil {
							b.Fatal(err)
						}
					}
					if err := w.Flush(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
