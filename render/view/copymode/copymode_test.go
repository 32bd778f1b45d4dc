package copymode

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/internal/screentest"
	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/overlays"
	"github.com/longterm-dev/longterm/render/view/page"
	"github.com/longterm-dev/longterm/render/view/theme"
	"github.com/longterm-dev/longterm/vterm/input"
)

// Sizes of the pane and of the session's output.
const (
	cols   = 20
	height = 4
	total  = 30
)

// text returns the session's output, a number in each row; some rows are commands.
func text() []string {
	rows := make([]string, total)
	for i := range rows {
		rows[i] = fmt.Sprintf("row %d of it", i)
	}
	rows[3], rows[12], rows[24] = "$ make", "$ make test", "$ ls"
	return rows
}

func lines(rows []string) []render.Line {
	out := make([]render.Line, len(rows))
	for i, t := range rows {
		out[i] = render.Line{Row: i, Text: t, Spans: []render.Span{{Text: t, Width: len(t)}}}
	}
	return out
}

// past is a session's history with a tail of some rows.
type past struct {
	lines []render.Line
	tail  int
	err   error
}

func (h *past) Tail(context.Context, string, int) (page.Page, error) {
	return page.Page{First: len(h.lines) - h.tail, Lines: h.lines[len(h.lines)-h.tail:], Cols: cols}, h.err
}

func (h *past) Older(_ context.Context, _ string, before, _ int) ([]render.Line, error) {
	return h.lines[max(0, before-8):before], h.err
}

func (h *past) Commands(context.Context, string) ([]page.Command, error) {
	return []page.Command{{N: 1, Text: "make"}, {N: 2, Text: "make test"}, {N: 3, Text: "ls"}}, h.err
}

func (h *past) Output(_ context.Context, _ string, command int) (string, error) {
	return fmt.Sprintf("output of %d", command), h.err
}

// stage is copy mode of a pane that shows the last rows, with the viewer's part of it.
type stage struct {
	t *testing.T
	*Mode
	keymap *keymap.Map
	tasks  []func() // results that are not delivered yet
	said   string
	copied string
	asked  *overlays.Prompt
}

func (s *stage) RunAsync(work func(context.Context) func()) {
	s.tasks = append(s.tasks, work(s.t.Context()))
}
func (s *stage) ShowMessage(text string) { s.said = text }
func (s *stage) Ask(p *overlays.Prompt)  { s.asked = p }
func (s *stage) Copy(text string)        { s.copied = text }

func start(t *testing.T, h History) *stage {
	t.Helper()
	keys, err := keymap.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	keys.PrefixName = "Ctrl-Space"
	s := &stage{t: t, keymap: keys}
	rows := text()[total-height:]
	s.Mode = New(s, h, "a", &render.Screen{Cols: cols, Rows: height, Lines: lines(rows), Cursor: render.Cursor{Y: height - 1}}, 0, height)
	return s
}

// arrive delivers all fetched results, and those fetched meanwhile.
func (s *stage) arrive() {
	for len(s.tasks) > 0 {
		task := s.tasks[0]
		s.tasks = s.tasks[1:]
		task()
	}
}

// press presses keys by name; everything that is fetched arrives between them.
func (s *stage) press(names ...string) {
	s.t.Helper()
	for _, n := range names {
		k, err := input.ParseKey(n)
		if err != nil {
			s.t.Fatal(err)
		}
		if len([]rune(n)) == 1 {
			k.Text = n
		}
		if s.asked != nil {
			r := s.asked.Key(k)
			if r.Close {
				s.asked = nil
			}
			if r.Then != nil {
				r.Then()
			}
		} else {
			s.Key(s.keymap, k)
		}
		s.arrive()
	}
}

// where is the cursor's row and column, with the rows that are shown.
func (s *stage) where() string {
	return fmt.Sprintf("%d,%d of %d-%d", s.cursor.Row, s.cursor.Col, s.top, s.top+s.height-1)
}

