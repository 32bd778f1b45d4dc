package vterm

import "github.com/longterm-dev/longterm/vterm/internal/parse"

// eraseSpan erases cells [from, to) of a row.
func (t *Terminal) eraseSpan(row, from, to int, selective bool) {
	if t.spares(selective) {
		t.scr.EraseUnprotected(row, from, to, t.blankCell())
		return
	}
	t.scr.EraseSpan(row, from, to, t.blankCell())
}

// eraseRow erases a whole row. It also resets the row's size unless protected cells may remain.
func (t *Terminal) eraseRow(row int, selective bool) {
	if t.spares(selective) {
		t.scr.EraseUnprotected(row, 0, t.cols, t.blankCell())
		return
	}
	t.scr.EraseRow(row, t.blankCell())
}

func (t *Terminal) eraseDisplay(s *parse.Seq) {
	selective := s.Prefix == '?'
	switch s.Param(0, 0) {
	case 0:
		t.eraseSpan(t.cur.Row, t.cur.Col, t.cols, selective)
		for i := t.cur.Row + 1; i < t.rows; i++ {
			t.eraseRow(i, selective)
		}
	case 1:
		for i := range t.cur.Row {
			t.eraseRow(i, selective)
		}
		t.eraseSpan(t.cur.Row, 0, t.cur.Col+1, selective)
	case 2:
		for i := range t.rows {
			t.eraseRow(i, selective)
		}
	case 3:
		if !selective {
			t.scrollback.Clear()
		}
		return
	default:
		return
	}
	t.cur.Pending = false
}

func (t *Terminal) eraseLine(s *parse.Seq) {
	selective := s.Prefix == '?'
	switch s.Param(0, 0) {
	case 0:
		t.eraseSpan(t.cur.Row, t.cur.Col, t.cols, selective)
	case 1:
		t.eraseSpan(t.cur.Row, 0, t.cur.Col+1, selective)
	case 2:
		t.eraseSpan(t.cur.Row, 0, t.cols, selective)
	default:
		return
	}
	t.cur.Pending = false
}

// eraseChars implements ECH; it ignores the margins.
func (t *Terminal) eraseChars(s *parse.Seq) {
	t.eraseSpan(t.cur.Row, t.cur.Col, min(t.cur.Col+s.Count(0), t.cols), false)
	t.cur.Pending = false
}

// alignmentTest implements DECALN: it fills the screen with E and resets margins and origin mode.
func (t *Terminal) alignmentTest() {
	t.resetMargins()
	t.setMode(modeOrigin, false)
	t.moveTo(0, 0)
	t.scr.Clear(Cell('E'))
}
