package pipeoutput

import (
	"cmp"
	"errors"
	"io"
)

// Output collects both streams of a program.
type Output struct {
	streams  map[string]*stream
	merged   *Window
	separate bool // every piece was of stdout or stderr
	seen     bool
}

// stream is one of them on its way to text.
type stream struct {
	window *Window
	gate   Gate
	in     io.Writer
	flush  io.Closer
}

// NewOutput keeps up to n bytes of each stream, and of both together.
func NewOutput(e Encoding, n int) *Output {
	o := &Output{streams: map[string]*stream{}, merged: NewWindow(n), separate: true}
	for _, name := range []string{"stdout", "stderr", "merged"} {
		s := &stream{window: NewWindow(n)}
		o.streams[name] = s
		text := io.Writer(s.window)
		text = io.MultiWriter(text, o.merged)
		s.in, s.flush = Pipeline(e, &s.gate, text)
	}
	return o
}

// Pipeline connects a stream to w as text; binary data stays in the gate. Encodings other than UTF-8 look binary, so
// their decoded text is judged instead.
func Pipeline(e Encoding, g *Gate, w io.Writer) (in io.Writer, flush io.Closer) {
	if e.isDetected { // bytes that no encoding explains pass, as binary data
		text := Encoding{}.Decoder(w)
		g.W = text
		d := e.Decoder(g)
		return d, closers{d, text}
	}
	if e.NeedsDecoding() {
		g.W = w
		d := e.Decoder(g)
		return d, d
	}
	d := e.Decoder(w)
	g.W = d
	return g, d
}

// closers closes several writers in order.
type closers []io.Closer

// Close implements io.Closer.
func (c closers) Close() (err error) {
	for _, x := range c {
		err = errors.Join(err, x.Close())
	}
	return err
}

// Write adds output of a stream: stdout, stderr or merged.
func (o *Output) Write(name string, p []byte) {
	s, ok := o.streams[name]
	if !ok {
		s = o.streams["merged"]
	}
	o.seen, o.separate = true, o.separate && (name == "stdout" || name == "stderr")
	_, _ = s.in.Write(p) // windows and decoders that replace never fail
}

// Text is what was collected.
type Text struct {
	Stdout, Stderr, Merged string
	Separate               bool // the first two are all there was
	Truncated              bool
	Binary                 bool
	BinaryBytes            uint64 // held back
	Encoding               string // detected: of stdout, or if that is UTF-8 of the others; "": UTF-8, or given
}

// Finish ends the collection.
func (o *Output) Finish() Text {
	t := Text{Separate: o.separate, Truncated: o.merged.Cut() > 0}
	for _, name := range []string{"stdout", "stderr", "merged"} {
		s := o.streams[name]
		_ = s.flush.Close()
		if d, ok := s.in.(*detectingDecoder); ok {
			t.Encoding = cmp.Or(t.Encoding, d.name)
		}
		t.BinaryBytes += s.gate.HeldBytes()
		t.Truncated = t.Truncated || s.window.Cut() > 0
	}
	t.Binary = t.BinaryBytes > 0
	t.Stdout, t.Stderr, t.Merged = o.streams["stdout"].window.Text(), o.streams["stderr"].window.Text(), o.merged.Text()
	return t
}
