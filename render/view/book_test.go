package view

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/theme"
	"github.com/longterm-dev/longterm/vterm"
)

const (
	bookDir  = "../../docs/pictures"
	bookPage = "../../docs/picture-book.md"
	// maxPicture keeps the book small: it is part of the repository and of the documentation's pages.
	maxPicture = 60_000
)

// scenes lists what the viewer can show, each with the steps to it.
var scenes = []struct {
	name string
	size [2]int // cells; zero: 90×26
	make func(b *bench)
}{
	{name: "first", make: firstScene},
	{name: "panes", make: panesScene},
	{name: "hints", make: func(b *bench) { panesScene(b); b.keys("^"); b.ring() }},
	{name: "help", make: func(b *bench) { panesScene(b); b.keys("^?") }},
	{name: "palette", make: func(b *bench) { panesScene(b); b.keys("^:") }},
	{name: "picker", make: func(b *bench) { panesScene(b); b.keys("^p") }},
	{name: "overview", make: overviewScene},
	{name: "details", make: detailsScene},
	{name: "errors", make: func(b *bench) { panesScene(b); b.keys("^1^E"); b.call() }},
	{name: "inbox", make: inboxScene},
	{name: "changes", make: changesScene},
	{name: "approvals", make: approvalsScene},
	{name: "question", make: func(b *bench) { panesScene(b); b.keys("^2^x") }},
	{name: "copy-mode", make: func(b *bench) { panesScene(b); b.keys("^2^s"); b.call(); b.keys("gvjj$") }},
	{name: "floats", make: func(b *bench) { panesScene(b); b.keys("^3^F"); printed3(b) }},
	{name: "stacked", make: func(b *bench) { panesScene(b); b.keys("^2^_") }},
	{name: "frames", make: func(b *bench) { panesScene(b); b.keys("^#") }},
	{name: "small", size: [2]int{60, 10}, make: func(b *bench) { panesScene(b) }},
	{name: "tiny", size: [2]int{20, 5}, make: func(b *bench) { panesScene(b) }},
}

const buildOutput = "   \x1b[1;32mCompiling\x1b[m serde v1.0.203\r\n   \x1b[1;32mCompiling\x1b[m parser v0.3.1 (/home/ann/src/build)\r\n" +
	"\x1b[1;31merror[E0308]\x1b[m\x1b[1m: mismatched types\x1b[m\r\n \x1b[1;34m-->\x1b[m src/parse.rs:41:9\r\n"

func firstScene(b *bench) {
	b.list(situation()[:1]...)
	b.print("web", "\x1b[32mann@box\x1b[m:~/src/web$ ")
	b.welcome = true
	b.refresh()
}

func panesScene(b *bench) {
	all := situation()
	all[1].FirstError = "src/parse.rs:41:9: mismatched types"
	all = []model.Session{all[0], all[1], all[2], all[4]}
	b.list(all...)
	printed3(b)
	b.keys("^1")
}

// printed3 prints in the panes that are on the screen: a small one has one.
func printed3(b *bench) {
	for id, text := range map[string]string{
		"web": "\x1b[32mann@box\x1b[m:~/src/web$ ", "build": buildOutput, "deploy": "[sudo] password for ann: ",
		"test": "--- FAIL: TestParse (0.02s)\r\n    parse_test.go:17: got 3, want 4\r\nFAIL\r\n\x1b[32mann@box\x1b[m:~/src/test$ ",
	} {
		if b.panes.Get(id) != nil {
			b.print(id, text)
		}
	}
}

func overviewScene(b *bench) {
	f := b.o.Inspector.(*fakeInspector)
	f.last = map[string]string{
		"web": "ann@box:~/src/web$", "build": "--> src/parse.rs:41:9", "deploy": "[sudo] password for ann:", "test": "FAIL", "notes": "~", "job": "done",
	}
	panesScene(b)
	b.keys("^v")
	b.call()
}

