package program

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// CommandResult is the result of a line that a shell ran.
type CommandResult struct {
	session.Command
	// Output is the output as text, without escape sequences, of at most the newest maxResultOutput bytes of raw
	// output.
	Output string
}

// maxResultOutput bounds the raw output that is converted to CommandResult.Output, in bytes.
const maxResultOutput = 8 << 20

// incompleteAfter is the time after which a line that has not started is checked: fish silently keeps an incomplete
// line.
const incompleteAfter = time.Second

// Exec runs a line in the shell (Cmd.Shell) and waits for its end. Concurrent lines run one after the other. The line's
// output counts as read: Expect starts after it.
func (p *Program) Exec(ctx context.Context, line string) (CommandResult, error) {
	run, err := p.session.Exec(ctx, session.Line{Text: line, Wait: true})
	if err != nil {
		return CommandResult{}, fmt.Errorf("exec %q: %w", line, err)
	}
	check := time.NewTimer(incompleteAfter)
	defer check.Stop()
	for done := false; !done; {
		select {
		case <-run.DoneC:
			done = true
		case <-check.C:
			_ = p.session.DropIncomplete(ctx, run) // has no effect on a line that started
		case <-ctx.Done():
			_ = p.session.Drop(context.WithoutCancel(ctx), run)
			return CommandResult{}, fmt.Errorf("exec %q: %w", line, ctx.Err())
		case <-p.watch.Done:
			return CommandResult{}, fmt.Errorf("exec %q: %w", line, session.ErrStopped)
		}
	}
	if run.Err != nil {
		return CommandResult{}, fmt.Errorf("exec %q: %w", line, run.Err)
	}
	r := CommandResult{Command: run.Command}
	if r.Output, err = p.plainText(run.Command.Start, run.Command.End); err != nil {
		return r, fmt.Errorf("exec %q: %w", line, err)
	}
	p.skipOutput(run.Command.End)
	return r, nil
}

// plainText converts raw output to text.
func (p *Program) plainText(from, to uint64) (string, error) {
	if to-from > maxResultOutput {
		from = to - maxResultOutput
	}
	var plain plaintext.Writer
	var b strings.Builder
	for buf := make([]byte, 64<<10); from < to; {
		c, err := p.session.Output(from, buf[:min(uint64(len(buf)), to-from)])
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

// skipOutput marks the output before an offset as read.
func (p *Program) skipOutput(until uint64) {
	r := &p.expectReader
	r.mu.Lock()
	defer r.mu.Unlock()
	for buf := make([]byte, 64<<10); r.offset < until && p.feedLocked(buf); {
	}
	r.expecter.Skip()
}
