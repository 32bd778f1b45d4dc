package view

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/theme"
	"github.com/longterm-dev/longterm/vterm/input"
)

// TestCommandsWithWords checks that the palette runs commands of tmux with arguments, as the first of its results.
//
// FEATURES: R119 R120
func TestCommandsWithWords(t *testing.T) {
	b := newBench(t, 120, 30, Options{LiveOptions: LiveOptions{Theme: theme.Dark}})
	b.list(running("a"))
	b.makes("b", "^|")
	typed := func(line string) {
		b.keys("^:")
		b.overlay.Paste(line)
		b.send(tcell.NewEventKey(tcell.KeyEnter, 0, 0))
	}
	for _, line := range []string{"rename-window first tab", `renamew "my tab"`} {
		typed(line)
	}
	if b.m.Tab().Name != "my tab" {
		t.Errorf("the tab is called %q", b.m.Tab().Name)
	}
	width := b.panes.Get("b").Area.W
	typed("resize-pane -L 5") // the last pane's border is on its left
	if w := b.panes.Get("b").Area.W; w != width+5 {
		t.Errorf("%d columns were %d", w, width)
	}
	typed("resizep -R 3")
	if w := b.panes.Get("b").Area.W; w != width+2 {
		t.Errorf("%d columns were %d", w, width)
	}
	typed("resize-pane -D 3")
	b.shows("no border to move")
	typed("setw synchronize-panes on")
	if !b.m.Tab().Sync {
		t.Error("not synchronised")
	}
	b.shows("SYNC")
	typed("setw synchronize-panes off")
	if b.m.Tab().Sync {
		t.Error("still synchronised")
	}
	typed("set-option -w synchronize-panes on")
	if !b.m.Tab().Sync {
		t.Error("-w is not accepted")
	}
	typed("setw synchronize-panes off")
	b.src.made = "c"
	typed("neww -n logs")
	b.call()
	b.list(append(slices.Clone(b.m.Sessions), running("c"))...)
	if len(b.m.Tabs) != 2 || b.m.Tab().Name != "logs" || b.m.Focus != "c" {
		t.Errorf("%d tabs, %q, focus %s", len(b.m.Tabs), b.m.Tab().Name, b.m.Focus)
	}
	typed("selectw -t 1")
	if b.m.Current != 0 {
		t.Errorf("tab %d", b.m.Current)
	}
	typed("selectw -t:2")
	if b.m.Current != 1 {
		t.Errorf("tab %d", b.m.Current)
	}
	typed("select-window -t 7")
	b.shows("no tab 7; tabs count from 1")
	typed("switch-client -t " + b.m.Session("a").Name)
	if b.m.Focus != "a" {
		t.Errorf("focus %s", b.m.Focus)
	}
	typed("display-message hello there")
	b.shows("hello there")
	typed("select-window -t lo")
	if b.m.Tab().Name != "logs" {
		t.Errorf("tab %q", b.m.Tab().Name)
	}
	typed("selectw -t nothing")
	b.shows("no tab nothing")
	typed("select-w -p")
	if b.m.Current != 0 {
		t.Errorf("tab %d", b.m.Current)
	}
	typed("selectp -t 2")
	if b.m.Focus != "b" {
		t.Errorf("focus %s", b.m.Focus)
	}
	typed("select-pane -t 9")
	b.shows("no pane 9; panes count from 1")
	typed("selectp -t :.1")
	if b.m.Focus != "a" {
		t.Errorf("focus %s", b.m.Focus)
	}
	for line, says := range map[string]string{
		"selectl even-vertical": "rows", "select-layout even-horizontal": "columns", "select-layout main-horizontal": "main above", "select-layout main-vertical": "main left", "select-layout tiled": "tiles",
	} {
		typed(line)
		b.shows(says)
	}
	b.term.SetSize(120, 40)
	b.send(tcell.NewEventResize(120, 40))
	for line, want := range map[string]string{
		"split-window -h 'top -d 1'": "top -d 1", "splitw htop": "htop", "splitw -v -c '#{pane_current_path}'": "", "split-window -d less 'a b'": "less 'a b'",
		"new-window -n log tail -f log": "tail -f log", "neww top": "top", "new-session -A -s made": "", "new -s made 'a; b'": "a; b",
	} {
		b.src.line, b.src.made = "nothing was started", ""
		typed(line)
		b.call()
		if b.src.line != want {
			t.Errorf("%s starts %q", line, b.src.line)
		}
	}
	typed("new-session -A -s " + b.m.Session("a").Name)
	if b.m.Focus != "a" {
		t.Errorf("focus %s", b.m.Focus)
	}
	typed("new-session -s " + b.m.Session("a").Name)
	b.shows("-A goes to it")
}

