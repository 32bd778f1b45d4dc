package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/longterm-dev/longterm/session/output/transcript"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// Transcript calls emit with the lines that the terminal showed between two offsets, including lines of full-screen
// programs. It replays the journal, as EmulatorAt does. With hide it waits until the output has settled and masks
// secrets in the output, not in the lines: if the program switches screens in the middle of a secret, no line has all
// of it.
func (s *Session) Transcript(ctx context.Context, from, to uint64, hide bool, emit func(line string)) (stats transcript.Stats, err error) {
	defer func() {
		if r := recover(); r != nil {
			s.log.Error("panic while history was replayed", "session", s.cfg.ID, "from", from, "panic", r, "stack", string(debug.Stack()))
			err = fmt.Errorf("%w: panic while its history was replayed: %v", ErrQuarantined, r)
		}
	}()
	if hide {
		if err := s.WaitSettled(ctx, to); err != nil {
			return stats, err
		}
	}
	engine, err := s.EmulatorAt(ctx, from)
	if err != nil {
		return stats, err
	}
	term, ok := engine.(*vterm.Terminal)
	if !ok {
		return stats, fmt.Errorf("%w: emulator %s does not report scrolled lines", ErrNoTranscript, s.engineName())
	}
	feed := &redactingFeed{Feed: transcript.NewFeed(term, emit)}
	if hide {
		feed.s = s
	}
	at, err := s.replayInto(ctx, feed, from, to)
	if err != nil {
		return stats, fmt.Errorf("replay history: %w", err)
	}
	for buf := make([]byte, 64<<10); at < to; { // output that is not in the journal yet
		c, err := s.Output(at, buf[:min(uint64(len(buf)), to-at)])
		if err != nil {
			return stats, err
		}
		if len(c.Data) == 0 {
			break
		}
		feed.write(c.Data, c.From, time.Now())
		at = c.From + uint64(len(c.Data))
	}
	return feed.Close(), ctx.Err()
}

// ErrNoTranscript is returned by Transcript for emulators that cannot make one.
var ErrNoTranscript = errors.New("transcript not available")

// redactingFeed feeds output to a transcript and masks the secrets in it.
type redactingFeed struct {
	*transcript.Feed
	s      *Session // masks secrets; nil: secrets are shown
	from   uint64   // offset of masked
	masked []byte   // output masked in advance, as masking a few bytes costs as much as masking many
}

// write feeds output that starts at offset from.
func (f *redactingFeed) write(p []byte, from uint64, at time.Time) {
	for f.s != nil && len(p) > 0 {
		if skip := from - f.from; from >= f.from && skip < uint64(len(f.masked)) {
			n := min(len(p), len(f.masked)-int(skip))
			f.Write(f.masked[skip:][:n], at)
			p, from = p[n:], from+uint64(n)
			continue
		}
		c, err := f.s.readUnmasked(from, make([]byte, max(len(p), 64<<10)))
		if f.from, f.masked = from, c.Data; err != nil || c.From != from || len(c.Data) == 0 {
			f.masked = bytes.Clone(p)
		}
		f.s.Redact(f.from, f.masked)
	}
	f.Write(p, at)
}

// replayInto feeds the journal's output between two offsets, and returns the offset after the last byte.
func (s *Session) replayInto(ctx context.Context, feed *redactingFeed, from, to uint64) (at uint64, err error) {
	r := s.Records(from)
	defer r.Close()
	for at = from; ; {
		rec, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return at, nil
		case err != nil:
			return at, err
		case ctx.Err() != nil:
			return at, ctx.Err()
		case rec.Offset >= to:
			return at, nil
		}
		switch rec.Kind {
		case journal.KindOutput:
			rec.Data = rec.Data[:min(uint64(len(rec.Data)), to-rec.Offset)]
			feed.write(rec.Data, rec.Offset, rec.Time)
			at = rec.Offset + uint64(len(rec.Data))
		case journal.KindGap:
			at = min(rec.Offset+rec.Lost, to)
		case journal.KindResize:
			feed.Resize(rec.Cols, rec.Rows)
		}
	}
}
