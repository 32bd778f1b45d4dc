//go:build unix

package excerpt

import (
	"bytes"
	"testing"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
)

// TestBinaryIsCountedOnce checks that a result that is requested during the response is filled more than once, and its
// binary data is counted once.
//
// FEATURES: R22
func TestBinaryIsCountedOnce(t *testing.T) {
	r := api.Result{}
	for range 2 {
		p := NewPiped(Limits{Bytes: 1 << 10})
		p.addChunk(session.Chunk{Data: bytes.Repeat([]byte{0, 0xff, 1}, 2000)}, nil)
		if p.Into(&r); !r.Binary || r.BinaryBytes != 6000 {
			t.Errorf("%d of 6000 bytes are binary: %v", r.BinaryBytes, r.Binary)
		}
	}
}
