package vterm

import "github.com/longterm-dev/longterm/vterm/internal/grid"

// Frame implements Engine.
func (t *Terminal) Frame(f *Frame, q Query) {
	s := t.scr
	switch {
	case q.Screen == ScreenPrimary:
		s = t.primary
	case q.Screen == ScreenAlternate:
		if s = t.alternate; s == nil {
			s = &grid.Screen{Cols: t.cols}
		}
	}
	f.Cols, f.Rows, f.Version = t.cols, t.rows, t.tables.Version
	f.Alt = t.scr != t.primary
	f.Title = t.title.window
	f.Full = q.Since == 0 || q.Since < s.Moved || q.Since < t.tablesVersion
	f.Cursor = Cursor{
		Row: t.cur.Row, Col: t.cur.Col, Pending: t.cur.Pending,
		Visible: t.modes&modeCursorVisible != 0, Shape: t.shape.shape,
		Blink: t.modes&modeCursorBlink != 0,
	}
	f.Lines = s.CopyRows(f.Lines[:0], f.Full, q.Since)
	f.Styles = t.tables.Styles.List[:len(t.tables.Styles.List):len(t.tables.Styles.List)]
	f.Clusters = t.tables.Clusters.List[:len(t.tables.Clusters.List):len(t.tables.Clusters.List)]
	f.Links = t.tables.Links.List[:len(t.tables.Links.List):len(t.tables.Links.List)]
	f.Images = t.images.Placements[:len(t.images.Placements):len(t.images.Placements)]
	f.Palette = t.palette.Palette
}
