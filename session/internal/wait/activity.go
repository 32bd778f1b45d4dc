package wait

import (
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/inputdetect"
	"github.com/longterm-dev/longterm/session/internal/echodetect"
	"github.com/longterm-dev/longterm/vterm"
)

// activity separates meaningful output from spinners, clocks and progress bars (R42). It is active only while a caller
// waits for quiet.
type activity struct {
	filter  inputdetect.ActivityFilter
	rows    []string  // of the screen at the last check; nil if no caller waits for silence
	version uint64    // of rows
	top     uint64    // id of the first row
	last    time.Time // time of the last meaningful output
}

// CheckActivity examines the changes of the screen since the last call, if a caller waits for silence.
func (s *Set) CheckActivity() {
	if len(s.waiters) == 0 {
		s.activity.rows = nil
		return
	}
	v := s.host.View()
	s.watchActivity(&v)
}

// watchActivity compares the screen with its last copy.
func (s *Set) watchActivity(v *View) {
	a := &s.activity
	if !s.hasOpen(CondQuiet) {
		a.rows = nil
		return
	}
	if a.rows == nil { // first call: later changes count
		*a = activity{last: v.LastOutput, top: v.Top}
		a.readRows(s.host, 0, func(int, string) {})
		return
	}
	if n := int(v.Top - a.top); n != 0 {
		a.top = v.Top
		if n > 0 && n <= len(a.rows) {
			a.filter.Scroll(n)
			a.rows = append(append([]string{}, a.rows[n:]...), make([]string, n)...)
		}
	}
	a.readRows(s.host, a.version, func(row int, text string) {
		if row < len(a.rows) && a.rows[row] != text && a.filter.Change(row, a.rows[row], text) {
			a.last = v.Now
		}
	})
}

// readRows reads the changed rows.
func (a *activity) readRows(h Host, since uint64, each func(row int, text string)) {
	var f vterm.Frame
	h.Frame(&f, vterm.Query{Since: since})
	if len(a.rows) != f.Rows {
		a.rows = make([]string, f.Rows)
	}
	for i := range f.Lines {
		l := &f.Lines[i]
		text := strings.TrimRight(echodetect.StripRow(&f, l, 0, nil), " ")
		each(l.Row, text)
		a.rows[l.Row] = text
	}
	a.version = f.Version
}

// ForgetScreen frees the copy of the screen.
func (s *Set) ForgetScreen() { s.activity = activity{} }
