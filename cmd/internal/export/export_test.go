//go:build unix

package export

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

const recorded = `{"version": 2, "width": 20, "height": 4, "timestamp": 1700000000}
[0.5, "o", "one\r\n"]
[1.5, "o", "\u001b[31mtwo\u001b[m\r\n"]
[2.5, "o", "three\r\n"]
`

// exportFile exports a recording to a file by the given flags.
func exportFile(t *testing.T, args ...string) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.cast")
	if err := os.WriteFile(path, []byte(recorded), 0o600); err != nil {
		t.Fatal(err)
	}
	var o Flags
	f := pflag.NewFlagSet("export", pflag.ContinueOnError)
	o.Add(f)
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	err := o.Run(t.Context(), &output.Printer{Stdout: &b, Stderr: &b}, func(string) (*client.Session, error) {
		return nil, errors.New("no daemon is needed for a file")
	}, path)
	return b.String(), err
}

// FAULT: H25
func TestFormats(t *testing.T) {
	for _, f := range formats {
		if !strings.Contains(Help(), f.text) {
			t.Errorf("%s is not in the help", f.name)
		}
		t.Run(f.name, func(t *testing.T) {
			if f.name == "mp4" || f.name == "webm" {
				tier.Need(t, "ffmpeg")
			}
			if got, err := exportFile(t, "--format", f.name); err != nil || got == "" {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
	for name, want := range map[string]string{
		"text": "one\ntwo\nthree\n", "raw": "one\r\n\x1b[31mtwo\x1b[m\r\nthree\r\n",
	} {
		if got, err := exportFile(t, "--format", name); got != want || err != nil {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	for name, want := range map[string]string{"gif": "GIF89a", "apng": "\x89PNG", "svg": "<svg", "cast": `{"version":3`, "cast2": `{"version":2`} {
		if got, _ := exportFile(t, "--format", name); !strings.HasPrefix(strings.ReplaceAll(got, ": ", ":"), want) {
			t.Errorf("%s starts with %.40q", name, got)
		}
	}
}

func TestPartOfAFile(t *testing.T) {
	if got, err := exportFile(t, "--format", "text", "--to", "+2s"); got != "one\ntwo\n" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	for _, args := range [][]string{{"--from", "12:00"}, {"--command", "1"}, {"--format", "pdf"}, {"--format", "gif", "--fps", "0"}, {"-o", "x.pdf"}} {
		var usage exit.UsageError
		if _, err := exportFile(t, args...); !errors.As(err, &usage) {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// TestProgress_EveryFewSeconds checks that progress is printed every few seconds while a recording is drawn, and not
// for a short one.
//
// FAULT: J
func TestProgress_EveryFewSeconds(t *testing.T) {
	var out strings.Builder
	now := time.Unix(1000, 0)
	p := progress{w: &out, now: func() time.Time { return now }}
	start := time.Unix(0, 0)
	for s := range 31 {
		p.measure(start.Add(time.Duration(s) * time.Second))
	}
	for s := range 31 {
		p.draw(start.Add(time.Duration(s) * time.Second))
		now = now.Add(500 * time.Millisecond)
	}
	if want := "longterm: 33 % drawn after 5s\nlongterm: 66 % drawn after 10s\nlongterm: 99 % drawn after 15s\n"; out.String() != want {
		t.Errorf("%q", out.String())
	}
	(&progress{}).draw(start) // without an output
}
