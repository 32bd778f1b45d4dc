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
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/pipeoutput"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// Writer writes pieces of output in some form, until Flush.
type Writer interface {
	Put(api.Output) error
	Flush() error
}

// Writer returns the writer for output: JSON, unchanged bytes, or text.
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

// ReadAll reads output from an offset up to its current end, and calls take for each piece.
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

// ReadRange reads output between two offsets, and calls take for each piece.
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

// PipeWriter writes a command's stdout and stderr to this process's stdout and stderr.
type PipeWriter struct {
	out, err sink
	budgets  []*BudgetWriter // of stdout and stderr; empty: no limit
}

// sink is the destination of a stream.
type sink interface {
	io.Writer
	Flush() error
}

// PipeWriter prints stdout and stderr of a command on pipes, each to ours, in their order of arrival.
//
// Pipes and files receive unchanged bytes, so `run --pipe` works as a filter. An agent reads through a pipe, so
// invisible characters are made visible for it, unless it requests raw bytes. Terminals receive text, and binary data
// is only counted. JSON contains text without binary data. The history has all of it.
func (p *Printer) PipeWriter(e pipeoutput.Encoding, raw bool) Writer {
	return &PipeWriter{
		out: p.sink(p.Stdout, termio.IsTerminal(p.Stdout), e, raw), err: p.sink(p.Stderr, termio.IsTerminal(p.Stderr), e, raw),
	}
}

func (p *Printer) sink(w io.Writer, tty bool, e pipeoutput.Encoding, raw bool) sink {
	switch {
	case raw:
		return plainSink{Writer: w}
	case !tty && !e.NeedsDecoding():
		return forAgent(w)
	case !tty:
		to := forAgent(w)
		d := e.Decoder(to)
		return plainSink{Writer: d, end: d, next: to}
	}
	return p.terminalSink(w, e)
}

// BudgetPipeWriter returns a PipeWriter that prints each stream within a budget.
func (p *Printer) BudgetPipeWriter(e pipeoutput.Encoding, raw bool, b BudgetFlags, session string) *PipeWriter {
	w := &PipeWriter{budgets: []*BudgetWriter{b.Writer(p.Stdout, true, session, "stdout"), b.Writer(p.Stderr, true, session, "stderr")}}
	w.out = p.sink(w.budgets[0], termio.IsTerminal(p.Stdout), e, raw)
	w.err = p.sink(w.budgets[1], termio.IsTerminal(p.Stderr), e, raw)
	return w
}

// IsTruncated reports whether a stream was truncated.
func (w *PipeWriter) IsTruncated() bool {
	for _, b := range w.budgets {
		if b.IsTruncated() {
			return true
		}
	}
	return false
}

// plainSink writes unchanged bytes.
type plainSink struct {
	io.Writer
	end  io.Closer
	next sink // destination of the incomplete bytes at the end
}

func (s plainSink) Flush() (err error) {
	if s.end != nil {
		err = s.end.Close()
	}
	if s.next != nil {
		err = errors.Join(err, s.next.Flush())
	}
	return err
}

// terminalSink writes text to the user's terminal, and counts bytes that are not text.
type terminalSink struct {
	io.Writer
	gate       pipeoutput.Gate // separates text from binary data
	text       *TextWriter
	end        io.Closer
	onHeldBack func(bytes uint64) // reports the number of bytes held back
	reported   uint64             // held-back bytes when last reported
}

func (p *Printer) terminalSink(w io.Writer, e pipeoutput.Encoding) *terminalSink {
	s := &terminalSink{text: NewTextWriter(w)}
	s.onHeldBack = func(bytes uint64) {
		s.reported = bytes
		p.PrintBinaryProgress(bytes)
	}
	s.gate.Progress = s.onHeldBack
	s.Writer, s.end = pipeoutput.Pipeline(e, &s.gate, writerFunc(func(p []byte) (int, error) {
		return len(p), s.text.Put(api.Output{Data: p})
	}))
	return s
}