// TestCommandsOfPanes checks that a pane starts where, as large and in the directory that its command states, and can
// replace another.
//
// FEATURES: R119 R120
func TestCommandsOfPanes(t *testing.T) {
	b := newBench(t, 121, 41, Options{LiveOptions: LiveOptions{Theme: theme.Dark}})
	b.list(running("a"))
	run := func(line string) {
		t.Helper()
		b.keys("^:")
		b.overlay.Paste(line)
		b.send(tcell.NewEventKey(tcell.KeyEnter, 0, 0))
	}
	splits := func(line, id string) layout.Rect {
		t.Helper()
		b.src.made, b.src.dir, b.src.line = id, "", ""
		run(line)
		b.call()
		b.list(append(slices.Clone(b.m.Sessions), running(id))...)
		return b.panes.Get(id).Inner()
	}
	order := func() string { return strings.Join(b.m.TiledPanes(b.m.Tab()), " ") }
	if in := splits("split-window -h -l 30", "b"); in.W != 30 || order() != "a b" {
		t.Errorf("%+v, %s", in, order())
	}
	if in := splits("splitw -h -b -l 20", "c"); in.W != 20 || order() != "a c b" {
		t.Errorf("%+v, %s", in, order())
	}
	if in := splits("split-window -f -l 7 -c /srv top", "d"); in.H != 7 || in.W < 118 || order() != "a c b d" || b.src.dir != "/srv" || b.src.line != "top" {
		t.Errorf("%+v, %s in %s: %s", in, order(), b.src.dir, b.src.line)
	}
	if in := splits("split-window -hbp 25 -c '#{pane_current_path}/sub'", "e"); in.W < 28 || in.W > 31 || order() != "a c b e d" || b.src.dir != "sub" {
		t.Errorf("%+v, %s in %s", in, order(), b.src.dir)
	}
	run("resize-pane -x 50")
	if w := b.panes.Get("e").Inner().W; w != 50 {
		t.Errorf("%d columns", w)
	}
	run("resizep -y 50%")
	if h := b.panes.Get("e").Inner().H; h != 20 {
		t.Errorf("%d rows", h)
	}
	run("rotate-window")
	if order() != "c b e d a" || b.m.Focus != "e" {
		t.Errorf("%s, focus %s", order(), b.m.Focus)
	}
	run("rotatew -D")
	if order() != "a c b e d" {
		t.Error(order())
	}
	b.keys("^b") // a separate tab
	run("select-window -t 1")
	run("join-pane -s 2")
	if len(b.m.Tabs) != 1 || b.m.Focus != "e" || !slices.Contains(b.m.TiledPanes(b.m.Tab()), "e") {
		t.Errorf("%d tabs, %s, focus %s", len(b.m.Tabs), order(), b.m.Focus)
	}
	b.keys("^b")
	run("select-window -t 1")
	run("join-pane -h -s 2")
	b.shows("too small for another pane")
	run("select-layout even-vertical")
	run("move-pane -d -s 2.1 -l 5")
	if len(b.m.Tabs) != 1 || b.m.Focus == "e" || b.panes.Get("e").Inner().H != 5 {
		t.Errorf("%d tabs, %s, focus %s, %+v", len(b.m.Tabs), order(), b.m.Focus, b.panes.Get("e").Inner())
	}
	for line, why := range map[string]string{
		"join-pane -s 9": "no tab 9; tabs count from 1", "move-pane -s 1.9": "no pane 1.9; panes count from 1",
		"join-pane -s a": "session is already in this tab", "kill-session -t nothing": "no session nothing",
	} {
		run(line)
		b.shows(why)
	}
	run("display-message -p '#S is in pane #P of #I'")
	b.shows(fmt.Sprintf("%s is in pane %d of 1", b.m.Session(b.m.Focus).Name, b.m.Number(b.m.Focus)))
	run("kill-session -t e")
	b.shows("kill e?")
	b.keys("y")
	if id := <-b.src.killed; id != "e" {
		t.Errorf("%s is killed", id)
	}
	run("choose-tree -Zs")
	if b.overlay == nil {
		t.Error("no list of sessions")
	}
	b.send(tcell.NewEventKey(tcell.KeyEscape, 0, 0))
	if run("ls"); b.overlay == nil {
		t.Error("ls is no list of sessions")
	}
	b.send(tcell.NewEventKey(tcell.KeyEscape, 0, 0))
	splits("neww -a -n last", "f")
	run("move-window -t 1")
	if b.m.Current != 0 || b.m.Tab().Name != "last" {
		t.Errorf("tab %d, %q", b.m.Current, b.m.Tab().Name)
	}
	run("swapw -t +1")
	if b.m.Current != 1 || b.m.Tab().Name != "last" {
		t.Errorf("tab %d, %q", b.m.Current, b.m.Tab().Name)
	}
	run("swap-window -t 1")
	run("move-window -t 9")
	if b.m.Current != 1 || b.m.Tab().Name != "last" || len(b.m.Tabs) != 2 {
		t.Errorf("tab %d, %q", b.m.Current, b.m.Tab().Name)
	}
	run("move-window -t 0")
	b.shows("no tab 0; tabs count from 1")
	splits("display-popup -E -d /srv htop", "g")
	if !b.m.IsFloating("g") || b.src.line != "htop" || b.src.dir != "/srv" || b.m.Focus != "g" {
		t.Errorf("%t %q in %q, focus %s", b.m.IsFloating("g"), b.src.line, b.src.dir, b.m.Focus)
	}
}

