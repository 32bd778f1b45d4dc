package session

import (
	"time"

	"github.com/longterm-dev/longterm/session/evidence"
	"github.com/longterm-dev/longterm/session/internal/echo"
	"github.com/longterm-dev/longterm/vterm"
)

// content tells output that says something from spinners, clocks and progress bars (R42).
// It looks only while somebody waits for quiet.
type content struct {
	churn   evidence.Churn
	rows    []string // of the screen, as last looked at; nil: nobody waits
	version uint64
	top     uint64    // id of the first row
	last    time.Time // when something was said
}

// watchContent looks at what changed on the screen since the last call, if anybody waits
// for quiet.
func (s *Session) watchContent(now time.Time) {
	c := &s.content
	if !s.awaitsQuiet() {
		c.rows = nil
		return
	}
	var f vterm.Frame
	h := s.engine.History()
	top := h.FirstID() + uint64(h.Len())
	if c.rows == nil { // from now on
		*c = content{last: s.Status().LastOutput}
		c.take(s, &f, 0, func(int, string) {})
		c.top = top
		return
	}
	if n := int(top - c.top); n != 0 {
		c.top = top
		if n > 0 && n <= len(c.rows) {
			c.churn.Scroll(n)
			c.rows = append(append([]string{}, c.rows[n:]...), make([]string, n)...)
		}
	}
	c.take(s, &f, c.version, func(row int, text string) {
		if row < len(c.rows) && c.rows[row] != text && c.churn.Change(row, c.rows[row], text) {
			c.last = now
		}
	})
}

// take reads the rows that changed.
func (c *content) take(s *Session, f *vterm.Frame, since uint64, each func(row int, text string)) {
	s.engine.Frame(f, vterm.Query{Since: since})
	if len(c.rows) != f.Rows {
		c.rows = make([]string, f.Rows)
	}
	for i := range f.Lines {
		l := &f.Lines[i]
		text := trimRight(echo.RowWithout(f, l, 0, nil))
		each(l.Row, text)
		c.rows[l.Row] = text
	}
	c.version = f.Version
}

func (s *Session) awaitsQuiet() bool {
	for w := range s.waiters {
		for i := range w.Conds {
			if w.open[i] && w.Conds[i].Kind == CondQuiet {
				return true
			}
		}
	}
	return false
}
