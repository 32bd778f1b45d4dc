package vterm

// Frame implements Engine.
func (t *Terminal) Frame(f *Frame, q Query) {
	s := t.scr
	switch {
	case q.Screen == ScreenPrimary:
		s = t.primary
	case q.Screen == ScreenAlternate:
		if s = t.alternate; s == nil {
			s = &screen{cols: t.cols}
		}
	}
	f.Cols, f.Rows, f.Version = t.cols, t.rows, t.version
	f.Alt = t.scr != t.primary
	f.Title = t.title.window
	f.Full = q.Since == 0 || q.Since < s.moved || q.Since < t.tablesVersion
	f.Cursor = Cursor{
		Row: t.cur.row, Col: t.cur.col, Pending: t.cur.pending,
		Visible: t.modes&modeCursorVisible != 0, Shape: t.shape.shape,
		Blink: t.modes&modeCursorBlink != 0,
	}
	f.copyRows(s, q.Since)
	f.Styles = t.styles.list[:len(t.styles.list):len(t.styles.list)]
	f.Clusters = t.clusters.list[:len(t.clusters.list):len(t.clusters.list)]
	f.Links = t.links.list[:len(t.links.list):len(t.links.list)]
	f.Images = t.images.Placements[:len(t.images.Placements):len(t.images.Placements)]
	f.Palette = t.palette.Palette
}

// copyRows fills the lines, in the memory that the frame has already.
func (f *Frame) copyRows(s *screen, since uint64) {
	lines := f.Lines[:0]
	for i, r := range s.window() {
		version := max(r.version, s.moved)
		if !f.Full && version <= since {
			continue
		}
		if len(lines) < cap(lines) {
			lines = lines[:len(lines)+1]
		} else {
			lines = append(lines, Line{})
		}
		l := &lines[len(lines)-1]
		if !r.thawed {
			s.thaw(r)
		}
		l.Row, l.Version, l.Wrapped, l.Size = i, version, r.wrapped, r.size
		l.Cells = append(l.Cells[:0], r.shown(s.cols)...)
	}
	f.Lines = lines
}
