//go:build unix

package output

import (
	"bufio"
	"bytes"
	"io"
	"os"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/pipeoutput"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// TextWriter writes output as plain text, line by line. An incomplete line, such as a prompt, is printed as far as it
// has arrived, and printed again if it changes later.
//
// It omits binary data and the output of full-screen programs.
type TextWriter struct {
	w          *bufio.Writer
	mask       pipeoutput.Mask
	data       []byte // scratch buffer for masked data
	plain      plaintext.Writer
	shown      []byte // printed part of the unfinished line
	unfinished []byte // scratch buffer for the unfinished line
	agent      bool   // the reader is an agent: make invisible characters visible
	// OnBinary, if set, is called at the end with the number of bytes that are not text.
	OnBinary       func(bytes uint64)
	reportedBinary uint64 // bytes reported by OnBinary so far
}

func NewTextWriter(w io.Writer) *TextWriter {
	return &TextWriter{w: bufio.NewWriterSize(w, 64<<10), agent: os.Getenv(identity.Env) != ""}
}

// ForAgent returns a text as agents receive it, with invisible characters made visible. Users receive it unchanged.
func ForAgent(text string) string {
	if os.Getenv(identity.Env) == "" {
		return text
	}
	return plaintext.Visible(text)
}

func (t *TextWriter) Put(o api.Output) error {
	if o.Gap > 0 {
		t.mask.Restart()
	}
	t.data = append(t.data[:0], o.Data...)
	t.mask.Apply(t.data)
	t.plain.Each(t.data, t.line)
	t.unfinished, _, _ = t.plain.AppendUnfinished(t.unfinished[:0])
	t.advance(t.unfinished)
	return t.w.Flush()
}

// line prints a line, or a piece of a line whose start may already be printed.
func (t *TextWriter) line(l plaintext.Line) {
	if len(t.shown) > 0 || t.agent {
		t.advance(l.Text)
		t.shown = t.shown[:0]
	} else {
		_, _ = t.w.Write(l.Text) // errors stick in the bufio.Writer
	}
	if !l.More {
		_ = t.w.WriteByte('\n')
	}
}

// advance prints the part of line that is not printed yet.
func (t *TextWriter) advance(line []byte) {
	rest, ok := bytes.CutPrefix(line, t.shown)
	if !ok {
		_ = t.w.WriteByte('\n')
		rest = line
	}
	if t.agent {
		rest = []byte(plaintext.Visible(string(rest)))
	}
	_, _ = t.w.Write(rest)
	t.shown = append(t.shown[:0], line...)
}

func (t *TextWriter) Flush() error {
	if len(t.shown) > 0 {
		t.shown = t.shown[:0]
		_ = t.w.WriteByte('\n')
	}
	if held := t.mask.MaskedBytes(); held != t.reportedBinary && t.OnBinary != nil {
		t.reportedBinary = held
		t.OnBinary(held)
	}
	return t.w.Flush()
}

// PlainText returns raw output as text.
func PlainText(raw []byte) string {
	var p plaintext.Writer
	var b bytes.Buffer
	p.Each(raw, func(l plaintext.Line) {
		b.Write(l.Text)
		if !l.More {
			b.WriteByte('\n')
		}
	})
	rest, _, _ := p.AppendUnfinished(nil)
	b.Write(rest)
	return b.String()
}
