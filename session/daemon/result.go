//go:build unix

package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/capture"
	"github.com/longterm-dev/longterm/session/results"
	"github.com/longterm-dev/longterm/vterm"
)

// answer is what can be told of a job now, with at most limit bytes of output (0: as many
// as were asked for with it).
func (j *job) answer(ctx context.Context, limit int) api.Result {
	st := j.e.s.Status()
	j.mu.Lock()
	r := api.Result{
		Job: j.id, Session: j.e.rec.ID, PID: st.PID, Mode: "pty", TimedOut: "none", CwdAfter: st.Cwd,
		InBackground: j.away && !isClosed(j.ended),
	}
	if j.expired != "" && (j.how == endsByClock || !isClosed(j.ended) || !isClosed(j.begun) || j.err != nil) {
		r.TimedOut = j.expired
	}
	r.Aborted = j.how == endsByCaller
	j.mu.Unlock()
	if j.e.record().Pipe {
		r.Mode, r.ModeReason = "pipe", j.e.modeReason()
	}
	if j.command {
		j.fillCommand(ctx, &r, &st, limit)
	} else {
		j.fillLine(ctx, &r, &st, limit)
		j.fillAnswers(ctx, &r)
	}
	if r.State == "running" && st.Needs.Kind != "" {
		r.State, r.Needs = "needs_input", string(st.Needs.Kind)
	}
	return r
}

// fillCommand puts in what is known of the session's own command.
func (j *job) fillCommand(ctx context.Context, r *api.Result, st *session.Status, limit int) {
	view := j.d.hub.describe(j.e, *st)
	r.DurationMS, r.CwdAfter, r.Range = view.Duration, view.Cwd, view.Output
	r.ExitCode, r.Signal = view.ExitCode, view.Signal
	switch {
	case st.State == session.Running:
		r.State = "running"
		r.Range.End = 0
	case st.State != session.Exited:
		r.State = "lost"
	case r.Signal != "":
		r.State = "signalled"
	default:
		r.State = "exited"
	}
	if r.State != "running" && r.State != "lost" && j.why() != endsByItself {
		r.State = "killed"
	}
	j.fillPrinted(ctx, r, view.Output, limit)
	j.parse(ctx, r, j.line)
}

func (j *job) why() ending {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.how
}

// fillLine puts in what is known of a line.
func (j *job) fillLine(ctx context.Context, r *api.Result, st *session.Status, limit int) {
	j.mu.Lock()
	c, final, err := j.started, j.final, j.err
	j.mu.Unlock()
	r.DurationMS = sinceMS(j.began)
	r.State = "running"
	ended := isClosed(j.ended) && err == nil // else it goes on without us
	if r.Error == "" && ended {
		r.Error = final.Note
	}
	switch {
	case !isClosed(j.begun), c.Number == 0 && errors.Is(err, context.Canceled):
		r.State = "waiting"
		return
	case ended:
		c, r.State = final, "exited"
	case err != nil && !errors.Is(err, context.Canceled):
		r.Error, r.State = err.Error(), "lost"
	}
	if c.Number == 0 && c.Text == "" {
		r.State = "lost"
		return
	}
	r.Command, r.Quality = int(c.Number), string(c.Quality)
	r.Range = api.Range{Start: c.Start, End: c.End}
	if ended {
		r.ExitCode, r.Signal = c.Exit, signalOf(c.Exit)
		r.CwdAfter = c.CwdAfter
		r.DurationMS = c.Command.Ended.Sub(c.Began).Milliseconds()
		r.Env = commandRecord("", &c).Env
		if j.why() != endsByItself {
			r.State = "killed"
		}
	}
	if st.State != session.Running {
		r.State = "ended"
		if errors.Is(err, session.ErrEnded) { // "exit 3", say: the shell itself is gone
			r.Error = ""
		}
	}
	end := c.End
	if end == 0 {
		_, end = j.e.s.OutputRange()
	}
	j.fillOutput(ctx, r, api.Range{Start: c.Start, End: end}, limit)
	if j.foreign.Load() {
		r.Guess = j.e.guessed()
	}
	if j.foreign.Load() && !r.Truncated {
		r.Output = withoutEcho(r.Output, j.line, j.prompt)
	}
	if ended {
		j.parse(ctx, r, c.Text)
	}
	r.Background = j.d.hub.background(j.e, j.began)
}

// fillAnswers puts in what the rules that came with a line did.
func (j *job) fillAnswers(ctx context.Context, r *api.Result) {
	run := j.given()
	r.Answers = j.e.answersOf(ctx, run)
	if j.why() == endsByRule {
		r.Error = run.Reason
	}
}

