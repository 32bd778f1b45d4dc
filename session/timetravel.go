package session

import (
	"context"
	"errors"
	"fmt"
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
	err = s.history.past().At(ctx, engine, off, func(from uint64, buf []byte) ([]byte, uint64, error) {
		c, err := s.Output(from, buf)
		return c.Data, c.Next, err
	})
	if err != nil {
		return nil, err
	}
	return engine, nil
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
	return s.history.screens.DropBefore(s.cfg.Journal.Start())
}

// Records reads what is kept of the session, from an offset on. The caller closes it.
func (s *Session) Records(from uint64) *journal.Reader { return s.cfg.Journal.NewReader(from) }

// OffsetAt is the offset of the first output at or after t; the end when there is none.
func (s *Session) OffsetAt(t time.Time) (uint64, error) { return s.cfg.Journal.OffsetAt(t) }
