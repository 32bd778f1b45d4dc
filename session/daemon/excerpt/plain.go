//go:build unix

// Package excerpt converts a range of a session's output to text within a budget.
//
// It keeps the head and the tail, drops bytes that are not text, and replaces the omitted middle by a note with the
// command that prints it. Input is the session's journal, read in pieces by the caller's goroutine and one that reads
// ahead; the package depends on no job and no request. Offsets count bytes of output from the session's beginning;
// budgets count bytes of text.
package excerpt

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/output/budget"
	"github.com/longterm-dev/longterm/session/output/diagnostics"
	"github.com/longterm-dev/longterm/session/output/digest"
	"github.com/longterm-dev/longterm/session/pipeoutput"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// Limits bounds how much of an output is returned.
type Limits struct {
	Bytes, Line int    // line 0: no limit
	Session     string // session for the command in the note; empty for a note without command
	Stream      string
	// Digest prefers error lines and the end over the middle (session/output/digest). It applies to output of
	// terminals.
	Digest    bool
	Fold      bool // a digest of more than fits, or than Whole bytes if set, shows only a few of similar lines
	FoldAbove int
	Hide      bool // secrets are masked
	Live      bool // more may be printed: output must settle before it is masked
}

// waitSettled waits until output up to an offset can be masked.
func (l Limits) waitSettled(ctx context.Context, s *session.Session, to uint64) error {
	if !l.Hide || !l.Live {
		return nil
	}
	return s.WaitSettled(ctx, to)
}

// gatherer collects lines and returns text within a budget.
type gatherer interface {
	Add(text []byte, from, to uint64, more bool)
	Skip(bytes, lines int, from, to uint64)
	AddGap(text string, at uint64)
}

// finishText returns the text that a gatherer collected.
func finishText(g gatherer) Text {
	if b, ok := g.(*budget.Budget); ok {
		return budgetText(b)
	}
	text, left := g.(*digest.Digest).Finish()
	t := Text{Text: text}
	if left.Bytes > 0 {
		t.Omitted = &api.Omitted{Bytes: int64(left.Bytes), Lines: left.Lines, Start: left.From, End: left.To}
	}
	return t
}

// budget returns a budget with the limits.
func (l Limits) budget() *budget.Budget {
	b := &budget.Budget{Max: l.Bytes, MaxLine: l.Line}
	if l.Session != "" {
		b.MoreCommand = func(from, to uint64) string { return rereadCommand(l.Session, l.Stream, from, to) }
	}
	return b
}

// gatherer returns a digest or a budget with the limits.
func (l Limits) gatherer() gatherer {
	if l.Digest {
		return &digest.Digest{Max: l.Bytes, Fold: l.Fold, MaxUnfolded: l.FoldAbove}
	}
	return l.budget()
}

// addReadCommand sets Omitted.Read to the command that prints the omitted range, unless the text already contains it.
func (l Limits) addReadCommand(t *Text) {
	if t.Omitted == nil || l.Session == "" || t.Omitted.End <= t.Omitted.Start {
		return
	}
	if read := rereadCommand(l.Session, l.Stream, t.Omitted.Start, t.Omitted.End); !strings.Contains(t.Text, read) {
		t.Omitted.Read = read
	}
}

// rereadCommand returns the command that prints a range of a session's output.
func rereadCommand(id, stream string, from, to uint64) string {
	if stream != "" {
		stream = " --stream " + stream
	}
	return fmt.Sprintf("longterm output %s --from %d --to %d%s", api.ShortID(id), from, to, stream)
}

// Text is output as text.
type Text struct {
	Text    string
	Omitted *api.Omitted // nil: nothing is omitted
	Binary  uint64       // bytes dropped because they are not text
	Screen  bool         // a full-screen program is shown at the end; its screen is omitted
	Next    uint64       // offset for the next read: before a sequence that is not whole yet
}

// budgetText returns the text of a budget.
func budgetText(b *budget.Budget) Text {
	text, info := b.Finish()
	return Text{Text: text, Omitted: omittedOf(info)}
}

// omittedOf returns the omitted part in its API form.
func omittedOf(info budget.CutInfo) *api.Omitted {
	if !info.Cut {
		return nil
	}
	return &api.Omitted{Bytes: int64(info.Bytes), Lines: info.Lines, LongLines: info.LongLines, Start: info.From, End: info.To}
}

// exactBytes is the size up to which all output is converted, to count exactly what is omitted. Of larger output the
// middle is counted in printed bytes, which is ten times as fast.
const exactBytes = 64 << 20

// Plain returns a range of output as text: head and tail within limits. It drops bytes that are not text.
func Plain(ctx context.Context, s *session.Session, from, to uint64, limits Limits) (Text, error) {
	r := newPlainReader(s, from, limits)
	r.buf = make([]byte, min(pieceBytes, max(1, to-min(from, to))))
	return r.text(ctx, to, limits)
}