func TestKeys(t *testing.T) {
	for _, c := range []struct{ keys, where, said, copied string }{
		{"Up", "28,0 of 26-29", "", ""},
		{"Up Up Up Up", "25,0 of 25-28", "", ""},
		{"PageUp", "21,0 of 21-24", "", ""},
		{"C-u C-d", "28,0 of 26-29", "", ""},
		{"k l l h w", "28,4 of 26-29", "", ""},
		{"$", "29,11 of 26-29", "", ""},
		{"$ 0", "29,0 of 26-29", "", ""},
		{"g", "0,0 of 0-3", "", ""},
		{"g G", "29,0 of 26-29", "", ""},
		{"{", "24,0 of 23-26", "", ""},
		{"{ {", "12,0 of 11-14", "", ""},
		{"{ { { {", "3,0 of 2-5", "no command before this one", ""},
		{"{ { }", "24,0 of 23-26", "", ""},
		{"{ { o", "12,0 of 11-14", "", "output of 2"},
		{"y", "29,0 of 26-29", "no selection; v selects", ""},
		{"v l l y", "29,2 of 26-29", "", "row"},
		{"v k y", "28,0 of 26-29", "", "row 28 of it\nr"},
		{"V y", "29,0 of 26-29", "", "row 29 of it\n"},
		{"k C-v j l l y", "29,2 of 26-29", "", "row\nrow"},
		{"v v y", "29,0 of 26-29", "no selection; v selects", ""},
		{"/ 1 7 Enter", "17,4 of 16-19", "", ""},
		{"/ r o w Space 2 Enter n n", "27,0 of 26-29", "", ""},
		{"/ m a k e Enter n", "3,2 of 2-5", "", ""},
		{"/ x y z Enter", "29,0 of 26-29", "not found: xyz", ""},
		{"/ 1 7 Escape", "29,0 of 26-29", "", ""},
		{"5 k", "24,0 of 24-27", "", ""},
		{"1 0 k", "19,0 of 19-22", "", ""},
		{"3 0 k", "0,0 of 0-3", "", ""},
		{"2 w $ 0 k", "28,0 of 26-29", "", ""},
		{"3 V y", "29,0 of 26-29", "", "row 29 of it\n"},
		{"2 {", "12,0 of 11-14", "", ""},
		{"3 F5 k", "28,0 of 26-29", "copy mode: q leaves it, Ctrl-Space ? lists the keys", ""},
		{"e", "29,2 of 26-29", "", ""},
		{"2 e", "29,5 of 26-29", "", ""},
		{"e l e", "29,5 of 26-29", "", ""},
		{"v e y", "29,2 of 26-29", "", "row"},
		{"W", "29,4 of 26-29", "", ""},
		{"2 E", "29,5 of 26-29", "", ""},
		{"$ B B", "29,7 of 26-29", "", ""},
		{"$ b", "29,10 of 26-29", "", ""},
		{"f o", "29,1 of 26-29", "", ""},
		{"2 f o", "29,7 of 26-29", "", ""},
		{"f o ; ,", "29,1 of 26-29", "", ""},
		{"t o", "29,6 of 26-29", "", ""},
		{"t i ; ;", "29,9 of 26-29", "not in this row: i", ""},
		{"$ F o", "29,7 of 26-29", "", ""},
		{"$ T o", "29,8 of 26-29", "", ""},
		{"$ T o ; ,", "29,6 of 26-29", "", ""},
		{"3 f o", "29,0 of 26-29", "not in this row: o", ""},
		{"f Escape l", "29,1 of 26-29", "", ""},
		{"f 2 k", "28,4 of 26-29", "", ""},
		{";", "29,0 of 26-29", "no jump to repeat", ""},
		{"v f w y", "29,2 of 26-29", "", "row"},
		{"$ ^", "29,0 of 26-29", "", ""},
		{"w D", "29,4 of 26-29", "", "29 of it"},
		{"C-y", "28,0 of 25-28", "", ""},
		{"g C-e", "1,0 of 1-4", "", ""},
		{"g j 2 C-e C-y", "2,0 of 1-4", "", ""},
		{"F5", "29,0 of 26-29", "copy mode: q leaves it, Ctrl-Space ? lists the keys", ""},
	} {
		s := start(t, &past{lines: lines(text()), tail: 12})
		s.UseKeys()
		s.Fetch(nil)
		s.arrive()
		s.press(strings.Fields(c.keys)...)
		if got := s.where(); got != c.where || s.said != c.said || s.copied != c.copied {
			t.Errorf("%s: %s, message %q, copied %q; want %s, %q, %q", c.keys, got, s.said, s.copied, c.where, c.said, c.copied)
		}
	}
}

