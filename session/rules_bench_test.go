package session

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// BenchmarkFlood measures a flood of output with rules that do not match.
func BenchmarkFlood(b *testing.B) {
	var chunk bytes.Buffer
	for i := 0; chunk.Len() < 64<<10; i++ {
		fmt.Fprintf(&chunk, "\x1b[32mok\x1b[0m   pkg/name/%d 0.123s processed batch of records\r\n", i)
	}
	rules := []respond.Rule{
		{Text: "Continue? [y/N] ", Reply: enterLine("y")}, {Regexp: `(?i)password( for \w+)?: ?$`, Reply: enterLine("x")},
		{Regexp: `[$#>] $`, On: respond.OnPrompt, Reply: enterLine("ls")}, {Regexp: `\[(Y|y)/(N|n)\] ?$`, Reply: enterLine("y")},
		{Regexp: `^Enter (name|value|number):`, Reply: enterLine("x")}, {Text: "Are you sure", Reply: enterLine("x")},
		{Regexp: `^-- ?More ?--`, Reply: enterLine("x")}, {Regexp: `fatal: (.*)`, Reply: enterLine("x")},
		{Regexp: `(\d+) packages can`, Reply: enterLine("x")}, {Regexp: `passphrase for .*:`, Reply: enterLine("x")},
	}
	for _, n := range []int{0, 1, 10} {
		b.Run(fmt.Sprintf("%d rules", n), func(b *testing.B) {
			dir, r := b.TempDir(), ring.Local(ring.DefaultSize)
			j, _, err := journal.Open(filepath.Join(dir, "journal"), journal.Options{})
			if err != nil {
				b.Fatal(err)
			}
			s, err := New(Config{
				ID: "bench", Dir: dir, Device: &fakeDevice{ring: r, accept: -1}, Ring: r, Journal: j,
				Options: vterm.Options{Cols: 80, Rows: 24}, Status: Status{State: Running, Cols: 80, Rows: 24},
				Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
			})
			if err != nil {
				b.Fatal(err)
			}
			defer j.Close()
			s.startAtEnd() // the benchmark is the owner
			if n > 0 {
				if _, err := s.addRules(rules[:n], nil); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(chunk.Len()))
			for b.Loop() {
				for p := chunk.Bytes(); len(p) > 0; {
					k := copy(r.Room(), p)
					r.Publish(k)
					s.drain()
					p = p[k:]
				}
			}
		})
	}
}

// enterLine returns a reply that types a text and Enter.
func enterLine(text string) []respond.Reply {
	return []respond.Reply{{Kind: respond.ReplyText, Value: text}, {Kind: respond.ReplyKeys, Value: "<Enter>"}}
}