// maxUnfinished bounds an incomplete escape sequence that is read again with the next output: a title fits, an image
// does not.
const maxUnfinished = 4 << 10

// pieceBytes is the size of one read.
const pieceBytes = 256 << 10

// plainReader converts output from an offset on to text.
type plainReader struct {
	hide       bool
	s          *session.Session
	budget     gatherer
	mask       pipeoutput.Mask // covers all bytes read, also skipped ones, because it tracks the screen
	plain      plaintext.Writer
	from       uint64 // offset of the first byte
	at         uint64 // offset of the next byte
	base       uint64 // offset of the first byte given to plain
	buf        []byte
	spare      []byte // buffer for the prefetched chunk
	prefetched *fetch // nil: nothing is prefetched
}

func newPlainReader(s *session.Session, from uint64, limits Limits) *plainReader {
	return &plainReader{s: s, budget: limits.gatherer(), hide: limits.Hide, from: from, at: from, base: from}
}

// text reads the remaining output up to to and returns all text.
func (r *plainReader) text(ctx context.Context, to uint64, limits Limits) (Text, error) {
	defer r.awaitPrefetch()
	err := limits.waitSettled(ctx, r.s, to)
	if err == nil {
		err = r.read(ctx, to)
	}
	next := r.at
	if whole := r.base + r.plain.CompleteTo(); r.at <= whole+maxUnfinished {
		next = min(next, whole)
	}
	r.flushTail()
	t := finishText(r.budget)
	t.Next = next
	limits.addReadCommand(&t)
	t.Binary = r.mask.MaskedBytes()
	_, t.Screen = r.mask.Drawn()
	return t, err
}

// read reads the output up to to.
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

// readPiece reads the next piece, which ends at to at most.
func (r *plainReader) readPiece(ctx context.Context, to uint64) (more bool, err error) {
	c, err := r.chunk(ctx, r.at, to)
	if err != nil {
		return false, err
	}
	if c.Gap > 0 {
		r.restart(c.From)
		r.mask.Restart() // what is lost may have changed the screen
		r.budget.AddGap(fmt.Sprintf("[%d bytes of output are lost]", c.Gap), c.From)
	}
	if c.Next == r.at {
		return false, nil
	}
	r.mask.Apply(c.Data) // a copy, in buf
	r.plain.Each(c.Data, func(l plaintext.Line) { r.budget.Add(l.Text, r.base+l.From, r.base+l.To, l.More) })
	r.at = c.Next
	return true, nil
}

// chunk returns the output from at, at most up to to. It is valid until the next call.
func (r *plainReader) chunk(ctx context.Context, at, to uint64) (session.Chunk, error) {
	if ctx.Err() != nil {
		return session.Chunk{}, ctx.Err()
	}
	f := r.prefetched
	if r.prefetched = nil; f != nil {
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
		r.prefetched = &fetch{at: next, to: to, done: make(chan struct{})}
		go r.prefetched.runInBackground(r, r.spare)
	}
	return f.c, f.err
}

// awaitPrefetch waits for the prefetch to end.
func (r *plainReader) awaitPrefetch() {
	if r.prefetched != nil {
		<-r.prefetched.done
	}
}

// fetch is a piece of output being read, unpacked and searched for secrets. That costs as much as splitting lines, so
// the next piece is read while one is split.
type fetch struct {
	at, to   uint64
	c        session.Chunk
	err      error
	panicked any           // re-raised in the goroutine that waits for the result
	done     chan struct{} // closed when the read has finished; nil if nothing was read ahead
}

// run reads, unpacks and masks the piece.
func (f *fetch) run(r *plainReader, buf []byte) {
	f.c, f.err = r.s.Output(f.at, buf[:min(uint64(len(buf)), f.to-f.at)])
	if f.err == nil && r.hide {
		r.s.Redact(f.c.From, f.c.Data)
	}
}

// runInBackground calls run on another goroutine.
func (f *fetch) runInBackground(r *plainReader, buf []byte) {
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

// restart resets the reader to an offset; a pending incomplete line becomes a line.
func (r *plainReader) restart(at uint64) {
	r.flushTail()
	r.plain, r.base = plaintext.Writer{}, at
}

// flushTail adds the unfinished last line.
func (r *plainReader) flushTail() {
	if text, from, to := r.plain.AppendUnfinished(nil); len(text) > 0 {
		r.budget.Add(text, r.base+from, r.base+to, true)
	}
}

// parseBytes bounds the output that is read for structured results.
const parseBytes = 10 << 20

// Parse reads a command's output as the output of a known program.
func Parse(ctx context.Context, parser *diagnostics.Parser, s *session.Session, text string, exit *int, from, to uint64) (diagnostics.Result, string, error) {
	out, err := Plain(ctx, s, from, to, Limits{Bytes: parseBytes})
	if err != nil {
		return diagnostics.Result{}, "", err
	}
	r := parser.Parse(text, exit, out.Text)
	r.Truncated = r.Truncated || out.Omitted != nil
	return r, out.Text, nil
}
