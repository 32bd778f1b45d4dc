//go:build unix

package output

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/output/budget"
	"github.com/longterm-dev/longterm/session/pipeoutput"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// Output within a budget (--max-output and --max-line): the head is printed as it arrives, the tail at the end, and
// between them the command that prints the rest.

// BudgetFlags limit the printed output: total bytes, and bytes of one line. 0: no limit.
type BudgetFlags struct{ Bytes, Line int }

func (b *BudgetFlags) Register(c *cobra.Command) {
	c.Flags().IntVar(&b.Bytes, "max-output", 0, "maximum `BYTES`: head and tail, between them the command that prints the rest (default: all)")
	c.Flags().IntVar(&b.Line, "max-line", 0, "maximum `BYTES` of a line, head and tail (default: all)")
}

func (b *BudgetFlags) Check() error {
	if b.Bytes < 0 || b.Line < 0 || b.Bytes > MaxBudget || b.Line > MaxBudget {
		return exit.Usagef("--max-output and --max-line: out of range (1 to %d bytes, or 0 for all)", MaxBudget)
	}
	return nil
}

func (b *BudgetFlags) IsSet() bool { return b.Bytes > 0 || b.Line > 0 }

// MaxBudget is the largest budget, which is held in memory.
const MaxBudget = 16 << 20

// BudgetWriter prints session output within a budget.
type BudgetWriter struct {
	w          io.Writer
	b          *budget.Budget
	raw        bool            // unchanged bytes instead of text
	offset     uint64          // offset of the next byte
	mask       pipeoutput.Mask // masks incomplete sequences and binary data
	data       []byte          // scratch buffer for masking
	plain      plaintext.Writer
	base       uint64 // offset of the first byte written to plain
	hasOutput  bool   // output has arrived
	printed    int    // printed bytes
	info       budget.CutInfo
	rereadHint string // command that prints the omitted part, if the budget had no room for it
}

func (b BudgetFlags) Writer(w io.Writer, raw bool, session, stream string) *BudgetWriter {
	if b.Bytes == 0 {
		b.Bytes = MaxBudget
	}
	out := &BudgetWriter{w: w, raw: raw, b: &budget.Budget{Max: b.Bytes, MaxLine: b.Line, ANSI: raw}}
	out.b.MoreCommand = func(from, to uint64) string { return rereadCommand(session, stream, from, to) }
	return out
}

// rereadCommand returns the command that prints a range of a session's output again.
func rereadCommand(session, stream string, from, to uint64) string {
	if stream != "" {
		stream = " --stream " + stream
	}
	return fmt.Sprintf("longterm output %s --from %d --to %d%s", session[:min(8, len(session))], from, to, stream)
}

func (w *BudgetWriter) Put(o api.Output) error {
	if w.raw {
		w.offset = o.From
		_, err := w.Write(o.Data)
		return err
	}
	if !w.hasOutput || o.Gap > 0 {
		w.flushTail()
		w.plain, w.base, w.hasOutput = plaintext.Writer{}, o.From, true
		w.mask.Restart()
	}
	w.data = append(w.data[:0], o.Data...)
	w.mask.Apply(w.data)
	w.plain.Each(w.data, func(l plaintext.Line) { w.b.Add(l.Text, w.base+l.From, w.base+l.To, l.More) })
	return w.show(w.b.FixedHead())
}

// Write adds bytes at the writer's offset.
func (w *BudgetWriter) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		n, more := len(rest), true
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			n, more = i+1, false
		}
		w.b.Add(bytes.TrimSuffix(rest[:n], []byte{'\n'}), w.offset, w.offset+uint64(n), more)
		w.offset += uint64(n)
		rest = rest[n:]
	}
	return len(p), w.show(w.b.FixedHead())
}

// show prints the part of text that is not printed yet.
func (w *BudgetWriter) show(text []byte) error {
	if len(text) <= w.printed {
		return nil
	}
	_, err := w.w.Write(text[w.printed:])
	w.printed = len(text)
	return err
}

func (w *BudgetWriter) flushTail() {
	if text, from, to := w.plain.AppendUnfinished(nil); len(text) > 0 {
		w.b.Add(text, w.base+from, w.base+to, true)
	}
}

func (w *BudgetWriter) Flush() error {
	w.flushTail()
	text, info := w.b.Finish()
	w.info = info
	if info.Cut && info.To > info.From && w.b.MoreCommand != nil {
		if read := w.b.MoreCommand(info.From, info.To); !strings.Contains(text, read) {
			w.rereadHint = read
		}
	}
	if !w.raw && text != "" && text[len(text)-1] != '\n' {
		text += "\n"
	}
	return w.show([]byte(text))
}

// PrintRest prints to w the command for the omitted part, if the budget had no room for it.
func (w *BudgetWriter) PrintRest(to io.Writer) {
	if held := w.mask.MaskedBytes(); held > 0 {
		fmt.Fprintf(to, binaryOmitted, held)
	}
	if w.rereadHint != "" {
		printRest(to, w.info.Lines, w.info.Bytes, w.rereadHint)
	}
}

// printRest prints how much output was omitted, and the command that prints it.
func printRest(to io.Writer, lines, bytes int, command string) {
	fmt.Fprintf(to, "longterm: %s (%d bytes) omitted; see `%s`\n", CountNoun(lines, "line", "lines"), bytes, command)
}

// IsTruncated reports whether the output was truncated.
func (w *BudgetWriter) IsTruncated() bool { return w.info.Cut }
