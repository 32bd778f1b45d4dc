//go:build unix

package daemon

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/capture"
	"github.com/longterm-dev/longterm/session/output/budget"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// Output as text within a budget: what is left out is counted, and the note in its place
// says what reads it.

// textLimits are how much of an output is handed out.
type textLimits struct {
	bytes, line int    // line 0: no limit
	session     string // whose output it is, for the note; empty: the note names no command
	stream      string
}

func (l textLimits) budget() *budget.Budget {
	b := &budget.Budget{Max: l.bytes, Line: l.line}
	if l.session != "" {
		b.More = func(from, to uint64) string { return rereads(l.session, l.stream, from, to) }
	}
	return b
}

// rereads is the command that prints a range of a session's output.
func rereads(id, stream string, from, to uint64) string {
	if stream != "" {
		stream = " --stream " + stream
	}
	return fmt.Sprintf("longterm output %s --from %d --to %d%s", shortID(id), from, to, stream)
}

// textOutput is output as text.
type textOutput struct {
	text    string
	omitted *api.Omitted // nil: it is all
	binary  uint64       // bytes left out because they are no text
	screen  bool         // at its end a full-screen program is shown, whose picture is left out
}

func spent(b *budget.Budget) textOutput {
	text, info := b.Finish()
	return textOutput{text: text, omitted: omittedOf(info)}
}

func omittedOf(info budget.CutInfo) *api.Omitted {
	if !info.Cut {
		return nil
	}
	return &api.Omitted{Bytes: int64(info.Bytes), Lines: info.Lines, LongLines: info.Long, Start: info.From, End: info.To}
}

// exactBytes is how much output is made text to count what is left out of it; of more, the
// middle is counted as it was printed, which is ten times as fast.
const exactBytes = 64 << 20

// plainOutput is a range of output as text: head and tail, within limits. What is no text is left out of it.
func plainOutput(ctx context.Context, s *session.Session, from, to uint64, limits textLimits) (textOutput, error) {
	r := plainReader{s: s, budget: limits.budget(), buf: make([]byte, min(256<<10, max(1, to-min(from, to))))}
	err := r.read(ctx, from, to)
	r.rest()
	t := spent(r.budget)
	t.binary = r.mask.Held()
	_, t.screen = r.mask.Drawn()
	return t, err
}

type plainReader struct {
	s      *session.Session
	budget *budget.Budget
	mask   capture.Mask // of all that is read, skipped or not: it has to know the screen
	plain  plaintext.Writer
	base   uint64 // offset of the first byte given to plain
	buf    []byte
}

func (r *plainReader) read(ctx context.Context, from, to uint64) error {
	r.base = from
	for at := from; at < to; {
		if at-from > exactBytes/2 && to-at > exactBytes/2 {
			var err error
			if at, err = r.skip(ctx, at, to-exactBytes/2); err != nil {
				return err
			}
		}
		c, err := r.chunk(ctx, at, to)
		if err != nil {
			return err
		}
		if c.Gap > 0 {
			r.restart(c.From)
			r.mask.Restart() // what is lost may have changed the screen
			r.budget.Gap(fmt.Sprintf("[%d bytes of output are lost]", c.Gap), c.From)
		}
		if c.Next == at {
			return nil
		}
		r.mask.Apply(c.Data)         // a copy, in buf
		_, _ = r.plain.Write(c.Data) // never fails
		r.plain.Lines(func(l plaintext.Line) { r.budget.Add(l.Text, r.base+l.From, r.base+l.To, l.More) })
		at = c.Next
	}
	return nil
}

func (r *plainReader) chunk(ctx context.Context, at, to uint64) (session.Chunk, error) {
	if ctx.Err() != nil {
		return session.Chunk{}, ctx.Err()
	}
	return r.s.Output(at, r.buf[:min(uint64(len(r.buf)), to-at)])
}

// skip counts output instead of reading it.
func (r *plainReader) skip(ctx context.Context, from, to uint64) (uint64, error) {
	r.restart(to)
	at, lines := from, 0
	for at < to {
		c, err := r.chunk(ctx, at, to)
		if err != nil || c.Next == at {
			return at, err
		}
		lines += bytes.Count(c.Data, []byte{'\n'})
		r.mask.Apply(c.Data)
		at = c.Next
	}
	r.budget.Skip(int(at-from), lines, from, at)
	return at, nil
}

