package statusbar

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/internal/screentest"
	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/theme"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// foot is a terminal whose last row is a status bar.
type foot struct {
	term   *screentest.Screen
	canvas canvas.Canvas
	bar    Bar
	state  State
}

func newFoot(t *testing.T, cols int, ids ...string) *foot {
	t.Helper()
	keys, err := keymap.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	keys.PrefixName = "Ctrl-Space"
	f := &foot{term: screentest.Started(t, cols, 10)}
	f.canvas = canvas.New(f.term, false)
	m := model.New(nil)
	var u model.Update
	for _, id := range ids {
		u.Sessions = append(u.Sessions, model.Session{ID: id, Name: id, State: model.StateRunning, Started: epoch})
	}
	m.Update(u, epoch)
	f.state = State{Model: &m, Keys: keys, Panes: len(ids), Now: epoch}
	return f
}

func (f *foot) row() string {
	f.bar.Draw(&f.canvas, theme.Mono, &f.state)
	f.canvas.Show()
	return f.term.Row(9)
}

func TestBar(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(s *State)
		want string
	}{
		{"hint", func(*State) {}, " Ctrl-Space: commands, then ?: help"},
		{"no hints", func(s *State) { s.NoHints = true }, ""},
		{"message", func(s *State) { s.Message = "copied 2 lines" }, " copied 2 lines"},
		{"hidden panes", func(s *State) { s.Panes = 1 }, " 1 of 2 sessions fit; Ctrl-Space Tab shows the next"},
		{"hidden floating pane", func(s *State) {
			s.Model.Focus = "b"
			s.Model.ToggleFloat()
			s.Model.Focus = "a"
			s.Panes = 1
		}, " 1 floating pane hidden; Ctrl-Space O shows it"},
		{"copy mode", func(s *State) { s.CopyMode = " copy mode" }, " copy mode"},
		{"zoomed", func(s *State) { s.Model.Zoomed = true }, " zoomed; Ctrl-Space z shows all 2"},
		{"read-only", func(s *State) { s.Model.ReadOnly = true }, " READ-ONLY                   Ctrl-Space: commands, then ?: help"},
		{"away for a moment", func(s *State) { s.Model.Update(model.Update{Unavailable: "refused"}, epoch) }, " Ctrl-Space: commands, then ?: help"},
		{"away", func(s *State) {
			s.Model.Update(model.Update{Unavailable: "refused"}, epoch)
			s.Now = epoch.Add(UnreachableTime)
		}, " reconnecting… refused"},
		{"a host of several is cut off", func(s *State) {
			s.Model.Unreachable = []model.Unreachable{{Host: "build", Why: "no route to host", Since: s.Now.Add(-time.Minute)}}
		}, " Ctrl-Space: commands, then ?: help         build cut off 1m00s"},
		{"two of them", func(s *State) { s.Model.Unreachable = make([]model.Unreachable, 2) }, " Ctrl-Space: commands, then ?: help             2 hosts cut off"},
	} {
		f := newFoot(t, 64, "a", "b")
		c.do(&f.state)
		if got := f.row(); got != c.want {
			t.Errorf("%s: %q; want %q", c.name, got, c.want)
		}
	}
	if got := newFoot(t, 64).row(); got != " n: new session  q: quit" {
		t.Errorf("without a session: %q", got)
	}
}

func TestTabs(t *testing.T) {
	f := newFoot(t, 64, "a", "b")
	f.state.NoHints = true
	f.state.Model.Tabs[0].Name = "all"
	f.state.Model.AddTab(&model.Tab{Tree: layout.Leaf("b"), Focus: "b"})
	if got, want := f.row(), " 1 all  2 b"; got != want {
		t.Errorf("%q; want %q", got, want)
	}
	for x, want := range map[int]int{0: 0, 6: 0, 7: 1, 11: 1, 12: -1} {
		tab, ok := f.bar.Tab(x)
		if !ok {
			tab = -1
		}
		if tab != want {
			t.Errorf("tab %d at column %d; want %d", tab, x, want)
		}
	}
	f.term.Drawn()
	f.row()
	if puts, _ := f.term.Drawn(); puts > 0 {
		t.Errorf("%d characters drawn without a change", puts)
	}
	f.canvas.Clear()
	f.bar.Forget()
	f.row()
	if puts, _ := f.term.Drawn(); puts == 0 {
		t.Error("a forgotten bar is not drawn")
	}
}

