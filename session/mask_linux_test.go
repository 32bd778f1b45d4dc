package session

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/session/shell"
)

const maskedNonce = "00112233445566778899aabbccddeeff"

// Whatever pieces output is read in, it shows no nonce, and all else is as it came.
//
// FAULT: A25
func TestOutputShowsNoNonce(t *testing.T) { synctest.Test(t, testOutputShowsNoNonce) }

func testOutputShowsNoNonce(t *testing.T) {
	t.Helper()
	mark := "\x1b]133;D;0;lt=" + maskedNonce + ";m=7\a"
	out := "$ " + mark + "lt=0 lt=" + maskedNonce[:9] + "x lt" + mark + mark + "end lt=" + maskedNonce + "$"
	want := strings.ReplaceAll(out, "lt="+maskedNonce, "lt="+strings.Repeat("0", len(maskedNonce)))
	r := ring.Local(ring.DefaultSize)
	dir := t.TempDir()
	d := newAsking(t, dir, r, nil, func(c *Config) {
		c.Shell = &shell.Launch{Kind: shell.Bash, Quality: shell.Full, Nonce: maskedNonce, StateDir: dir, Cwd: "/"}
	})
	d.says(out)
	for size := 1; size < len(out)+1; size++ {
		var got []byte
		for at := uint64(0); at < uint64(len(out)); {
			c, err := d.s.Output(at, make([]byte, size))
			if err != nil {
				t.Fatal(err)
			}
			if len(c.Data) == 0 || c.Next != at+uint64(len(c.Data)) {
				t.Fatalf("by %d: %q at %d, next %d", size, c.Data, at, c.Next)
			}
			got, at = append(got, c.Data...), c.Next
		}
		if string(got) != want {
			t.Fatalf("by %d:\n%q, want\n%q", size, got, want)
		}
	}
}

// A nonce that is only half there is told when the rest is.
func TestHalfANonce(t *testing.T) { synctest.Test(t, testHalfANonce) }

func testHalfANonce(t *testing.T) {
	t.Helper()
	out := "x lt=" + maskedNonce
	for n := range len(out) {
		r := ring.Local(ring.DefaultSize)
		dir := t.TempDir()
		d := newAsking(t, dir, r, nil, func(c *Config) {
			c.Shell = &shell.Launch{Kind: shell.Bash, Quality: shell.Full, Nonce: maskedNonce, StateDir: dir, Cwd: "/"}
		})
		d.says(out[:n])
		first, err := d.s.Output(0, make([]byte, 100))
		if err != nil {
			t.Fatal(err)
		}
		d.says(out[n:])
		second, err := d.s.Output(first.Next, make([]byte, 100))
		if err != nil {
			t.Fatal(err)
		}
		got := append(bytes.Clone(first.Data), second.Data...)
		if want := "x lt=" + strings.Repeat("0", len(maskedNonce)); string(got) != want {
			t.Errorf("%d bytes, then the rest: %q and %q", n, first.Data, second.Data)
		}
	}
}
