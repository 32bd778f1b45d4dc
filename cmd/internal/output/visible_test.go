//go:build unix

package output

import (
	"bytes"
	"testing"

	"github.com/longterm-dev/longterm/session/identity"
)

// TestStreamForAnAgent checks that an agent sees every character of a stream, in any chunks. A user's stream is
// unchanged.
func TestStreamForAnAgent(t *testing.T) {
	const text = "a\u202eb😀\xff\xe2\x80"
	for who, want := range map[string]string{"": text, "bot": "a<U+202E>b😀\xff\xe2\x80"} {
		t.Setenv(identity.Env, who)
		for size := 1; size <= len(text); size++ {
			var b bytes.Buffer
			w := forAgent(&b)
			for at := 0; at < len(text); at += size {
				if n, err := w.Write([]byte(text[at:min(at+size, len(text))])); err != nil || n != min(size, len(text)-at) {
					t.Fatal(n, err)
				}
			}
			if err := w.Flush(); err != nil || b.String() != want {
				t.Errorf("%q by %d: %q, %v", who, size, b.String(), err)
			}
		}
	}
}
