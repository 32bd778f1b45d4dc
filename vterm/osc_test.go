package vterm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/vterm"
)

// TestEventsOfStrings checks the events of operating system commands, and what they omit.
//
// FEATURES: R33
func TestEventsOfStrings(t *testing.T) {
	for _, c := range []struct {
		name, spec, in string
		want           []string
	}{
		{"title and icon", "xterm ctlseqs, OSC 0", "\x1b]0;both\a", []string{"icon |both", "title |both"}},
		{"icon", "xterm ctlseqs, OSC 1", "\x1b]1;i\a", []string{"icon |i"}},
		{"title", "xterm ctlseqs, OSC 2", "\x1b]2;t\a", []string{"title |t"}},
		{"empty title", "xterm ctlseqs, OSC 2", "\x1b]2;\a", []string{"title"}},
		{"title without its semicolon", "xterm ctlseqs, OSC 2", "\x1b]2\a", []string{"title"}},
		{"title with semicolons", "xterm ctlseqs: Pt is the rest", "\x1b]2;a;b;c\a", []string{"title |a;b;c"}},
		{"title with controls", "here: they are left out", "\x1b]2;a\x7fb\u0085c\td\a", []string{"title |abcd"}},
		{"title that is no UTF-8", "Unicode 3.9", "\x1b]2;a\xff\xfeb\a", []string{"title |a\ufffdb"}},
		{"number with zeros before it", "xterm ctlseqs: Ps is decimal", "\x1b]002;t\a", []string{"title |t"}},
		{"number too long", "here: five digits", "\x1b]000002;t\a", nil},
		{"no number", "xterm ctlseqs", "\x1b];t\a\x1b]x;t\a\x1b]-2;t\a\x1b]2x;t\a", nil},
		{"unknown numbers", "xterm ctlseqs", "\x1b]3;x\a\x1b]6;x\a\x1b]50;x\a\x1b]999;x\a\x1b]99999;x\a", nil},
		{"dtterm's title and icon", "xterm ctlseqs, OSC l and L", "\x1b]ltitle\x1b\\\x1b]Licon\x1b\\", []string{"title |title", "icon |icon"}},
		{"a file for an icon", "xterm ctlseqs, OSC I", "\x1b]Ifile\x1b\\", nil},

		{"directory", "VTE, OSC 7", "\x1b]7;file://host/a%20b\a", []string{"cwd 7|file://host/a%20b"}},
		{"no directory", "VTE, OSC 7", "\x1b]7;\a", []string{"cwd 7"}},
		{"directory of ConEmu", "ConEmu, OSC 9;9", "\x1b]9;9;\"C:\\x y\"\a", []string{`cwd 9;9|C:\x y`}},
		{"directory of iTerm2", "iTerm2, OSC 1337", "\x1b]1337;CurrentDir=/a=b\a", []string{"cwd 1337|/a=b"}},
		{"directory of VS Code", "VS Code, OSC 633 ; P", "\x1b]633;P;Cwd=/w\a", []string{"mark P|Cwd=/w|633", "cwd 633|/w"}},
		{"another property", "VS Code, OSC 633 ; P", "\x1b]633;P;IsWindows=True\a", []string{"mark P|IsWindows=True|633"}},
		{"Cwd elsewhere is none", "FinalTerm, OSC 133", "\x1b]133;P;Cwd=/w\a\x1b]633;E;Cwd=/w\a", []string{"mark P|Cwd=/w|133", "mark E|Cwd=/w|633"}},

		{"prompt marks", "FinalTerm, OSC 133", "\x1b]133;A\a\x1b]133;B\a\x1b]133;C\a\x1b]133;D\a", []string{"mark A||133", "mark B||133", "mark C||133", "mark D||133"}},
		{"exit status and options", "FinalTerm, OSC 133 ; D", "\x1b]133;D;127;err=x\a", []string{"mark D|127;err=x|133"}},
		{"a mark without its letter", "FinalTerm, OSC 133", "\x1b]133\a\x1b]133;\a\x1b]133;;x\a", nil},
		{"a mark of several letters", "FinalTerm, OSC 133", "\x1b]133;AB;x\a", []string{"mark AB|x|133"}},

		{"notification", "iTerm2, OSC 9", "\x1b]9;some text; more\a", []string{"notify |some text; more"}},
		{"empty notification", "iTerm2, OSC 9", "\x1b]9;\a", []string{"notify"}},
		{"another command of ConEmu", "ConEmu, OSC 9 ; 1", "\x1b]9;1;500\a\x1b]9;12;x\a", nil},
		{"a text that begins with a long number", "iTerm2, OSC 9", "\x1b]9;2024;x\a", []string{"notify |2024;x"}},
		{"notification of rxvt", "rxvt, OSC 777", "\x1b]777;notify;title;body;more\a", []string{"notify title|body;more"}},
		{"notification of rxvt without a body", "rxvt, OSC 777", "\x1b]777;notify;title\a", []string{"notify title"}},
		{"another command of rxvt", "rxvt, OSC 777", "\x1b]777;preexec\a", nil},
		{"notification of kitty", "kitty, OSC 99", "\x1b]99;i=1:d=0;title\x1b\\\x1b]99;i=1:p=body;body\x1b\\", []string{"notify title", "notify |body"}},
		{"notification of kitty in base64", "kitty, OSC 99, e=1", "\x1b]99;e=1;aGk=\x1b\\", []string{"notify hi"}},
		{"bad base64", "kitty, OSC 99, e=1", "\x1b]99;e=1;***\x1b\\", nil},
		{"buttons and queries", "kitty, OSC 99, p=", "\x1b]99;p=buttons;a\x1b\\\x1b]99;p=?;\x1b\\", nil},

		{"progress", "ConEmu, OSC 9;4", "\x1b]9;4;1;50\a", []string{"progress normal||50"}},
		{"all kinds of it", "ConEmu, OSC 9;4", "\x1b]9;4;0\a\x1b]9;4;2;10\a\x1b]9;4;3\a\x1b]9;4;4;20\a", []string{"progress none", "progress error||10", "progress indeterminate", "progress paused||20"}},
		{"progress beyond its end", "ConEmu, OSC 9;4", "\x1b]9;4;1;500\a\x1b]9;4;1;-5\a", []string{"progress normal||100", "progress normal"}},
		{"progress of no kind", "ConEmu, OSC 9;4", "\x1b]9;4;5;50\a\x1b]9;4;x\a\x1b]9;4\a\x1b]9;4;\a", nil},

		{"clipboard", "xterm ctlseqs, OSC 52", "\x1b]52;c;aGVsbG8=\a", []string{"clipboard c|hello"}},
		{"clipboard without padding", "xterm reads it", "\x1b]52;c;aGVsbG8\a", []string{"clipboard c|hello"}},
		{"clipboard with a line break", "xterm skips what is no digit", "\x1b]52;c;aGVs\nbG8=\a", []string{"clipboard c|hello"}},
		{"clipboard cleared", "xterm ctlseqs: what is no base64 clears", "\x1b]52;c;!\a\x1b]52;p;\a", []string{"clipboard c", "clipboard p"}},
		{"several selections", "xterm ctlseqs, OSC 52", "\x1b]52;cp;aGk=\a\x1b]52;;aGk=\a", []string{"clipboard cp|hi", "clipboard |hi"}},
		{"clipboard without data", "xterm ctlseqs, OSC 52", "\x1b]52;c\a", nil},

		{"user variable", "iTerm2, OSC 1337", "\x1b]1337;SetUserVar=name=dmFsdWU=\a", []string{"variable name|value"}},
		{"user variable in bad base64", "iTerm2, OSC 1337", "\x1b]1337;SetUserVar=name=***\a", nil},
		{"another command of iTerm2", "iTerm2, OSC 1337", "\x1b]1337;StealFocus\a\x1b]1337;File=name=x:AAAA\a", nil},
		{"context", "systemd, OSC 3008", "\x1b]3008;start=x;type=shell\x1b\\", []string{"context |start=x;type=shell"}},
		{"bell", "ECMA-48 8.3.3", "\a\a", []string{"bell", "bell"}},
		{"window operations", "xterm ctlseqs, CSI t", "\x1b[1t\x1b[2t\x1b[3;0;0t\x1b[5t\x1b[9;1t\x1b[10;2t", []string{"window ||1", "window ||2", "window ||3", "window ||5", "window ||9", "window ||10"}},
		{"reset", "VT510, RIS", "\x1bc", []string{"reset"}},
	} {
		term := (&example{}).terminal()
		write(term, c.in)
		if got := eventsOf(term); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s (%s): %q reports\n\t%q, want\n\t%q", c.name, c.spec, c.in, got, c.want)
		}
		if got := term.Replies(nil); len(got) > 0 {
			t.Errorf("%s: %q is answered %q", c.name, c.in, got)
		}
	}
}

