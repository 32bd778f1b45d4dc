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
	f.Cols, f.Rows, f.Version = t.cols, t.rows, t.tables.version
	f.Alt = t.scr != t.primary
	f.Title = t.title.window
	f.Full = q.Since == 0 || q.Since < s.moved || q.Since < t.tablesVersion
	f.Cursor = Cursor{
		Row: t.cur.row, Col: t.cur.col, Pending: t.cur.pending,
		Visible: t.modes&modeCursorVisible != 0, Shape: t.shape.shape,
		Blink: t.modes&modeCursorBlink != 0,
	}
	f.Lines = s.copyRows(f.Lines[:0], f.Full, q.Since)
	f.Styles = t.tables.styles.list[:len(t.tables.styles.list):len(t.tables.styles.list)]
	f.Clusters = t.tables.clusters.list[:len(t.tables.clusters.list):len(t.tables.clusters.list)]
	f.Links = t.tables.links.list[:len(t.tables.links.list):len(t.tables.links.list)]
	f.Images = t.images.Placements[:len(t.images.Placements):len(t.images.Placements)]
	f.Palette = t.palette.Palette
}
