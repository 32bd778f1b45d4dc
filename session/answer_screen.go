package session

import (
	"slices"
	"time"

	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/vterm"
)

// screenWatch says when rules that look at the screen have to look again: when output
// pauses, and now and then while it does not.
type screenWatch struct {
	changed time.Time // first change since they looked; zero: none
	last    time.Time // newest one
}

const (
	screenSettle = 20 * time.Millisecond
	screenLatest = 200 * time.Millisecond
)

func (w *screenWatch) at() time.Time {
	at := w.last.Add(screenSettle)
	if latest := w.changed.Add(screenLatest); latest.Before(at) {
		return latest
	}
	return at
}

// screenStirred notes that the screen may have changed.
func (s *Session) screenStirred(now time.Time) {
	a := s.answers
	if a == nil || !slices.ContainsFunc(a.rules, func(r *Rule) bool { return r.On == respond.OnScreen || r.On == respond.OnCursor }) {
		return
	}
	if a.screen.last = now; a.screen.changed.IsZero() {
		a.screen.changed = now
	}
}

// screenDue has the rules look at the screen, if it is time.
func (s *Session) screenDue(now time.Time) {
	w := &s.answers.screen
	if w.changed.IsZero() || now.Before(w.at()) {
		return
	}
	*w = screenWatch{}
	s.perform(s.answers.engine.Screen(now, s.respondScreen()))
}

// respondScreen is the screen as rules see it. Rows of a shell's line editor are empty.
func (s *Session) respondScreen() respond.Screen {
	var f vterm.Frame
	s.engine.Frame(&f, vterm.Query{})
	h := s.engine.History()
	sc := respond.Screen{
		Offset: s.off, Top: h.FirstID() + uint64(h.Len()), Alt: f.Alt, Cols: f.Cols,
		Rows: make([]respond.Row, f.Rows), CursorRow: f.Cursor.Row, CursorCol: f.Cursor.Col,
	}
	for i := range f.Lines {
		l := &f.Lines[i]
		if l.Row < f.Rows && (f.Alt || !s.input.HasRow(sc.Top+uint64(l.Row))) {
			sc.Rows[l.Row] = respondRow(&f, l)
		}
	}
	return sc
}

func respondRow(f *vterm.Frame, l *vterm.Line) respond.Row {
	var text []byte
	starts := make([]int, len(l.Cells))
	single := true
	for i, c := range l.Cells {
		starts[i] = len(text)
		text = f.AppendText(text, c)
		single = single && len(text) == i+1
	}
	r := respond.Row{Text: string(text), Wrapped: l.Wrapped}
	if !single {
		r.Starts = starts
	}
	return r
}