// TestLongTexts checks that the length of an event's text is bounded, at a character.
func TestLongTexts(t *testing.T) {
	long := strings.Repeat("é", 200_000)
	for open, bound := range map[string]int{"\x1b]2;": 4096, "\x1b]7;": 64 << 10, "\x1b]133;A;": 64 << 10, "\x1b]9;": 64 << 10} {
		term := (&example{}).terminal()
		write(term, open+"x"+long+"\a")
		for _, e := range term.Events(nil) {
			if len(e.Text) > bound || len(e.Text) < bound-2 || !strings.HasPrefix("x"+long, e.Text) || strings.Contains(e.Text, "\ufffd") {
				t.Errorf("%q: a text of %d bytes, bound %d", open, len(e.Text), bound)
			}
		}
	}
}

// TestWhereEventsHappened checks the offset, line and column of events.
//
// FEATURES: R33
func TestWhereEventsHappened(t *testing.T) {
	term := (&example{}).terminal()
	in := "ab\a\r\n\r\n\r\n\r\ncd\x1b]133;A\x1b\\e\x1b[2;3H\a\x1b[?1049h\a"
	write(term, in)
	type place struct {
		at   uint64
		line uint64
		col  int
	}
	var got []place
	for _, e := range term.Events(nil) {
		if e.Kind != vterm.EventModes {
			got = append(got, place{e.At, e.Line, e.Col})
		}
	}
	at := func(what string, nth int) uint64 {
		n := 0
		for range nth {
			n += strings.Index(in[n:], what) + len(what)
		}
		return uint64(n)
	}
	want := []place{
		{at("\a", 1), 0, 2},
		{at("\x1b\\", 1), 4, 2},
		{at("\a", 2), 2, 2}, // the second row, behind one line of history
		{at("1049h", 1), 2, 2},
		{at("\a", 3), 2, 2},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	if term.Written() != uint64(len(in)) {
		t.Errorf("%d bytes written, want %d", term.Written(), len(in))
	}
	write(term, "\a")
	if e := term.Events(nil); len(e) != 1 || e[0].At != uint64(len(in)+1) {
		t.Errorf("%+v", e)
	}
}

// TestTitleStack: CSI 22 t and 23 t, and the modes of titles.
//
// FEATURES: R33
func TestTitleStack(t *testing.T) {
	for _, c := range []struct{ name, in, title, icon string }{
		{"push and pop both", "\x1b]0;a\a\x1b[22t\x1b]0;b\a\x1b[23t", "a", "a"},
		{"the default is both", "\x1b]0;a\a\x1b[22;0t\x1b]0;b\a\x1b[23;0t", "a", "a"},
		{"pop the icon only", "\x1b]0;a\a\x1b[22;0t\x1b]0;b\a\x1b[23;1t", "b", "a"},
		{"pop the title only", "\x1b]0;a\a\x1b[22;0t\x1b]0;b\a\x1b[23;2t", "a", "b"},
		{"nothing to pop", "\x1b]0;a\a\x1b[23t", "a", "a"},
		{"an unknown part", "\x1b]0;a\a\x1b[22;3t\x1b]0;b\a\x1b[23;0t", "b", "b"},
		{"three deep", "\x1b]0;a\a\x1b[22t\x1b]0;b\a\x1b[22t\x1b]0;c\a\x1b[23t\x1b[23t", "a", "a"},
		{"the oldest goes", "\x1b]0;0\a" + pushed(11) + strings.Repeat("\x1b[23t", 10), "1", "1"},
		{"and no more come", "\x1b]0;0\a" + pushed(11) + strings.Repeat("\x1b[23t", 99), "1", "1"},
		{"RIS leaves the title", "\x1b]0;a\a\x1bc", "a", "a"},
		{"in hex", "\x1b[>0t\x1b]0;6162\a", "ab", "ab"},
		{"bad hex", "\x1b[>0t\x1b]0;6x\a", "", ""},
		{"hex no longer", "\x1b[>0t\x1b[>0T\x1b]0;6162\a", "6162", "6162"},
		{"no mode named resets them", "\x1b[>0t\x1b[>T\x1b]0;6162\a", "6162", "6162"},
	} {
		term := vterm.New(vterm.Options{ReportTitle: true})
		write(term, c.in+"\x1b[>T\x1b[20t\x1b[21t")
		if got, want := string(term.Replies(nil)), "\x1b]L"+c.icon+"\x1b\\\x1b]l"+c.title+"\x1b\\"; got != want {
			t.Errorf("%s: %q, want %q", c.name, got, want)
		}
		var f vterm.Frame
		term.Frame(&f, vterm.Query{})
		if f.Title != c.title {
			t.Errorf("%s: the frame's title is %q, want %q", c.name, f.Title, c.title)
		}
		checkSnapshot(t, term, c.in)
	}
	term := vterm.New(vterm.Options{ReportTitle: true})
	write(term, "\x1b]0;ab\a\x1b[>1t\x1b[21t")
	if got := string(term.Replies(nil)); got != "\x1b]l6162\x1b\\" {
		t.Errorf("in hex: %q", got)
	}
}

// pushed pushes n titles, each named by its number.
func pushed(n int) string {
	s := ""
	for i := range n {
		s += fmt.Sprintf("\x1b]0;%d\a\x1b[22t", i)
	}
	return s + "\x1b]0;last\a"
}

// TestColours: setting, asking and resetting colours, by every form of a colour that is read.
//
// FEATURES: R30
func TestColours(t *testing.T) {
	for _, c := range []struct{ name, spec, in, want string }{
		{"a colour of the palette", "xterm ctlseqs, OSC 4", "\x1b]4;1;rgb:12/34/56\a\x1b]4;1;?\a", "4;1;rgb:1212/3434/5656"},
		{"one digit a component", "XParseColor, rgb:", "\x1b]4;1;rgb:1/2/f\a\x1b]4;1;?\a", "4;1;rgb:1111/2222/ffff"},
		{"three digits", "XParseColor, rgb:", "\x1b]4;1;rgb:123/456/fff\a\x1b]4;1;?\a", "4;1;rgb:1212/4545/ffff"},
		{"four digits", "XParseColor, rgb:", "\x1b]4;1;rgb:1234/5678/9abc\a\x1b]4;1;?\a", "4;1;rgb:1212/5656/9a9a"},
		{"five digits", "XParseColor, rgb:", "\x1b]4;1;rgb:12345/0/0\a\x1b]4;1;?\a", "4;1;rgb:cdcd/0000/0000"},
		{"sharp with three digits", "XParseColor: the high digits", "\x1b]4;1;#123\a\x1b]4;1;?\a", "4;1;rgb:1010/2020/3030"},
		{"sharp with six", "XParseColor", "\x1b]4;1;#123456\a\x1b]4;1;?\a", "4;1;rgb:1212/3434/5656"},
		{"sharp with nine", "XParseColor", "\x1b]4;1;#123456789\a\x1b]4;1;?\a", "4;1;rgb:1212/4545/7878"},
		{"sharp with twelve", "XParseColor", "\x1b]4;1;#123456789abc\a\x1b]4;1;?\a", "4;1;rgb:1212/5656/9a9a"},
		{"sharp with four", "XParseColor", "\x1b]4;1;#1234\a\x1b]4;1;?\a", "4;1;rgb:cdcd/0000/0000"},
		{"no hex", "XParseColor", "\x1b]4;1;#12345g\a\x1b]4;1;rgb:g/0/0\a\x1b]4;1;?\a", "4;1;rgb:cdcd/0000/0000"},
		{"a name", "X11 rgb.txt", "\x1b]4;1;Orange Red\a\x1b]4;1;?\a", "4;1;rgb:ffff/4545/0000"},
		{"a name that is none", "X11 rgb.txt", "\x1b]4;1;infrared\a\x1b]4;1;?\a", "4;1;rgb:cdcd/0000/0000"},
		{"intensities", "XParseColor, rgbi:", "\x1b]4;1;rgbi:1.0/0.0/1.0\a\x1b]4;1;?\a", "4;1;rgb:ffff/0000/ffff"},
		{"several at once", "xterm ctlseqs, OSC 4", "\x1b]4;1;#111111;2;#222222\a\x1b]4;1;?;2;?\a", "4;1;rgb:1111/1111/1111|4;2;rgb:2222/2222/2222"},
		{"a bad one among them is skipped", "xterm", "\x1b]4;1;nonsense;2;#222222\a\x1b]4;1;?;2;?\a", "4;1;rgb:cdcd/0000/0000|4;2;rgb:2222/2222/2222"},
		{"an index that is none ends it", "xterm", "\x1b]4;x;#111111;2;#222222\a\x1b]4;2;?\a", "4;2;rgb:0000/cdcd/0000"},
		{"an index beyond all", "xterm ctlseqs, OSC 4", "\x1b]4;300;#111111\a\x1b]4;300;?\a", ""},
		{"an index without a colour", "xterm ctlseqs, OSC 4", "\x1b]4;1\a\x1b]4\a\x1b]4;\a", ""},
		{"a special colour by OSC 4", "xterm ctlseqs: 256 and up", "\x1b]4;256;#112233\a\x1b]4;256;?\a\x1b]5;0;?\a", "4;256;rgb:1111/2222/3333|5;0;rgb:1111/2222/3333"},
		{"one reset", "xterm ctlseqs, OSC 104", "\x1b]4;1;#111111;2;#222222\a\x1b]104;1\a\x1b]4;1;?;2;?\a", "4;1;rgb:cdcd/0000/0000|4;2;rgb:2222/2222/2222"},
		{"all reset", "xterm ctlseqs, OSC 104", "\x1b]4;1;#111111;200;#222222\a\x1b]104\a\x1b]4;1;?;200;?\a", "4;1;rgb:cdcd/0000/0000|4;200;rgb:ffff/0000/d7d7"},
		{"foreground", "xterm ctlseqs, OSC 10", "\x1b]10;#112233\a\x1b]10;?\a", "10;rgb:1111/2222/3333"},
		{"background and cursor by the next ones", "xterm ctlseqs: further specs are of the next colours", "\x1b]10;#111111;#222222;#333333\a\x1b]10;?;?;?\a", "10;rgb:1111/1111/1111|11;rgb:2222/2222/2222|12;rgb:3333/3333/3333"},
		{"a question among them", "xterm ctlseqs", "\x1b]10;#111111;?;#333333\a\x1b]12;?\a", "11;rgb:0000/0000/0000|12;rgb:3333/3333/3333"},
		{"reset of the background only", "xterm ctlseqs, OSC 111", "\x1b]10;#111111;#222222\a\x1b]111\a\x1b]10;?;?\a", "10;rgb:1111/1111/1111|11;rgb:0000/0000/0000"},
		{"the colours of a mouse cursor and a selection", "xterm ctlseqs, OSC 13, 17, 19", "\x1b]13;#111111\a\x1b]17;#222222\a\x1b]19;#333333\a\x1b]13;?\a\x1b]17;?\a\x1b]19;?\a", "13;rgb:1111/1111/1111|17;rgb:2222/2222/2222|19;rgb:3333/3333/3333"},
		{"beyond the last", "xterm ctlseqs, OSC 19", "\x1b]19;#111111;#222222\a\x1b]19;?;?\a", "19;rgb:1111/1111/1111"},
		{"an empty spec leaves its colour", "xterm", "\x1b]10;#111111\a\x1b]10;;#222222\a\x1b]10;?;?\a", "10;rgb:1111/1111/1111|11;rgb:2222/2222/2222"},
		{"kitty's names", "kitty, OSC 21", "\x1b]21;background=#102030;background=?\a", "21;background=rgb:1010/2020/3030"},
		{"kitty's numbers", "kitty, OSC 21", "\x1b]21;1=#102030;1=?\a\x1b]4;1;?\a", "21;1=rgb:1010/2020/3030|4;1;rgb:1010/2020/3030"},
		{"kitty's resets are not carried out", "docs/sequences.md: set and ask only", "\x1b]21;1=#102030\a\x1b]21;1=;1\a\x1b]4;1;?\a", "4;1;rgb:1010/2020/3030"},
		{"RIS resets them", "xterm, RIS", "\x1b]4;1;#111111\a\x1b]11;#222222\a\x1bc\x1b]4;1;?\a\x1b]11;?\a", "4;1;rgb:cdcd/0000/0000|11;rgb:0000/0000/0000"},
		{"DECSTR leaves them", "VT510, DECSTR", "\x1b]4;1;#111111\a\x1b[!p\x1b]4;1;?\a", "4;1;rgb:1111/1111/1111"},
		{"pushed and popped", "xterm ctlseqs, XTPUSHCOLORS", "\x1b]4;1;#111111\a\x1b[#P\x1b]4;1;#222222\a\x1b[#Q\x1b]4;1;?\a", "4;1;rgb:1111/1111/1111"},
		{"popped when there is nothing", "xterm ctlseqs, XTPOPCOLORS", "\x1b]4;1;#111111\a\x1b[#Q\x1b]4;1;?\a", "4;1;rgb:1111/1111/1111"},
	} {
		term := (&example{}).terminal()
		write(term, c.in)
		got := strings.ReplaceAll(strings.TrimPrefix(strings.TrimSuffix(string(term.Replies(nil)), "\a"), "\x1b]"), "\a\x1b]", "|")
		if got != c.want {
			t.Errorf("%s (%s): %q is answered %q, want %q", c.name, c.spec, c.in, got, c.want)
		}
		checkSnapshot(t, term, c.in)
	}
}

// TestEndsOfAnswers checks that an answer has the terminator of its query, and 8-bit controls if selected.
func TestEndsOfAnswers(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b]4;1;?\a":                "\x1b]4;1;rgb:cdcd/0000/0000\a",
		"\x1b]4;1;?\x1b\\":            "\x1b]4;1;rgb:cdcd/0000/0000\x1b\\",
		"\x1b]4;1;?\u009c":            "\x1b]4;1;rgb:cdcd/0000/0000\x1b\\",
		"\x1b G\x1b]4;1;?\x1b\\":      "\x9d4;1;rgb:cdcd/0000/0000\x9c",
		"\x1b G\x1b[5n\x1bP$qm\x1b\\": "\x9b0n\x901$r0m\x9c",
		"\x1b G\x1b F\x1b[5n":         "\x1b[0n",
		"\x1b[61\"p\x1b G\x1b[5n":     "\x1b[0n", // level 1 has 7 bits
		"\x1b[65;2\"p\x1b[5n":         "\x9b0n",
		"\x1b[65;0\"p\x1b[5n":         "\x9b0n",
		"\x1b[65;1\"p\x1b[5n":         "\x1b[0n",
	} {
		term := (&example{}).terminal()
		write(term, in)
		if got := string(term.Replies(nil)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestHyperlinks: OSC 8, which cells a link covers, and which cells are one link.
//
// FEATURES: R30
func TestHyperlinks(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string // of the first row's cells: "ID URI", or nothing
	}{
		{"a link ends with an empty one", "\x1b]8;;u\aab\x1b]8;;\ac", []string{" u", " u", ""}},
		{"by ST too", "\x1b]8;;u\x1b\\a\x1b]8;;\x1b\\b", []string{" u", ""}},
		{"with a name", "\x1b]8;id=x;u\aa", []string{"x u"}},
		{"with other parameters", "\x1b]8;k=v:id=x:l=w;u\aa", []string{"x u"}},
		{"an empty name", "\x1b]8;id=;u\aa", []string{" u"}},
		{"a URI with semicolons", "\x1b]8;;u;v;w\aa", []string{" u;v;w"}},
		{"one directly after another", "\x1b]8;;u\aa\x1b]8;;v\ab", []string{" u", " v"}},
		{"SGR 0 does not end it", "\x1b]8;;u\aa\x1b[0mb\x1b[1mc", []string{" u", " u", " u"}},
		{"erasing does", "\x1b]8;;u\aabc\x1b[1;2H\x1b[X", []string{" u", "", " u"}},
		{"inserted blanks have none", "\x1b]8;;u\aab\x1b[1;2H\x1b[@", []string{" u", "", " u"}},
		{"overwriting takes the new one", "\x1b]8;;u\aabc\x1b]8;;\a\x1b[1;2Hx", []string{" u", "", " u"}},
		{"both halves of a wide character", "\x1b]8;;u\a你", []string{" u", " u"}},
		{"without its semicolon it is none", "\x1b]8;u\aa\x1b]8\ab", []string{"", ""}},
		{"a URI that is too long", "\x1b]8;;u\a\x1b]8;;" + strings.Repeat("x", 2084) + "\aa", []string{""}},
		{"a URI just as long as may be", "\x1b]8;;" + strings.Repeat("x", 2083) + "\aa", []string{" " + strings.Repeat("x", 2083)}},
		{"a name that is too long", "\x1b]8;id=" + strings.Repeat("x", 257) + ";u\aa", []string{" u"}},
		{"DECSTR ends it", "\x1b]8;;u\aa\x1b[!pb", []string{" u", ""}},
		{"DECRC brings it back", "\x1b]8;;u\a\x1b7\x1b]8;;\aa\x1b8b", []string{" u"}},
		{"XTPOPSGR leaves it", "\x1b[#{\x1b]8;;u\a\x1b[#}a", []string{" u"}},
		{"DECCARA leaves it", "\x1b]8;;u\aab\x1b[2*x\x1b[1;1;1;2;1$r", []string{" u", " u"}},
		{"DECFRA draws in it", "\x1b]8;;u\a\x1b[120;1;1;1;2$x", []string{" u", " u"}},
		{"DECCRA copies it", "\x1b]8;;u\aab\x1b[1;1;1;2;1;1;3$v", []string{" u", " u", " u", " u"}},
	} {
		term := (&example{}).terminal()
		write(term, c.in)
		var f vterm.Frame
		term.Frame(&f, vterm.Query{})
		for col, want := range c.want {
			got := ""
			if cells := f.Lines[0].Cells; col < len(cells) {
				if id := f.Style(cells[col]).Link; id != 0 {
					got = f.Links[id].ID + " " + f.Links[id].URI
				}
			}
			if got != want {
				t.Errorf("%s: column %d is %.60q, want %.60q", c.name, col, got, want)
			}
		}
		checkSnapshot(t, term, c.in)
	}
	// The same link twice is one; one by the same URI and another name is not.
	term := (&example{}).terminal()
	write(term, "\x1b]8;id=a;u\a1\x1b]8;;\a\x1b]8;id=a;u\a2\x1b]8;id=b;u\a3")
	var f vterm.Frame
	term.Frame(&f, vterm.Query{})
	link := func(col int) vterm.LinkID { return f.Style(f.Lines[0].Cells[col]).Link }
	if link(0) != link(1) || link(0) == link(2) {
		t.Errorf("links %d, %d and %d", link(0), link(1), link(2))
	}
}

// TestClipboardQuery checks that the clipboard is reported only if that is allowed, with the content that programs have
// set.
func TestClipboardQuery(t *testing.T) {
	for _, c := range []struct {
		name  string
		allow bool
		in    string
		want  string
	}{
		{"not allowed", false, "\x1b]52;c;aGk=\a\x1b]52;c;?\a", ""},
		{"allowed", true, "\x1b]52;c;aGk=\a\x1b]52;c;?\a", "\x1b]52;c;aGk=\a"},
		{"empty", true, "\x1b]52;c;?\x1b\\", "\x1b]52;c;\x1b\\"},
		{"cleared", true, "\x1b]52;c;aGk=\a\x1b]52;c;!\a\x1b]52;c;?\a", "\x1b]52;c;\a"},
	} {
		term := vterm.New(vterm.Options{ReportClipboard: c.allow})
		write(term, c.in)
		if got := string(term.Replies(nil)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
