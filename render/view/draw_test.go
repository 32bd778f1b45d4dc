package view

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/panes"
	"github.com/longterm-dev/longterm/vterm"
)

// FEATURES: R76
func TestScreen(t *testing.T) {
	b := newBench(t, 41, 9, Options{})
	b.now = epoch.Add(65 * time.Second)
	b.list(running("build"), exited("test", 3))
	b.print("build", "$ make\r\ncc 你好.c\r\n")
	want := strings.Join([]string{
		" 1 build  sh              running  1m05s",
		"$ make",
		"cc 你好.c",
		"", "", "", "", "",
		" Ctrl-Space ?: help            1 failed",
	}, "\n")
	if got := b.term.Text(); got != want {
		t.Errorf("one session:\n%s\nwant\n%s", got, want)
	}

	// A session that ran while it was watched stays when it ends.
	b.list(running("build"), running("test"))
	b.list(running("build"), exited("test", 3))
	b.print("test", "\x1b]2;go test\x07FAIL")
	want = strings.Join([]string{
		" 1 build  sh  1m05s │ 2 test  go… exit 3",
		"$ make              │FAIL",
		"cc 你好.c           │",
	}, "\n")
	if got := b.term.Text(); !strings.HasPrefix(got, want) {
		t.Errorf("two sessions:\n%s\nwant\n%s", got, want)
	}
}

// TestDrawsWhatChanged checks that only changes are drawn: rows of output, and durations once a second.
// FEATURES: R35
func TestDrawsWhatChanged(t *testing.T) {
	b := newBench(t, 80, 24, Options{})
	b.list(running("a"), running("b"))
	p := b.panes.Get("a")
	e := vterm.New(vterm.Options{Cols: p.Cols, Rows: p.Rows})
	_, _ = e.Write([]byte("one\r\ntwo\r\nthree"))
	p.Apply(frameSince(e, 0))
	b.refresh()
	b.term.Drawn()

	b.refresh()
	if puts, shows := b.term.Drawn(); puts != 0 || shows != 0 {
		t.Errorf("without a change %d cells were drawn, shown %d times", puts, shows)
	}

	since := e.Version()
	_, _ = e.Write([]byte("\r\x1b[A\x1b[31mthe second row"))
	p.Apply(frameSince(e, since))
	b.refresh()
	if puts, shows := b.term.Drawn(); puts != p.Cols || shows != 1 {
		t.Errorf("one row of %d cells changed: %d cells were drawn, shown %d times", p.Cols, puts, shows)
	}

	b.now = b.now.Add(time.Second)
	b.refresh()
	if puts, shows := b.term.Drawn(); puts == 0 || puts > 2*80 || shows != 1 {
		t.Errorf("a second passed: %d cells were drawn, shown %d times", puts, shows)
	}
	b.apply(model.Update{Sessions: []model.Session{running("a"), running("b")}})
	b.refresh()
	if puts, shows := b.term.Drawn(); puts != 0 || shows != 0 {
		t.Errorf("the list was sent again, and %d cells were drawn", puts)
	}
}

// styleAt returns the style of a cell of the pane of session a.
func (b *bench) styleAt(x, y int) tcell.Style {
	in := b.panes.Get("a").Inner()
	_, st, _ := b.term.Get(in.X+x, in.Y+y)
	return st
}

// FEATURES: R30, R31
func TestStyles(t *testing.T) {
	const output = "\x1b[1;3;31;48;2;1;2;3mx\x1b[0;7;38;5;200my\x1b[0;4:3;58:2::9:8:7mz\x1b[0;2;9mw\x1b[0m-\x1b[8mq"
	want := []tcell.Style{
		canvas.Plain.Bold(true).Italic(true).Foreground(tcell.PaletteColor(1)).Background(tcell.NewHexColor(0x010203)),
		canvas.Plain.Reverse(true).Foreground(tcell.PaletteColor(200)),
		canvas.Plain.Underline(tcell.UnderlineStyleCurly, tcell.NewHexColor(0x090807)),
		canvas.Plain.Dim(true).StrikeThrough(true),
		canvas.Plain,
		canvas.Plain,
	}
	b := newBench(t, 40, 10, Options{})
	b.list(running("a"))
	b.print("a", output)
	for x, st := range want {
		if got := b.styleAt(x, 0); got != st {
			t.Errorf("cell %d: %+v; want %+v", x, got, st)
		}
	}
	if strings.Contains(b.row(1), "q") {
		t.Errorf("concealed text shows: %q", b.row(1))
	}

	b = newBench(t, 40, 10, Options{NoColor: true})
	b.list(running("a"))
	b.print("a", output)
	if got := b.styleAt(0, 0); got != canvas.Plain.Bold(true).Italic(true) {
		t.Errorf("without colours: %+v", got)
	}
	t.Setenv("NO_COLOR", "1")
	var o Options
	o.Screen = tcell.NewSimulationScreen("")
	if err := o.defaults(); err != nil || !o.NoColor {
		t.Errorf("NO_COLOR is not heeded: %v", err)
	}
}

