package vterm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/vterm"
)

// example is output on a small screen and the expected screen. Every example is also written byte by byte, and restored
// from a snapshot at its end, with the same result. Positions are 0-based.
type example struct {
	name string
	spec string // specification, or the terminal whose behaviour it is
	cols int    // 10 when 0
	rows int    // 4 when 0
	in   string

	screen  []string // without blanks at the ends of rows, and without blank rows at the end
	row     int
	col     int
	pending bool     // the wrap is due
	hidden  bool     // the cursor is
	history []string // nil: not compared
	replies string
	events  []string // as eventText formats them; nil: not compared
	options vterm.Options
}

// full is a screen of four full rows.
const full = "abcdefghij\r\nklmnopqrst\r\nuvwxyzABCD\r\nEFGHIJKLMN"

func runExamples(t *testing.T, examples []example) {
	t.Helper()
	seen := map[string]bool{}
	for _, e := range examples {
		if seen[e.name] {
			t.Errorf("%s: the name is used twice", e.name)
		}
		seen[e.name] = true
		t.Run(e.name, func(t *testing.T) { e.run(t) })
	}
}

func (e *example) terminal() *vterm.Terminal {
	o := e.options
	o.Cols, o.Rows = e.cols, e.rows
	if o.Cols == 0 {
		o.Cols = 10
	}
	if o.Rows == 0 {
		o.Rows = 4
	}
	return vterm.New(o)
}

func (e *example) run(t *testing.T) {
	t.Helper()
	term := e.terminal()
	write(term, e.in)
	var f vterm.Frame
	term.Frame(&f, vterm.Query{})
	if got, want := strings.Join(rowsShown(&f), "\n"), strings.Join(e.screen, "\n"); got != want {
		t.Errorf("%s\n%q shows\n%s\nwant\n%s", e.spec, e.in, boxed(got), boxed(want))
	}
	if c := f.Cursor; c.Row != e.row || c.Col != e.col || c.Pending != e.pending || c.Visible == e.hidden {
		t.Errorf("%s\n%q leaves the cursor at %+v, want row %d, column %d, pending %t, visible %t",
			e.spec, e.in, c, e.row, e.col, e.pending, !e.hidden)
	}
	if e.history != nil {
		if got, want := strings.Join(historyOf(term), "\n"), strings.Join(e.history, "\n"); got != want {
			t.Errorf("%s\n%q has the history\n%s\nwant\n%s", e.spec, e.in, boxed(got), boxed(want))
		}
	}
	whole := everything(term)
	if got := string(term.Replies(nil)); got != e.replies {
		t.Errorf("%s\n%q is answered\n\t%q, want\n\t%q", e.spec, e.in, got, e.replies)
	}
	if got := eventsOf(term); e.events != nil && strings.Join(got, "\n") != strings.Join(e.events, "\n") {
		t.Errorf("%s\n%q reports\n\t%q, want\n\t%q", e.spec, e.in, got, e.events)
	}
	if what := unsound(term); what != "" {
		t.Errorf("%s\n%q: %s", e.spec, e.in, what)
	}

	bytewise := e.terminal()
	for i := range len(e.in) {
		write(bytewise, e.in[i:i+1])
	}
	if got := everything(bytewise); got != whole {
		t.Errorf("%q a byte at a time:\n%s", e.in, difference(got, whole))
	}
	if got := string(bytewise.Replies(nil)); got != e.replies {
		t.Errorf("%q a byte at a time is answered %q", e.in, got)
	}
	if cols, rows := f.Cols, f.Rows; cols*rows < 10_000 {
		checkSnapshot(t, term, e.in)
	}
}