func detailsScene(b *bench) {
	f := b.o.Inspector.(*fakeInspector)
	f.list = []model.Detail{
		{Group: "state", Text: "needs password", Note: "1m30s", Tone: model.ToneGood},
		{Group: "program", Text: "bash", Note: "pid 4711"},
		{Group: "directory", Text: "~/src/deploy"},
		{Group: "runs", Text: "sudo ./deploy", Note: "1m30s ago"},
		{Group: "waits for", Text: "password: the terminal does not echo", Note: "97% sure, 1m28s ago", Tone: model.ToneWants, Action: model.DetailAction{Answer: true}},
		{Group: "environment", Text: "STAGE=production", Note: "by export STAGE=production"},
		{Group: "environment", Text: "unset HTTP_PROXY", Note: "by unset HTTP_PROXY"},
		{Group: "rule", Text: `"Continue? [y/N]": types "y", presses <Enter>`, Note: "used 1 of 3 times", Action: model.DetailAction{Rule: "1"}},
		{Group: "answered", Text: `"Continue? [y/N]": types "y", presses <Enter>`, Note: "2m04s ago", Tone: model.ToneGood},
		{Group: "commands", Text: "sudo ./deploy", Note: "running 1m30s ago", Tone: model.ToneBusy, Action: model.DetailAction{Command: 3}},
		{Group: "commands", Text: "make test", Note: "exit 2  41s", Tone: model.ToneBad, Action: model.DetailAction{Command: 2}},
		{Group: "job", Text: "make watch", Note: "running 12m ago", Tone: model.ToneBusy, Action: model.DetailAction{Job: "1"}},
		{Group: "limits", Text: "memory 41.2 MiB of 2048.0 MiB, processes 4"},
		{Group: "clients", Text: "viewer pts/3", Note: "typed 2s ago", Action: model.DetailAction{Client: 1}},
		{Group: "clients", Text: "page token ann's phone", Note: "looks only"},
		{Group: "size", Text: "44×12", Note: "of the latest", Action: model.DetailAction{Size: true}},
	}
	panesScene(b)
	b.keys("^3^i")
	b.call()
}

func inboxScene(b *bench) {
	panesScene(b)
	b.o.Inbox.(*fakeInbox).list = entries()
	b.keys("^I")
	b.call()
}

func changesScene(b *bench) {
	all := situation()
	all[0].Draft = "draft(4)"
	b.list(all[0], all[1])
	b.print("web", "\x1b[32mann@box\x1b[m:~/src/web$ ")
	b.print("build", buildOutput)
	b.keys("^1^V")
	b.call()
	b.down(3)
}

func approvalsScene(b *bench) {
	a := approval("A3")
	a.Session, a.Name, a.What = "build", "build", "make && git push --force"
	a.Risk, a.Effects = "high", []string{"overwrites branches of the remote repository: commits that only it has are lost"}
	a.Why = `rule "not reading": it is not known to only read`
	all := situation()
	all[1].Needs = model.NeedsApproval
	b.apply(model.Update{Sessions: []model.Session{all[0], all[1]}, Approvals: []model.Approval{a, approval("A4")}})
	b.settle()
	b.print("web", "\x1b[32mann@box\x1b[m:~/src/web$ ")
	b.print("build", buildOutput)
	b.keys("^A")
}

