package session

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/session/redact"
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/store/journal"
)

// withSecret makes a session know a secret.
func withSecret(t *testing.T, value string) func(*Config) {
	t.Helper()
	known, err := redact.NewVault(redact.NewKey(), nil, redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	known.Learn(value)
	return func(c *Config) { c.Vault = known }
}

// readRedacted reads output like a caller that sees no secrets.
func (f *fixture) readRedacted(t *testing.T, from uint64, n int) Chunk {
	t.Helper()
	c, err := f.Output(from, make([]byte, n))
	if err != nil {
		t.Fatal(err)
	}
	f.Redact(c.From, c.Data)
	return c
}

// TestRedaction_SameAfterTrimming checks that after the oldest output was dropped, the rest is masked the same wherever
// a read starts.
//
// FEATURES: R110
func TestRedaction_SameAfterTrimming(t *testing.T) {
	f := reopenSession(t, t.TempDir(), ring.Local(ring.MinSize), journal.Options{SegmentBytes: 4 << 10}, withSecret(t, "hunter22"))
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
		t.Fatalf("output starts at %d", start)
	}
	whole := f.readRedacted(t, start, 3000)
	if !bytes.Contains(whole.Data, []byte("key ********")) {
		t.Fatalf("%q", whole.Data)
	}
	for from := start + 20; from < start+60; from++ {
		if got, want := f.readRedacted(t, from, 100).Data, whole.Data[from-start:][:100]; !bytes.Equal(got, want) {
			t.Errorf("from %d on: %q, want %q", from-start, got, want)
		}
	}
}

// TestWaitSettled checks that a secret which is printed in two pieces is whole when the first has settled. That takes a
// fixed time, and none for old output or once the program has ended.
//
// FAULT: G2
func TestWaitSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := reopenSession(t, t.TempDir(), ring.Local(ring.MinSize), journal.Options{}, withSecret(t, "hunter22"))
		ctx := t.Context()
		settle := func(off uint64) time.Duration {
			t.Helper()
			begin := time.Now()
			if err := f.WaitSettled(ctx, off); err != nil {
				t.Fatal(err)
			}
			return time.Since(begin)
		}
		for _, text := range []string{"x hunt", "x lamp"} {
			f.print(f.Session, text)
			synctest.Wait()
			from := f.Status().Offset - uint64(len(text))
			if took := settle(from); took != 0 {
				t.Errorf("%s: older output took %v", text, took)
			}
			if got := f.SettledOffset(); got != from {
				t.Errorf("%s: settled up to %d, want %d", text, got, from)
			}
			time.AfterFunc(redact.SettleTime/2, func() { f.print(f.Session, "er22 ") })
			if took := settle(from + uint64(len(text))); took != redact.SettleTime {
				t.Errorf("%s: took %v", text, took)
			}
			if text == "x hunt" {
				if got := f.readRedacted(t, from, len(text)); string(got.Data) != "x ****" {
					t.Errorf("%q", got.Data)
				}
			}
			if took := settle(f.Status().Offset); took != redact.SettleTime/2 {
				t.Errorf("%s: the second piece took %v", text, took)
			}
			time.Sleep(redact.SettleTime) // of the bubble's time
			if took := settle(f.Status().Offset); took != 0 || f.SettledOffset() != f.Status().Offset {
				t.Errorf("%s: old output took %v", text, took)
			}
		}
		f.Stop()
		synctest.Wait()
	})
}

// TestArrivals checks that continuous output settles too, a fixed time after its arrival.
//
// FAULT: G2
func TestArrivals(t *testing.T) {
	var a outputTimes
	now := time.Unix(100, 0)
	for i := range uint64(200) {
		a.add(i*10, i*10+10, now)
		now = now.Add(7 * time.Millisecond)
		settled := a.settledOffset(i*10+10, now)
		if least := i*10 + 10 - min(i*10+10, 10*(uint64(redact.SettleTime/(7*time.Millisecond))+5)); settled < least || i > 40 && settled > i*10-100 {
			t.Errorf("after %d: settled up to %d, at least %d", i*10+10, settled, least)
		}
		for off := range i*10 + 10 {
			due := a.untilSettled(off, i*10+10, now)
			if (due <= 0) != (off <= settled) || due > redact.SettleTime {
				t.Fatalf("after %d: %d is due in %v, settled up to %d", i*10+10, off, due, settled)
			}
		}
		if len(a.unsettled) > 6 {
			t.Fatalf("%d intervals kept", len(a.unsettled))
		}
	}
	if due := a.untilSettled(5000, 2000, now); due != redact.SettleTime {
		t.Errorf("unknown output settles in %v", due)
	}
}

// TestSecretPrefix_NotRedacted checks that output which ends like the start of a secret is returned whole, and that a
// whole secret is masked.
//
// FAULT: G2
func TestSecretPrefix_NotRedacted(t *testing.T) {
	known, err := redact.NewVault(redact.NewKey(), nil, redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	value := "settings of v1: " + strings.Repeat("4f9a0c", 30)
	known.Learn(value)
	known.Learn("zq&hunter 22")
	for _, text := range []string{
		"one", "Type: z", "zq&hunter 2", "zq%26h", "zq\\&hunt", "z\bzq", "\x1b[1mzq&", value[:17], value[:len(value)-1], "ghp_16C7e4", "https://me:sec", "\\u007", "a blank ",
	} {
		f := reopenSession(t, t.TempDir(), ring.Local(ring.MinSize), journal.Options{}, func(c *Config) { c.Vault = known })
		f.print(f.Session, text)
		awaitOffset(t, f.Session, len(text))
		if got := f.readRedacted(t, 0, 1000); string(got.Data) != text || got.Next != uint64(len(text)) {
			t.Errorf("%q: %q, next %d", text, got.Data, got.Next)
		}
	}
}

// TestTranscript_HidesSplitSecrets checks a secret during which the program switched screens.
//
// FAULT: G17
func TestTranscript_HidesSplitSecrets(t *testing.T) {
	f := reopenSession(t, t.TempDir(), ring.Local(ring.MinSize), journal.Options{}, withSecret(t, "hunter22"))
	f.print(f.Session, "key hunt\x1b[?47her22\x1b[?47l ok\r\n")
	waitText(t, f.Session, "ok")
	_, end := f.OutputRange()
	for hide, want := range map[bool]string{true: "****", false: "hunt"} {
		var lines []string
		if _, err := f.Transcript(t.Context(), 0, end, hide, func(line string) { lines = append(lines, line) }); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(lines, "\n")
		if !strings.Contains(text, "key "+want) || hide && strings.Contains(text, "er22") {
			t.Errorf("hide %v: %q", hide, text)
		}
	}
}
