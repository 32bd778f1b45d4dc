//go:build unix

package excerpt

import (
	"bytes"
	"context"
	"io"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/output/budget"
	"github.com/longterm-dev/longterm/session/pipeoutput"
)

// Read takes a range of a session's output.
func (p *Piped) Read(ctx context.Context, s *session.Session, from, to uint64) error {
	if err := p.limits.waitSettled(ctx, s, to); err != nil {
		return err
	}
	buf := make([]byte, pieceBytes)
	for p.Next = from; p.Next < to && ctx.Err() == nil; {
		c, runs, err := s.OutputByStream(p.Next, buf[:min(uint64(len(buf)), to-p.Next)])
		if err == nil && p.limits.Hide {
			s.Redact(c.From, c.Data)
		}
		if err != nil || c.Next == p.Next {
			return err
		}
		p.addChunk(c, runs)
		p.Next = c.Next
	}
	return ctx.Err()
}

// Piped converts the output of pipes to text: both streams together and each separately.
type Piped struct {
	streams     map[string]*pipedStream
	merged      *budget.Budget
	StreamTexts map[string]Text // text of each stream, once all is read
	Next        uint64          // offset for the next read
	limits      Limits
	byStream    bool // all output has a known stream
}

// pipedStream converts one stream to text.
type pipedStream struct {
	gate         pipeoutput.Gate
	in           io.Writer
	flush        io.Closer
	streamBudget *budget.Budget
	mergedBudget *budget.Budget
	at           uint64 // offset of the bytes being written
}

// NewPiped returns a Piped that applies the limits to each stream and to both together.
func NewPiped(l Limits) *Piped {
	p := &Piped{streams: map[string]*pipedStream{}, merged: l.budget(), byStream: true, limits: l}
	for _, name := range []string{"stdout", "stderr", "merged"} {
		if l.Stream = name; name == "merged" {
			l.Stream = ""
		}
		s := &pipedStream{streamBudget: l.budget(), mergedBudget: p.merged}
		s.in, s.flush = pipeoutput.Pipeline(pipeoutput.Encoding{}, &s.gate, s)
		p.streams[name] = s
	}
	return p
}

// Write adds text. Its offset is that of the current piece, which is exact if the text equals the output's bytes.
func (s *pipedStream) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		n, more := len(rest), true
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			n, more = i+1, false
		}
		text := bytes.TrimSuffix(rest[:n], []byte{'\n'})
		for _, b := range []*budget.Budget{s.streamBudget, s.mergedBudget} {
			b.Add(text, s.at, s.at+uint64(n), more)
		}
		s.at += uint64(n)
		rest = rest[n:]
	}
	return len(p), nil
}

// pipedPiece is the size of the pieces that the gate checks.
const pipedPiece = 4 << 10

// addChunk adds a chunk with its streams.
func (p *Piped) addChunk(c session.Chunk, runs []session.StreamRun) {
	data, at := c.Data, c.From
	if len(runs) == 0 {
		runs = []session.StreamRun{{Bytes: len(data)}}
	}
	for _, run := range runs {
		name := run.Stream.String()
		s := p.streams[name]
		p.byStream = p.byStream && name != "merged"
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
		r.BinaryBytes += s.gate.HeldBytes()
	}
	r.Binary, r.Merged = r.BinaryBytes > 0, !p.byStream
	t := budgetText(p.merged)
	r.Output, r.Truncated, r.Omitted = t.Text, t.Omitted != nil, t.Omitted
	p.StreamTexts = map[string]Text{"stdout": budgetText(p.streams["stdout"].streamBudget), "stderr": budgetText(p.streams["stderr"].streamBudget)}
	if out, err := p.StreamTexts["stdout"], p.StreamTexts["stderr"]; p.byStream {
		r.Stdout, r.Stderr = &out.Text, &err.Text
	}
}