// TestKeysOfTmux checks that with tmux's keys each one of its table has an effect or a message, and that with others it
// is no key.
//
// FEATURES: R119
func TestKeysOfTmux(t *testing.T) {
	preset, err := keymap.Choose("tmux", "vi")
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, 160, 30, Options{LiveOptions: LiveOptions{Theme: theme.Dark, Keys: preset.With(nil)}})
	b.list(running("a"), running("b"))
	press := func(key string) string {
		t.Helper()
		k, err := input.ParseKey(key)
		if err != nil {
			t.Fatal(err)
		}
		b.message = ""
		b.command(k)
		return b.message
	}
	if got := press("t"); !strings.Contains(got, "key not bound") {
		t.Errorf("with a user's own keys it prints %q", got)
	}
	b.o.Tmux = true
	for key, want := range map[string]string{
		"t": "clock-mode: not available", "0": "no tab 0; tabs count from 1", "D": "longterm clients", "=": "clipboard", "#": "clipboard",
		"C-z": "`quit` leaves", "~": "longterm events", "C": "longterm config", "<": "not available",
		"(": b.viewer.keys.Chord("pick"), "L": b.viewer.keys.Chord("tab-last"), "M-p": b.viewer.keys.Chord("next-alert"), "m": b.viewer.keys.Chord("palette") + " join-pane -s TAB",
	} {
		if got := press(key); !strings.Contains(got, want) || strings.Contains(got, "{") {
			t.Errorf("%s prints %q, want %q", key, got, want)
		}
	}
	if b.message = ""; !b.tmuxKey(input.Key{Code: 't', Mods: input.CapsLock | input.NumLock}) || b.message == "" {
		t.Errorf("with the locks of a keyboard it prints %q", b.message)
	}
	b.m.Focus = "a"
	if press("C-o"); strings.Join(b.m.TiledPanes(b.m.Tab()), " ") != "b a" {
		t.Errorf("%v after a turn", b.m.TiledPanes(b.m.Tab()))
	}
	b.keys("^!")
	if press("'"); b.overlay == nil {
		t.Fatal("no tab is prompted for")
	}
	b.send(tcell.NewEventKey(tcell.KeyEnter, 0, 0))
	if b.overlay != nil || b.message != "" {
		t.Errorf("no answer is %q", b.message)
	}
	press("'")
	b.keys("1")
	b.send(tcell.NewEventKey(tcell.KeyEnter, 0, 0))
	if b.m.Current != 0 {
		t.Errorf("tab %d", b.m.Current)
	}
	if press("."); b.overlay == nil {
		t.Fatal("no place is prompted for")
	}
	b.keys("2")
	b.send(tcell.NewEventKey(tcell.KeyEnter, 0, 0))
	if b.m.Current != 1 {
		t.Errorf("tab %d", b.m.Current)
	}
	if got := press("F12"); !strings.Contains(got, "key not bound") {
		t.Errorf("F12 prints %q", got)
	}
}