// TestFlagsAreNotCut checks that the target of keys is shown in full, whatever alerts exist.
func TestFlagsAreNotCut(t *testing.T) {
	for width, want := range map[int]string{
		20: " READ-ONLY      ? b", 32: " 1 grid  2 b ?  READ-ONLY   ? b", 50: " 1 grid  2 b ?   READ-ONLY        ? b needs input",
		84: " 1 grid  2 b ?   READ-ONLY      ? b: something that asks needs input (Ctrl-Space a)",
	} {
		f := newFoot(t, width, "a", "b")
		f.state.NoHints = true
		m := f.state.Model
		m.Tabs[0].Name = "grid"
		m.AddTab(&model.Tab{Tree: layout.Leaf("b"), Focus: "b"})
		m.Show(0)
		m.ReadOnly = true
		m.Alerts["b"] = model.Alert{Kind: model.AlertInput, Command: "something that asks"}
		if got := f.row(); got != want {
			t.Errorf("%d columns: %q; want %q", width, got, want)
		}
	}
}

// TestCurrentTabIsInSight checks that the current tab is visible whatever its number is, with as many of the others as
// fit, and marks for the rest.
func TestCurrentTabIsInSight(t *testing.T) {
	for _, c := range []struct {
		width, current int
		want           string
	}{
		{40, 0, " 1 tab1  2 tab2 …        +5   3 failed"},
		{40, 4, "… 4 tab4  5 tab5 …       +5   3 failed"},
		{40, 8, "… 8 tab8  9 tab9         +5   3 failed"},
		{20, 8, "… 9 tab9         +5"},
		{80, 8, "… 3 tab3  4 tab4  5 tab5  6 tab6  7 tab7  8 tab8  9 tab9         +5   3 failed"},
		{100, 8, " 1 tab1  2 tab2  3 tab3  4 tab4  5 tab5  6 tab6  7 tab7  8 tab8  9 tab9       +5   3 run  3 failed"},
		{120, 8, " 1 tab1  2 tab2  3 tab3  4 tab4  5 tab5  6 tab6  7 tab7  8 tab8  9 tab9             +5 elsewhere (p)   3 run  3 failed"},
	} {
		f := newFoot(t, c.width, "a", "b", "c", "d", "e", "f")
		m := f.state.Model
		failed := 1
		for i := range 3 {
			m.Sessions[i].Phase, m.Sessions[i].LastExit = model.PhasePrompt, &failed
		}
		m.Tabs = nil
		for i := range 9 {
			m.Tabs = append(m.Tabs, &model.Tab{Name: fmt.Sprint("tab", i+1), Tree: layout.Leaf("f"), Focus: "f"})
		}
		m.Current, m.Focus = c.current, "f"
		f.state.NoHints, f.state.Panes = true, 1
		got := f.row()
		if got != c.want {
			t.Errorf("%d columns: %q; want %q", c.width, got, c.want)
		}
		at := len([]rune(got[:strings.Index(got, fmt.Sprintf("tab%d", c.current+1))]))
		if tab, ok := f.bar.Tab(at); !ok || tab != c.current {
			t.Errorf("%d columns: tab %d is at column %d", c.width, tab, at)
		}
	}
}

// TestAlertsNameTheSession checks that an alert has the name of its session's pane and the program: a line of a shell
// alone names nothing.
func TestAlertsNameTheSession(t *testing.T) {
	f := newFoot(t, 90, "bash-9", "b")
	f.state.NoHints = true
	s := f.state.Model.Session("bash-9")
	s.Command = "/bin/bash -i"
	f.state.Model.Alerts["bash-9"] = model.Alert{Kind: model.AlertInput, Command: "clear; cat >notes"}
	if got := strings.TrimSpace(f.row()); got != "? bash-9: clear; cat >notes needs input (Ctrl-Space a)" || !s.HasAutomaticName() {
		t.Errorf("%q", got)
	}
}

