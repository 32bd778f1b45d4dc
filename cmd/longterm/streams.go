//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/termio"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/capture"
	"github.com/longterm-dev/longterm/session/client"
)

// outputWriter writes output pieces in one of the forms.
type outputWriter interface {
	write(api.Output) error
	flush() error
}

func (p *printer) outputWriter(raw bool) outputWriter {
	switch {
	case p.json:
		return jsonWriter{json.NewEncoder(p.stdout)}
	case raw:
		return rawWriter{p.stdout}
	}
	return p.textWriter()
}

type jsonWriter struct{ enc *json.Encoder }

func (w jsonWriter) write(o api.Output) error { return w.enc.Encode(o) }

func (w jsonWriter) flush() error { return nil }

type rawWriter struct{ w io.Writer }

func (w rawWriter) write(o api.Output) error {
	_, err := w.w.Write(o.Data)
	return err
}

func (w rawWriter) flush() error { return nil }

func readAll(ctx context.Context, s *client.Session, from uint64, take func(api.Output) error) error {
	for {
		o, err := s.Output(ctx, from, 0)
		if err != nil {
			return err
		}
		if o.Next == from {
			return nil
		}
		if err := take(o); err != nil {
			return err
		}
		from = o.Next
	}
}

// readRange reads output between two offsets.
func readRange(ctx context.Context, s *client.Session, from, to uint64, take func(api.Output) error) error {
	for from < to {
		o, err := s.OutputPart(ctx, from, to)
		if err != nil {
			return err
		}
		if o.Next == from {
			return nil
		}
		if err := take(o); err != nil {
			return err
		}
		from = o.Next
	}
	return nil
}

// pipeWriter writes the two streams to where they belong.
type pipeWriter struct {
	out, err sink
	budgets  []*budgetWriter // of stdout and stderr; empty: all is printed
}

// sink is where a stream goes.
type sink interface {
	io.Writer
	flush() error
}

func (p *printer) pipeWriter(e capture.Encoding, raw bool) outputWriter {
	return &pipeWriter{
		out: p.sink(p.stdout, termio.IsTerminal(p.stdout), e, raw), err: p.sink(p.stderr, termio.IsTerminal(p.stderr), e, raw),
	}
}

func (p *printer) sink(w io.Writer, tty bool, e capture.Encoding, raw bool) sink {
	switch {
	case raw, !tty && !e.Other():
		return plainSink{Writer: w}
	case !tty:
		d := e.Decoder(w)
		return plainSink{Writer: d, end: d}
	}
	return p.terminalSink(w, e)
}

// budgetPipeWriter is one that prints each stream within a budget.
func (p *printer) budgetPipeWriter(e capture.Encoding, raw bool, b budgetFlags, session string) *pipeWriter {
	w := &pipeWriter{budgets: []*budgetWriter{b.writer(p.stdout, true, session, "stdout"), b.writer(p.stderr, true, session, "stderr")}}
	w.out = p.sink(w.budgets[0], termio.IsTerminal(p.stdout), e, raw)
	w.err = p.sink(w.budgets[1], termio.IsTerminal(p.stderr), e, raw)
	return w
}

func (w *pipeWriter) cut() bool {
	for _, b := range w.budgets {
		if b.cut() {
			return true
		}
	}
	return false
}

// plainSink passes bytes on.
type plainSink struct {
	io.Writer
	end io.Closer
}

func (s plainSink) flush() error {
	if s.end == nil {
		return nil
	}
	return s.end.Close()
}

// terminalSink shows text on a person's terminal, and how much there is of what is none.
type terminalSink struct {
	io.Writer
	gate capture.Gate
	text *textWriter
	end  io.Closer
	tell func(bytes uint64)
	told uint64 // bytes held back, as last told
}

func (p *printer) terminalSink(w io.Writer, e capture.Encoding) *terminalSink {
	s := &terminalSink{text: newTextWriter(w)}
	s.tell = func(bytes uint64) {
		s.told = bytes
		p.binaryProgress(bytes)
	}
	s.gate.Progress = s.tell
	s.Writer, s.end = capture.Pipeline(e, &s.gate, writerFunc(func(p []byte) (int, error) {
		return len(p), s.text.write(api.Output{Data: p})
	}))
	return s
}

func (s *terminalSink) flush() error {
	err := errors.Join(s.end.Close(), s.text.flush())
	if held := s.gate.Held(); held != s.told {
		s.tell(held)
	}
	return err
}

func (p *printer) binaryProgress(bytes uint64) {
	fmt.Fprintf(p.stderr, "longterm: %d bytes that are no text are not shown (--raw shows them)\n", bytes)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func (w *pipeWriter) write(o api.Output) error {
	data := o.Data
	runs := o.Streams
	if len(runs) == 0 {
		runs = []api.StreamRun{{Stream: "merged", Bytes: len(data)}}
	}
	at := o.From
	for _, r := range runs {
		to, n := w.out, 0
		if r.Stream == "stderr" {
			to, n = w.err, 1
		}
		if len(w.budgets) > 0 {
			w.budgets[n].at = at
		}
		at += uint64(r.Bytes)
		if _, err := to.Write(data[:r.Bytes]); err != nil {
			return err
		}
		data = data[r.Bytes:]
	}
	return nil
}

func (w *pipeWriter) flush() error {
	err := errors.Join(w.out.flush(), w.err.flush())
	for _, b := range w.budgets {
		err = errors.Join(err, b.flush())
	}
	return err
}

// textWriter prints text on stdout; on a terminal binary data is only counted.
func (p *printer) textWriter() outputWriter {
	if termio.IsTerminal(p.stdout) {
		return sinkWriter{p.terminalSink(p.stdout, capture.Encoding{})}
	}
	return newTextWriter(p.stdout)
}

type sinkWriter struct{ sink }

func (w sinkWriter) write(o api.Output) error {
	_, err := w.sink.Write(o.Data)
	return err
}

// tellLeftOut says on the standard error what of a line's output is no text, and where to look at it.
func (p *printer) tellLeftOut(r *api.Result) {
	if r.BinaryBytes > 0 {
		fmt.Fprintf(p.stderr, "longterm: binary: %d bytes of it are no text; `longterm output %s --raw --from %d --to %d` has them\n",
			r.BinaryBytes, r.Session[:min(8, len(r.Session))], r.Range.Start, r.Range.End)
	}
	if r.Hint != "" {
		fmt.Fprintf(p.stderr, "longterm: %s\n", r.Hint)
	}
}
