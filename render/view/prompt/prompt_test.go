package prompt

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"
)

func exit(n int) *int { return &n }

// TestWithoutMark checks that a ! that is typed in shell mode is not part of the command, unless it negates it.
//
// FAULT: J
func TestWithoutMark(t *testing.T) {
	for text, want := range map[string]string{
		"!echo hi": "echo hi", "echo !": "echo !", "! grep x y": "! grep x y", "!(true)": "!(true)", "!": "!", "": "", "ls": "ls",
	} {
		if got := withoutMark(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
	p := New(Options{})
	p.SetShell(true)
	got := press(t, p, "!echo hi<Enter>")
	if p.Mode() != Shell || len(got) != 1 || got[0].Text != "echo hi" {
		t.Errorf("%+v", got)
	}
}

// FEATURES: R77
func TestShellMode(t *testing.T) {
	p := New(Options{})
	if p.Mode() != Normal || p.Badge() != "" {
		t.Fatal("it starts in another mode")
	}
	press(t, p, "!")
	if p.Mode() != Shell || p.Badge() != "SHELL" || p.Text() != "" {
		t.Errorf("after a !: %v %q", p.Mode(), p.Text())
	}
	press(t, p, "<Backspace>")
	if p.Mode() != Normal {
		t.Error("deleting the ! leaves shell mode on")
	}
	press(t, p, "a!b")
	if p.Mode() != Normal || p.Text() != "a!b" {
		t.Errorf("a ! within: %q", p.Text())
	}
	press(t, p, "<C-a>!")
	if p.Mode() != Shell || p.Text() != "a!b" {
		t.Error("a ! at the start of a text does nothing")
	}
	press(t, p, "<C-x>")
	if p.Mode() != Normal {
		t.Error("Ctrl-X does not toggle")
	}
	press(t, p, "<C-x><Esc>")
	if p.Mode() != Shell || p.Text() != "" {
		t.Error("Esc does not only clear")
	}
	press(t, p, "<Esc>")
	if p.Mode() != Normal {
		t.Error("Esc on an empty line does not leave shell mode")
	}
	if got := press(t, p, "<Esc>"); len(got) != 1 || got[0].Kind != Leave {
		t.Errorf("Esc in the end: %v", got)
	}
	p.SetShell(true) // opened for a command
	if got := press(t, p, "<Esc>"); len(got) != 1 || got[0].Kind != Leave {
		t.Errorf("Esc in a prompt of shell mode alone: %v", got)
	}
	p.SetShell(false)
	p.Paste("!ls -l")
	if p.Mode() != Shell || p.Text() != "ls -l" {
		t.Errorf("a pasted command: %v %q", p.Mode(), p.Text())
	}
}

// FEATURES: R77
func TestCommands(t *testing.T) {
	p := New(Options{})
	got := press(t, p, "!make all<Enter>")
	if !slices.Equal(got, []Action{{Kind: Run, ID: 1, Text: "make all"}}) {
		t.Fatalf("%+v", got)
	}
	var s strings.Builder
	s.WriteString(screen(t, p, 50, 14))
	p.Output(1, "cc -c a.c\r\nlinki")
	press(t, p, "echo next")
	s.WriteString(screen(t, p, 50, 14))
	if got := press(t, p, "<C-c>"); !slices.Equal(got, []Action{{Kind: Cancel, ID: 1}}) || p.Text() != "echo next" {
		t.Errorf("Ctrl-C: %+v, and the line is %q", got, p.Text())
	}
	s.WriteString(screen(t, p, 50, 14))
	p.Output(1, "ng\n")
	p.ShowResult(1, Result{Signal: "SIGINT", Duration: 2100 * time.Millisecond})
	press(t, p, "<Enter>")
	p.Output(2, "next\n")
	p.ShowResult(2, Result{Exit: exit(0), Duration: 12 * time.Millisecond})
	press(t, p, "false<Enter>")
	p.ShowResult(3, Result{Exit: exit(1), Duration: time.Millisecond})
	p.Output(3, "too late\n")
	s.WriteString(screen(t, p, 50, 20))
	press(t, p, "<PageUp>")
	s.WriteString(screen(t, p, 50, 6))
	press(t, p, "<C-l>")
	s.WriteString(screen(t, p, 50, 14))
	golden(t, "commands", s.String())
	if got := press(t, p, "x<C-c>"); len(got) != 0 || p.Text() != "" {
		t.Errorf("Ctrl-C without a running command: %v, %q", got, p.Text())
	}
}

// FEATURES: R80
func TestPaste(t *testing.T) {
	p := New(Options{})
	big := strings.Repeat("a line\n", 123)
	press(t, p, "look: ")
	p.Event(tcell.NewEventPaste(true))
	for _, r := range strings.TrimSuffix(big, "\n") + "\n" {
		if r == '\n' {
			p.Event(tcell.NewEventKey(tcell.KeyEnter, 0, 0))
			continue
		}
		p.Event(tcell.NewEventKey(tcell.KeyRune, r, 0))
	}
	p.Event(tcell.NewEventPaste(false))
	press(t, p, " ok")
	if got := p.line.text; got != "look: [pasted text #1 +123 lines] ok" {
		t.Errorf("%q", got)
	}
	press(t, p, "<Left><Left><Left><Backspace>")
	if got := p.line.text; got != "look:  ok" {
		t.Errorf("the placeholder is not deleted as one: %q", got)
	}
	press(t, p, "<C-_>")
	if got := press(t, p, "<Enter>"); len(got) != 1 || got[0].Kind != Send || got[0].Text != "look: "+big+" ok" {
		t.Errorf("sent: %d actions", len(got))
	}
	p.Paste("short \x1b[31mone\x00")
	if p.line.text != "short [31mone" {
		t.Errorf("%q", p.line.text)
	}
	press(t, p, "<C-u>[pasted text #1 +123 lines]<Enter>")
	p.Paste(strings.Repeat("x", 2000))
	if got := p.line.text; got != "[pasted text #1 2000 characters]" {
		t.Errorf("%q", got)
	}
}

// FEATURES: R80
func TestHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "history")
	open := func(dir string) *Prompt {
		t.Helper()
		h, err := OpenHistory(path, dir)
		if err != nil {
			t.Fatal(err)
		}
		return New(Options{History: h})
	}
	p := open("/a")
	press(t, p, "one<Enter>one<Enter>!make<Enter>make again<Enter><C-x> secret<Enter>")
	other := open("/b")
	press(t, other, "elsewhere<Enter>")

	p = open("/a")
	if got := p.o.History.lines; !slices.Equal(got, []string{"one", "!make", "!make again"}) {
		t.Fatalf("%q", got)
	}
	press(t, p, "typed<Home>")
	for _, c := range []struct {
		keys, text string
		mode       Mode
	}{
		{"<C-u><C-e><C-u><Up>", "make again", Shell}, {"<Up>", "make", Shell}, {"<Up>", "one", Normal}, {"<Up>", "one", Normal},
		{"<Down>", "make", Shell}, {"<Down><Down>", "", Normal}, {"on<Up>", "one", Normal}, {"<Down>", "on", Normal}, {"<C-u>zzz<Up>", "zzz", Normal},
		{"<C-u><C-r>mak", "make again", Shell}, {"<C-r>", "make", Shell}, {"<C-r>", "make", Shell}, {"<Esc>", "", Normal},
		{"<C-r>one<C-e>!", "one!", Normal}, {"<C-r>o<Backspace><C-g>", "one!", Normal},
	} {
		press(t, p, c.keys)
		if p.Text() != c.text || p.Mode() != c.mode {
			t.Errorf("%s: %q in mode %d, want %q in %d", c.keys, p.Text(), p.Mode(), c.text, c.mode)
		}
	}
	press(t, p, "<C-u><C-r>mak")
	golden(t, "search", screen(t, p, 50, 6))
	if got := press(t, p, "<Enter>"); len(got) != 1 || got[0].Kind != Run || got[0].Text != "make again" {
		t.Errorf("Enter in a search: %+v", got)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestHistoryFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	text := "no JSON\n" + `{"dir":"/a","text":"good"}` + "\n{\n" + strings.Repeat(`{"dir":"/b","text":"x"}`+"\n", maxHistoryFile+1)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := OpenHistory(path, "/a")
	if err != nil || !slices.Equal(h.lines, []string{"good"}) {
		t.Errorf("%v, %v", h, err)
	}
	if b, _ := os.ReadFile(path); strings.Count(string(b), "\n") != maxHistoryFile/2 {
		t.Errorf("the file was not tidied: %d lines", strings.Count(string(b), "\n"))
	}
	if _, err := OpenHistory(t.TempDir(), "/a"); err == nil {
		t.Error("a directory is a history")
	}
}

// FEATURES: R80
func TestCompletion(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	for _, f := range []string{"main.go", "main_test.go", "a file", "sub/deep", ".hidden", "bin/frobnicate"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, f)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, f), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	local := &Local{Dir: dir, Path: bin + ":/absent", Others: map[Subject]func() []string{Sessions: func() []string { return []string{"build", "shell"} }}}
	for _, c := range []struct {
		keys, want string
		mode       Mode
	}{
		{"!frob<Tab>", "frobnicate ", Shell},
		{"!cat mai<Tab>", "cat main", Shell},
		{"!cat mai<Tab><Tab>", "cat main.go", Shell},
		{"!cat mai<Tab><Tab><Tab>", "cat main_test.go", Shell},
		{"!cat mai<Tab><Backtab>x", "cat main_test.gox", Shell},
		{"!cat mai<Tab><Esc>", "cat main", Shell},
		{"!cat a<Tab>", `cat a\ file `, Shell},
		{`!cat a\ f<Tab>`, `cat a\ file `, Shell},
		{"!ls su<Tab>", "ls sub/", Shell},
		{"!ls su<Tab><Tab>", "ls sub/deep ", Shell},
		{"!ls .h<Tab>", "ls .hidden ", Shell},
		{"!ls | frob<Tab>", "ls | frobnicate ", Shell},
		{"!./bin/f<Tab>", "./bin/frobnicate ", Shell},
		{"see main_<Tab>", "see main_test.go ", Normal},
		{"/se<Tab>", "/sessions ", Normal},
		{"/sessions b<Tab>", "/sessions build ", Normal},
		{"nothing/like<Tab>", "nothing/like", Normal},
	} {
		p := New(Options{Completer: local})
		press(t, p, c.keys)
		if p.Text() != c.want || p.Mode() != c.mode {
			t.Errorf("%s: %q, want %q", c.keys, p.Text(), c.want)
		}
	}
	p := New(Options{Completer: local})
	press(t, p, "!cat <Tab><Tab>")
	golden(t, "completion", screen(t, p, 40, 8))
}