// TestElsewhereIsNotCut checks that the number of sessions in no tab is shown completely, in a short form if there is
// no space.
func TestElsewhereIsNotCut(t *testing.T) {
	for width, want := range map[int]string{
		16: "        ? b  +1", 20: " ? b needs input  +1", 40: "      ? b needs input  +1 elsewhere (p)", 60: "           ? b needs input (Ctrl-Space a)  +1 elsewhere (p)",
	} {
		f := newFoot(t, width, "a", "b")
		f.state.NoHints = true
		m := f.state.Model
		m.Tabs[0] = &model.Tab{Tree: layout.Leaf("a"), Focus: "a"}
		m.Show(0)
		m.Alerts["b"] = model.Alert{Kind: model.AlertInput}
		if got := f.row(); got != want {
			t.Errorf("%d columns: %q; want %q", width, got, want)
		}
	}
}

// TestTabs_StayInSight_BesideSessionsElsewhere checks that the current tab stays in the bar however many sessions are
// in no tab.
//
// FAULT: H18
func TestTabs_StayInSight_BesideSessionsElsewhere(t *testing.T) {
	for width := 24; width < 120; width++ {
		ids := []string{"a"}
		for i := range 22 {
			ids = append(ids, fmt.Sprint("s", i))
		}
		f := newFoot(t, width, ids...)
		m := f.state.Model
		m.Tabs[0] = &model.Tab{Name: "home", Tree: layout.Leaf("a"), Focus: "a"}
		m.AddTab(&model.Tab{Name: "work", Tree: layout.Leaf("a"), Focus: "a"})
		m.ReadOnly = true
		if got := f.row(); !strings.Contains(got, "2 work") && !strings.Contains(got, "2 wo…") {
			t.Errorf("%d columns: %q", width, got)
		}
		m.ReadOnly = false
		if got := f.row(); !strings.Contains(got, "2 work") {
			t.Errorf("%d columns: %q", width, got)
		}
	}
}

// TestApproval_ShownOnce checks that an approval is counted once in the bar, beside other alerts.
//
// FAULT: H18
func TestApproval_ShownOnce(t *testing.T) {
	f := newFoot(t, 120, "a", "b", "c")
	f.state.NoHints = true
	m := f.state.Model
	m.Session("a").Needs = model.NeedsApproval
	m.Alerts["a"] = model.Alert{Kind: model.AlertApproval}
	m.Approvals = []model.Approval{{Session: "a"}}
	if got := strings.TrimSpace(f.row()); got != "! 1 to approve (Ctrl-Space A)   2 run" {
		t.Errorf("%q", got)
	}
	m.Alerts["b"] = model.Alert{Kind: model.AlertBell}
	if got := f.row(); !strings.Contains(got, "♪ b") || strings.Contains(got, "+1") {
		t.Errorf("%q", got)
	}
}

// TestStatus_NameComesFirst checks that the name of a session is complete, and the clock and the size give way to it.
//
// FAULT: H18
func TestStatus_NameComesFirst(t *testing.T) {
	for width := 20; width < 80; width++ {
		term := screentest.Started(t, width, 2)
		c := canvas.New(term, false)
		s := Status{
			Session: &model.Session{Name: "frontend-build", State: model.StateRunning, Phase: model.PhaseRunning, ShellCommand: "make", Started: epoch, Since: epoch},
			Number:  3, Cols: 120, Rows: 40, Now: epoch.Add(3 * time.Hour),
		}
		s.Draw(&c, theme.Mono, layout.Rect{W: width, H: 1}, "")
		c.Show()
		if got := term.Row(0); width >= 30 && !strings.Contains(got, "frontend-build") {
			t.Errorf("%d columns: %q", width, got)
		}
	}
}

// TestLine checks that the cursor of a typed line stays visible, and the text behind it gives way.
func TestLine(t *testing.T) {
	f := newFoot(t, 30)
	f.bar.DrawLine(&f.canvas, theme.Mono, Line{Label: "search: ", Text: "abc", At: 1, Note: "3 of 17 matches found so far"})
	f.canvas.Show()
	if got, want := f.term.Row(9), " search: abc       3 of 17 m…"; got != want {
		t.Errorf("%q; want %q", got, want)
	}
	if x, y, _ := f.term.GetCursor(); x != 10 || y != 9 {
		t.Errorf("the cursor is at %d,%d", x, y)
	}
	f.bar.DrawLine(&f.canvas, theme.Mono, Line{Label: "search: ", Text: "a line that is much longer than the bar", At: 39})
	f.canvas.Show()
	if got, want := f.term.Row(9), " search:  longer than the bar"; got != want {
		t.Errorf("%q; want %q", got, want)
	}
}

