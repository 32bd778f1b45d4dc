//go:build unix

package jobs

import (
	"context"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/excerpt"
)

// digestInterval is the interval at which the output of a job that continues to print is read.
const digestInterval = 50 * time.Millisecond

// digestOutput reads a job's output while it arrives, so that the digest is ready soon after the end.
func (j *Job) digestOutput(ctx context.Context) {
	if !j.await(ctx, stateRunning) {
		return
	}
	j.mu.Lock()
	from := j.outcome.started.Start
	j.mu.Unlock()
	if j.command {
		from = j.s.reg.Describe(j.e, j.e.Session.Status()).Output.Start
	}
	j.digest.Lock()
	j.digest.text = excerpt.NewIncremental(j.e.Session, from, j.limits(0))
	j.digest.Unlock()
	for j.awaitOutput(ctx) {
		j.digest.Lock()
		if j.digest.text != nil {
			_ = j.digest.text.Read(ctx) // an error is returned with the whole text
		}
		j.digest.Unlock()
	}
}

// awaitOutput waits until a job has printed more. It reports false if the job has ended, or the daemon ends.
func (j *Job) awaitOutput(ctx context.Context) bool {
	more := make(chan struct{})
	j.e.Session.NextOutput(func() {
		time.Sleep(digestInterval)
		close(more)
	})
	for {
		p := j.watch()
		if p.state >= stateEnded {
			return false
		}
		select {
		case <-more:
			return true
		case <-p.changed:
		case <-ctx.Done():
			return false
		}
	}
}

// text returns a job's output. It uses the incremental digest of the whole output if there is one.
func (j *Job) text(ctx context.Context, span api.Range, l excerpt.Limits) (excerpt.Text, error) {
	if digest := j.takeDigest(span.Start, l); digest != nil {
		return digest.Text(ctx, span.End)
	}
	return excerpt.Plain(ctx, j.e.Session, span.Start, span.End, l)
}

// takeDigest returns the incremental digest of all output of an ended job, to the first that needs it, and nil
// otherwise.
func (j *Job) takeDigest(from uint64, l excerpt.Limits) *excerpt.Incremental {
	j.digest.Lock()
	defer j.digest.Unlock()
	a := j.digest.text
	if a == nil || !j.hasReached(stateEnded) || a.From() != from || a.Limits != l {
		return nil
	}
	j.digest.text = nil
	return a
}
