//go:build unix

package output

import (
	"bufio"
	"bytes"
	"io"
	"os"

	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/capture"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// TextWriter writes output as plain text, line by line. A line that is still being
// printed, a prompt say, is shown as far as it has come; if it is redrawn later it is
// written again.
//
// What is no text is left out: binary data, and what full-screen programs drew.
type TextWriter struct {
	w     *bufio.Writer
	mask  capture.Mask
	data  []byte // scratch: what is masked
	plain plaintext.Writer
	shown []byte // of the unfinished line
	rest  []byte // scratch
	agent bool
	// LeftOut, if set, is called at the end with the number of bytes that are no text.
	LeftOut func(bytes uint64)
	told    uint64
}

func NewTextWriter(w io.Writer) *TextWriter {
	return &TextWriter{w: bufio.NewWriterSize(w, 64<<10), agent: os.Getenv(actor.Env) != ""}
}

// ForAgent is a text as an agent is handed it: what is not seen in it is made visible. A person's stays as it is.
func ForAgent(text string) string {
	if os.Getenv(actor.Env) == "" {
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
	t.rest, _, _ = t.plain.Rest(t.rest[:0])
	t.advance(t.rest)
	return t.w.Flush()
}

// line writes a line, or a piece of one, of which a beginning may be on the output.
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

// advance writes what of a line is not on the output yet.
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
	if held := t.mask.Held(); held != t.told && t.LeftOut != nil {
		t.told = held
		t.LeftOut(held)
	}
	return t.w.Flush()
}

// PlainText is a whole output as text.
func PlainText(raw []byte) string {
	var p plaintext.Writer
	var b bytes.Buffer
	p.Each(raw, func(l plaintext.Line) {
		b.Write(l.Text)
		if !l.More {
			b.WriteByte('\n')
		}
	})
	rest, _, _ := p.Rest(nil)
	b.Write(rest)
	return b.String()
}