// fillOutput puts in what was printed.
func (j *job) fillOutput(ctx context.Context, r *api.Result, of api.Range, limit int) {
	limit = cmp.Or(limit, j.call.MaxOutput, int(j.d.conf.get().Exec.MaxOutput))
	var err error
	if r.Output, r.Truncated, err = plainOutput(ctx, j.e.s, of.Start, of.End, limit); err != nil {
		r.Error = err.Error()
	}
}

// fillPrinted puts in what the session's own command printed.
func (j *job) fillPrinted(ctx context.Context, r *api.Result, of api.Range, limit int) {
	if r.Mode == "pipe" {
		j.fillStreams(ctx, r, of, limit)
	} else {
		j.fillOutput(ctx, r, of, limit)
	}
}

// fillStreams puts in what was printed on pipes, each stream for itself too.
func (j *job) fillStreams(ctx context.Context, r *api.Result, of api.Range, limit int) {
	if limit = cmp.Or(limit, j.call.MaxOutput, int(j.d.conf.get().Exec.MaxOutput)); limit > capture.WindowBytes {
		limit = capture.WindowBytes
	}
	out := capture.NewOutput(capture.Encoding{}, limit)
	buf := make([]byte, 256<<10)
	for at := of.Start; at < of.End && ctx.Err() == nil; {
		c, runs, err := j.e.s.OutputApart(at, buf[:min(uint64(len(buf)), of.End-at)])
		if err != nil {
			r.Error = err.Error()
			break
		}
		if c.Next == at {
			break
		}
		data := c.Data
		for _, run := range runs {
			out.Write(run.Stream.String(), data[:run.Bytes])
			data = data[run.Bytes:]
		}
		at = c.Next
	}
	t := out.Finish()
	r.Output, r.Truncated, r.Merged, r.Binary, r.BinaryBytes = t.Merged, t.Truncated, !t.Apart, t.Binary, t.BinaryBytes
	if t.Apart {
		r.Stdout, r.Stderr = &t.Stdout, &t.Stderr
	}
}

// parse puts in what the output of an ended command says, if that was asked for.
func (j *job) parse(ctx context.Context, r *api.Result, text string) {
	if !j.call.Parse || r.Range.End == 0 {
		return
	}
	parsed, _, err := j.d.readResult(ctx, j.e.s, text, r.ExitCode, r.Range.Start, r.Range.End)
	if err != nil {
		r.Error = err.Error()
		return
	}
	r.Parsed = &parsed
}

// signalOf is the signal that a shell's status tells of: 128 and its number.
func signalOf(exit *int) string {
	if exit == nil || *exit <= 128 || *exit > 128+64 {
		return ""
	}
	return unix.SignalName(syscall.Signal(*exit - 128))
}

// maxReadBytes bounds the raw output that is read for one answer; of more, the beginning
// and the end.
const maxReadBytes = 8 << 20

// plainOutput is a range of output as text of at most max bytes, head and tail.
func plainOutput(ctx context.Context, s *session.Session, from, to uint64, max int) (text string, cut bool, err error) {
	var p vterm.Plain
	var b strings.Builder
	take := func(data []byte) {
		_, _ = p.Write(data) // never fails
		p.Lines(func(l vterm.PlainLine) {
			b.Write(l.Text)
			if !l.More {
				b.WriteByte('\n')
			}
		})
	}
	buf := make([]byte, 256<<10)
	for at := from; at < to; {
		if at-from > maxReadBytes/2 && to-at > maxReadBytes/2 { // the middle will not be shown
			cut = true
			fmt.Fprintf(&b, "\n[… %d bytes …]\n", to-maxReadBytes/2-at)
			at = to - maxReadBytes/2
			p = vterm.Plain{}
		}
		if ctx.Err() != nil {
			return b.String(), cut, ctx.Err()
		}
		c, err := s.Output(at, buf[:min(uint64(len(buf)), to-at)])
		if err != nil {
			return b.String(), cut, err
		}
		if c.Gap > 0 {
			fmt.Fprintf(&b, "\n[%d bytes of output are lost]\n", c.Gap)
		}
		if c.Next == at {
			break
		}
		take(c.Data)
		at = c.Next
	}
	rest, _, _ := p.Rest(nil)
	b.Write(rest)
	text, info := results.Cut(b.String(), max, results.DefaultHeadShare)
	return text, cut || info.Cut, nil
}
