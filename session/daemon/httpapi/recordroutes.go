//go:build unix

package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/danielgtaylor/huma/v2"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/redact"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// recordsQuery selects a part of a session's history.
type recordsQuery struct {
	SessionPath
	RevealQuery
	From string `query:"from" doc:"start: offset, time, -5m, +90s after the start; default: the oldest"`
	To   string `query:"to" doc:"end (exclusive); default: the end"`
}

func (s *Server) getRecords(ctx context.Context, in *recordsQuery) (*huma.StreamResponse, error) {
	p, err := s.selectRange(ctx, in)
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(c huma.Context) {
		c.SetHeader("Content-Type", "application/x-ndjson")
		if err := p.write(c.Context(), c.BodyWriter()); err != nil {
			s.log.Warn("history not read to its end", "session", in.Session, "err", err)
		}
	}}, nil
}

// outputRange is a part of a session's history, from a screen to an offset.
type outputRange struct {
	s        *session.Session
	pipe     bool
	secrets  *redact.Set // secrets to mask; nil: none
	first    api.Record
	from, to uint64
}

// selectRange returns the part of the history that a request selects.
func (s *Server) selectRange(ctx context.Context, in *recordsQuery) (*outputRange, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return nil, err
	}
	if ctx, err = s.reveal(ctx, in.RevealQuery, e, "history"); err != nil {
		return nil, err
	}
	p := &outputRange{s: e.Session, pipe: e.Record().Pipe}
	if in.Reveal == "" { // for all callers: exports are kept and passed on
		p.secrets = s.reg.Secrets()
	}
	p.from, p.to = e.Session.OutputRange()
	if in.From != "" {
		off, err := offsetOf(ctx, e, in.From)
		if err != nil {
			return nil, err
		}
		p.from = max(off, p.from) // what is forgotten is before the beginning
	}
	if in.To != "" {
		if p.to, err = offsetOf(ctx, e, in.To); err != nil {
			return nil, err
		}
	}
	if in.To != "" && p.to < p.from {
		return nil, api.Errorf(api.CodeInvalid, "%s lies before %s", in.To, in.From).WithHint("give the earlier moment as from")
	}
	if !p.secrets.Empty() {
		if err := p.s.WaitSettled(ctx, p.to); err != nil {
			return nil, err
		}
	}
	engine, err := e.Session.EmulatorAt(ctx, p.from)
	if err != nil {
		return nil, err
	}
	select { // as its images may have to be decoded
	case paintSlots <- struct{}{}:
		defer func() { <-paintSlots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p.first = p.startRecord(engine)
	return p, nil
}

// startRecord returns the first record of the range: the screen at its start.
func (p *outputRange) startRecord(engine vterm.Engine) api.Record {
	var f vterm.Frame
	above := redact.LinesAbove(engine)
	engine.Frame(&f, vterm.Query{})
	p.secrets.RedactFrame(&f, above)
	r := api.Record{Kind: "screen", Offset: p.from, Time: p.s.Status().Started, Cols: f.Cols, Rows: f.Rows}
	if p.from > 0 {
		var behind vterm.Frame
		if f.Alt {
			engine.Frame(&behind, vterm.Query{Screen: vterm.ScreenPrimary})
			p.secrets.RedactFrame(&behind, redact.LinesAbovePrimary(engine))
		}
		r.Data = render.AppendTerminal(nil, engine, &f, &behind)
	}
	return r
}

// write streams the range. A stream that ends early lacks its last record, "end".
func (p *outputRange) write(ctx context.Context, w io.Writer) error {
	out := newBatch(w, p)
	r := p.s.Records(p.from)
	defer r.Close()
	opened := false
	for ctx.Err() == nil {
		rec, err := r.Next()
		over := errors.Is(err, io.EOF) || err == nil && (rec.Offset > p.to || rec.Offset == p.to && rec.Kind == journal.KindOutput)
		if err != nil && !over {
			return errors.Join(err, out.flush())
		}
		if !opened {
			if opened = true; !over && p.from > 0 && !rec.Time.IsZero() {
				p.first.Time = rec.Time
			}
			if err := out.add(p.first, nil); err != nil {
				return err
			}
		}
		if over {
			return errors.Join(out.add(api.Record{Kind: "end", Offset: p.to}, nil), out.flush())
		}
		if told, data, ok := recordOf(&rec, p.to); ok {
			if err := out.add(told, data); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// A batch is a group of records that are masked and written together. Masking a byte needs up to redact.ContextBytes bytes
// before and after it, which are read once per batch; records of programs that print short lines are short.
const (
	batchBytes   = 128 << 10 // of output
	batchRecords = 1024
)

// batch collects the records that are masked and written together.
type batch struct {
	masker  masker
	w       *bufio.Writer
	enc     *json.Encoder
	records []api.Record
	ends    []int  // end of each record's output in data
	data    []byte // output from the offset at
	at      uint64
}

// masker masks the output of one batch of records.
type masker interface {
	// mask masks output from an offset on, in place.
	mask(at uint64, data []byte)
	// streams returns the streams of a record's output.
	streams(*api.Record) ([]api.StreamRun, error)
}

func newBatch(w io.Writer, m masker) *batch {
	b := &batch{masker: m, w: bufio.NewWriterSize(w, 64<<10)}
	b.enc = json.NewEncoder(b.w)
	return b
}

// add writes a record, now or with others. Of output data is copied.
func (b *batch) add(r api.Record, data []byte) error {
	goesOn := r.Offset == b.at+uint64(len(b.data))
	if len(b.records) >= batchRecords || len(data) > 0 && len(b.data) > 0 && (!goesOn || len(b.data)+len(data) > batchBytes) {
		if err := b.flush(); err != nil {
			return err
		}
	}
	if len(b.data) == 0 {
		b.at = r.Offset
	}
	b.data = append(b.data, data...)
	b.records, b.ends = append(b.records, r), append(b.ends, len(b.data))
	return nil
}

// flush writes the collected records.
func (b *batch) flush() error {
	b.masker.mask(b.at, b.data)
	begin := 0
	for i := range b.records {
		r := &b.records[i]
		if end := b.ends[i]; end > begin {
			r.Data, begin = b.data[begin:end], end
		}
		var err error
		if r.Streams, err = b.masker.streams(r); err != nil {
			return err
		}
		if err := b.enc.Encode(r); err != nil {
			return err
		}
	}
	clear(b.records)
	b.records, b.ends, b.data = b.records[:0], b.ends[:0], b.data[:0]
	return b.w.Flush()
}

// mask hides the nonce of the shell's marks in output, and secrets.
func (p *outputRange) mask(at uint64, data []byte) {
	p.s.MaskNonce(at, data)
	if !p.secrets.Empty() {
		p.s.Redact(at, data)
	}
}

// streams returns the streams of a record's output.
func (p *outputRange) streams(r *api.Record) ([]api.StreamRun, error) {
	if !p.pipe || len(r.Data) == 0 || r.Kind != journal.KindOutput.String() {
		return nil, nil
	}
	runs, err := p.s.Streams(r.Offset, r.Offset+uint64(len(r.Data)))
	return streamRuns(runs), err
}

// recordOf converts a journal record to its API form, without its output, which ends before to.
func recordOf(r *journal.Record, to uint64) (out api.Record, data []byte, ok bool) {
	out = api.Record{Kind: r.Kind.String(), Offset: r.Offset, Time: r.Time}
	switch r.Kind {
	case journal.KindOutput:
		data = r.Data[:min(uint64(len(r.Data)), to-r.Offset)]
	case journal.KindResize:
		out.Cols, out.Rows = r.Cols, r.Rows
	case journal.KindExit:
		out.Exit = exitView(&r.Exit)
	case journal.KindGap:
		out.Lost = r.Lost
	default:
		return out, nil, false
	}
	return out, data, true
}

func exitView(x *journal.Exit) *api.Exit {
	v := &api.Exit{Usage: api.Usage{UserMS: x.User.Milliseconds(), SystemMS: x.System.Milliseconds(), MaxRSS: x.MaxRSS}}
	if x.Signal != 0 {
		v.Signal = registry.SignalName(x.Signal)
	} else {
		v.ExitCode = &x.Code
	}
	return v
}
