package session

import (
	"context"
	"fmt"

	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/vterm"
)

// View is the owner's view of the emulator at one moment. It is valid only during the call that receives it.
type View struct {
	Engine vterm.Engine
	Offset uint64 // of the output the emulator has seen
	Modes  vterm.Modes
	// UnreadReplies reports that the latest input was replies to queries: a line editor may have taken them for keys.
	UnreadReplies bool
}

// view returns the owner's current view.
func (s *Session) view() View {
	return View{Engine: s.engine, Offset: s.offset, Modes: s.engine.Modes(), UnreadReplies: s.typing.replies.Unread}
}

// WithScreen calls f with the emulator on the owner's goroutine. f must be short and must
// only read.
func (s *Session) WithScreen(ctx context.Context, f func(View)) error {
	return s.do(ctx, func() { f(s.view()) })
}

// WithScreenAt works like WithScreen after the emulator has seen the output up to an offset, if available.
func (s *Session) WithScreenAt(ctx context.Context, offset uint64, f func(View)) error {
	return s.do(ctx, func() {
		for before := s.offset; s.offset < offset; before = s.offset {
			if s.drain(); s.offset == before {
				break
			}
		}
		f(s.view())
	})
}

// Frame copies the screen, or the rows of it that changed since q.Since.
func (s *Session) Frame(ctx context.Context, f *vterm.Frame, q vterm.Query) error {
	return s.do(ctx, func() { s.engine.Frame(f, q) })
}

// SetOuter sets the description of the client's terminal that programs get in replies, and the pixels of the terminal's
// cells. Engines without such replies ignore it.
func (s *Session) SetOuter(ctx context.Context, o vterm.Outer) error {
	return s.do(ctx, func() {
		if cell := (sys.Cell{Width: o.CellWidth, Height: o.CellHeight}); cell.Width > 0 && cell.Height > 0 && s.cfg.Device != nil && s.ring != nil {
			if err := s.cfg.Device.Control(func(fd int) error { return sys.SetCellSize(fd, cell) }); err != nil {
				s.log.Debug("the pixels of the terminal's cells", "session", s.cfg.ID, "err", err)
			}
		}
		s.outer = o
		s.describeOuter(s.engine)
		s.typing.typeReplies()
	})
}

// describeOuter passes the description of the client's terminal to an engine, which does not keep it in snapshots.
func (s *Session) describeOuter(engine vterm.Engine) {
	if e, ok := engine.(interface{ SetOuter(vterm.Outer) }); ok {
		e.SetOuter(s.outer)
	}
}

// topRow returns the id of the screen's first row.
func (s *Session) topRow() uint64 {
	h := s.engine.Recent(0)
	return h.FirstID() + uint64(h.Len())
}

// Resize changes the size, in cells, of terminal and emulator. A session whose
// process has ended keeps its size; that is not an error, resizes race with exits.
func (s *Session) Resize(ctx context.Context, cols, rows int) error {
	if !vterm.ValidSize(cols, rows) {
		return fmt.Errorf("size %d×%d: columns must be %d to %d, rows %d to %d",
			cols, rows, vterm.MinCols, vterm.MaxCols, vterm.MinRows, vterm.MaxRows)
	}
	if st := s.Status(); st.Cols == cols && st.Rows == rows && s.resizing.Load() == 0 {
		return nil // called with each key of a client: the owner is not involved
	}
	s.resizing.Add(1)
	defer s.resizing.Add(-1)
	var err error
	opErr := s.do(ctx, func() {
		st := s.Status()
		if st.State != Running || s.ring == nil || st.Cols == cols && st.Rows == rows {
			return
		}
		s.drain() // output made for the old size belongs on the old screen
		if err = s.cfg.Device.Resize(cols, rows); err != nil {
			return
		}
		if jerr := s.cfg.Journal.AppendResize(cols, rows); jerr != nil && !s.history.recorder.IsFailing() {
			s.history.onJournalError(jerr)
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