func TestReverseVideo(t *testing.T) {
	b := newBench(t, 40, 10, Options{})
	b.list(running("a"))
	b.print("a", "\x1b[?5hx\x1b[7my")
	for x, want := range []tcell.Style{canvas.Plain.Reverse(true), canvas.Plain, canvas.Plain.Reverse(true)} {
		if got := b.styleAt(x, 0); got != want {
			t.Errorf("cell %d: %+v; want %+v", x, got, want)
		}
	}
}

// FEATURES: R32
func TestWideCharacters(t *testing.T) {
	b := newBench(t, 20, 8, Options{})
	b.list(running("a"))
	b.print("a", "你好A e\u0301|👩\u200d👩\u200d👧|\r\n🇦\x1b[2C|\r\n123456789012345678你|")
	want := []string{"你好A e\u0301|👩\u200d👩\u200d👧|", "🇦  |", "123456789012345678你", "|"}
	for i, w := range want {
		if got := b.row(i + 1); got != w {
			t.Errorf("row %d: %q; want %q", i, got, w)
		}
	}
	// The text after a wide character is where the session's emulator put it.
	for x, c := range map[int]string{4: "A", 6: "e\u0301", 7: "|", 10: "|"} {
		if got, _, _ := b.term.Get(x, 1); got != c {
			t.Errorf("column %d has %q; want %q", x, got, c)
		}
	}
}

// FEATURES: R93
func TestHostileNames(t *testing.T) {
	b := newBench(t, 40, 8, Options{})
	s := running("a")
	s.Name, s.Command = "x\x1b[2Jy\u009b", "z\xff\x07"
	b.list(s)
	p := b.panes.Get("a")
	p.Apply(panes.Frame{Screen: &render.Screen{Cols: 40, Rows: 6, Lines: []render.Line{
		{Row: 0, Spans: []render.Span{{Text: "\x1b]0;t\x07", Width: 9}, {Text: "back", Col: 3, Width: 4}}},
		{Row: 1, Spans: []render.Span{{Text: "far", Col: 900, Width: 3}, {Text: "wide", Width: 900, Widths: []int8{100, -5, 2}}}},
		{Row: 99}, {Row: -1},
	}}})
	b.refresh()
	if strings.ContainsFunc(strings.ReplaceAll(b.term.Text(), "\n", ""), func(r rune) bool { return canvas.Unprintable(r, 3) }) {
		t.Errorf("control characters on the screen: %q", b.term.Text())
	}
	b.shows("x?[2Jy?", "z??", "?]0;t?")
}

