package redact

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// escapes are parts of output that consists of escapes only.
var escapes = []string{`\`, `\\`, `\u0068`, `\u`, `\ud83d\u`, `\\u0068`, `x\`, `h\u00e9`, `"\n`, `:\/\/a:b`, strings.Repeat(`\`, 63) + "n"}

// BenchmarkEscapes masks output that consists of escapes only: the throughput does not fall with the size.
func BenchmarkEscapes(b *testing.B) {
	s := newTestVault(b, "hunter22", "a\\b\\c\\d", "h\u00e9llo").Set()
	for _, part := range escapes {
		for _, size := range []int{16 << 10, 256 << 10} {
			b.Run(fmt.Sprintf("%.12s/%d", part, size), func(b *testing.B) {
				out := []byte(strings.Repeat(part, size/len(part)))
				b.SetBytes(int64(len(out)))
				for b.Loop() {
					s.Redact(bytes.Clone(out), 0, 0, len(out))
				}
			})
		}
	}
}
