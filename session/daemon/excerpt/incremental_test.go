//go:build unix

package excerpt

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/redact"
	"github.com/longterm-dev/longterm/store/journal"
)

// TestIncrementalDigest checks that a digest made while output arrives equals the digest of the whole output: for any
// content, any boundaries of the reads, and a secret of the earlier output that becomes known in between.
//
// FEATURES: R21 R66 R105
func TestIncrementalDigest(t *testing.T) {
	vault, err := redact.NewVault(redact.NewKey(), nil, redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var j *journal.Journal
	s := printed(t, func(of *journal.Journal) { j = of }, func(c *session.Config) { c.Vault = vault })
	rnd := rand.New(rand.NewPCG(1, 2))
	all := []Limits{
		{Bytes: 4000, Digest: true, Fold: true, Session: "0123456789abcdef"},
		{Bytes: 4 << 20, Hide: true},
		{Bytes: 2000, Line: 100},
	}
	along := make([]*Incremental, len(all))
	for i, l := range all {
		along[i] = NewIncremental(s, 100, l)
	}
	for n := range 8 {
		text(someOutput(rnd, rnd.IntN(300<<10)))(j)
		if n == 3 {
			if err := j.AppendGap(70_000); err != nil {
				t.Fatal(err)
			}
		}
		if n == 5 {
			vault.Learn("correct-horse-7")
		}
		for i := range along {
			if rnd.IntN(3) > 0 {
				if err := along[i].Read(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	vault.Learn("hunter-2-again") // after the last reading
	_, end := s.OutputRange()
	for i, l := range all {
		read := along[i].r != nil && along[i].r.at > end/2
		got, err := along[i].Text(t.Context(), end)
		if err != nil || !read {
			t.Fatalf("%d: read before: %v; %v", i, read, err)
		}
		want, err := Plain(t.Context(), s, 100, end, l)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: %d bytes, %+v; at once %d bytes, %+v; %v", l, len(got.Text), got.Omitted, len(want.Text), want.Omitted, err)
		}
		if l.Hide && (strings.Contains(got.Text, "correct-horse-7") || strings.Contains(got.Text, "hunter-2-again")) {
			t.Errorf("%+v: a secret is shown", l)
		}
	}
}

// someOutput returns about n bytes of lines, of binary data, and of sequences that change a screen.
func someOutput(rnd *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		switch k := rnd.IntN(400); k {
		case 0:
			fmt.Fprintf(&b, "main.c:%d:3: error: 'x' undeclared\r\n", rnd.IntN(999))
		case 1:
			b.WriteString(strings.Repeat("a long line ", rnd.IntN(2000)))
		case 2:
			fmt.Fprintf(&b, "\x1b[?1049h\x1b[2Ja picture %d\x1b[?1049l\r\n", k)
		case 3:
			for range rnd.IntN(200) {
				b.WriteByte(byte(rnd.IntN(256)))
			}
		case 4:
			b.WriteString("the passwords are correct-horse-7 and hunter-2-again\r\n")
		case 5:
			b.WriteString("10%\r20%\r")
		default:
			fmt.Fprintf(&b, "\x1b[3%dmline\x1b[m %d of a log\r\n", k%8, rnd.IntN(1e6))
		}
	}
	return b.String()
}

// TestIncrementalDigest_SmallOutput checks that an incomplete piece is left for later, and that without an earlier
// read, or after too much output, all is read at once.
//
// FEATURES: R21
func TestIncrementalDigest_SmallOutput(t *testing.T) {
	long := strings.Repeat("a line of output\r\n", 20_000)
	s := printed(t, text(long))
	for _, c := range []struct {
		from, to uint64
		read     bool
	}{
		{uint64(len(long)) - 1000, uint64(len(long)), false},
		{0, 1000, true},
		{0, uint64(len(long)), true},
	} {
		a, l := NewIncremental(s, c.from, Limits{Bytes: 500}), Limits{Bytes: 500}
		if err := a.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
		if read := a.r != nil; read != c.read {
			t.Errorf("%+v: read %v", c, read)
		}
		got, err := a.Text(t.Context(), c.to)
		if want, _ := Plain(t.Context(), s, c.from, c.to, l); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: %q, want %q; %v", c, got.Text, want.Text, err)
		}
	}
}
