package rules

import (
	"slices"
	"time"

	"github.com/longterm-dev/longterm/session/internal/echodetect"
	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/vterm"
)

// screenWatch schedules the matching of rules on the screen: when output pauses, and at intervals while it does not.
type screenWatch struct {
	changed time.Time // first change since the last match; zero: none
	last    time.Time // newest change
}

// A screen is matched screenSettle after the last change, and at most screenMaxDelay after the first one.
const (
	screenSettle   = 20 * time.Millisecond
	screenMaxDelay = 200 * time.Millisecond
)

// dueAt returns the time of the next match, or zero.
func (w *screenWatch) dueAt() time.Time {
	at := w.last.Add(screenSettle)
	if latest := w.changed.Add(screenMaxDelay); latest.Before(at) {
		return latest
	}
	return at
}

// noteScreenChange records a possible change of the screen.
func (m *Machine) noteScreenChange(now time.Time) {
	if !slices.ContainsFunc(m.rules, func(r *Rule) bool { return r.On == respond.OnScreen || r.On == respond.OnCursor }) {
		return
	}
	if m.screen.last = now; m.screen.changed.IsZero() {
		m.screen.changed = now
	}
}

// matchScreenIfDue matches the screen if due.
func (m *Machine) matchScreenIfDue(now time.Time) {
	w := &m.screen
	if w.changed.IsZero() || now.Before(w.dueAt()) {
		return
	}
	*w = screenWatch{}
	m.perform(m.engine.Screen(now, m.host.Screen(m.engine.HasRedacted())))
}

// ScreenOf converts a frame to the screen for rules: at an offset of the output, with the id of its first row. Rows of
// the line editor are empty. redact, if not nil, masks cells of the frame it gets.
func ScreenOf(f *vterm.Frame, redact func(*vterm.Frame), editor *echodetect.EditorRegion, offset, top uint64) respond.Screen {
	sc := respond.Screen{
		Offset: offset, Top: top, Alt: f.Alt, Cols: f.Cols,
		Rows: make([]respond.Row, f.Rows), CursorRow: f.Cursor.Row, CursorCol: f.Cursor.Col,
	}
	shown := *f
	if redact != nil {
		shown.Lines = slices.Clone(f.Lines)
		for i := range shown.Lines {
			shown.Lines[i].Cells = slices.Clone(shown.Lines[i].Cells)
		}
		redact(&shown)
	}
	for i := range f.Lines {
		l := &f.Lines[i]
		if l.Row < f.Rows && (f.Alt || !editor.HasRow(top+uint64(l.Row))) {
			sc.Rows[l.Row] = rowOf(f, l)
			if redact != nil {
				sc.Rows[l.Row].Redacted = maskedText(f, l, shown.Lines[i].Cells)
			}
		}
	}
	return sc
}

// rowOf returns a row for rules.
func rowOf(f *vterm.Frame, l *vterm.Line) respond.Row {
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

// maskedText returns a row's text with a * for each byte of masked cells, or "" if no cell is masked.
func maskedText(f *vterm.Frame, l *vterm.Line, masked []vterm.Cell) string {
	if slices.Equal(l.Cells, masked) {
		return ""
	}
	var text []byte
	for i, c := range l.Cells {
		was := len(text)
		text = f.AppendText(text, c)
		for ; was < len(text) && c != masked[i]; was++ {
			text[was] = '*'
		}
	}
	return string(text)
}
