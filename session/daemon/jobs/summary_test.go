//go:build unix

package jobs

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The summary of a program is redacted and has no control characters. A program that fails, prints too much, nothing or
// without end has no summary.
//
// FEATURES: R23 R66 R105
func TestSummarizer_Run(t *testing.T) {
	for _, c := range []struct {
		name, script, want, err string
		timeout                 time.Duration
	}{
		{name: "reads the output", script: "grep -c x", want: "2"},
		{name: "secrets and colours", script: `printf '\033[31mthe key\033[m is hunter2\n second\r\n'`, want: "the key is ***\n second"},
		{name: "does not read", script: "echo short", want: "short"},
		{name: "environment", script: `echo "$LONGTERM_COMMAND"`, want: "make all"},
		{name: "fails", script: "echo lost; exit 3", err: "sh: exit status 3"},
		{name: "prints nothing", script: "cat >/dev/null", err: "sh: it printed nothing"},
		{name: "too much", script: "yes", err: "more than 8192 bytes"},
		{name: "hangs", script: "sleep 600; true", err: "no answer within 50ms", timeout: 50 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := summarizer{
				argv: []string{"sh", "-c", c.script}, timeout: cmp.Or(c.timeout, time.Minute), env: []string{"LONGTERM_COMMAND=make all"},
				redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") },
			}
			got, err := s.run(t.Context(), "x\ny\nx\n")
			if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q, %v; want %q, %q", got, err, c.want, c.err)
			}
		})
	}
}

// A program that prints too much is killed with its children: none of them holds the pipe open afterwards.
//
// FEATURES: R105
func TestSummarizer_KillsChildren(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := summarizer{argv: []string{"sh", "-c", `{ echo started; exec sleep 600; } >"$1" & yes`, "sh", fifo}, timeout: time.Minute, redact: strings.Clone}
	if _, err := s.run(t.Context(), ""); err == nil {
		t.Fatal("no error")
	}
	if err := f.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(f); err != nil {
		t.Errorf("a child still runs: %v", err)
	}
}
