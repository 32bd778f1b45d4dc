package session

import (
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

// Transcript reads what the terminal showed between two offsets as lines, of full-screen programs too. The owner is not
// asked: it is made anew from the journal, as past screens are.
func (s *Session) Transcript(ctx context.Context, from, to uint64, emit func(line string)) (stats transcript.Stats, err error) {
	defer func() {
		if r := recover(); r != nil {
			s.log.Error("panic while history was replayed", "session", s.cfg.ID, "from", from, "panic", r, "stack", string(debug.Stack()))
			err = fmt.Errorf("%w: panic while its history was replayed: %v", ErrQuarantined, r)
		}
	}()
	engine, err := s.Past(ctx, from)
	if err != nil {
		return stats, err
	}
	term, ok := engine.(*vterm.Terminal)
	if !ok {
		return stats, fmt.Errorf("%w: the emulator %s tells nothing of what it scrolls", ErrNoTranscript, s.engineName())
	}
	feed := transcript.NewFeed(term, emit)
	at, err := s.replayInto(ctx, feed, from, to)
	if err != nil {
		return stats, fmt.Errorf("replay history: %w", err)
	}
	for buf := make([]byte, 64<<10); at < to; { // what is not in the journal yet
		c, err := s.Output(at, buf[:min(uint64(len(buf)), to-at)])
		if err != nil {
			return stats, err
		}
		if len(c.Data) == 0 {
			break
		}
		feed.Write(c.Data, time.Now())
		at = c.From + uint64(len(c.Data))
	}
	return feed.Close(), ctx.Err()
}

// ErrNoTranscript is returned where there can be no transcript.
var ErrNoTranscript = errors.New("there is no transcript")

// replayInto feeds what the journal has between two offsets, and returns the offset it came to.
func (s *Session) replayInto(ctx context.Context, feed *transcript.Feed, from, to uint64) (at uint64, err error) {
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
			feed.Write(rec.Data, rec.Time)
			at = rec.Offset + uint64(len(rec.Data))
		case journal.KindGap:
			at = min(rec.Offset+rec.Lost, to)
		case journal.KindResize:
			feed.Resize(rec.Cols, rec.Rows)
		}
	}
}