// TestCommandsThatAreNone checks that a command without effect reports that, and the remedy, instead of success.
// FEATURES: R119 R120
func TestCommandsThatAreNone(t *testing.T) {
	b := newBench(t, 160, 30, Options{LiveOptions: LiveOptions{Theme: theme.Dark}})
	b.list(running("a"))
	for line, want := range map[string]string{
		"frobnicate":               "unknown command: frobnicate",
		"kil-pane":                 "unknown command: kil-pane; did you mean kill-pane?",
		"frobnicate -t 3":          "unknown command: frobnicate",
		"sho -g":                   "ambiguous command: sho, could be: show-buffer, show-environment",
		"set -g mouse on":          "set-option mouse: `longterm config set view.mouse true`",
		"set-option -g status off": "the status bar is always shown",
		"set -g lock-command x":    "`longterm config` lists the options",
		"setw -g mode-keys vi":     "`longterm config set view.keys tmux-vi`",
		"bind-key x kill-pane":     "`longterm config set keys.ACTION KEY`",
		"source-file ~/.tmux.conf": "`longterm config edit`",
		"list-buffers":             "longterm uses the system clipboard",
		"kill-pane -t 3":           "`longterm kill SESSION` kills",
		"split-window -l wide":     "use split-window -h -l SIZE",
		"split-window -p 100":      "use split-window -h -l SIZE",
		"resize-pane -x":           "use resize-pane -L NUMBER",
		"resize-pane -y 0":         "use resize-pane -L NUMBER",
		"respawn-pane -k sh":       "use respawn-pane -k",
		"kill-session -a":          "use kill-session -t SESSION",
		"next-layout -x":           "use next-layout without arguments",
		"join-pane -t 2":           "use join-pane -h -s TAB",
	} {
		b.keys("^:")
		b.overlay.Paste(line)
		b.draw()
		b.shows(want[:min(len(want), 40)])
		b.send(tcell.NewEventKey(tcell.KeyEnter, 0, 0))
		if b.overlay != nil || !strings.Contains(b.message, want) {
			t.Errorf("%s prints %q", line, b.message)
		}
	}
	for _, c := range tmuxNames { // names that are only listed are found
		for _, name := range strings.Fields(c.names) {
			if typedCommand(b.viewer, name, false) == nil || len(matchCommands(name)) != 1 {
				t.Errorf("%s is not known", name)
			}
		}
		name := strings.Fields(c.names)[0]
		_, withWords := typedCommands()[name]
		if !withWords && c.instead == "" && !isActionName(b.viewer, name, nil) {
			t.Errorf("%s: no message explains it", name)
		}
	}
}

// TestBreakPaneOutOfAll checks that a pane that gets a separate tab leaves its old one, also if that has all sessions.
//
// FEATURES: R119
func TestBreakPaneOutOfAll(t *testing.T) {
	b := newBench(t, 120, 30, Options{LiveOptions: LiveOptions{Theme: theme.Dark}})
	b.list(running("a"), running("b"))
	b.keys("^2^b")
	if got := b.m.ShownPanes(); len(b.m.Tabs) != 2 || !slices.Equal(got, []string{"b"}) {
		t.Errorf("%d tabs, %q is shown", len(b.m.Tabs), got)
	}
	b.keys("^[")
	if got := b.m.ShownPanes(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("the tab before shows %q", got)
	}
}

