//go:build unix

// Package excerpt makes a range of a session's output text within a budget: head and tail, without
// what is no text, with a note in place of what is left out that says what reads it. It reads as
// any client does and knows no job and no request.
//
// Offsets count bytes of output from the session's beginning, budgets bytes of text.
package excerpt

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/capture"
	"github.com/longterm-dev/longterm/session/output/budget"
	"github.com/longterm-dev/longterm/session/output/diagnostics"
	"github.com/longterm-dev/longterm/session/output/digest"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// Output as text within a budget: what is left out is counted, and the note in its place
// says what reads it.

// textLimits are how much of an output is handed out.
type Limits struct {
	Bytes, Line int    // line 0: no limit
	Session     string // whose output it is, for the note; empty: the note names no command
	Stream      string
	// Digest keeps what its lines say is wrong and the end before the middle (session/output/digest), of
	// output of terminals.
	Digest bool
	Fold   bool // of more than fits, or than Whole bytes where that is set, a digest has a few lines only of those that are alike
	Whole  int
	Hide   bool // secrets are masked
	Live   bool // more may be printed: output must settle before it is masked
}

// waitSettled waits until output up to an offset can be masked.
func (l Limits) waitSettled(ctx context.Context, s *session.Session, to uint64) error {
	if !l.Hide || !l.Live {
		return nil
	}
	return s.WaitSettled(ctx, to)
}

// gatherer takes lines and is text within a budget at the end.
type gatherer interface {
	Add(text []byte, from, to uint64, more bool)
	Skip(bytes, lines int, from, to uint64)
	Gap(text string, at uint64)
}

// gathered is what a gatherer made of the lines.
func gathered(g gatherer) Text {
	if b, ok := g.(*budget.Budget); ok {
		return spent(b)
	}
	text, left := g.(*digest.Digest).Finish()
	t := Text{Text: text}
	if left.Bytes > 0 {
		t.Omitted = &api.Omitted{Bytes: int64(left.Bytes), Lines: left.Lines, Start: left.From, End: left.To}
	}
	return t
}

func (l Limits) budget() *budget.Budget {
	b := &budget.Budget{Max: l.Bytes, Line: l.Line}
	if l.Session != "" {
		b.More = func(from, to uint64) string { return rereads(l.Session, l.Stream, from, to) }
	}
	return b
}

func (l Limits) gatherer() gatherer {
	if l.Digest {
		return &digest.Digest{Max: l.Bytes, Fold: l.Fold, Whole: l.Whole}
	}
	return l.budget()
}

// tell puts in the command that reads what is left out, where the text does not say it.
func (l Limits) tell(t *Text) {
	if t.Omitted == nil || l.Session == "" || t.Omitted.End <= t.Omitted.Start {
		return
	}
	if read := rereads(l.Session, l.Stream, t.Omitted.Start, t.Omitted.End); !strings.Contains(t.Text, read) {
		t.Omitted.Read = read
	}
}

// rereads is the command that prints a range of a session's output.
func rereads(id, stream string, from, to uint64) string {
	if stream != "" {
		stream = " --stream " + stream
	}
	return fmt.Sprintf("longterm output %s --from %d --to %d%s", api.ShortID(id), from, to, stream)
}

// textOutput is output as text.
type Text struct {
	Text    string
	Omitted *api.Omitted // nil: it is all
	Binary  uint64       // bytes left out because they are no text
	Screen  bool         // at its end a full-screen program is shown, whose picture is left out
	Next    uint64       // offset for the next read: before a sequence that is not whole yet
}

func spent(b *budget.Budget) Text {
	text, info := b.Finish()
	return Text{Text: text, Omitted: omittedOf(info)}
}

func omittedOf(info budget.CutInfo) *api.Omitted {
	if !info.Cut {
		return nil
	}
	return &api.Omitted{Bytes: int64(info.Bytes), Lines: info.Lines, LongLines: info.Long, Start: info.From, End: info.To}
}

// exactBytes is how much output is made text to count what is left out of it; of more, the
// middle is counted as it was printed, which is ten times as fast.
const exactBytes = 64 << 20

// Plain is a range of output as text: head and tail, within limits. What is no text is left out of it.
func Plain(ctx context.Context, s *session.Session, from, to uint64, limits Limits) (Text, error) {
	r := newPlainReader(s, from, limits)
	r.buf = make([]byte, min(pieceBytes, max(1, to-min(from, to))))
	return r.text(ctx, to, limits)
}

// mostUnfinished is how long a sequence that has no end yet may be to be read again: a title, and no picture.
const mostUnfinished = 4 << 10

// pieceBytes is how much output is read at once.
const pieceBytes = 256 << 10

// plainReader makes output text from an offset on, as far as it is read.
type plainReader struct {
	hide   bool
	s      *session.Session
	budget gatherer
	mask   capture.Mask // of all that is read, skipped or not: it has to know the screen
	plain  plaintext.Writer
	from   uint64 // the first byte
	at     uint64 // the next one
	base   uint64 // offset of the first byte given to plain
	buf    []byte
	spare  []byte // for what is read ahead
	ahead  *fetch // nil: nothing is
}

func newPlainReader(s *session.Session, from uint64, limits Limits) *plainReader {
	return &plainReader{s: s, budget: limits.gatherer(), hide: limits.Hide, from: from, at: from, base: from}
}