// checkSnapshot restores a snapshot and continues with both terminals.
func checkSnapshot(t *testing.T, term *vterm.Terminal, in string) {
	t.Helper()
	_ = term.Replies(nil)
	_ = term.Events(nil)
	again := vterm.New(vterm.Options{})
	if err := again.Restore(term.AppendSnapshot(nil)); err != nil {
		t.Errorf("%q: restore: %v", in, err)
		return
	}
	if got, want := everything(again), everything(term); got != want {
		t.Errorf("%q restored:\n%s", in, difference(got, want))
	}
	const onward = "A\u4f60\x1b[6n\r\nB\x1b[3;1HC\tD\x1b8E\x1bM\x1b[6n\x1b[2J\n\n\nF"
	write(term, onward)
	write(again, onward)
	if got, want := everything(again), everything(term); got != want {
		t.Errorf("%q restored continues differently:\n%s", in, difference(got, want))
	}
	if got, want := string(again.Replies(nil)), string(term.Replies(nil)); got != want {
		t.Errorf("%q restored answers %q, want %q", in, got, want)
	}
}

func write(t *vterm.Terminal, s string) { _, _ = t.Write([]byte(s)) }

// rowsShown is the text of a screen.
func rowsShown(f *vterm.Frame) []string {
	rows := make([]string, f.Rows)
	for i := range f.Lines {
		rows[f.Lines[i].Row] = textOf(f, &f.Lines[i])
	}
	for len(rows) > 0 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	return rows
}

func textOf(f *vterm.Frame, l *vterm.Line) string {
	var b []byte
	for _, c := range l.Cells {
		b = f.AppendText(b, c)
	}
	return strings.TrimRight(string(b), " ")
}

// historyOf is the text of the scrollback, oldest line first.
func historyOf(t *vterm.Terminal) []string {
	h := t.History()
	var f vterm.Frame
	var l vterm.Line
	lines := []string{}
	for i := range h.Len() {
		h.Line(i, &l)
		t.Frame(&f, vterm.Query{}) // after the line: it may bring a cluster that no frame had
		lines = append(lines, textOf(&f, &l))
	}
	return lines
}

var eventNames = map[vterm.EventKind]string{
	vterm.EventBell: "bell", vterm.EventTitle: "title", vterm.EventIconLabel: "icon", vterm.EventCwd: "cwd",
	vterm.EventMark: "mark", vterm.EventNotify: "notify", vterm.EventProgress: "progress",
	vterm.EventClipboard: "clipboard", vterm.EventUserVar: "variable", vterm.EventContext: "context",
	vterm.EventModes: "modes", vterm.EventAltScreen: "alternate", vterm.EventResize: "resize",
	vterm.EventSync: "sync", vterm.EventWindow: "window", vterm.EventReset: "reset", vterm.EventDropped: "lost",
}

// eventText formats an event as "kind name|text|number", without empty parts at its end.
func eventText(e vterm.Event) string {
	s := fmt.Sprintf("%s %s|%s|%d", eventNames[e.Kind], e.Name, e.Text, e.Num)
	return strings.TrimRight(strings.TrimSuffix(s, "|0"), "| ")
}

// eventsOf returns the events so far, except those of modes.
func eventsOf(t *vterm.Terminal) []string {
	all := []string{}
	for _, e := range t.Events(nil) {
		if e.Kind != vterm.EventModes {
			all = append(all, eventText(e))
		}
	}
	return all
}

// everything is all that can be seen of a terminal, as text; replies and events stay.
func everything(t *vterm.Terminal) string {
	var b strings.Builder
	var f vterm.Frame
	for _, which := range []vterm.ScreenKind{vterm.ScreenPrimary, vterm.ScreenAlternate} {
		t.Frame(&f, vterm.Query{Screen: which})
		for i := range f.Lines {
			fmt.Fprintf(&b, "screen %d row %d: %s\n", which, i, lineState(&f, &f.Lines[i]))
		}
	}
	h := t.History()
	var l vterm.Line
	for i := range h.Len() {
		h.Line(i, &l)
		t.Frame(&f, vterm.Query{})
		fmt.Fprintf(&b, "line %d: %s\n", i, lineState(&f, &l))
	}
	fmt.Fprintf(&b, "first %d\ncursor %+v\ntitle %q\nmodes %+v\npalette %x %x %x %x\n",
		h.FirstID(), f.Cursor, f.Title, t.Modes(), f.Palette.Foreground, f.Palette.Background, f.Palette.Cursor, f.Palette.Colors[:16])
	return b.String()
}

