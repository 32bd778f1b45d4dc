//go:build unix

package mcp

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// Lines that exec ran in new processes have their own sessions, with their output. The newest ended ones are kept for
// later reads; the others are removed.

// oneLineLabel marks sessions that were started for a single line.
const oneLineLabel = api.OneLineLabel

const (
	// maxEndedKept bounds the ended sessions of lines that are kept; sweepEvery is the number of new lines between
	// sweeps.
	maxEndedKept = 50
	sweepEvery   = 25
	// minKeepTime is how long each session is kept at least: its caller may be about to read its output.
	minKeepTime = 10 * time.Minute
	sweepTime   = 30 * time.Second
)

// sweeper removes the sessions of lines that ended long ago. The zero value has removed nothing.
type sweeper struct {
	mu      sync.Mutex
	lines   int // new lines since the last sweep
	running sync.WaitGroup
}

// noteLine counts a new line and sometimes sweeps in the background.
func (w *sweeper) noteLine(ctx context.Context, s *Server) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines++
	if w.lines%sweepEvery != 1 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sweepTime)
	w.running.Go(func() {
		defer cancel()
		c := s.client(ctx)
		list, err := c.List(ctx, oneLineLabel+"=exec")
		if err != nil {
			s.options.Log.Warn("look for sessions of lines that ended", "err", err)
			return
		}
		for _, v := range sessionsToRemove(list, time.Now()) {
			if err := c.Session(v.ID).Remove(ctx, false); err != nil && !isNotFound(err) {
				s.options.Log.Warn("remove the session of a line that ended", "session", v.ID, "err", err)
				return
			}
		}
	})
}

// wait waits for the background sweep.
func (w *sweeper) wait() { w.running.Wait() }

// sessionsToRemove returns the sessions to remove: all but the newest ended ones, if they ended long enough ago.
func sessionsToRemove(list []api.Session, now time.Time) []api.Session {
	ended := slices.DeleteFunc(slices.Clone(list), func(v api.Session) bool { return v.Ended == nil || v.Clients > 0 || v.State == "running" })
	slices.SortFunc(ended, func(a, b api.Session) int { return b.Ended.Compare(*a.Ended) })
	ended = ended[min(maxEndedKept, len(ended)):]
	return slices.DeleteFunc(ended, func(v api.Session) bool { return now.Sub(*v.Ended) < minKeepTime })
}