// FEATURES: R81
func TestSlashes(t *testing.T) {
	for _, name := range []string{"help", "version", "sessions", "mcp", "reload", "theme", "layout"} {
		if !slices.ContainsFunc(Slashes, func(c SlashCommand) bool { return c.Name == name }) {
			t.Errorf("there is no /%s", name)
		}
	}
	for _, c := range []struct {
		keys string
		want []Action
		text string
	}{
		{"/version<Enter>", []Action{{Kind: Slash, Slash: "version"}}, ""},
		{"/theme  dark <Enter>", []Action{{Kind: Slash, Slash: "theme", Text: "dark"}}, ""},
		{"/lay tall<Enter>", []Action{{Kind: Slash, Slash: "layout", Text: "tall"}}, ""},
		{"/nothing<Enter>", nil, "/nothing"},
		{"/<Enter>", nil, "/"},
		{"a/version<Enter>", []Action{{Kind: Send, Text: "a/version"}}, ""},
		{"!/version<Enter>", []Action{{Kind: Run, ID: 1, Text: "/version"}}, ""},
	} {
		p := New(Options{})
		if got := press(t, p, c.keys); !slices.Equal(got, c.want) || p.Text() != c.text {
			t.Errorf("%s: %+v and %q", c.keys, got, p.Text())
		}
	}
	p := New(Options{})
	if got := press(t, p, "/help<Enter>"); len(got) != 0 {
		t.Errorf("/help: %v", got)
	}
	golden(t, "help", screen(t, p, 90, 50))
}