func lineState(f *vterm.Frame, l *vterm.Line) string {
	var b strings.Builder
	if l.Wrapped {
		b.WriteString("wrapped ")
	}
	if l.Size != vterm.LineNormal {
		fmt.Fprintf(&b, "size %d ", l.Size)
	}
	n := len(l.Cells)
	for n > 0 && l.Cells[n-1] == 0 {
		n-- // omitted and zero are equal
	}
	for _, c := range l.Cells[:n] {
		if c == 0 {
			b.WriteString("_")
			continue
		}
		b.Write(f.AppendText(nil, c))
		if c.Width() != vterm.WidthNarrow {
			fmt.Fprintf(&b, "{%d}", c.Width())
		}
		if c&(vterm.CellProtected|vterm.CellISOGuard) != 0 {
			b.WriteString("!")
		}
		if st := f.Style(c); st != (vterm.Style{}) {
			link := ""
			if int(st.Link) < len(f.Links) && st.Link != 0 {
				link = fmt.Sprintf("%+v", f.Links[st.Link])
			}
			st.Link = 0
			fmt.Fprintf(&b, "%+v%s", st, link)
		}
	}
	return b.String()
}

// unsound returns a violated invariant of any screen, or "".
func unsound(t *vterm.Terminal) string {
	var f vterm.Frame
	for _, which := range []vterm.ScreenKind{vterm.ScreenPrimary, vterm.ScreenAlternate} {
		t.Frame(&f, vterm.Query{Screen: which})
		if which == vterm.ScreenAlternate && len(f.Lines) == 0 {
			continue // it was never shown
		}
		if !f.Full || len(f.Lines) != f.Rows {
			return fmt.Sprintf("screen %d: %d rows of %d", which, len(f.Lines), f.Rows)
		}
		for i := range f.Lines {
			if f.Lines[i].Row != i {
				return fmt.Sprintf("screen %d: row %d comes as %d", which, f.Lines[i].Row, i)
			}
			if what := unsoundCells(&f, f.Lines[i].Cells, f.Cols); what != "" {
				return fmt.Sprintf("screen %d, row %d: %s", which, i, what)
			}
		}
	}
	if c := f.Cursor; c.Row < 0 || c.Row >= f.Rows || c.Col < 0 || c.Col >= f.Cols {
		return fmt.Sprintf("the cursor %+v is outside %dx%d", c, f.Cols, f.Rows)
	}
	h := t.History()
	var l vterm.Line
	for i := range h.Len() {
		h.Line(i, &l)
		t.Frame(&f, vterm.Query{})
		if what := unsoundCells(&f, l.Cells, 1<<20); what != "" {
			return fmt.Sprintf("line %d of the history: %s", i, what)
		}
	}
	return ""
}

func unsoundCells(f *vterm.Frame, cells []vterm.Cell, cols int) string {
	if len(cells) > cols {
		return fmt.Sprintf("%d cells in %d columns", len(cells), cols)
	}
	for i, c := range cells {
		switch c.Width() {
		case vterm.WidthWide:
			if i+1 >= len(cells) || cells[i+1].Width() != vterm.WidthTail {
				return fmt.Sprintf("the wide character in column %d has no second half", i)
			}
		case vterm.WidthTail:
			if i == 0 || cells[i-1].Width() != vterm.WidthWide {
				return fmt.Sprintf("half a character in column %d", i)
			}
		}
		if int(c.Style()) >= len(f.Styles) || c&vterm.CellCluster != 0 && int(c.Content()) >= len(f.Clusters) {
			return fmt.Sprintf("the cell %x in column %d refers to nothing", uint64(c), i)
		}
		if st := f.Style(c); int(st.Link) >= max(len(f.Links), 1) {
			return fmt.Sprintf("link %d in column %d is none", st.Link, i)
		}
	}
	return ""
}

// boxed shows where rows end.
func boxed(s string) string {
	return "\t|" + strings.ReplaceAll(s, "\n", "|\n\t|") + "|"
}

// difference is the first line in which two texts differ.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("\t%s\nwant\n\t%s", g[i], w[i])
		}
	}
	return fmt.Sprintf("\t%d lines, want %d", len(g), len(w))
}
