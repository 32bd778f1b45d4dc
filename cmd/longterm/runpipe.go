//go:build unix

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/capture"
	"github.com/longterm-dev/longterm/session/client"
)

// `run` on pipes. What the command writes to stdout goes to ours and what it writes to
// stderr to ours, in the order it came, and our standard input goes to it.
//
// A pipe or a file gets the bytes as they are, whatever they are: `run --pipe` is a filter.
// On a terminal they are shown as text, and binary data is only counted. In JSON they are
// text, and binary data is left out. The history has all of it.

// feedBytes is how much of our input is passed on at once.
const feedBytes = 512 << 10

// pipeRequest completes a request with what `run` wants of pipes.
func pipeRequest(a *app, r *runFlags, n *api.NewSession) (capture.Encoding, error) {
	e, err := capture.ParseEncoding(r.encoding)
	if err != nil {
		return e, usagef("%w", err)
	}
	n.PipeFallback = true
	n.Stdin = !isTerminal(a.stdin)
	return e, nil
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

func (a *app) pipeWriter(e capture.Encoding, raw bool) outputWriter {
	return &pipeWriter{
		out: a.sink(a.stdout, isTerminal(a.stdout), e, raw), err: a.sink(a.stderr, isTerminal(a.stderr), e, raw),
	}
}

func (a *app) sink(w io.Writer, tty bool, e capture.Encoding, raw bool) sink {
	switch {
	case raw, !tty && !e.Other():
		return plainSink{Writer: w}
	case !tty:
		d := e.Decoder(w)
		return plainSink{Writer: d, end: d}
	}
	return a.terminalSink(w, e)
}

// budgetPipeWriter is one that prints each stream within a budget.
func (a *app) budgetPipeWriter(e capture.Encoding, raw bool, b budgetFlags, session string) *pipeWriter {
	w := &pipeWriter{budgets: []*budgetWriter{b.writer(a.stdout, true, session, "stdout"), b.writer(a.stderr, true, session, "stderr")}}
	w.out = a.sink(w.budgets[0], isTerminal(a.stdout), e, raw)
	w.err = a.sink(w.budgets[1], isTerminal(a.stderr), e, raw)
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

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
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

func (a *app) terminalSink(w io.Writer, e capture.Encoding) *terminalSink {
	s := &terminalSink{text: newTextWriter(w)}
	s.tell = func(bytes uint64) {
		s.told = bytes
		a.binaryProgress(bytes)
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

func (a *app) binaryProgress(bytes uint64) {
	fmt.Fprintf(a.stderr, "longterm: %d bytes that are no text are not shown (--raw shows them)\n", bytes)
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
func (a *app) textWriter() outputWriter {
	if isTerminal(a.stdout) {
		return sinkWriter{a.terminalSink(a.stdout, capture.Encoding{})}
	}
	return newTextWriter(a.stdout)
}

type sinkWriter struct{ sink }

func (w sinkWriter) write(o api.Output) error {
	_, err := w.sink.Write(o.Data)
	return err
}

// pipeCollector keeps both streams for --json.
type pipeCollector struct{ out *capture.Output }

func newPipeCollector(e capture.Encoding, b budgetFlags) *pipeCollector {
	return &pipeCollector{capture.NewOutput(e, cmp.Or(b.bytes, defaultBudget))}
}

// defaultBudget is what a result has of an output unless more is asked for.
const defaultBudget = 16 << 10

func (c *pipeCollector) write(o api.Output) error {
	data := o.Data
	if len(o.Streams) == 0 {
		c.out.Write("merged", data)
	}
	for _, r := range o.Streams {
		c.out.Write(r.Stream, data[:r.Bytes])
		data = data[r.Bytes:]
	}
	return nil
}
func (c *pipeCollector) flush() error { return nil }

// report puts what was collected into a result.
func (c *pipeCollector) report(res *api.Result) {
	t := c.out.Finish()
	res.Output, res.Truncated, res.Merged = t.Merged, t.Truncated, !t.Apart
	if t.Apart {
		res.Stdout, res.Stderr = &t.Stdout, &t.Stderr
	}
	if t.Binary {
		res.Binary, res.BinaryBytes = true, t.BinaryBytes
	}
}

// feed passes our standard input on until it ends, or the command reads no more.
func feed(ctx context.Context, a *app, s *client.Session) {
	buf := make([]byte, feedBytes)
	for {
		n, err := a.stdin.Read(buf)
		if n > 0 {
			if _, terr := s.Type(ctx, api.Input{Data: buf[:n]}); terr != nil {
				refused(ctx, a, s, terr)
				return
			}
		}
		if err != nil {
			endInput(ctx, s)
			return
		}
	}
}

// refused ends the input after it could not be passed on. A command that closed its input
// or ended did not want it; anything else is said.
func refused(ctx context.Context, a *app, s *client.Session, err error) {
	var e *api.Error
	if errors.As(err, &e) && e.Code == api.CodeEnded || ctx.Err() != nil {
		return
	}
	fmt.Fprintf(a.stderr, "longterm: standard input ends here for the command, some of it may be missing: %v\n", err)
	endInput(ctx, s)
}

// endInput closes the command's input, which may have ended meanwhile. Closing it twice is
// fine, so a daemon that was replaced is asked again.
func endInput(ctx context.Context, s *client.Session) {
	var e *api.Error
	for range 50 {
		if _, err := s.Type(ctx, api.Input{EOF: true}); !errors.As(err, &e) || e.Code != api.CodeUnavailable {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}
