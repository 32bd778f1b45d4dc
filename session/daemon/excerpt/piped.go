//go:build unix

package excerpt

import (
	"bytes"
	"context"
	"io"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/capture"
	"github.com/longterm-dev/longterm/session/output/budget"
)

// Read takes a range of a session's output.
func (p *Piped) Read(ctx context.Context, s *session.Session, from, to uint64) error {
	if err := p.limits.waitSettled(ctx, s, to); err != nil {
		return err
	}
	buf := make([]byte, pieceBytes)
	for p.Next = from; p.Next < to && ctx.Err() == nil; {
		c, runs, err := s.OutputApart(p.Next, buf[:min(uint64(len(buf)), to-p.Next)])
		if err == nil && p.limits.Hide {
			s.Hide(c.From, c.Data)
		}
		if err != nil || c.Next == p.Next {
			return err
		}
		p.take(c, runs)
		p.Next = c.Next
	}
	return ctx.Err()
}

// pipedText makes what came on pipes text, both streams together and each for itself.
type Piped struct {
	streams map[string]*pipedStream
	merged  *budget.Budget
	Own     map[string]Text // once all is taken
	Next    uint64          // offset for the next read
	limits  Limits
	apart   bool // all of it was of stdout or stderr
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

// NewPiped is text within limits, each stream's and both together.
func NewPiped(l Limits) *Piped {
	p := &Piped{streams: map[string]*pipedStream{}, merged: l.budget(), apart: true, limits: l}
	for _, name := range []string{"stdout", "stderr", "merged"} {
		if l.Stream = name; name == "merged" {
			l.Stream = ""
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

func (p *Piped) take(c session.Chunk, runs []session.StreamRun) {
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

// Into fills a result, which may have been filled before.
func (p *Piped) Into(r *api.Result) {
	r.BinaryBytes = 0
	for _, s := range p.streams {
		_ = s.flush.Close()
		r.BinaryBytes += s.gate.Held()
	}
	r.Binary, r.Merged = r.BinaryBytes > 0, !p.apart
	t := spent(p.merged)
	r.Output, r.Truncated, r.Omitted = t.Text, t.Omitted != nil, t.Omitted
	p.Own = map[string]Text{"stdout": spent(p.streams["stdout"].own), "stderr": spent(p.streams["stderr"].own)}
	if out, err := p.Own["stdout"], p.Own["stderr"]; p.apart {
		r.Stdout, r.Stderr = &out.Text, &err.Text
	}
}
