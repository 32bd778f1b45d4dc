package session

import (
	"context"
	"fmt"

	"github.com/longterm-dev/longterm/vterm"
)

// Resize changes the size, in cells, of terminal and emulator. A session whose
// process has ended keeps its size; that is not an error, resizes race with exits.
func (s *Session) Resize(ctx context.Context, cols, rows int) error {
	if !vterm.ValidSize(cols, rows) {
		return fmt.Errorf("size %d×%d: columns must be %d to %d, rows %d to %d",
			cols, rows, vterm.MinCols, vterm.MaxCols, vterm.MinRows, vterm.MaxRows)
	}
	var err error
	opErr := s.do(ctx, func() {
		st := s.Status()
		if st.State != Running || s.ring == nil || st.Cols == cols && st.Rows == rows {
			return
		}
		s.drain() // what was printed for the old size belongs on it
		if err = s.cfg.Device.Resize(cols, rows); err != nil {
			return
		}
		if jerr := s.cfg.Journal.AppendResize(cols, rows); jerr != nil && !s.record.Failing() {
			s.journalFails(jerr)
		}
		s.engine.Resize(cols, rows)
		s.update(ChangeSize, func(st *Status) {
			st.Cols, st.Rows, st.Version = cols, rows, s.engine.Version()
		})
		s.watch.frames()
		s.watch.output()
	})
	if opErr != nil {
		return opErr
	}
	return err
}
