//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/exit"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/output/budget"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// Output within a budget, --max-output and --max-line: the head is printed as it comes, the
// tail at the end, and between them stands what reads the rest.

// budgetFlags bound what is printed. Zero fields are no limit.
type budgetFlags struct{ bytes, line int }

func (b *budgetFlags) register(c *cobra.Command) {
	c.Flags().IntVar(&b.bytes, "max-output", 0, "bytes to print, head and tail; what reads the rest stands between them (default: all)")
	c.Flags().IntVar(&b.line, "max-line", 0, "bytes of one line to print, head and tail (default: all)")
}

func (b *budgetFlags) check() error {
	if b.bytes < 0 || b.line < 0 || b.bytes > maxBudget || b.line > maxBudget {
		return exit.Usagef("--max-output and --max-line are 1 to %d bytes; 0: all", maxBudget)
	}
	return nil
}

func (b *budgetFlags) given() bool { return b.bytes > 0 || b.line > 0 }

// maxBudget is the greatest budget there is: it is held in memory.
const maxBudget = 16 << 20

// budgetWriter prints what a session printed within a budget.
type budgetWriter struct {
	w       io.Writer
	b       *budget.Budget
	raw     bool // bytes as they are, else text
	at      uint64
	plain   plaintext.Writer
	base    uint64 // offset of the first byte given to plain
	begun   bool
	printed int
	info    budget.CutInfo
}

func (b budgetFlags) writer(w io.Writer, raw bool, session, stream string) *budgetWriter {
	if b.bytes == 0 {
		b.bytes = maxBudget
	}
	out := &budgetWriter{w: w, raw: raw, b: &budget.Budget{Max: b.bytes, Line: b.line, ANSI: raw}}
	out.b.More = func(from, to uint64) string { return rereads(session, stream, from, to) }
	return out
}

// rereads is the command that prints a range of a session's output.
func rereads(session, stream string, from, to uint64) string {
	if stream != "" {
		stream = " --stream " + stream
	}
	return fmt.Sprintf("longterm output %s --from %d --to %d%s", session[:min(8, len(session))], from, to, stream)
}

func (w *budgetWriter) write(o api.Output) error {
	if w.raw {
		w.at = o.From
		_, err := w.Write(o.Data)
		return err
	}
	if !w.begun || o.Gap > 0 {
		w.rest()
		w.plain, w.base, w.begun = plaintext.Writer{}, o.From, true
	}
	_, _ = w.plain.Write(o.Data) // never fails
	w.plain.Lines(func(l plaintext.Line) { w.b.Add(l.Text, w.base+l.From, w.base+l.To, l.More) })
	return w.show(w.b.Ready())
}

// Write takes bytes that stand at the writer's offset.
func (w *budgetWriter) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		n, more := len(rest), true
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			n, more = i+1, false
		}
		w.b.Add(bytes.TrimSuffix(rest[:n], []byte{'\n'}), w.at, w.at+uint64(n), more)
		w.at += uint64(n)
		rest = rest[n:]
	}
	return len(p), w.show(w.b.Ready())
}

// show prints what is not printed yet.
func (w *budgetWriter) show(text []byte) error {
	if len(text) <= w.printed {
		return nil
	}
	_, err := w.w.Write(text[w.printed:])
	w.printed = len(text)
	return err
}

func (w *budgetWriter) rest() {
	if text, from, to := w.plain.Rest(nil); len(text) > 0 {
		w.b.Add(text, w.base+from, w.base+to, true)
	}
}

func (w *budgetWriter) flush() error {
	w.rest()
	text, info := w.b.Finish()
	w.info = info
	if !w.raw && text != "" && text[len(text)-1] != '\n' {
		text += "\n"
	}
	return w.show([]byte(text))
}

// cut says that not all was printed.
func (w *budgetWriter) cut() bool { return w.info.Cut }
