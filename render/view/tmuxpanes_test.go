package view

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/theme"
)

// fakeSteward records the operations on sessions.
type fakeSteward struct {
	done chan string
	err  error
}

func (f *fakeSteward) did(what string) error {
	err := f.err // its receiver may change it
	f.done <- what
	return err
}

func (f *fakeSteward) Restart(_ context.Context, id string) error { return f.did("restart " + id) }
func (f *fakeSteward) Rename(_ context.Context, id, name string) error {
	return f.did("rename " + id + " " + name)
}
func (f *fakeSteward) SizeBy(_ context.Context, id, policy string) error {
	return f.did("size " + id + " " + policy)
}

// newCommandBench is a viewer with two sessions and a steward.
func newCommandBench(t *testing.T, sessions ...model.Session) (*bench, *fakeSteward) {
	t.Helper()
	s := &fakeSteward{done: make(chan string, 4)}
	b := newBench(t, 121, 41, Options{LiveOptions: LiveOptions{Theme: theme.Dark}, SessionManager: s})
	b.list(sessions...)
	return b, s
}

// line types a line into the palette.
func (b *bench) line(text string) {
	b.t.Helper()
	b.keys("^:")
	b.overlay.Paste(text)
	b.send(tcell.NewEventKey(tcell.KeyEnter, 0, 0))
}

// tabs are the tabs' titles, the one that is shown in brackets.
func (b *bench) tabs() string {
	var all []string
	for i := range b.m.Tabs {
		title := b.m.Title(i)
		if i == b.m.Current {
			title = "[" + title + "]"
		}
		all = append(all, title)
	}
	return strings.Join(all, " ")
}

// TestCommandsThatStart checks what a command starts, in which directory and under which name, and where the focus is
// then.
//
// FEATURES: R119 R120
func TestCommandsThatStart(t *testing.T) {
	for _, c := range []struct{ line, runs, dir, tabs, focus, renamed string }{
		{"new-window -c /srv top", "top", "/srv", "a [n]", "n", ""},
		{"new-window -dn logs -c /srv", "", "/srv", "[a] logs", "a", ""},
		{"new-window -d -c '#{pane_current_path}'", "", "", "[a] n", "a", ""},
		{"new-session -s made -n tab -c /srv top", "top", "/srv", "all [tab]", "n", "rename n made"},
		{"new-session -d -s made -c '#{pane_current_path}/x'", "", "x", "[all]", "a", "rename n made"},
		{"new-session -n tab", "", "", "all [tab]", "n", ""},
		{"split-window -d top", "top", "", "[a]", "a", ""},
		{"split-window less \"it's\" ''", `less 'it'\''s' ''`, "", "[a]", "n", ""},
	} {
		b, s := newCommandBench(t, running("a"))
		b.src.made = "n"
		b.line(c.line)
		b.call()
		b.list(running("a"), running("n"))
		if b.src.line != c.runs || b.src.dir != c.dir || b.tabs() != c.tabs || b.m.Focus != c.focus {
			t.Errorf("%s runs %q in %q: tabs %s, focus %s", c.line, b.src.line, b.src.dir, b.tabs(), b.m.Focus)
		}
		if c.renamed == "" {
			continue
		}
		select {
		case got := <-s.done:
			if got != c.renamed {
				t.Errorf("%s: %q", c.line, got)
			}
		case <-t.Context().Done():
			t.Fatalf("%s renames nothing", c.line)
		}
	}
}