// FEATURES: R124
func TestStatus_MarksDraft(t *testing.T) {
	for width, want := range map[int]string{50: " 1 a  top                draft(3)  running  1m05s", 41: " 1 a  top       draft(3)  running  1m05s", 30: " 1 a  top               1m05s"} {
		term := screentest.Started(t, width, 2)
		c := canvas.New(term, false)
		s := Status{Session: &model.Session{Name: "a", State: model.StateRunning, Command: "top", Draft: "draft(3)", Started: epoch}, Number: 1, Now: epoch.Add(65 * time.Second)}
		s.Draw(&c, theme.Mono, layout.Rect{W: width, H: 1}, "")
		c.Show()
		if got := strings.TrimRight(term.Row(0), " "); got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
}

func TestStatus(t *testing.T) {
	code := 2
	for _, c := range []struct {
		name  string
		width int
		s     Status
		want  string
	}{
		{"program", 40, Status{Session: &model.Session{Name: "a", State: model.StateRunning, Command: "top", Started: epoch}}, " 1 a  top                running  1m05s"},
		{"the past of another", 40, Status{Session: &model.Session{Name: "a-past", State: model.StateRunning, Command: "/bin/x play 4711", Cwd: "/", PlaybackOf: "a", Started: epoch}}, " 1 a-past  as a was                past"},
		{"its title", 40, Status{Session: &model.Session{Name: "a", State: model.StateRunning, Command: "top", Started: epoch}, Title: "load"}, " 1 a  load               running  1m05s"},
		{"idle shell", 40, Status{Session: &model.Session{Name: "a", State: model.StateRunning, Phase: model.PhasePrompt, LastExit: &code}}, " 1 a                             exit 2"},
		{"asks", 40, Status{Session: &model.Session{Name: "a", State: model.StateRunning, Phase: model.PhaseRunning, ShellCommand: "ssh x\ny", Needs: "password", Since: epoch}}, " 1 a  ssh x       needs password  1m05s"},
		{"copy mode", 40, Status{Session: &model.Session{Name: "a", State: model.StateRunning, Started: epoch}, Copying: &Position{Below: 7, Above: 9}}, " 1 a           copy 7/9  running  1m05s"},
		{"other size", 40, Status{Session: &model.Session{Name: "a", State: model.StateRunning, Started: epoch}, Cols: 80, Rows: 24}, " 1 a         size 80×24  running  1m05s"},
		{"much to tell", 59, Status{Session: &model.Session{
			Name: "build", Command: "make all of it", State: model.StateRunning, Phase: model.PhaseRunning, Since: epoch, Errors: 1, Warnings: 3,
			Progress: &model.Progress{Percent: 47}, Due: epoch.Add(125 * time.Second),
		}}, " 1 build  make all of it      1 error  47%  running  1m05s"},
		{"room for all of it", 90, Status{Session: &model.Session{
			Name: "build", Command: "make all of it", State: model.StateRunning, Phase: model.PhaseRunning, Since: epoch, Errors: 1, Warnings: 3,
			Progress: &model.Progress{Percent: 47}, Due: epoch.Add(125 * time.Second),
		}}, " 1 build  make all of it  1 error  3 warnings  ▕███▊    ▏ 47%  1m00s left  running  1m05s"},
		{"narrow", 20, Status{Session: &model.Session{Name: "a", Command: "make", State: "exited", ExitCode: &code, Started: epoch, Ended: epoch.Add(time.Second)}}, " 1 a  make   exit 2"},
	} {
		term := screentest.Started(t, c.width, 2)
		cv := canvas.New(term, false)
		c.s.Number, c.s.Now = 1, epoch.Add(65*time.Second)
		said := c.s.Draw(&cv, theme.Mono, layout.Rect{W: c.width, H: 2}, "")
		cv.Show()
		if got := term.Row(0); got != c.want {
			t.Errorf("%s:\n%q; want\n%q", c.name, got, c.want)
		}
		term.Drawn()
		c.s.Draw(&cv, theme.Mono, layout.Rect{W: c.width, H: 2}, said)
		if puts, _ := term.Drawn(); puts > 0 {
			t.Errorf("%s: drawn again without a change", c.name)
		}
	}
}
