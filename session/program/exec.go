package program

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// Ran is a line that a shell ran to its end.
type Ran struct {
	session.Command
	// Output is what it printed, as text: edits done, escape sequences gone. At most the
	// newest maxRanOutput bytes of the raw output are looked at.
	Output string
}

// maxRanOutput bounds the raw output that becomes Ran.Output.
const maxRanOutput = 8 << 20

// stuckAfter is the time after which a line that has not started is checked: fish silently keeps an incomplete line.
const stuckAfter = time.Second

// Exec runs a line in the shell (Cmd.Shell) and waits for its end. Concurrent lines run one after the other. The line's
// output counts as read: Expect starts after it.
func (p *Program) Exec(ctx context.Context, line string) (Ran, error) {
	run, err := p.s.Exec(ctx, session.Line{Text: line, Wait: true})
	if err != nil {
		return Ran{}, fmt.Errorf("exec %q: %w", line, err)
	}
	stuck := time.NewTimer(stuckAfter)
	defer stuck.Stop()
	for done := false; !done; {
		select {
		case <-run.Done:
			done = true
		case <-stuck.C:
			_ = p.s.DropIncomplete(ctx, run) // does nothing to one that began
		case <-ctx.Done():
			_ = p.s.Drop(context.WithoutCancel(ctx), run)
			return Ran{}, fmt.Errorf("exec %q: %w", line, ctx.Err())
		case <-p.watch.Done:
			return Ran{}, fmt.Errorf("exec %q: %w", line, session.ErrStopped)
		}
	}
	if run.Err != nil {
		return Ran{}, fmt.Errorf("exec %q: %w", line, run.Err)
	}
	r := Ran{Command: run.Command}
	if r.Output, err = p.text(run.Command.Start, run.Command.End); err != nil {
		return r, fmt.Errorf("exec %q: %w", line, err)
	}
	p.skip(run.Command.End)
	return r, nil
}

// text converts raw output to text.
func (p *Program) text(from, to uint64) (string, error) {
	if to-from > maxRanOutput {
		from = to - maxRanOutput
	}
	var plain plaintext.Writer
	var b strings.Builder
	for buf := make([]byte, 64<<10); from < to; {
		c, err := p.s.Output(from, buf[:min(uint64(len(buf)), to-from)])
		if err != nil {
			return b.String(), err
		}
		if c.Next == from {
			break
		}
		plain.Each(c.Data, func(l plaintext.Line) {
			b.Write(l.Text)
			if !l.More {
				b.WriteByte('\n')
			}
		})
		from = c.Next
	}
	rest, _, _ := plain.AppendUnfinished(nil)
	b.Write(rest)
	return b.String(), nil
}

// skip makes what was printed so far read.
func (p *Program) skip(until uint64) {
	r := &p.reading
	r.mu.Lock()
	defer r.mu.Unlock()
	for buf := make([]byte, 64<<10); r.off < until && p.feedLocked(buf); {
	}
	r.x.Skip()
}