// TestRespawnPane checks that a pane is restarted, whether its program runs or not, and that an error is reported.
//
// FEATURES: R119 R120
func TestRespawnPane(t *testing.T) {
	b, s := newCommandBench(t, running("a"), exited("b", 1), running("immortal"))
	did := func(want string) {
		t.Helper()
		if got := <-s.done; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for id, message := range map[string]string{"a": "use respawn-pane -k", "b": "use respawn-pane -k"} {
		b.m.Focus = id
		if b.line("respawn-pane -x"); !strings.HasPrefix(b.message, message) {
			t.Errorf("%s: %q", id, b.message)
		}
	}
	b.m.Focus = "a"
	if b.line("respawn-pane"); b.message != "session is running" {
		t.Error(b.message)
	}
	b.line("respawn-pane -k")
	if id := <-b.src.killed; id != "a" {
		t.Errorf("%s is killed", id)
	}
	did("restart a")
	b.m.Focus = "b"
	b.line("respawnp -k")
	did("restart b")
	s.err = errors.New("no such program")
	b.m.Focus = "a"
	b.line("respawn-pane -k")
	<-b.src.killed
	did("restart a")
	b.call()
	b.shows("not restarted: no such program")
	b.m.Focus = "immortal"
	b.line("respawn-pane -k")
	b.call()
	b.shows("not restarted: it will not die")
	if len(b.src.killed) > 0 || len(s.done) > 0 {
		t.Error("other sessions were ended or started")
	}
}

// TestCommandsThatGo checks that tabs are found by number, by name, by a unique prefix of a name, and beside the shown
// one, and sessions also by their ids.
//
// FEATURES: R119 R120
func TestCommandsThatGo(t *testing.T) {
	b, _ := newCommandBench(t, running("a"), running("b"), running("c"), running("d"))
	b.m.Sessions[3].Name = "delta"
	b.m.Tabs = []*model.Tab{tabOf("log", "a"), tabOf("logs", "b"), tabOf("other", "c"), tabOf("=odd", "d")}
	b.m.Current, b.m.Focus = 0, "a"
	for _, c := range []struct{ line, tabs, message string }{
		{"select-window -n", "log [logs] other =odd", ""},
		{"select-window -t 4", "log logs other [=odd]", ""},
		{"select-window -l", "log [logs] other =odd", ""},
		{"select-window -t log", "[log] logs other =odd", ""},
		{"select-window -t lo", "[log] logs other =odd", "no tab lo"},
		{"select-window -t ot", "log logs [other] =odd", ""},
		{"select-window -p", "log [logs] other =odd", ""},
		{"select-window -t =other", "log logs [other] =odd", ""},
		{"select-window -n -p", "log logs [other] =odd", "use select-window"},
		{"switch-client -t delta", "log logs other [=odd]", ""},
		{"switch-client -t a", "[log] logs other =odd", ""},
		{"switch-client -t d", "log logs other [=odd]", ""},
		{"switch-client -t delt", "log logs other [=odd]", "no session delt"},
		{"swap-window -t -1", "log logs [=odd] other", ""},
		{"swap-window -t +5", "log logs other [=odd]", ""},
		{"swap-window -t -9", "log logs [=odd] other", ""},
		{"swap-window -t nope", "log logs [=odd] other", "no tab nope"},
		{"swap-window -t log", "[=odd] logs log other", ""},
		{"move-window -t 3", "logs log [=odd] other", ""},
		{"move-window -t 4", "logs log other [=odd]", ""},
		{"move-window -t x", "logs log other [=odd]", "use move-window"},
	} {
		b.message = ""
		if b.line(c.line); b.tabs() != c.tabs || !strings.HasPrefix(b.message, c.message) || c.message == "" && b.message != "" {
			t.Errorf("%s: tabs %s, %q", c.line, b.tabs(), b.message)
		}
	}
}

func tabOf(name, id string) *model.Tab {
	return &model.Tab{Name: name, Tree: layout.Leaf(id), Focus: id}
}

// TestCommandMessages_InStatusBar checks the messages of commands in the bar.
//
// FEATURES: R119 R120
func TestCommandMessages_InStatusBar(t *testing.T) {
	b, _ := newCommandBench(t, model.Session{ID: "1", Name: "a\x1b]0;x\a", State: model.StateRunning, Command: "vim x", Cwd: "/srv/www"}, running("b"))
	b.m.Tabs = []*model.Tab{tabOf("first", "b"), tabOf("second", "1")}
	b.m.Current, b.m.Focus = 1, "1"
	b.settle()
	for line, want := range map[string]string{
		"display-message '#{pane_current_command} in #{pane_current_path}'":             "vim x in /srv/www",
		"display-message '#{window_index}.#{pane_index} of #{window_panes}, #I.#P, #D'": "2.1 of 1, 2.1, 1",
		"display-message '#{pane_id}#{session_id}'":                                     "11",
		"display-message -d 100 text":                                                   "use display-message TEXT",
		"select-layout kept twice":                                                      "use select-layout NAME",
		"select-layout kept":                                                            "layouts are not saved here",
		"new-window -n":                                                                 "use new-window -n NAME",
		"split-window -l ''":                                                            "use split-window -h",
		"split-window -l 0":                                                             "use split-window -h",
		"split-window -l 1001":                                                          "use split-window -h",
		"resize-pane -L 0":                                                              "use resize-pane",
		"resize-pane -L -3":                                                             "use resize-pane",
		"resize-pane -Z 3":                                                              "use resize-pane",
		"resize-pane -x 101%":                                                           "use resize-pane",
		"resize-pane -x 1001":                                                           "use resize-pane",
		"join-pane -s 1.0":                                                              "no pane 1.0; panes count from 1",
		"kill-session -t =b":                                                            "",
	} {
		b.message = ""
		if b.line(line); !strings.HasPrefix(b.message, want) || want == "" && b.message != "" {
			t.Errorf("%s prints %q", line, b.message)
		}
		if line == "kill-session -t =b" {
			b.shows("kill b?")
			b.keys("n")
		}
	}
	if b.line("display-message '#S'"); !strings.Contains(b.message, "a") || strings.ContainsAny(b.message, "\x1b\a") {
		t.Errorf("a name is printed as %q", b.message)
	}
}

// TestCommandsOfSizes checks that panes get the size that a command states, with borders and without, on either side of
// the border.
//
// FEATURES: R119 R120
func TestCommandsOfSizes(t *testing.T) {
	for _, framed := range []bool{false, true} {
		b := newBench(t, 121, 41, Options{LiveOptions: LiveOptions{Theme: theme.Dark, Frames: framed}})
		b.list(running("a"))
		splits := func(line, id string) {
			b.src.made = id
			b.line(line)
			b.call()
			b.list(append(slices.Clone(b.m.Sessions), running(id))...)
		}
		size := func(id string) [2]int { in := b.panes.Get(id).Inner(); return [2]int{in.W, in.H} }
		splits("split-window -h -l 30", "b")
		if w := size("b")[0]; w != 30 {
			t.Errorf("framed %t: %d columns of 30", framed, w)
		}
		splits("split-window -l 11", "c")
		if h := size("c")[1]; h != 11 {
			t.Errorf("framed %t: %d rows of 11", framed, h)
		}
		for _, c := range []struct {
			focus, line string
			side, by    int
		}{
			{"b", "resize-pane -U 2", 1, -2}, {"b", "resize-pane -D 5", 1, 5}, {"c", "resize-pane -U 4", 1, 4}, {"c", "resize-pane -D 1", 1, -1},
			{"a", "resize-pane -L 3", 0, -3}, {"a", "resize-pane -R 4", 0, 4},
		} {
			b.m.Focus = c.focus
			was := size(c.focus)[c.side]
			if b.line(c.line); size(c.focus)[c.side] != was+c.by {
				t.Errorf("framed %t: %s of %s: %d, was %d", framed, c.line, c.focus, size(c.focus)[c.side], was)
			}
		}
		for _, c := range []struct {
			line string
			want int
		}{{"resize-pane -x 43", 43}, {"resize-pane -x 50%", 60}} {
			if b.line(c.line); size("a")[0] != c.want {
				t.Errorf("framed %t: %s: %d", framed, c.line, size("a")[0])
			}
		}
		splits("split-window -h -l 25% -d", "d")
		if w := b.panes.Get("d").Area.W; w < 13 || w > 17 || b.m.Focus != "a" {
			t.Errorf("framed %t: a quarter of 60 is %d, focus %s", framed, w, b.m.Focus)
		}
	}
}

// TestJoinPane checks that a pane moves from another tab with the focus, visible, and leaves nothing behind, and that
// without space all stays.
//
// FEATURES: R119 R120
func TestJoinPane(t *testing.T) {
	b, _ := newCommandBench(t, running("a"), running("b"), running("c"), running("d"))
	b.m.Tabs = []*model.Tab{tabOf("one", "a"), tabOf("two", "b")}
	b.m.Tabs[1].Tree = layout.Row(layout.Leaf("b"), layout.Leaf("c"))
	b.m.Current, b.m.Focus = 0, "a"
	b.settle()
	b.m.Tabs[1].Focus = "c"
	b.m.Zoomed = true
	if b.line("join-pane -h -s two"); b.ids() != "a c" || b.m.Focus != "c" || b.m.Zoomed || b.tabs() != "[one] two" {
		t.Errorf("panes %s, focus %s, zoomed %t, %s", b.ids(), b.m.Focus, b.m.Zoomed, b.tabs())
	}
	b.m.Focus = "a"
	b.settle()
	if b.line("join-pane -d -b -s b"); b.m.Focus != "a" || b.tabs() != "[one]" || strings.Join(b.m.TiledPanes(b.m.Tab()), " ") != "b a c" {
		t.Errorf("%v, focus %s, %s", b.m.TiledPanes(b.m.Tab()), b.m.Focus, b.tabs())
	}
	b.m.Focus = "b" // below which "c" is not
	b.m.AddFloat(b.m.Tab(), "d")
	b.settle()
	b.m.AddTab(tabOf("last", "a"))
	if b.line("join-pane -s d"); !slices.Contains(b.m.TiledPanes(b.m.Tab()), "d") || b.m.IsFloating("d") || len(b.m.Tabs[0].Floats) > 0 {
		t.Errorf("%v, floats %v", b.m.TiledPanes(b.m.Tab()), b.m.Tabs[0].Floats)
	}
	if b.line("join-pane -s d"); b.message != "session is already in this tab" {
		t.Error(b.message)
	}
}

// TestCommandsWithoutRoom checks that a command without enough space is done otherwise, or reported, and that without
// any pane nothing is done.
//
// FEATURES: R119 R120
func TestCommandsWithoutRoom(t *testing.T) {
	b, _ := newCommandBench(t)
	b.line("rotate-window")
	b.line("resize-pane -x 20")
	b.line("swap-window -t +1")
	if len(b.m.Tabs) != 1 || b.m.Focus != "" {
		t.Errorf("%d tabs, focus %s", len(b.m.Tabs), b.m.Focus)
	}
	b.list(running("a"), running("b"))
	if b.line("join-pane -s b"); b.message != "session is already in this tab" {
		t.Errorf("of all sessions: %q", b.message)
	}
	b.list(running("a"))
	starts := func(line, id string) bool {
		b.src.made, b.src.line = id, ""
		if b.line(line); b.message != "" {
			return false
		}
		b.call()
		b.list(append(slices.Clone(b.m.Sessions), running(id))...)
		return true
	}
	if !starts("split-window -h -p 99 x", "b") || b.ids() != "a b" || b.panes.Get("b").Area.W < 50 || b.panes.Get("b").Area.W > 70 {
		t.Errorf("panes %s, %+v", b.ids(), b.panes.Get("b").Area)
	}
	for _, id := range []string{"c", "d", "e", "f", "g"} { // until the pane is too small for a split
		if !starts("split-window y", id) {
			break
		}
	}
	if !strings.HasPrefix(b.message, "too small to split") {
		t.Errorf("prints %q", b.message)
	}
	if b.message = ""; !starts("split-window -f z", "whole") || b.panes.Get("whole").Area.W < 118 {
		t.Errorf("along all: %q, panes %s", b.message, b.ids())
	}
	b.term.SetSize(30, 8)
	b.send(tcell.NewEventResize(30, 8))
	if starts("display-popup -E top", "p") || b.message != noFloats || b.src.line != "" {
		t.Errorf("a popup on little: %q, %q runs", b.message, b.src.line)
	}
}

// TestPopup checks that a popup is where its command states, and that a floating pane is resized by its right and lower
// border.
//
// FEATURES: R119 R120
func TestPopup(t *testing.T) {
	b, _ := newCommandBench(t, running("a"), running("b"))
	for line, dir := range map[string]string{"display-popup -d /srv top": "/srv", "popup -w 50% -d '#{pane_current_path}/x'": "x", "popup": ""} {
		b.src.made, b.src.dir = "p", "?"
		b.line(line)
		b.call()
		if b.list(running("a"), running("b"), running("p")); b.src.dir != dir || !b.m.IsFloating("p") || b.m.Focus != "p" {
			t.Errorf("%s starts in %q, floats %t, focus %s", line, b.src.dir, b.m.IsFloating("p"), b.m.Focus)
		}
	}
	area := b.panes.Get("p").Area
	b.line("resize-pane -R 6")
	b.line("resize-pane -U 3")
	if now := b.panes.Get("p").Area; now.W != area.W+6 || now.H != area.H-3 {
		t.Errorf("%+v was %+v", now, area)
	}
}

// TestJoinPaneOfAnEarlierTab checks that a tab whose last pane moves away closes, wherever it is, and that the shown
// one stays shown.
//
// FEATURES: R119
func TestJoinPaneOfAnEarlierTab(t *testing.T) {
	b, _ := newCommandBench(t, running("a"), running("b"), running("c"))
	b.m.Tabs = []*model.Tab{tabOf("one", "a"), tabOf("two", "b"), tabOf("three", "c")}
	b.m.Current, b.m.Focus = 1, "b"
	b.settle()
	if b.line("join-pane -h -l 1 -s one"); b.tabs() != "[two] three" || b.ids() != "b a" || b.panes.Get("a").Area.W > 25 {
		t.Errorf("tabs %s, panes %s, %+v", b.tabs(), b.ids(), b.panes.Get("a").Area)
	}
}
