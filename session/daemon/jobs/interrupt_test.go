//go:build unix

package jobs

import (
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session"
)

// FEATURES: R14
func TestProcessesOfALineMayBeOlderThanItsMark(t *testing.T) {
	typed := time.Unix(1000, 0)
	begun := make(chan struct{})
	close(begun)
	j := &Job{run: &session.Run{StartedC: begun, TypedAt: typed}}
	j.outcome.started.Began = typed.Add(time.Second) // the mark was read late
	if got := j.processesSince(); !got.Equal(typed) {
		t.Errorf("a line that was given to the shell: %v", got)
	}
	j.run = nil
	if got := j.processesSince(); !got.Before(j.outcome.started.Began) {
		t.Errorf("one from before a restart: %v", got)
	}
}
