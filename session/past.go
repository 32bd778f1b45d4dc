package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// ErrForgotten is returned for offsets before the oldest output kept.
var ErrForgotten = errors.New("that far back nothing is kept any more")

// Past is the emulator as it stood after off bytes of output, made anew from the nearest
// checkpoint and the journal. It belongs to the caller. The owner is not asked: looking
// back costs the living session nothing.
func (s *Session) Past(ctx context.Context, off uint64) (_ vterm.Engine, err error) {
	if why := s.Status().Quarantine; why != "" {
		return nil, fmt.Errorf("%w: %s", ErrQuarantined, why)
	}
	defer func() {
		if r := recover(); r != nil {
			s.log.Error("panic while history was replayed", "session", s.cfg.ID, "offset", off, "panic", r, "stack", string(debug.Stack()))
			err = fmt.Errorf("%w: panic while its history was replayed: %v", ErrQuarantined, r)
		}
	}()
	if start, end := s.OutputRange(); off > end {
		return nil, fmt.Errorf("%w: %d, the end is %d", ErrFuture, off, end)
	} else if off < start {
		return nil, fmt.Errorf("%w: offset %d, the oldest is %d", ErrForgotten, off, start)
	}
	st := s.Status()
	o := s.cfg.Options
	o.Cols, o.Rows = st.Cols, st.Rows // of old, should nothing tell the size
	engine, err := NewEngine(s.engineName(), o)
	if err != nil {
		return nil, err
	}
	from, size := s.restoreInto(engine, off)
	if at, ok := s.nearestScreen(engine, off, from+checkpointBytes); ok {
		from = at
	} else if size == 0 { // nothing to begin with: the size is the journal's to tell
		if cols, rows, err := s.cfg.Journal.SizeAt(from); err == nil && cols > 0 {
			engine.Resize(cols, rows)
		}
	}
	at, err := replay(ctx, s.cfg.Journal.NewReader(from), engine, off, func(*journal.Record, uint64) { engine.Events(nil) })
	if err != nil {
		return nil, fmt.Errorf("replay history: %w", err)
	}
	return engine, s.replayRest(ctx, engine, max(from, at), off)
}

// replayRest feeds what is not in the journal yet.
func (s *Session) replayRest(ctx context.Context, engine vterm.Engine, from, until uint64) error {
	buf := make([]byte, 64<<10)
	for from < until {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err := s.Output(from, buf[:min(uint64(len(buf)), until-from)])
		if err != nil {
			return err
		}
		if c.Next == from {
			return nil
		}
		_, _ = engine.Write(c.Data) // never fails
		from = c.Next
	}
	return nil
}

// replay feeds an emulator the output and the sizes that a journal has up to an offset,
// and returns the offset it came to. Answers to queries are dropped: what programs asked
// back then was answered back then. each is called after each piece of output, when
// there may be events to take, and with each mark.
func replay(ctx context.Context, r *journal.Reader, engine vterm.Engine, until uint64, each func(rec *journal.Record, at uint64)) (at uint64, err error) {
	defer r.Close()
	for {
		rec, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return at, nil
		case err != nil:
			return at, err
		case ctx.Err() != nil:
			return at, ctx.Err()
		case rec.Offset > until, rec.Offset == until && rec.Kind == journal.KindOutput:
			return at, nil
		}
		switch rec.Kind {
		case journal.KindOutput:
			rec.Data = rec.Data[:min(uint64(len(rec.Data)), until-rec.Offset)]
			_, _ = engine.Write(rec.Data) // never fails
			at = rec.Offset + uint64(len(rec.Data))
			each(&rec, at)
			engine.Replies(nil)
		case journal.KindMark:
			each(&rec, rec.Offset)
		case journal.KindGap:
			at = min(rec.Offset+rec.Lost, until)
		case journal.KindResize:
			engine.Resize(rec.Cols, rec.Rows)
		}
	}
}

// Sync makes what was journalled survive a loss of power, when the policy says it is time.
func (s *Session) Sync(now time.Time) error {
	if !s.cfg.Journal.SyncDue(now) {
		return nil
	}
	return s.cfg.Journal.Sync()
}

// Compact packs the history more densely. It may take long and is to be called from a
// goroutine of its own.
func (s *Session) Compact(ctx context.Context) (journal.Compaction, error) {
	return s.cfg.Journal.Compact(ctx)
}

// Retain drops the oldest history that r does not keep.
func (s *Session) Retain(now time.Time, r journal.Retention) error {
	if _, err := s.cfg.Journal.Retain(now, r); err != nil {
		return err
	}
	s.sparse.mu.Lock()
	defer s.sparse.mu.Unlock()
	return s.sparse.series.DropBefore(s.cfg.Journal.Start())
}

// Records reads what is kept of the session, from an offset on. The caller closes it.
func (s *Session) Records(from uint64) *journal.Reader { return s.cfg.Journal.NewReader(from) }

// OffsetAt is the offset of the first output at or after t; the end when there is none.
func (s *Session) OffsetAt(t time.Time) (uint64, error) { return s.cfg.Journal.OffsetAt(t) }