// restart begins anew at an offset; what is there of a line is one.
func (r *plainReader) restart(at uint64) {
	r.rest()
	r.plain, r.base = plaintext.Writer{}, at
}

// rest takes the line that has no end.
func (r *plainReader) rest() {
	if text, from, to := r.plain.Rest(nil); len(text) > 0 {
		r.budget.Add(text, r.base+from, r.base+to, true)
	}
}

// fillStreams puts in what was printed on pipes, each stream for itself too.
func (j *job) fillStreams(ctx context.Context, r *api.Result, of api.Range, limit int) {
	p := newPipedText(j.limits(limit))
	if err := p.read(ctx, j.e.s, of.Start, of.End); err != nil {
		r.Error = err.Error()
	}
	p.into(r)
}

func (p *pipedText) read(ctx context.Context, s *session.Session, from, to uint64) error {
	buf := make([]byte, 256<<10)
	for at := from; at < to && ctx.Err() == nil; {
		c, runs, err := s.OutputApart(at, buf[:min(uint64(len(buf)), to-at)])
		if err != nil || c.Next == at {
			return err
		}
		p.take(c, runs)
		at = c.Next
	}
	return ctx.Err()
}

// pipedText makes what came on pipes text, both streams together and each for itself.
type pipedText struct {
	streams map[string]*pipedStream
	merged  *budget.Budget
	own     map[string]textOutput // once all is taken
	apart   bool                  // all of it was of stdout or stderr
}

// pipedStream is one of them on its way to text.
type pipedStream struct {
	gate  capture.Gate
	in    io.Writer
	flush io.Closer
	own   *budget.Budget
	both  *budget.Budget
	at    uint64 // offset of what is being written
}

func newPipedText(l textLimits) *pipedText {
	p := &pipedText{streams: map[string]*pipedStream{}, merged: l.budget(), apart: true}
	for _, name := range []string{"stdout", "stderr", "merged"} {
		if l.stream = name; name == "merged" {
			l.stream = ""
		}
		s := &pipedStream{own: l.budget(), both: p.merged}
		s.in, s.flush = capture.Pipeline(capture.Encoding{}, &s.gate, s)
		p.streams[name] = s
	}
	return p
}

// Write takes text. Its offset is that of the piece that is being taken, which is exact
// where the text is the output's bytes.
func (s *pipedStream) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		n, more := len(rest), true
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			n, more = i+1, false
		}
		text := bytes.TrimSuffix(rest[:n], []byte{'\n'})
		for _, b := range []*budget.Budget{s.own, s.both} {
			b.Add(text, s.at, s.at+uint64(n), more)
		}
		s.at += uint64(n)
		rest = rest[n:]
	}
	return len(p), nil
}

// pipedPiece is how much is taken at once: what the gate judges.
const pipedPiece = 4 << 10

func (p *pipedText) take(c session.Chunk, runs []session.StreamRun) {
	data, at := c.Data, c.From
	if len(runs) == 0 {
		runs = []session.StreamRun{{Bytes: len(data)}}
	}
	for _, run := range runs {
		name := run.Stream.String()
		s := p.streams[name]
		p.apart = p.apart && name != "merged"
		for part := data[:run.Bytes]; len(part) > 0; {
			n := min(len(part), pipedPiece)
			s.at = at
			_, _ = s.in.Write(part[:n]) // budgets and decoders that replace never fail
			part, at = part[n:], at+uint64(n)
		}
		data = data[run.Bytes:]
	}
}

// into fills a result, which may have been filled before.
func (p *pipedText) into(r *api.Result) {
	r.BinaryBytes = 0
	for _, s := range p.streams {
		_ = s.flush.Close()
		r.BinaryBytes += s.gate.Held()
	}
	r.Binary, r.Merged = r.BinaryBytes > 0, !p.apart
	t := spent(p.merged)
	r.Output, r.Truncated, r.Omitted = t.text, t.omitted != nil, t.omitted
	p.own = map[string]textOutput{"stdout": spent(p.streams["stdout"].own), "stderr": spent(p.streams["stderr"].own)}
	if out, err := p.own["stdout"], p.own["stderr"]; p.apart {
		r.Stdout, r.Stderr = &out.text, &err.text
	}
}
