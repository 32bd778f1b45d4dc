//go:build unix

package jobs

import (
	"context"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/excerpt"
)

// alongPause is how often the output of who goes on printing is read.
const alongPause = 50 * time.Millisecond

// readAlong reads what a job prints while it prints, for the digest of it all when it has ended: who waits for that is told of the
// end so much sooner.
func (j *Job) readAlong(ctx context.Context) {
	select {
	case <-j.begun:
	case <-ctx.Done():
		return
	}
	j.mu.Lock()
	from := j.started.Start
	j.mu.Unlock()
	if j.command {
		from = j.s.reg.Describe(j.e, j.e.Session.Status()).Output.Start
	}
	j.reading.Lock()
	j.along = excerpt.NewAlong(j.e.Session, from, j.limits(0))
	j.reading.Unlock()
	for j.goesOn(ctx) {
		j.reading.Lock()
		if j.along != nil {
			_ = j.along.Read(ctx) // who asks for all of it is told
		}
		j.reading.Unlock()
	}
}

// goesOn waits until a job has printed more; false: it has ended, or the daemon ends.
func (j *Job) goesOn(ctx context.Context) bool {
	more := make(chan struct{})
	j.e.Session.NextOutput(func() {
		time.Sleep(alongPause)
		close(more)
	})
	select {
	case <-more:
		return true
	case <-j.ended:
	case <-ctx.Done():
	}
	return false
}

// text is what a job printed. That of all is not read again where it was read along.
func (j *Job) text(ctx context.Context, of api.Range, l excerpt.Limits) (excerpt.Text, error) {
	if along := j.takeAlong(of.Start, l); along != nil {
		return along.Text(ctx, of.End)
	}
	return excerpt.Plain(ctx, j.e.Session, of.Start, of.End, l)
}

// takeAlong is what was read along of all that an ended job printed, for whoever asks for it first; nil: nothing.
func (j *Job) takeAlong(from uint64, l excerpt.Limits) *excerpt.Along {
	j.reading.Lock()
	defer j.reading.Unlock()
	a := j.along
	if a == nil || !isClosed(j.ended) || a.From() != from || a.Limits != l {
		return nil
	}
	j.along = nil
	return a
}
