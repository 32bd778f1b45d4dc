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

// ErrPruned rejects offsets before the oldest retained output.
var ErrPruned = errors.New("history that old was removed")

// EmulatorAt returns an emulator with the screen after off bytes of output, rebuilt from the nearest checkpoint and the
// journal. The caller owns it. The call does not involve the owner, so it does not slow the running session.
func (s *Session) EmulatorAt(ctx context.Context, off uint64) (_ vterm.Engine, err error) {
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
		return nil, fmt.Errorf("%w: offset %d, the oldest is %d", ErrPruned, off, start)
	}
	st := s.Status()
	o := s.cfg.Options
	o.Cols, o.Rows = st.Cols, st.Rows // for history without a recorded size
	engine, err := NewEngine(s.engineName(), o)
	if err != nil {
		return nil, err
	}
	err = s.history.replayer().RestoreAt(ctx, engine, off, func(from uint64, buf []byte) ([]byte, uint64, error) {
		c, err := s.Output(from, buf)
		return c.Data, c.Next, err
	})
	if err != nil {
		return nil, err
	}
	return engine, nil
}

// Sync makes journaled output survive a power loss, if due by the policy.
func (s *Session) Sync(now time.Time) error {
	if !s.cfg.Journal.SyncDue(now) {
		return nil
	}
	return s.cfg.Journal.Sync()
}

// Compact packs the history more densely. It may take long, so call it on a separate goroutine.
func (s *Session) Compact(ctx context.Context) (journal.Compaction, error) {
	return s.cfg.Journal.Compact(ctx)
}

// Retain drops the oldest history outside r.
func (s *Session) Retain(now time.Time, r journal.Retention) error {
	if _, err := s.cfg.Journal.Retain(now, r); err != nil {
		return err
	}
	return s.history.screens.DropBefore(s.cfg.Journal.Start())
}

// Records reads the session's journal from an offset on. The caller closes it.
func (s *Session) Records(from uint64) *journal.Reader { return s.cfg.Journal.NewReader(from) }

// OffsetAt returns the offset of the first output at or after t, or the end of the output.
func (s *Session) OffsetAt(t time.Time) (uint64, error) { return s.cfg.Journal.OffsetAt(t) }
