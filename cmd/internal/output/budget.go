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
	"github.com/longterm-dev/longterm/session/capture"
	"github.com/longterm-dev/longterm/session/output/budget"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// Output within a budget, --max-output and --max-line: the head is printed as it comes, the
// tail at the end, and between them stands what reads the rest.

// BudgetFlags bound what is printed. Zero fields are no limit.
type BudgetFlags struct{ Bytes, Line int }

func (b *BudgetFlags) Register(c *cobra.Command) {
	c.Flags().IntVar(&b.Bytes, "max-output", 0, "bytes to print: head and tail, and between them the command that prints the rest (default: all)")
	c.Flags().IntVar(&b.Line, "max-line", 0, "bytes of one line to print, head and tail (default: all)")
}

func (b *BudgetFlags) Check() error {
	if b.Bytes < 0 || b.Line < 0 || b.Bytes > MaxBudget || b.Line > MaxBudget {
		return exit.Usagef("--max-output and --max-line are 1 to %d bytes; 0: all", MaxBudget)
	}
	return nil
}

func (b *BudgetFlags) Given() bool { return b.Bytes > 0 || b.Line > 0 }

// MaxBudget is the greatest budget there is: it is held in memory.
const MaxBudget = 16 << 20

// BudgetWriter prints what a session printed within a budget.
type BudgetWriter struct {
	w       io.Writer
	b       *budget.Budget
	raw     bool // bytes as they are, else text
	at      uint64
	mask    capture.Mask
	data    []byte // scratch: what is masked
	plain   plaintext.Writer
	base    uint64 // offset of the first byte given to plain
	begun   bool
	printed int
	info    budget.CutInfo
	unsaid  string // the command that prints the rest, where the budget had no room for it
}

func (b BudgetFlags) Writer(w io.Writer, raw bool, session, stream string) *BudgetWriter {
	if b.Bytes == 0 {
		b.Bytes = MaxBudget
	}
	out := &BudgetWriter{w: w, raw: raw, b: &budget.Budget{Max: b.Bytes, Line: b.Line, ANSI: raw}}
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

func (w *BudgetWriter) Put(o api.Output) error {
	if w.raw {
		w.at = o.From
		_, err := w.Write(o.Data)
		return err
	}
	if !w.begun || o.Gap > 0 {
		w.rest()
		w.plain, w.base, w.begun = plaintext.Writer{}, o.From, true
		w.mask.Restart()
	}
	w.data = append(w.data[:0], o.Data...)
	w.mask.Apply(w.data)
	w.plain.Each(w.data, func(l plaintext.Line) { w.b.Add(l.Text, w.base+l.From, w.base+l.To, l.More) })
	return w.show(w.b.Ready())
}

// Write takes bytes that stand at the writer's offset.
func (w *BudgetWriter) Write(p []byte) (int, error) {
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
func (w *BudgetWriter) show(text []byte) error {
	if len(text) <= w.printed {
		return nil
	}
	_, err := w.w.Write(text[w.printed:])
	w.printed = len(text)
	return err
}

func (w *BudgetWriter) rest() {
	if text, from, to := w.plain.Rest(nil); len(text) > 0 {
		w.b.Add(text, w.base+from, w.base+to, true)
	}
}

func (w *BudgetWriter) Flush() error {
	w.rest()
	text, info := w.b.Finish()
	w.info = info
	if info.Cut && info.To > info.From && w.b.More != nil {
		if read := w.b.More(info.From, info.To); !strings.Contains(text, read) {
			w.unsaid = read
		}
	}
	if !w.raw && text != "" && text[len(text)-1] != '\n' {
		text += "\n"
	}
	return w.show([]byte(text))
}

// TellRest says on w what prints the rest, where the budget had no room for that.
func (w *BudgetWriter) TellRest(to io.Writer) {
	if held := w.mask.Held(); held > 0 {
		fmt.Fprintf(to, leftOut, held)
	}
	if w.unsaid != "" {
		tellRest(to, w.info.Lines, w.info.Bytes, w.unsaid)
	}
}

func tellRest(to io.Writer, lines, bytes int, command string) {
	fmt.Fprintf(to, "longterm: %s (%d bytes) left out; `%s` prints what is between\n", HowMany(lines, "line is", "lines are"), bytes, command)
}

// Cut says that not all was printed.
func (w *BudgetWriter) Cut() bool { return w.info.Cut }