// TestPictureBook checks that the picture book shows the viewer as it is now: each scene in dark and light, drawn here.
// The page has all of them, and the directory contains no others.
//
// FEATURES: R76
func TestPictureBook(t *testing.T) {
	page, err := os.ReadFile(bookPage)
	if err != nil {
		t.Fatal(err)
	}
	known := []string{"prompt.svg"} // of a real session: the tour's
	for _, s := range scenes {
		for suffix, th := range map[string]*theme.Theme{"": theme.Dark, "-light": theme.Light} {
			file := s.name + suffix + ".svg"
			known = append(known, file)
			b := newBench(t, 90, 26, Options{
				Home: "/home/ann", Inspector: newFakeInspector(), Approver: &approver{}, Inbox: &fakeInbox{}, Drafts: &fakeDrafts{draft: someChanges()}, LiveOptions: LiveOptions{Theme: th, Glyphs: "unicode"},
				History: printed(44, 11, strings.Split("one\ntwo\n   Compiling serde v1.0.203\n   Compiling parser v0.3.1\nerror[E0308]: mismatched types\n --> src/parse.rs:41:9", "\n")...),
				Editor: &fakeEditor{problems: map[string][]model.Problem{"build": {
					{File: "/home/ann/src/build/src/parse.rs", Line: 41, Column: 9, Message: "mismatched types"},
					{File: "/home/ann/src/build/src/main.rs", Line: 7, Message: "unused variable: x"},
				}}},
			})
			if s.size[0] > 0 {
				b.term.SetSize(s.size[0], s.size[1])
				b.send(tcell.NewEventResize(s.size[0], s.size[1]))
			}
			b.now = epoch.Add(time.Second)
			s.make(b)
			b.drawnAs(file, th == theme.Light)
			if !strings.Contains(string(page), "(pictures/"+file+")") {
				t.Errorf("%s does not show %s", bookPage, file)
			}
		}
	}
	there, err := os.ReadDir(bookDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range there {
		if !slices.Contains(known, f.Name()) && !strings.HasPrefix(f.Name(), "readme.") {
			t.Errorf("%s is no scene's", f.Name())
		}
	}
}

// drawnAs compares the screen with a picture of the book.
func (b *bench) drawnAs(file string, light bool) {
	b.t.Helper()
	name := "dark"
	if light {
		name = "light"
	}
	th, err := render.ThemeFor(name, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	cols, rows := b.term.Size()
	e := vterm.New(vterm.Options{Cols: cols, Rows: rows})
	_, _ = e.Write(b.drawing())
	var f vterm.Frame
	e.Frame(&f, vterm.Query{})
	var s render.Screen
	render.FromFrame(&s, &f)
	got := render.AppendSVG(nil, &s, render.PictureOptions{Theme: th, Padding: 8, NoCursor: true})
	path := filepath.Join(bookDir, file)
	if len(got) > maxPicture {
		b.t.Errorf("%s has %d bytes", file, len(got))
	}
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			b.t.Fatal(err)
		}
		return
	}
	if want, err := os.ReadFile(path); err != nil || string(want) != string(got) {
		b.t.Errorf("%s differs from the current drawing (%v): go test ./render/view -run TestPictureBook -update\n%s", file, err, b.term.Text())
	}
}

// drawing is the screen as output that draws it.
func (b *bench) drawing() []byte {
	cols, rows := b.term.Size()
	out := []byte("\x1b[?7l")
	for y := range rows {
		out = fmt.Appendf(out, "\x1b[%d;1H", y+1)
		for x := 0; x < cols; {
			text, style, width := b.term.Get(x, y)
			out = append(append(out, styled(style)...), text...)
			x += max(1, width)
		}
	}
	return out
}

// styled is the rendition of a cell, ECMA-48 SGR.
func styled(s tcell.Style) string {
	fg, bg, attrs := s.Decompose()
	var b strings.Builder
	b.WriteString("\x1b[0")
	for _, a := range []struct {
		is  tcell.AttrMask
		sgr string
	}{{tcell.AttrBold, "1"}, {tcell.AttrDim, "2"}, {tcell.AttrItalic, "3"}, {tcell.AttrReverse, "7"}} {
		if attrs&a.is != 0 {
			b.WriteString(";" + a.sgr)
		}
	}
	for sgr, c := range map[int]tcell.Color{38: fg, 48: bg} {
		switch {
		case c.IsRGB():
			r, g, bl := c.RGB()
			fmt.Fprintf(&b, ";%d;2;%d;%d;%d", sgr, r, g, bl)
		case c.Valid():
			fmt.Fprintf(&b, ";%d;5;%d", sgr, c&0xff)
		}
	}
	b.WriteString("m")
	return b.String()
}