// TestNewTabBesideAll checks that a new tab leaves the shown one unchanged, also if that has all sessions: no viewer
// sees another pane there.
//
// FEATURES: R119
func TestNewTabBesideAll(t *testing.T) {
	b := newBench(t, 120, 30, Options{LiveOptions: LiveOptions{Theme: theme.Dark}})
	b.list(running("a"), running("b"))
	b.makes("c", "^t")
	if len(b.m.Tabs) != 2 || b.m.Current != 1 || b.m.Focus != "c" {
		t.Fatalf("%d tabs, tab %d, focus %s", len(b.m.Tabs), b.m.Current, b.m.Focus)
	}
	b.keys("^[")
	if got := b.m.ShownPanes(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("the tab before shows %q", got)
	}
	b.keys("^g") // all of them are a key away
	if got := b.m.ShownPanes(); len(got) != 3 {
		t.Errorf("all are %q", got)
	}
	b.makes("d", "^t")
	if b.m.Tabs[b.m.Current-1].Auto != true {
		t.Error("a tab that showed all sessions does not any more")
	}
}

func TestWordsOfALine(t *testing.T) {
	for line, want := range map[string]string{
		"": "[]", " a  b ": `["a" "b"]`, `a "b c" 'd "e'`: `["a" "b c" "d \"e"]`, `a ""`: `["a" ""]`, `a"b c"d`: `["ab cd"]`, `a "open`: `["a" "open"]`,
	} {
		if got := fmt.Sprintf("%q", wordsOf(line)); got != want {
			t.Errorf("%q: %s", line, got)
		}
	}
	if strings.Join(argsAfter([]string{"-nx", "y"}, "-n"), " ") != "x y" || argsAfter([]string{"x"}, "-n") != nil {
		t.Error("options")
	}
}

// TestKeysForASessionThatWent checks that keys typed for the last session when it ends are neither keys of the viewer
// nor a line that it runs.
//
// FEATURES: R76
func TestKeysForASessionThatWent(t *testing.T) {
	b := newBench(t, 80, 24, Options{LiveOptions: LiveOptions{Theme: theme.Dark}})
	b.list(running("a"))
	b.list()
	for _, k := range "d:?pv!" {
		b.keys(string(k))
		if b.overlay != nil || b.quit || b.message != "" {
			t.Fatalf("%q does something: %s", k, b.message)
		}
		b.now = b.now.Add(strayTime / 2)
	}
	b.now = b.now.Add(strayTime)
	if b.keys("!"); b.message != "" {
		t.Errorf("a bare key takes a line to run: %s", b.message)
	}
	b.keys(":")
	b.shows("Command palette")
}

// newTmuxBench is a viewer with tmux's keys.
func newTmuxBench(t *testing.T, cols, rows int) *bench {
	t.Helper()
	preset, err := keymap.Choose("tmux", "vi")
	if err != nil {
		t.Fatal(err)
	}
	return newBench(t, cols, rows, Options{LiveOptions: LiveOptions{
		Theme: theme.Dark, Keys: preset.With(nil), Prefix: input.Key{Code: 'b', Mods: input.Ctrl}, Tmux: true, Repeat: time.Second / 2,
	}})
}

// pressed are keys by tmux's names.
func (b *bench) pressed(names ...string) {
	b.t.Helper()
	for _, name := range names {
		e := map[string]*tcell.EventKey{
			"C-b": tcell.NewEventKey(tcell.KeyCtrlB, 0, tcell.ModCtrl), "Up": tcell.NewEventKey(tcell.KeyUp, 0, 0), "Left": tcell.NewEventKey(tcell.KeyLeft, 0, 0),
			"Right": tcell.NewEventKey(tcell.KeyRight, 0, 0), "C-Left": tcell.NewEventKey(tcell.KeyLeft, 0, tcell.ModCtrl), "M-Left": tcell.NewEventKey(tcell.KeyLeft, 0, tcell.ModAlt),
			"Enter": tcell.NewEventKey(tcell.KeyEnter, 0, 0), "M-2": tcell.NewEventKey(tcell.KeyRune, '2', tcell.ModAlt),
		}[name]
		if e == nil {
			e = tcell.NewEventKey(tcell.KeyRune, []rune(name)[0], 0)
		}
		b.send(e)
	}
}

