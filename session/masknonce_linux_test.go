package session

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/session/shell"
)

// maskedNonce is the nonce of the tests' shell.
const maskedNonce = "00112233445566778899aabbccddeeff"

// TestOutput_HidesNonce checks that output shows no nonce, however it is split into reads, and is otherwise unchanged.
//
// FAULT: A25
func TestOutput_HidesNonce(t *testing.T) { synctest.Test(t, testOutputHidesNonce) }

func testOutputHidesNonce(t *testing.T) {
	t.Helper()
	mark := "\x1b]133;D;0;lt=" + maskedNonce + ";m=7\a"
	out := "$ " + mark + "lt=0 lt=" + maskedNonce[:9] + "x lt" + mark + mark + "end lt=" + maskedNonce + "$"
	want := strings.ReplaceAll(out, "lt="+maskedNonce, "lt="+strings.Repeat("0", len(maskedNonce)))
	r := ring.Local(ring.DefaultSize)
	dir := t.TempDir()
	d := newTTYDevice(t, dir, r, nil, func(c *Config) {
		c.Shell = &shell.Launch{Kind: shell.Bash, Quality: shell.Full, Nonce: maskedNonce, StateDir: dir, Cwd: "/"}
	})
	d.print(out)
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

// TestPartialNonce checks that a nonce in a mark is masked at any length, and so are other digits there: a reader cannot
// guess it. Elsewhere output that ends like the start of a nonce is unchanged.
//
// FAULT: G2
func TestPartialNonce(t *testing.T) { synctest.Test(t, testPartialNonce) }

func testPartialNonce(t *testing.T) {
	t.Helper()
	const other = "00112233445566778899aabbccddeef0"
	step := 4 // between the places where the output is divided
	if tier.IsFull() {
		step = 1
	}
	for _, digits := range []string{maskedNonce, other} {
		for _, mark := range []string{"\x1b]133;D;0;lt=", "\x1b]133;A;k=s;lt=", "lt=", "\x1b]133;D\alt="} {
			out := "x " + mark + digits
			for n := 0; n < len(out); n += step {
				checkPartialNonce(t, out, n, strings.HasPrefix(mark, "\x1b") && !strings.Contains(mark, "\a"), digits == maskedNonce)
			}
		}
	}
}

// checkPartialNonce prints the first n bytes, reads them, and then prints the others.
func checkPartialNonce(t *testing.T, out string, n int, inMark, right bool) {
	t.Helper()
	begin := strings.Index(out, "lt=") + len("lt=")
	dir := t.TempDir()
	d := newTTYDevice(t, dir, ring.Local(ring.DefaultSize), nil, func(c *Config) {
		c.Shell = &shell.Launch{Kind: shell.Bash, Quality: shell.Full, Nonce: maskedNonce, StateDir: dir, Cwd: "/"}
	})
	hidden := func(text string) string {
		return text[:min(len(text), begin)] + strings.Repeat("0", max(0, len(text)-begin))
	}
	want := func(text string, whole bool) string {
		if inMark || right && whole {
			return hidden(text)
		}
		return text
	}
	d.print(out[:n])
	for _, text := range []string{out[:n], out} {
		if text == out {
			d.print(out[n:])
		}
		for from := range len(text) {
			c, err := d.s.Output(uint64(from), make([]byte, 100))
			if err != nil {
				t.Fatal(err)
			}
			if want := want(text, text == out)[from:]; string(c.Data) != want {
				t.Fatalf("%q from %d: %q, want %q", text, from, c.Data, want)
			}
		}
	}
}
