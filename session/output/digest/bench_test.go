package digest

import (
	"bytes"
	"fmt"
	"testing"
)

// BenchmarkDigest digests a log of 10 MB.
//
// FEATURES: R105
func BenchmarkDigest(b *testing.B) {
	var log bytes.Buffer
	for i := 0; log.Len() < 10<<20; i++ {
		fmt.Fprintf(&log, "2024-05-01T12:%02d:%02d.123Z INFO  server/handler.go:%d request %d done in %d ms\n", i/60%60, i%60, i%900, i, i%77)
	}
	b.SetBytes(int64(log.Len()))
	for b.Loop() {
		d := Digest{Max: 8000}
		at := uint64(0)
		for line := range bytes.Lines(log.Bytes()) {
			d.Add(bytes.TrimSuffix(line, []byte("\n")), at, at+uint64(len(line)), false)
			at += uint64(len(line))
		}
		d.Finish()
	}
}
