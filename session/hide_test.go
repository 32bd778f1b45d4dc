package session

import (
	"bytes"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/session/secrets"
	"github.com/longterm-dev/longterm/store/journal"
)

// knowing has a session know a secret.
func knowing(t *testing.T, value string) func(*Config) {
	t.Helper()
	known, err := secrets.NewVault(secrets.NewKey(), nil, secrets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	known.Learn(value)
	return func(c *Config) { c.Known = known }
}

// hidden reads output as who is shown no secrets does.
func (f *fixture) hidden(t *testing.T, from uint64, n int) Chunk {
	t.Helper()
	c, err := f.Output(from, make([]byte, n))
	if err != nil {
		t.Fatal(err)
	}
	return f.Hidden(c)
}

// Where the oldest output is gone, what is left is masked the same wherever a reading begins.
//
// FEATURES: R110
func TestHiddenBehindWhatIsGone(t *testing.T) {
	f := reopen(t, t.TempDir(), ring.Local(ring.MinSize), journal.Options{SegmentBytes: 4 << 10}, knowing(t, "hunter22"))
	for range 200 {
		f.print(f.Session, strings.Repeat("key hunter22 ", 40)+"\r\n")
		f.print(f.Session, "mark\r\n")
		waitText(t, f.Session, "mark")
	}
	if err := f.journal.DropBefore(50_000); err != nil {
		t.Fatal(err)
	}
	start, _ := f.OutputRange()
	if start == 0 || start > 60_000 {
		t.Fatalf("output begins at %d", start)
	}
	whole := f.hidden(t, start, 3000)
	if !bytes.Contains(whole.Data, []byte("key ********")) {
		t.Fatalf("%q", whole.Data)
	}
	for from := start + 20; from < start+60; from++ {
		if got, want := f.hidden(t, from, 100).Data, whole.Data[from-start:][:100]; !bytes.Equal(got, want) {
			t.Errorf("from %d on: %q, want %q", from-start, got, want)
		}
	}
}

// What may become a secret is not waited for where what comes next was lost.
//
// FEATURES: R110
func TestHiddenBeforeAGap(t *testing.T) {
	var full atomic.Bool
	f := reopen(t, t.TempDir(), ring.Local(ring.MinSize), journal.Options{FS: fullDisk{&full}}, knowing(t, "hunter22"))
	f.print(f.Session, "x hunte")
	waitText(t, f.Session, "hunte")
	if c := f.hidden(t, 0, 100); string(c.Data) != "x " || c.Next != 2 {
		t.Fatalf("%q, next %d: what may become a secret is told", c.Data, c.Next)
	}
	full.Store(true)
	line := strings.Repeat("y", 78) + "\r\n"
	for range 2000 {
		f.print(f.Session, line)
		if f.Status().Offset%1000 < 80 {
			f.print(f.Session, "mark\r\n")
			waitText(t, f.Session, "mark")
		}
	}
	full.Store(false)
	f.print(f.Session, "hunter22 after\r\n")
	waitText(t, f.Session, "after")
	f.written(t)
	var got []byte
	gap := uint64(0)
	for at := uint64(0); ; {
		c := f.hidden(t, at, 4096)
		if c.Next == at {
			break
		}
		got, gap, at = append(got, c.Data...), gap+c.Gap, c.Next
	}
	if gap == 0 || !bytes.HasPrefix(got, []byte("x hunte")) || !bytes.HasSuffix(got, []byte("******** after\r\n")) {
		t.Errorf("gap %d: %q … %q", gap, got[:min(len(got), 40)], got[max(0, len(got)-40):])
	}
}

// Output that ends in what may become a longer secret ends before that for who is shown none, and says how much is held back;
// what goes on otherwise than the secret does not wait for as many bytes as the secret has.
//
// FEATURES: R110
func TestWhatIsHeldBackIsSaid(t *testing.T) {
	known, err := secrets.NewVault(secrets.NewKey(), nil, secrets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"hunter22", "hunter22secret", "settings of v1: " + strings.Repeat("4f9a0c", 500)} {
		known.Learn(value)
	}
	f := reopen(t, t.TempDir(), ring.Local(ring.MinSize), journal.Options{}, func(c *Config) { c.Known = known })
	from := uint64(0)
	for _, c := range []struct {
		print, want string
		held        int
	}{
		{"key hunter22 x", "key ********", 2},
		{"yz, and so on\r\n", " xyz, and so on\r\n", 0},
		{"settings of", "", 11},
		{" v", "", 13},
		{"2: dark\r\n", "settings of v2: dark\r\n", 0},
		{"settings of v1: 4f9a0c", "", 22},
	} {
		f.print(f.Session, c.print)
		waitText(t, f.Session, strings.TrimSpace(c.print))
		got := f.hidden(t, from, 1000)
		if from = got.Next; string(got.Data) != c.want || got.Held != c.held {
			t.Errorf("%q: %q and %d bytes held back, want %q and %d", c.print, got.Data, got.Held, c.want, c.held)
		}
	}
}