// FuzzFrame checks that any frame of a source is drawn inside of its pane, or not at all.
// FEATURES: R93
func FuzzFrame(f *testing.F) {
	f.Add([]byte(`{"cols":20,"rows":3,"lines":[{"row":0,"spans":[{"text":"hi","col":0,"width":2}]}],"cursor":{"x":1,"visible":true}}`))
	f.Add([]byte(`{"cols":-1,"rows":9,"lines":[{"row":8,"spans":[{"text":"a你","col":2,"width":9223372036854775807,"widths":[0,-3,100]}]}],"cursor":{"x":-5,"y":9223372036854775807,"visible":true}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := render.Decode(data)
		if err != nil {
			return
		}
		b := newBench(t, 20, 6, Options{})
		b.list(running("a"))
		b.panes.Get("a").Apply(panes.Frame{Screen: s})
		b.refresh()
		b.send(tcell.NewEventMouse(3, 3, tcell.ButtonPrimary, 0), tcell.NewEventMouse(19, 0, tcell.ButtonPrimary, 0),
			tcell.NewEventMouse(19, 0, 0, 0), tcell.NewEventKey(tcell.KeyEscape, 0, 0))
		if !strings.HasPrefix(b.row(0), " 1 a") || !strings.HasPrefix(b.row(5), " Ctrl-Space ?: help") {
			t.Errorf("drawn outside of the pane:\n%s", b.term.Text())
		}
	})
}

// TestOtherSizes checks that a session may have another size than its pane, which another client determines.
// FEATURES: R96
func TestOtherSizes(t *testing.T) {
	b := newBench(t, 20, 6, Options{})
	b.list(running("a"))
	p := b.panes.Get("a")

	p.Apply(frame(10, 2, "0123456789ab"))
	b.refresh()
	if got := b.row(1) + "/" + b.row(2) + "/" + b.row(3); got != "0123456789/ab/" {
		t.Errorf("a smaller session: %q", got)
	}

	var out strings.Builder
	for i := range 12 {
		fmt.Fprintf(&out, "\r\nrow %d of a session that is wider", i)
	}
	p.Apply(frame(60, 12, out.String()))
	b.refresh()
	if got := b.row(1) + "/" + b.row(4); got != "hat is wider/that is wider" {
		t.Errorf("a larger session: %q; the cursor should be in sight", got)
	}
	if x, y, visible := b.term.GetCursor(); !visible || x != 13 || y != 4 {
		t.Errorf("the cursor is shown at %d,%d: %v", x, y, visible)
	}
	p.Apply(frame(60, 12, "top\x1b[H"))
	b.refresh()
	if got := b.row(1); got != "top" {
		t.Errorf("the cursor moved to the top: %q", got)
	}
	if x, y, visible := b.term.GetCursor(); !visible || x != 0 || y != 1 {
		t.Errorf("cursor at %d,%d, visible %v", x, y, visible)
	}
	if got := b.streams["a"].cols; got != 20 {
		t.Errorf("%d columns were requested", got)
	}
}

func TestCursor(t *testing.T) {
	b := newBench(t, 40, 10, Options{})
	at := func() string {
		x, y, visible := b.term.GetCursor()
		return fmt.Sprint(x, y, visible, b.term.Style())
	}
	b.list(running("a"))
	for output, want := range map[string]string{
		"ab":                  fmt.Sprint(2, 1, true, tcell.CursorStyleDefault),
		"\x1b[3;5H\x1b[5 q":   fmt.Sprint(4, 3, true, tcell.CursorStyleBlinkingBar),
		"\x1b[4 q":            fmt.Sprint(0, 1, true, tcell.CursorStyleSteadyUnderline),
		"\x1b[3 q\x1b[?25lab": "hidden",
	} {
		b.print("a", output)
		if got := at(); got != want && (want != "hidden" || strings.Contains(got, "true")) {
			t.Errorf("after %q: %s; want %s", output, got, want)
		}
	}
	b.print("a", "x")
	b.list(exited("a", 0))
	if _, _, visible := b.term.GetCursor(); visible {
		t.Error("an ended session has a cursor")
	}
}

// TestSizes checks that any size of the terminal works, and that the screen is complete afterwards.
func TestSizes(t *testing.T) {
	b := newBench(t, 80, 24, Options{})
	var all []model.Session
	for i := range 12 {
		all = append(all, running(fmt.Sprint("s", i)))
	}
	b.list(all...)
	for _, size := range [][2]int{{20, 5}, {1, 1}, {2, 2}, {500, 200}, {3, 40}, {80, 2}, {80, 24}} {
		b.term.SetSize(size[0], size[1])
		b.send(tcell.NewEventResize(size[0], size[1]))
		for _, p := range b.panes.All() {
			p.Apply(frame(p.Cols, p.Rows, "hello 你好 "+p.ID))
		}
		b.settle()
		if len(b.panes.All()) == 0 || b.focusedPane() == nil {
			t.Errorf("%v: %d panes, focus on %q", size, len(b.panes.All()), b.m.Focus)
		}
		b.keys("^?")
		b.keys(" ^")
		b.send(tcell.NewEventKey(tcell.KeyEscape, 0, 0))
		b.quit = false
		for _, p := range b.panes.All() {
			in := p.Inner()
			if p.Cols != in.W || p.Rows != in.H || in.W < 1 || in.H < 1 {
				t.Errorf("%v: pane %+v of a session of %d×%d", size, p.Area, p.Cols, p.Rows)
			}
		}
	}
	b.shows("12 s11", "hello 你好 s11")
	b.term.SetSize(20, 5)
	b.send(tcell.NewEventResize(20, 5))
	b.shows("s11", "1 of 12 sessions")
}

func BenchmarkDraw(bm *testing.B) {
	v := benchViewer(bm, 12)
	v.o.Screen.(tcell.SimulationScreen).SetSize(200, 60)
	v.refresh()
	frames := []panes.Frame{}
	for i := range 2 {
		p := v.panes.All()[0]
		frames = append(frames, frame(p.Cols, p.Rows, strings.Repeat(fmt.Sprintf("\x1b[3%dmcolour %d ", i+1, i), 60)))
	}
	n := 0
	for bm.Loop() { // all panes change wholly
		n++
		for _, p := range v.panes.All() {
			p.Apply(frames[n%2])
		}
		v.refresh()
	}
	v.panes.Close()
}

// BenchmarkDrawNothing measures the cost of a key before its echo arrives.
func BenchmarkDrawNothing(bm *testing.B) {
	v := benchViewer(bm, 1)
	for bm.Loop() {
		v.refresh()
	}
	v.panes.Close()
}

// BenchmarkDrawRow is a row that changed, on a terminal of 80×24.
func BenchmarkDrawRow(bm *testing.B) {
	v := benchViewer(bm, 1)
	p := v.panes.All()[0]
	e := vterm.New(vterm.Options{Cols: p.Cols, Rows: p.Rows})
	p.Apply(frameSince(e, 0))
	for n := 0; bm.Loop(); n++ {
		since := e.Version()
		fmt.Fprintf(e, "\r%d", n)
		p.Apply(frameSince(e, since))
		v.refresh()
	}
	v.panes.Close()
}

func benchViewer(bm *testing.B, panes int) *viewer {
	bm.Helper()
	screen := tcell.NewSimulationScreen("UTF-8")
	if err := screen.Init(); err != nil {
		bm.Fatal(err)
	}
	o := Options{Screen: screen, Tick: make(chan time.Time)}
	if err := o.defaults(); err != nil {
		bm.Fatal(err)
	}
	keys, err := o.keymap()
	if err != nil {
		bm.Fatal(err)
	}
	v := newViewer(bm.Context(), newFakeSource(), o, keys)
	var all []model.Session
	for i := range panes {
		all = append(all, running(fmt.Sprint("s", i)))
	}
	v.m.Update(model.Update{Sessions: all}, epoch)
	v.refresh()
	return v
}

// TestPointerMotion_RequestedOnlyWhileWanted checks that a program that requests the pointer's motion gets it at once,
// and gets none as soon as it ends the request.
//
// FEATURES: R35
func TestPointerMotion_RequestedOnlyWhileWanted(t *testing.T) {
	b := newBench(t, 80, 24, Options{})
	b.list(running("a"))
	p := b.panes.Get("a")
	e := vterm.New(vterm.Options{Cols: p.Cols, Rows: p.Rows})
	p.Apply(frameSince(e, 0))
	b.refresh()
	for _, c := range []struct {
		print string
		wants bool
	}{{"one\x1b[?1003h", true}, {"two\x1b[?1003l", false}} {
		since := e.Version()
		_, _ = e.Write([]byte(c.print))
		f := frameSince(e, since)
		f.Modes = e.Modes()
		b.changed = !p.Apply(f)
		b.pacer.urgent = true
		b.scheduleDraw()
		if got := b.pointer.flags&tcell.MouseMotionEvents != 0; got != c.wants {
			t.Errorf("%q: requested: %t", c.print, got)
		}
	}
}

// TestOutputIsDrawnAlone checks that output is drawn without computing bar and status, which stay the same. A new
// title, or an action of the user, updates both.
// FEATURES: R35
func TestOutputIsDrawnAlone(t *testing.T) {
	b := newBench(t, 80, 24, Options{})
	b.list(running("a"))
	p := b.panes.Get("a")
	e := vterm.New(vterm.Options{Cols: p.Cols, Rows: p.Rows})
	_, _ = e.Write([]byte("one"))
	p.Apply(frameSince(e, 0))
	b.refresh()
	asked := 0
	now := b.o.Now
	b.o.Now = func() time.Time { asked++; return now() }
	for _, c := range []struct {
		print string
		rows  bool
	}{{" two", true}, {"\x1b]2;title\x07", false}, {" three", true}} {
		since := e.Version()
		_, _ = e.Write([]byte(c.print))
		asked = 0
		b.streams["a"].frames <- frameSince(e, since)
		b.showFrame(<-b.panes.Arrivals())
		b.pacer.urgent = true
		b.scheduleDraw()
		// A pane requests the size once for each drawing.
		if got := asked <= 1; got != c.rows {
			t.Errorf("%q: the time was read %d times", c.print, asked)
		}
	}
	if text := b.term.Text(); !strings.Contains(text, "one two three") || !strings.Contains(text, "title") {
		t.Errorf("it shows\n%s", text)
	}
}

// TestForwardsEffects checks that a clipboard write of a shown session's program reaches the terminal once.
//
// FAULT: H11
func TestForwardsEffects(t *testing.T) {
	b := newBench(t, 40, 8, Options{})
	b.list(running("a"))
	f := frame(40, 6, "text")
	f.Effects = []panes.Effect{{Kind: panes.EffectBell}, {Kind: panes.EffectNotify, Text: "n"}, {Kind: panes.EffectClipboard, Title: "c", Text: "copied"}}
	for _, want := range []string{"copied", "kept"} {
		b.streams["a"].frames <- f
		b.showFrame(<-b.panes.Arrivals())
		if got := string(b.term.GetClipboardData()); got != want {
			t.Errorf("the clipboard has %q, want %q", got, want)
		}
		b.term.SetClipboard([]byte("kept"))
		f.Effects = nil
	}
}