// TestKeysRepeat checks that arrows repeat without the prefix for a moment, as in tmux, and that any other key ends
// that and reaches the session.
//
// FEATURES: R119
func TestKeysRepeat(t *testing.T) {
	b := newTmuxBench(t, 161, 30)
	b.list(running("a"), running("b"), running("c"))
	b.pressed("C-b", "E")
	b.m.ArrangeAs(b.paneArea(), "columns")
	b.m.Focus = "c"
	b.settle()
	b.pressed("C-b", "Left")
	b.now = b.now.Add(b.o.Repeat - 1)
	b.pressed("Left") // each one restarts the time
	if b.m.Focus != "a" {
		t.Errorf("focus %s", b.m.Focus)
	}
	b.now = b.now.Add(b.o.Repeat - 1)
	b.pressed("Right", "x", "Right")
	b.pressed("C-b", "z", "Left") // after a key that does not repeat, none does
	s := b.streams["b"]
	if b.m.Focus != "b" {
		t.Fatalf("focus %s", b.m.Focus)
	}
	if s.input(t).Key.Text != "x" || s.input(t).Key.Code != input.KeyRight || s.input(t).Key.Code != input.KeyLeft {
		t.Error("other keys are not the session's")
	}
	b.pressed("C-b", "z", "C-b", "Right")
	b.now = b.now.Add(b.o.Repeat)
	if b.pressed("Left"); b.m.Focus != "c" || b.streams["c"].input(t).Key.Code != input.KeyLeft {
		t.Errorf("focus %s", b.m.Focus)
	}
	width := func() int { return b.panes.Get("c").Area.W }
	was := width()
	if b.pressed("C-b", "C-Left", "C-Left", "C-Left"); width() != was+3 { // the border before the last one
		t.Errorf("%d columns of %d", width(), was)
	}
	if b.pressed("M-Left"); width() != was+8 {
		t.Errorf("%d columns of %d", width(), was)
	}
	b.pressed("C-b", ":") // the prompt has the keys
	if b.pressed("Left"); b.overlay == nil {
		t.Error("no prompt")
	}
	own := newBench(t, 161, 30, Options{LiveOptions: LiveOptions{Repeat: time.Second}})
	own.list(running("a"), running("b"))
	own.keys("^1^")
	own.pressed("Right", "Left")
	if own.m.Focus != "b" || own.streams["b"].input(t).Key.Code != input.KeyLeft {
		t.Errorf("the viewer's own keys: focus %s", own.m.Focus)
	}
}

// TestNewTabsAtTheEnd checks that with tmux's keys new tabs are after all others, so that no tab's number changes, and
// that with other keys they are beside the shown one.
//
// FEATURES: R119
func TestNewTabsAtTheEnd(t *testing.T) {
	titles := func(b *bench) (all string) {
		for i := range b.m.Tabs {
			all += b.m.Title(i)
		}
		return all
	}
	makes := func(b *bench, id string) {
		b.call()
		b.list(append(slices.Clone(b.m.Sessions), running(id))...)
	}
	b := newTmuxBench(t, 120, 30)
	b.list(running("a"))
	for _, id := range []string{"b", "c"} {
		b.src.made = id
		b.pressed("C-b", "1", "C-b", "c")
		makes(b, id)
	}
	if titles(b) != "abc" || b.m.Current != 2 {
		t.Errorf("tabs %s, %d is shown", titles(b), b.m.Current)
	}
	b.src.made = "d"
	b.pressed("C-b", "1", "C-b", ":")
	b.overlay.Paste("new-window -a")
	b.pressed("Enter")
	makes(b, "d")
	if titles(b) != "adbc" || b.m.Current != 1 {
		t.Errorf("tabs %s, %d is shown", titles(b), b.m.Current)
	}
	own := newBench(t, 120, 30, Options{})
	own.list(running("a"))
	own.makes("b", "^t")
	own.keys("^[")
	own.makes("c", "^t")
	if titles(own) != "acb" {
		t.Errorf("tabs %s", titles(own))
	}
}