// FEATURES: R77, R80
func TestDraw(t *testing.T) {
	var s strings.Builder
	p := New(Options{})
	s.WriteString(screen(t, p, 40, 8))
	press(t, p, "a message that is longer than a row, with 世界 and e\u0301 in it<M-Enter>and a second row")
	s.WriteString(screen(t, p, 40, 8))
	press(t, p, "<C-a><Up>")
	s.WriteString(screen(t, p, 40, 8))
	s.WriteString(screen(t, p, 40, 2))
	s.WriteString(screen(t, p, 5, 4))
	s.WriteString(screen(t, p, 40, 1))
	golden(t, "draw", s.String())
	if x, y := p.Draw(newGrid(1, 1), 0, 0); x != -1 || y != -1 {
		t.Errorf("in an area without space the cursor is at %d,%d", x, y)
	}
}

// TestWordsStayWhole checks that the prompt's own messages are broken between words, and its keys are shown in whole
// groups. A command's output is unchanged.
//
// FEATURES: R77
func TestWordsStayWhole(t *testing.T) {
	p := New(Options{Slashes: Slashes})
	press(t, p, "/help<Enter>")
	help := strings.Join(p.help(), " ")
	for _, row := range strings.Split(screen(t, p, 40, 60), "\n") {
		for _, word := range strings.Fields(row) {
			if strings.Contains(row, "Esc: leave") || strings.HasPrefix(row, "cursor ") || strings.HasPrefix(word, ">") {
				continue
			}
			if !strings.Contains(" "+help+" ", " "+word+" ") && !strings.Contains(" Enter: send !: shell /: commands Esc: leave ", " "+word+" ") {
				t.Errorf("%q is no word: %q", word, row)
			}
		}
	}
	for _, c := range []struct{ text, want string }{
		{"none of it", "none of it"}, {"one and two", "one and|  two"}, {"averylongword", "averylongword"}, {"a b c d e f g h", "a b c d e|  f g h"}, {"  x", "  x"}, {"x averylongword", "x|  averylongword"},
	} {
		if got := strings.Join(wrap(c.text, 10), "|"); got != c.want {
			t.Errorf("%q is %q", c.text, got)
		}
	}
	for n, want := range map[int]string{60: " in bash-17  Enter: run  Tab: complete", 30: " in bash-17  Enter: run", 12: " in bash-17", 8: " in bas…"} {
		if got := wholeGroups(" in bash-17  Enter: run  Tab: complete", n); got != want {
			t.Errorf("%d columns: %q", n, got)
		}
	}
}