// text reads what is not read yet, up to to, and is all of it.
func (r *plainReader) text(ctx context.Context, to uint64, limits Limits) (Text, error) {
	defer r.leave()
	err := limits.waitSettled(ctx, r.s, to)
	if err == nil {
		err = r.read(ctx, to)
	}
	next := r.at
	if whole := r.base + r.plain.Whole(); r.at <= whole+mostUnfinished {
		next = min(next, whole)
	}
	r.rest()
	t := gathered(r.budget)
	t.Next = next
	limits.tell(&t)
	t.Binary = r.mask.Held()
	_, t.Screen = r.mask.Drawn()
	return t, err
}

func (r *plainReader) read(ctx context.Context, to uint64) error {
	for r.at < to {
		if r.at-r.from > exactBytes/2 && to-r.at > exactBytes/2 {
			if err := r.skip(ctx, to-exactBytes/2); err != nil {
				return err
			}
		}
		if more, err := r.readPiece(ctx, to); err != nil || !more {
			return err
		}
	}
	return nil
}

// readPiece takes the next piece, which ends at to at most.
func (r *plainReader) readPiece(ctx context.Context, to uint64) (more bool, err error) {
	c, err := r.chunk(ctx, r.at, to)
	if err != nil {
		return false, err
	}
	if c.Gap > 0 {
		r.restart(c.From)
		r.mask.Restart() // what is lost may have changed the screen
		r.budget.Gap(fmt.Sprintf("[%d bytes of output are lost]", c.Gap), c.From)
	}
	if c.Next == r.at {
		return false, nil
	}
	r.mask.Apply(c.Data) // a copy, in buf
	r.plain.Each(c.Data, func(l plaintext.Line) { r.budget.Add(l.Text, r.base+l.From, r.base+l.To, l.More) })
	r.at = c.Next
	return true, nil
}

// chunk is the output from at on, up to to at most; it is r's until the next one is asked for.
func (r *plainReader) chunk(ctx context.Context, at, to uint64) (session.Chunk, error) {
	if ctx.Err() != nil {
		return session.Chunk{}, ctx.Err()
	}
	f := r.ahead
	if r.ahead = nil; f != nil {
		<-f.done
	}
	if f == nil || f.at != at || f.to != to {
		f = &fetch{at: at, to: to}
		f.run(r, r.buf)
	} else {
		r.buf, r.spare = r.spare, r.buf
	}
	if f.panicked != nil {
		panic(f.panicked)
	}
	if next := f.c.Next; f.err == nil && next > at && next < to {
		if r.spare == nil {
			r.spare = make([]byte, len(r.buf))
		}
		r.ahead = &fetch{at: next, to: to, done: make(chan struct{})}
		go r.ahead.aside(r, r.spare)
	}
	return f.c, f.err
}

// leave waits for what is read ahead.
func (r *plainReader) leave() {
	if r.ahead != nil {
		<-r.ahead.done
	}
}

// fetch is a piece of output that is read: unpacked, and its secrets looked for. That costs as much as making it lines, so
// the next piece is read while one is made lines.
type fetch struct {
	at, to   uint64
	c        session.Chunk
	err      error
	panicked any           // for who asked
	done     chan struct{} // closed when it is read; nil: it was not read ahead
}

func (f *fetch) run(r *plainReader, buf []byte) {
	f.c, f.err = r.s.Output(f.at, buf[:min(uint64(len(buf)), f.to-f.at)])
	if f.err == nil && r.hide {
		r.s.Hide(f.c.From, f.c.Data)
	}
}

func (f *fetch) aside(r *plainReader, buf []byte) {
	defer close(f.done)
	defer func() { f.panicked = recover() }()
	f.run(r, buf)
}

// skip counts output instead of reading it.
func (r *plainReader) skip(ctx context.Context, to uint64) error {
	r.restart(to)
	from, lines := r.at, 0
	for r.at < to {
		c, err := r.chunk(ctx, r.at, to)
		if err != nil || c.Next == r.at {
			return err
		}
		lines += bytes.Count(c.Data, []byte{'\n'})
		r.mask.Apply(c.Data)
		r.at = c.Next
	}
	r.budget.Skip(int(r.at-from), lines, from, r.at)
	return nil
}

// restart begins anew at an offset; what is there of a line is one.
func (r *plainReader) restart(at uint64) {
	r.rest()
	r.plain, r.base = plaintext.Writer{}, at
}

// rest takes the line that has no end.
func (r *plainReader) rest() {
	if text, from, to := r.plain.Rest(nil); len(text) > 0 {
		r.budget.Add(text, r.base+from, r.base+to, true)
	}
}

// parseBytes bounds the output that is read for structured results.
const parseBytes = 10 << 20

// readResult is a command's output, read as what the command is known to print.
func Parse(ctx context.Context, parser *diagnostics.Parser, s *session.Session, text string, exit *int, from, to uint64) (diagnostics.Result, string, error) {
	out, err := Plain(ctx, s, from, to, Limits{Bytes: parseBytes})
	if err != nil {
		return diagnostics.Result{}, "", err
	}
	r := parser.Parse(text, exit, out.Text)
	r.Truncated = r.Truncated || out.Omitted != nil
	return r, out.Text, nil
}
