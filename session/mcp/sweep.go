//go:build unix

package mcp

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// Lines that exec ran in processes of their own have sessions of their own, with what they printed. The
// newest of those that ended are kept for whoever reads on; the others go.

// ownLabel is the label of such sessions.
const ownLabel = api.OneLineLabel

const (
	// keptEnded is how many are kept, sweepEvery after how many lines it is looked.
	keptEnded  = 50
	sweepEvery = 25
	// keptFor is how long each is kept at least: its caller may be about to read on.
	keptFor   = 10 * time.Minute
	sweepTime = 30 * time.Second
)

// sweeper removes the sessions of lines that ended long ago. The zero value has removed nothing.
type sweeper struct {
	mu      sync.Mutex
	lines   int
	running sync.WaitGroup
}

// begun notes that a line begins, and sweeps now and then, beside it.
func (w *sweeper) begun(ctx context.Context, s *Server) {
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
		list, err := c.List(ctx, ownLabel+"=exec")
		if err != nil {
			s.o.Log.Warn("look for sessions of lines that ended", "err", err)
			return
		}
		for _, v := range outdated(list, time.Now()) {
			if err := c.Session(v.ID).Remove(ctx, false); err != nil && !gone(err) {
				s.o.Log.Warn("remove the session of a line that ended", "session", v.ID, "err", err)
				return
			}
		}
	})
}

func (w *sweeper) wait() { w.running.Wait() }

// outdated are the sessions to remove: all but the newest of those that ended, if they ended a while ago.
func outdated(list []api.Session, now time.Time) []api.Session {
	ended := slices.DeleteFunc(slices.Clone(list), func(v api.Session) bool { return v.Ended == nil || v.Clients > 0 || v.State == "running" })
	slices.SortFunc(ended, func(a, b api.Session) int { return b.Ended.Compare(*a.Ended) })
	ended = ended[min(keptEnded, len(ended)):]
	return slices.DeleteFunc(ended, func(v api.Session) bool { return now.Sub(*v.Ended) < keptFor })
}