// TestArrangingUnzooms checks that an arrangement of panes that are hidden by a zoomed one shows them.
//
// FEATURES: R119
func TestArrangingUnzooms(t *testing.T) {
	for _, keys := range [][]string{{"M-2"}, {" "}, {"E"}, {"}"}, {"C-Left"}} {
		b := newTmuxBench(t, 161, 40)
		b.list(running("a"), running("b"))
		if b.pressed("C-b", "z"); len(b.panes.All()) != 1 {
			t.Fatalf("%d panes", len(b.panes.All()))
		}
		if b.pressed(append([]string{"C-b"}, keys...)...); len(b.panes.All()) != 2 {
			t.Errorf("after %q there are %d panes", keys, len(b.panes.All()))
		}
	}
	b := newTmuxBench(t, 161, 40)
	b.list(running("a"), running("b"))
	b.m.Focus = "b"
	if b.pressed("C-b", "z", "C-b", "Left"); len(b.panes.All()) != 2 || b.m.Focus != "a" {
		t.Errorf("%d panes, focus %s", len(b.panes.All()), b.m.Focus)
	}
}

// TestNoSuchNumber checks that a missing tab or pane is reported for each key that requests it.
//
// FEATURES: R119
func TestNoSuchNumber(t *testing.T) {
	b := newTmuxBench(t, 120, 30)
	b.list(running("a"), running("b"))
	b.pressed("C-b", "9")
	b.shows("no tab 9; tabs count from 1")
	b.pressed("C-b", "q", "7")
	b.shows("no pane 7; panes count from 1")
	own := newBench(t, 120, 30, Options{})
	own.list(running("a"))
	own.keys("^5")
	own.shows("no pane 5; panes count from 1")
}

// TestActionsByTheirNames checks that an action is found by its name in the pages and the configuration, and that the
// help of one without a key mentions its name.
//
// FEATURES: R119
func TestActionsByTheirNames(t *testing.T) {
	b := newTmuxBench(t, 120, 30)
	b.list(running("a"), running("b"))
	for i := range b.viewer.keys.Prefix {
		r := &b.viewer.keys.Prefix[i]
		if r.Action == "tab-go" || !strings.Contains(string(r.Action), "-") {
			continue
		}
		b.pressed("C-b", ":")
		b.overlay.Paste(string(r.Action))
		b.refresh()
		if first := b.row(4); !strings.Contains(first, " "+r.Name()) || strings.Contains(first, "unknown") {
			t.Errorf("%s finds %q", r.Action, first)
		}
		b.send(tcell.NewEventKey(tcell.KeyEscape, 0, 0))
	}
	for line, want := range map[string]string{"tab-go": "use select-window -t NUMBER", "layout-svae": "did you mean layout-save?"} {
		b.pressed("C-b", ":")
		b.overlay.Paste(line)
		b.pressed("Enter")
		b.shows(want)
	}
	b.pressed("C-b", ":")
	b.overlay.Paste("layout-load")
	b.pressed("Enter")
	b.shows("no saved layouts; Ctrl-b : layout save saves one")
}

// TestArrowsMoveBorders checks that arrows move borders in their direction with tmux's and zellij's keys, also that of
// the last pane, and that our own letters grow or shrink it.
//
// FEATURES: R119
func TestArrowsMoveBorders(t *testing.T) {
	for name, c := range map[string]struct {
		tmux  bool
		modes []keymap.Mode
		key   string
		by    int
	}{
		"tmux, left":          {true, nil, "C-Left", 1},
		"tmux, right by five": {true, nil, "M-Right", -5},
		"zellij, left":        {false, []keymap.Mode{{Name: "resize", Key: "C-n"}}, "h", growBy},
		"zellij, right":       {false, []keymap.Mode{{Name: "resize", Key: "C-n"}}, "Right", -growBy},
		"zellij, larger":      {false, []keymap.Mode{{Name: "resize", Key: "C-n"}}, "+", growBy},
		"our own, narrower":   {false, nil, "H", -growBy},
		"our own, S-Right":    {false, nil, "S-Right", growBy},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 120, 30, Options{})
			b.list(running("a"))
			b.makes("b", "^|")
			b.o.Tmux, b.o.Modes = c.tmux, c.modes
			k, err := input.ParseKey(c.key)
			if err != nil {
				t.Fatal(err)
			}
			action := keymap.Action("wider")
			if strings.Contains(name, "left") || strings.Contains(name, "narrower") {
				action = "narrower"
			}
			width := b.panes.Get("b").Area.W
			actions[action](b.viewer, k)
			b.settle()
			if w := b.panes.Get("b").Area.W; w != width+c.by {
				t.Errorf("%d columns were %d, want %d", w, width, width+c.by)
			}
		})
	}
}
