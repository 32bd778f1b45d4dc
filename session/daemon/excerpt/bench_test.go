//go:build unix

package excerpt

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/redact"
)

// much is output of ten megabytes of several kinds.
func much() map[string]string {
	var log strings.Builder
	for i := 0; log.Len() < 10<<20; i++ {
		fmt.Fprintf(&log, "2026-01-01T00:00:00Z info [worker-%03d] request %07d served from the cache in %d ms\r\n", i%512, i, i%97)
	}
	random := make([]byte, 57)
	source := rand.NewChaCha8([32]byte{})
	var encoded strings.Builder
	for encoded.Len() < 10<<20 {
		_, _ = source.Read(random) // never fails
		encoded.WriteString(base64.StdEncoding.EncodeToString(random) + "\r\n")
	}
	return map[string]string{"log": log.String(), "short lines": strings.Repeat("y\r\n", 10<<20/3), "base64": encoded.String()}
}

// BenchmarkDigestOfMuch measures a digest of 10 MB of a session's output that is read from its journal, as for an
// agent.
//
// FEATURES: R105
func BenchmarkDigestOfMuch(b *testing.B) {
	each(b, func(b *testing.B, s *session.Session, size int) {
		if _, err := Plain(b.Context(), s, 0, uint64(size), Limits{Bytes: 8000, Digest: true, Fold: true, Hide: true}); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkDigestUnfolded measures the same without folding, and as for a user.
func BenchmarkDigestUnfolded(b *testing.B) {
	each(b, func(b *testing.B, s *session.Session, size int) {
		if _, err := Plain(b.Context(), s, 0, uint64(size), Limits{Bytes: 8000, Digest: true}); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkHeadAndTail measures the head and tail of 10 MB of output.
func BenchmarkHeadAndTail(b *testing.B) {
	each(b, func(b *testing.B, s *session.Session, size int) {
		if _, err := Plain(b.Context(), s, 0, uint64(size), Limits{Bytes: 8000}); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkLineOffset measures the search for a line near the end of 10 MB of output.
func BenchmarkLineOffset(b *testing.B) {
	each(b, func(b *testing.B, s *session.Session, _ int) {
		if _, err := LineOffset(b.Context(), s, 1<<40); err != nil {
			b.Fatal(err)
		}
	})
}

func each(b *testing.B, f func(b *testing.B, s *session.Session, size int)) {
	vault, err := redact.NewVault(redact.NewKey(), nil, redact.Options{Formats: func() bool { return true }})
	if err != nil {
		b.Fatal(err)
	}
	vault.Learn("correct-horse-battery")
	for name, output := range much() {
		b.Run(name, func(b *testing.B) {
			s := printed(b, text(output), func(c *session.Config) { c.Vault = vault })
			b.SetBytes(int64(len(output)))
			for b.Loop() {
				f(b, s, len(output))
			}
		})
	}
}
