//go:build unix

package jobs

import (
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/store"
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

// A program that prints too much is killed with its children, and what a program leaves is killed too: no process holds the
// pipe open afterwards.
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
	for end, fails := range map[string]bool{"yes": true, "echo done": false} {
		s := summarizer{argv: []string{"sh", "-c", `exec 3>"$1"; sleep 600 >/dev/null & ` + end, "sh", fifo}, timeout: time.Minute, redact: strings.Clone}
		if _, err := s.run(t.Context(), ""); (err != nil) != fails {
			t.Fatalf("%s: %v", end, err)
		}
		if err := f.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(f); err != nil {
			t.Errorf("%s: a child still runs: %v", end, err)
		}
	}
}

// A summary program has the time that remains of its job's timeout, and a stop of the job ends it.
//
// FEATURES: R105
func TestSummary_EndsWithItsJob(t *testing.T) {
	for _, c := range []struct {
		name              string
		wall, limit, want time.Duration // want: at most
	}{
		{"no timeout", 0, 10 * time.Second, 10 * time.Second},
		{"a short time", time.Hour, 10 * time.Second, 10 * time.Second},
		{"a long time", time.Minute, time.Hour, time.Minute},
		{"a timeout that has expired", time.Nanosecond, 10 * time.Second, minSummaryTime},
	} {
		j := &Job{created: time.Now(), e: registry.NewHandle(store.Session{})}
		j.timeouts.wall = c.wall
		if got := j.summaryTimeout(c.limit); got > c.want || got < minSummaryTime || c.want == c.limit && got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	j := &Job{stops: make(chan time.Duration, 1)}
	ctx, stop := j.untilStopped(t.Context())
	defer stop()
	j.requestEnd(0)
	s := summarizer{argv: []string{"sh", "-c", "sleep 600; true"}, timeout: time.Hour, redact: strings.Clone}
	if _, err := s.run(ctx, ""); !errors.Is(err, errStopped) {
		t.Error(err)
	}
}