// FEATURES: R77
func TestStyles(t *testing.T) {
	scr := tcell.NewSimulationScreen("UTF-8")
	if err := scr.Init(); err != nil {
		t.Fatal(err)
	}
	defer scr.Fini()
	scr.SetSize(40, 3)
	p := New(Options{})
	press(t, p, "!")
	p.Draw(On(scr, 0, 0), 40, 3)
	scr.Show()
	_, st, _ := scr.Get(0, 2) // [SHELL] $
	if fg, _, attr := st.Decompose(); fg != tcell.ColorOlive || attr&tcell.AttrBold == 0 {
		t.Errorf("the prompt of shell mode looks like %v", st)
	}
	// FAULT: B21
	for _, c := range []tcell.Color{tcell.ColorOlive, tcell.NewHexColor(0x8a5a00), tcell.NewHexColor(0xf0c060), tcell.ColorPurple} {
		p.SetModeColors(func(Mode) tcell.Color { return c })
		p.Draw(On(scr, 0, 0), 40, 3)
		scr.Show()
		_, st, _ := scr.Get(1, 0)
		fg, bg, attr := st.Decompose()
		if bg != c || attr&tcell.AttrReverse != 0 || contrast(fg, bg) < 4.5 || fg.IsRGB() { // black becomes the first of 256 colours, which bold makes grey
			t.Errorf("the badge is %v on %v, contrast %.1f", fg, bg, contrast(fg, bg))
		}
		if _, st, _ = scr.Get(0, 2); st != tcell.StyleDefault.Bold(true).Foreground(c) {
			t.Errorf("the prompt does not take the theme's colour: %v", st)
		}
	}
	p.SetModeColors(func(Mode) tcell.Color { return tcell.ColorDefault })
	p.Draw(On(scr, 0, 0), 40, 3)
	if _, st, _ := scr.Get(1, 0); st != tcell.StyleDefault.Bold(true).Reverse(true) {
		t.Errorf("without a colour the badge is %v", st)
	}
	p = New(Options{NoColor: true})
	press(t, p, "!")
	p.Draw(On(scr, 0, 0), 40, 3)
	_, st, _ = scr.Get(0, 2)
	if fg, _, attr := st.Decompose(); fg != tcell.ColorDefault || attr&tcell.AttrBold == 0 {
		t.Errorf("without colours it looks like %v", st)
	}
}

// contrast returns the contrast ratio of WCAG 2.2, which requires 4.5.
func contrast(a, b tcell.Color) float64 {
	x, y := luminance(a.RGB()), luminance(b.RGB())
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func FuzzHistory(f *testing.F) {
	f.Add([]byte(`{"dir":"/a","text":"one"}` + "\n" + `{"dir":"/a","text":"!two\nthree"}` + "\n{"))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "history")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		h, err := OpenHistory(path, "/a")
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Add("new"); err != nil {
			t.Fatal(err)
		}
		again, err := OpenHistory(path, "/a")
		if err != nil || again.lines[len(again.lines)-1] != "new" {
			t.Errorf("%q, %v", again.lines, err)
		}
	})
}