func (s *terminalSink) Flush() error {
	err := errors.Join(s.end.Close(), s.text.Flush())
	if held := s.gate.HeldBytes(); held != s.reported {
		s.onHeldBack(held)
	}
	return err
}

// binaryOmitted is the message about bytes that are not printed because they are not text.
const binaryOmitted = "longterm: %d bytes of binary data omitted; use --raw to print them\n"

// PrintBinaryProgress prints how many bytes are not shown because they are not text.
func (p *Printer) PrintBinaryProgress(bytes uint64) { fmt.Fprintf(p.Stderr, binaryOmitted, bytes) }

// PrintBinaryOmitted prints at the end how many bytes are not shown because they are not text.
func (p *Printer) PrintBinaryOmitted(bytes uint64) {
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
			w.budgets[n].offset = at
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
		return sinkWriter{p.terminalSink(p.Stdout, pipeoutput.Encoding{})}
	}
	w := NewTextWriter(p.Stdout)
	w.OnBinary = p.PrintBinaryProgress
	return w
}

type sinkWriter struct{ sink }

func (w sinkWriter) Put(o api.Output) error {
	_, err := w.sink.Write(o.Data)
	return err
}

// PrintOmitted prints on standard error which parts of the output were omitted, and the command that prints them.
func (p *Printer) PrintOmitted(r *api.Result) {
	if r.BinaryBytes > 0 {
		fmt.Fprintf(p.Stderr, "longterm: %d bytes of binary data omitted; see `longterm output %s --raw --from %d --to %d`\n",
			r.BinaryBytes, r.Session[:min(8, len(r.Session))], r.Range.Start, r.Range.End)
	}
	if o := r.Omitted; o != nil && o.Read != "" {
		printRest(p.Stderr, o.Lines, int(o.Bytes), o.Read)
	}
	p.PrintNotes(r)
	if r.Cleared != "" {
		fmt.Fprintf(p.Stderr, "longterm: partial line cleared before the start: %s\n", Printable(r.Cleared))
	}
	p.PrintHint(r)
}

// PrintHint prints the hint of a result on standard error.
func (p *Printer) PrintHint(r *api.Result) {
	if r.Hint != "" {
		fmt.Fprintf(p.Stderr, "longterm: %s\n", Printable(r.Hint))
	}
}

// PrintNotes prints on standard error the summary of the output or its error, and the note about the environment.
func (p *Printer) PrintNotes(r *api.Result) {
	if r.Summary != "" {
		fmt.Fprintf(p.Stderr, "longterm: summary of the output: %s\n", plaintext.Visible(r.Summary))
	}
	if r.SummaryError != "" {
		fmt.Fprintf(p.Stderr, "longterm: %s\n", Printable(r.SummaryError))
	}
	if note := r.EnvNote(); note != "" {
		fmt.Fprintf(p.Stderr, "longterm: %s\n", note)
	}
}

// maxRefusals limits the rejected executions that are printed one by one.
const maxRefusals = 5

// PrintRefused prints on standard error which programs the rules rejected, and why: the calling program only gets a
// permission error.
func (p *Printer) PrintRefused(r *api.Result) {
	for i := range r.Refused[:min(maxRefusals, len(r.Refused))] {
		fmt.Fprintf(p.Stderr, "longterm: %s\n", RefusedText(&r.Refused[i]))
	}
	if n := len(r.Refused) - maxRefusals; n > 0 {
		fmt.Fprintf(p.Stderr, "longterm: %s more not run; see --json for all\n", CountNoun(n, "program", "programs"))
	}
}

// NoteNoStatus prints a note if a program without exit statuses, such as a REPL, read the line.
func (p *Printer) NoteNoStatus(r *api.Result) {
	if r.ExitUnknown == api.ExitNone {
		fmt.Fprintln(p.Stderr, "longterm: no exit status: the program reports none for a line; check the output")
	}
}

// RefusedText describes a rejected execution in one line.
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
