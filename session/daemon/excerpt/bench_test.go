//go:build unix

package excerpt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/secrets"
)

// What a digest of 10 MB of a session's output costs, read from its journal, as an agent asks for it.
//
// FEATURES: R105
func BenchmarkDigestOfMuch(b *testing.B) {
	var log strings.Builder
	for i := 0; log.Len() < 10<<20; i++ {
		fmt.Fprintf(&log, "2026-01-01T00:00:00Z info [worker-%03d] request %07d served from the cache in %d ms\r\n", i%512, i, i%97)
	}
	vault, err := secrets.NewVault(secrets.NewKey(), nil, secrets.Options{Formats: func() bool { return true }})
	if err != nil {
		b.Fatal(err)
	}
	vault.Learn("correct-horse-battery")
	s := printed(b, text(log.String()), func(c *session.Config) { c.Known = vault })
	b.SetBytes(int64(log.Len()))
	for b.Loop() {
		if _, err := Plain(b.Context(), s, 0, uint64(log.Len()), Limits{Bytes: 8000, Digest: true, Fold: true, Hide: true}); err != nil {
			b.Fatal(err)
		}
	}
}
