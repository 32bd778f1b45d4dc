//go:build unix

package output

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/capture"
	"github.com/longterm-dev/longterm/session/client"
)

// Writer writes output pieces in one of the forms.
type Writer interface {
	Put(api.Output) error
	Flush() error
}

// Writer is how output is printed: as JSON, as bytes, or as text.
func (p *Printer) Writer(raw bool) Writer {
	switch {
	case p.JSON:
		return jsonWriter{json.NewEncoder(p.Stdout)}
	case raw:
		return rawWriter{p.Stdout}
	}
	return p.TextWriter()
}

type jsonWriter struct{ enc *json.Encoder }

func (w jsonWriter) Put(o api.Output) error { return w.enc.Encode(o) }

func (w jsonWriter) Flush() error { return nil }

// NewRawWriter writes bytes as they are.
func NewRawWriter(w io.Writer) Writer { return rawWriter{w} }

type rawWriter struct{ w io.Writer }

func (w rawWriter) Put(o api.Output) error {
	_, err := w.w.Write(o.Data)
	return err
}

func (w rawWriter) Flush() error { return nil }

// ReadAll reads output from an offset to what is there now.
func ReadAll(ctx context.Context, s *client.Session, from uint64, take func(api.Output) error) error {
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

// ReadRange reads output between two offsets.
func ReadRange(ctx context.Context, s *client.Session, from, to uint64, take func(api.Output) error) error {
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

// PipeWriter writes the two streams to where they belong.
type PipeWriter struct {
	out, err sink
	budgets  []*BudgetWriter // of stdout and stderr; empty: all is printed
}

// sink is where a stream goes.
type sink interface {
	io.Writer
	Flush() error
}

// PipeWriter prints stdout and stderr of a command on pipes, each to ours, in the order they came.
//
// A pipe or a file gets the bytes as they are, whatever they are: `run --pipe` is a filter. (An agent reads through
// a pipe: what is not seen is made visible to it there, unless it asks for raw bytes.) On a terminal they are
// shown as text, and binary data is only counted. In JSON they are text, and binary data is left out. The history
// has all of it.
func (p *Printer) PipeWriter(e capture.Encoding, raw bool) Writer {
	return &PipeWriter{
		out: p.sink(p.Stdout, termio.IsTerminal(p.Stdout), e, raw), err: p.sink(p.Stderr, termio.IsTerminal(p.Stderr), e, raw),
	}
}

func (p *Printer) sink(w io.Writer, tty bool, e capture.Encoding, raw bool) sink {
	switch {
	case raw:
		return plainSink{Writer: w}
	case !tty && !e.Other():
		return forAgent(w)
	case !tty:
		to := forAgent(w)
		d := e.Decoder(to)
		return plainSink{Writer: d, end: d, then: to}
	}
	return p.terminalSink(w, e)
}

// BudgetPipeWriter is one that prints each stream within a budget.
func (p *Printer) BudgetPipeWriter(e capture.Encoding, raw bool, b BudgetFlags, session string) *PipeWriter {
	w := &PipeWriter{budgets: []*BudgetWriter{b.Writer(p.Stdout, true, session, "stdout"), b.Writer(p.Stderr, true, session, "stderr")}}
	w.out = p.sink(w.budgets[0], termio.IsTerminal(p.Stdout), e, raw)
	w.err = p.sink(w.budgets[1], termio.IsTerminal(p.Stderr), e, raw)
	return w
}

// Cut says that not all was printed.
func (w *PipeWriter) Cut() bool {
	for _, b := range w.budgets {
		if b.Cut() {
			return true
		}
	}
	return false
}

// plainSink passes bytes on.
type plainSink struct {
	io.Writer
	end  io.Closer
	then sink // where what is left at the end goes
}

func (s plainSink) Flush() (err error) {
	if s.end != nil {
		err = s.end.Close()
	}
	if s.then != nil {
		err = errors.Join(err, s.then.Flush())
	}
	return err
}

// terminalSink shows text on a person's terminal, and how much there is of what is none.
type terminalSink struct {
	io.Writer
	gate capture.Gate
	text *TextWriter
	end  io.Closer
	tell func(bytes uint64)
	told uint64 // bytes held back, as last told
}

func (p *Printer) terminalSink(w io.Writer, e capture.Encoding) *terminalSink {
	s := &terminalSink{text: NewTextWriter(w)}
	s.tell = func(bytes uint64) {
		s.told = bytes
		p.BinaryProgress(bytes)
	}
	s.gate.Progress = s.tell
	s.Writer, s.end = capture.Pipeline(e, &s.gate, writerFunc(func(p []byte) (int, error) {
		return len(p), s.text.Put(api.Output{Data: p})
	}))
	return s
}

func (s *terminalSink) Flush() error {
	err := errors.Join(s.end.Close(), s.text.Flush())
	if held := s.gate.Held(); held != s.told {
		s.tell(held)
	}
	return err
}

// leftOut is the notice of bytes that are not shown because they are no text.
const leftOut = "longterm: %d bytes that are not text are not shown (--raw shows them)\n"

// BinaryProgress prints how many bytes are not shown because they are no text.
func (p *Printer) BinaryProgress(bytes uint64) { fmt.Fprintf(p.Stderr, leftOut, bytes) }

// BinaryLeft prints how many bytes are not shown because they are not text, where no flag shows them.
func (p *Printer) BinaryLeft(bytes uint64) {
	fmt.Fprintf(p.Stderr, "longterm: %d bytes that are not text are not shown\n", bytes)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func (w *PipeWriter) Put(o api.Output) error {
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

func (w *PipeWriter) Flush() error {
	err := errors.Join(w.out.Flush(), w.err.Flush())
	for _, b := range w.budgets {
		err = errors.Join(err, b.Flush())
	}
	return err
}

// TextWriter prints text on stdout; on a terminal binary data is only counted.
func (p *Printer) TextWriter() Writer {
	if termio.IsTerminal(p.Stdout) {
		return sinkWriter{p.terminalSink(p.Stdout, capture.Encoding{})}
	}
	w := NewTextWriter(p.Stdout)
	w.LeftOut = p.BinaryProgress
	return w
}

type sinkWriter struct{ sink }

func (w sinkWriter) Put(o api.Output) error {
	_, err := w.sink.Write(o.Data)
	return err
}

// TellLeftOut says on the standard error what of a line's output is no text, and where to look at it.
func (p *Printer) TellLeftOut(r *api.Result) {
	if r.BinaryBytes > 0 {
		fmt.Fprintf(p.Stderr, "longterm: binary: %d bytes are not text; `longterm output %s --raw --from %d --to %d` prints them\n",
			r.BinaryBytes, r.Session[:min(8, len(r.Session))], r.Range.Start, r.Range.End)
	}
	if o := r.Omitted; o != nil && o.Read != "" {
		tellRest(p.Stderr, o.Lines, int(o.Bytes), o.Read)
	}
	if r.Cleared != "" {
		fmt.Fprintf(p.Stderr, "longterm: what was typed before and not ended was cleared: %s\n", Printable(r.Cleared))
	}
	if r.Hint != "" {
		fmt.Fprintf(p.Stderr, "longterm: %s\n", r.Hint)
	}
}

// maxRefusals bounds the executions that are told of one by one.
const maxRefusals = 5

// TellRefused says on the standard error which programs were not let run, and why: all that the program that wanted to
// run them is told is that it may not.
func (p *Printer) TellRefused(r *api.Result) {
	for i := range r.Refused[:min(maxRefusals, len(r.Refused))] {
		fmt.Fprintf(p.Stderr, "longterm: %s\n", RefusedText(&r.Refused[i]))
	}
	if n := len(r.Refused) - maxRefusals; n > 0 {
		fmt.Fprintf(p.Stderr, "longterm: %s not run either; --json has all\n", HowMany(n, "program was", "programs were"))
	}
}

// TellNoStatus prints a note if a program without exit statuses, such as a REPL, read the line.
func (p *Printer) TellNoStatus(r *api.Result) {
	if r.ExitUnknown == api.ExitNone {
		fmt.Fprintln(p.Stderr, "longterm: no exit status: the program reports none for a line; check the output")
	}
}

// RefusedText is an execution that was refused, in a line.
func RefusedText(r *api.Refused) string {
	what := strings.Join(r.Argv, " ")
	if what == "" {
		what = r.Path
	}
	text := "not run: " + Printable(Shorten(what, 200)) + ": " + Printable(r.Why)
	if r.Instead != "" {
		text += "; " + Printable(r.Instead)
	}
	return text
}