// TestEmacsKeys checks that with emacs' keys the mark and the cursor are between characters: the copy ends before the
// cursor, which moves behind words and rows. The stops and copied texts are those of tmux 3.3a, with mode-keys emacs.
//
// FEATURES: R76 R119
func TestEmacsKeys(t *testing.T) {
	preset, err := keymap.Choose("tmux-emacs", "")
	if err != nil {
		t.Fatal(err)
	}
	keys, err := keymap.New(preset.With(nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ keys, where, said, copied string }{
		{"M-f", "29,3 of 26-29", "", ""},
		{"M-f M-f M-b", "29,4 of 26-29", "", ""},
		{"C-Space M-f M-w", "29,3 of 26-29", "", "row"},
		{"C-Space C-e C-w", "29,12 of 26-29", "", "row 29 of it"},
		{"C-e C-Space C-a M-w", "29,0 of 26-29", "", "row 29 of it"},
		{"C-p C-a C-Space C-n M-w", "29,0 of 26-29", "", "row 28 of it\n"},
		{"C-Space C-Space C-f C-f M-w", "29,2 of 26-29", "", "ro"},
		{"C-Space M-w", "29,0 of 26-29", "", ""},
		{"C-Space R C-p C-f C-f M-w", "28,2 of 26-29", "", "ro\nro"},
		{"C-f C-f C-k", "29,2 of 26-29", "", "w 29 of it"},
		{"M-w", "29,0 of 26-29", "no selection; Ctrl-Space selects", ""},
		{"C-Up C-Up", "27,0 of 24-27", "", ""},
		{"C-e M-m", "29,0 of 26-29", "", ""},
	} {
		s := start(t, &past{lines: lines(text()), tail: 12})
		s.keymap = keys
		s.UseKeys()
		s.Fetch(nil)
		s.arrive()
		s.press(strings.Fields(c.keys)...)
		if got := s.where(); got != c.where || s.said != c.said || s.copied != c.copied {
			t.Errorf("%s: %s, message %q, copied %q; want %s, %q, %q", c.keys, got, s.said, s.copied, c.where, c.said, c.copied)
		}
	}
}

// TestScrolling checks that without a cursor the scroll keys scroll, and other keys lead back to the live screen.
func TestScrolling(t *testing.T) {
	for _, c := range []struct {
		keys    string
		top     int
		left    bool
		handled bool // the last key
	}{
		{"", 23, false, true},
		{"PageUp", 19, false, true},
		{"PageUp PageDown", 23, false, true},
		{"PageDown", 26, true, true},
		{"Escape", 23, true, true},
		{"x", 23, true, false},
	} {
		s := start(t, &past{lines: lines(text()), tail: 12})
		s.Scroll(-3)
		s.arrive()
		handled := true
		for _, n := range strings.Fields(c.keys) {
			k, _ := input.ParseKey(n)
			handled = s.Key(s.keymap, k)
			s.arrive()
		}
		if s.top != c.top || s.IsLive() != c.left || handled != c.handled {
			t.Errorf("%s: rows from %d, left %v, handled %v", c.keys, s.top, s.IsLive(), handled)
		}
	}
}

// TestToCommand checks that a command is reached by its number, anywhere in the history.
//
// FEATURES: R76
func TestToCommand(t *testing.T) {
	for n, want := range map[int]string{1: "3,0", 2: "12,0", 3: "24,0", 9: "29,0"} {
		s := start(t, &past{lines: lines(text()), tail: 10})
		s.UseKeys()
		s.ToCommand(n)
		s.arrive()
		row, col, _ := s.Cursor()
		if got := fmt.Sprintf("%d,%d", s.top+row, col); got != want || (s.said != "") != (n == 9) {
			t.Errorf("command %d: %s; want %s; %q", n, got, want, s.said)
		}
	}
}

// TestHistoryFits checks that rows keep their positions though the session printed before its history arrived.
func TestHistoryFits(t *testing.T) {
	s := start(t, nil)
	s.history = &past{lines: append(lines(text()), lines([]string{"new", "newer"})...), tail: 20}
	s.UseKeys()
	s.Fetch(nil)
	s.arrive()
	if got := s.Line(0).Text; got != "row 26 of it" || s.where() != "29,0 of 26-29" {
		t.Errorf("%s is shown first; %s", got, s.where())
	}
}

// TestArrivesLate checks that results that arrive after the user left are dropped, and that a failed fetch is reported.
func TestArrivesLate(t *testing.T) {
	s := start(t, &past{lines: lines(text()), tail: 12})
	s.UseKeys()
	s.Fetch(nil)
	s.Leave()
	s.arrive()
	if s.HasHistory() || s.page.First != 0 {
		t.Error("history was loaded after the end")
	}
	s = start(t, &past{lines: lines(text()), tail: 12, err: errors.New("gone")})
	s.UseKeys()
	s.Fetch(nil)
	s.arrive()
	if s.said != "no history: gone" || s.HasHistory() {
		t.Errorf("message %q", s.said)
	}
	CopyOutput(s, s.history, "a", 0)
	s.arrive()
	if s.said != "not copied: gone" {
		t.Errorf("message %q", s.said)
	}
}

// TestWithoutHistory checks that without history the screen can be viewed.
func TestWithoutHistory(t *testing.T) {
	s := start(t, nil)
	s.UseKeys()
	s.press("g", "v", "$", "y")
	if s.copied != "row 26 of it" || !s.IsLive() {
		t.Errorf("copied %q", s.copied)
	}
	s = start(t, nil)
	if s.Scroll(-1); !s.IsLive() {
		t.Error("copy mode stays without rows above")
	}
}

// TestDrawn checks that matches, the selection, and the starts of commands are visible.
func TestDrawn(t *testing.T) {
	s := start(t, &past{lines: lines(text()), tail: 12})
	s.UseKeys()
	s.Fetch(nil)
	s.arrive()
	s.press("{", "/", "r", "o", "w", "Enter", "j", "v", "l")
	term := screentest.Started(t, cols, height)
	c := canvas.New(term, false)
	for i := range height {
		s.DrawRow(&c, theme.Dark, layout.Rect{Y: i, W: cols, H: 1}, i, false)
	}
	c.Show()
	marks := func(y int) string {
		var b strings.Builder
		for x := range 8 {
			_, st, _ := term.Get(x, y)
			b.WriteByte(map[tcell.Style]byte{canvas.Plain: '.', theme.Dark.Found: 'f', theme.Dark.FoundNow: 'F', theme.Dark.Selected: 's'}[st])
		}
		return strings.ReplaceAll(b.String(), "\x00", "c")
	}
	var got []string
	for y := range height {
		got = append(got, term.Row(y)+" "+marks(y))
	}
	want := []string{"row 23 of it FFF.....", "$ ls cs......", "row 25 of it fff.....", "row 26 of it fff....."} // c: where a command was typed
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if row, col, shown := s.Cursor(); row != 1 || col != 1 || !shown {
		t.Errorf("the cursor is at row %d, column %d, shown %v", row, col, shown)
	}
	if p := s.Position(); p.Below != 3 || p.Above != 26 {
		t.Errorf("%+v", p)
	}
}
