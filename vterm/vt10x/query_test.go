package vt10x

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/vterm"
)

func TestReplies(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"DA1", "\x1b[c", "\x1b[?62;22c"},
		{"DA1 with 0", "\x1b[0c", "\x1b[?62;22c"},
		{"DECID", "\x1bZ", "\x1b[?62;22c"},
		{"an answer echoed back is no query", "\x1b[?62;22c", ""},
		{"DA2", "\x1b[>c", "\x1b[>1;10;0c"},
		{"DA3", "\x1b[=c", "\x1bP!|00000000\x1b\\"},
		{"DSR 5", "\x1b[5n", "\x1b[0n"},
		{"CPR", "ab\x1b[6n", "\x1b[1;3R"},
		{"CPR between text", "ab\x1b[6ncd\x1b[6n", "\x1b[1;3R\x1b[1;5R"},
		{"CPR in origin mode", "\x1b[2;3r\x1b[?6h\x1b[6n", "\x1b[1;1R"},
		{"DECXCPR", "\x1b[?6n", "\x1b[?1;1;1R"},
		{"colour scheme", "\x1b[?996n", "\x1b[?997;1n"},
		{"XTVERSION", "\x1b[>q", "\x1bP>|longterm(vt10x)\x1b\\"},
		{"DECRQM set", "\x1b[?2004h\x1b[?2004$p", "\x1b[?2004;1$y"},
		{"DECRQM reset", "\x1b[?2026$p", "\x1b[?2026;2$y"},
		{"DECRQM unknown", "\x1b[?2027$p", "\x1b[?2027;0$y"},
		{"DECRQM of ANSI modes", "\x1b[20h\x1b[20$p\x1b[4$p", "\x1b[20;1$y\x1b[4;2$y"},
		{"DECRQSS", "\x1bP$qm\x1b\\", "\x1bP0$r\x1b\\"},
		{"XTGETTCAP", "\x1bP+q524742\x1b\\", "\x1bP0+r\x1b\\"},
		{"kitty", "\x1b[>5u\x1b[?u\x1b[=2;2u\x1b[?u\x1b[<u\x1b[?u", "\x1b[?5u\x1b[?7u\x1b[?0u"},
		{"kitty flags are kept by screen", "\x1b[>1u\x1b[?1049h\x1b[?u\x1b[?1049l\x1b[?u", "\x1b[?0u\x1b[?1u"},
		{"size in cells", "\x1b[18t", "\x1b[8;3;20t"},
		{"size in pixels", "\x1b[14t\x1b[16t", "\x1b[4;48;160t\x1b[6;16;8t"},
		{"title report is off", "\x1b]2;x\x07\x1b[21t", ""},
		{"in-band resize", "\x1b[?2048h", "\x1b[48;3;20;48;160t"},
		{"background colour", "\x1b]11;?\x1b\\", "\x1b]11;rgb:0000/0000/0000\x1b\\"},
		{"colours set and asked", "\x1b]10;#102030;?\x07\x1b]4;1;rgb:f/0/8\x07\x1b]4;1;?;2;?\x07\x1b]10;?\x07",
			"\x1b]11;rgb:0000/0000/0000\x1b\\\x1b]4;1;rgb:ffff/0000/8888\x1b\\\x1b]4;2;rgb:0000/cdcd/0000\x1b\\\x1b]10;rgb:1010/2020/3030\x1b\\"},
		{"colours reset", "\x1b]4;1;#fff\x07\x1b]104\x07\x1b]4;1;?\x07", "\x1b]4;1;rgb:cdcd/0000/0000\x1b\\"},
		{"the clipboard is not told", "\x1b]52;c;?\x07", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := newTest(20, 3, tt.in)
			if got := string(e.Replies(nil)); got != tt.want {
				t.Errorf("%q is answered by %q, want %q", tt.in, got, tt.want)
			}
			if got := e.Replies(nil); len(got) > 0 {
				t.Errorf("answered again: %q", got)
			}
		})
	}
}

func TestRepliesAreBounded(t *testing.T) {
	e := newTest(80, 24, strings.Repeat("\x1b[c", 100_000))
	if n := len(e.Replies(nil)); n > maxReplyBytes {
		t.Errorf("%d bytes of replies", n)
	}
}

func TestEvents(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want vterm.Event
	}{
		{"ab\x07c", vterm.Event{Kind: vterm.EventBell, At: 3, Col: 2}},
		{"\x1b]2;a;b\x07", vterm.Event{Kind: vterm.EventTitle, Text: "a;b", At: 8}},
		{"\x1b]2;a\nb\xff\x1b\\", vterm.Event{Kind: vterm.EventTitle, Text: "ab\ufffd", At: 10}},
		{"\x1b]1;i\x07", vterm.Event{Kind: vterm.EventIconLabel, Text: "i", At: 6}},
		{"\x1b]7;file://h/tmp\x07", vterm.Event{Kind: vterm.EventCwd, Name: "7", Text: "file://h/tmp", At: 17}},
		{"\x1b]9;hello\x07", vterm.Event{Kind: vterm.EventNotify, Text: "hello", At: 10}},
		{"\x1b]9;4;1;42\x07", vterm.Event{Kind: vterm.EventProgress, Name: "normal", Num: 42, At: 11}},
		{"\x1b]9;4;3\x07", vterm.Event{Kind: vterm.EventProgress, Name: "indeterminate", At: 8}},
		{"\x1b]9;9;\"C:\\x\"\x07", vterm.Event{Kind: vterm.EventCwd, Name: "9;9", Text: `C:\x`, At: 13}},
		{"\x1b]133;D;1;aid=2\x07", vterm.Event{Kind: vterm.EventMark, Name: "D", Text: "1;aid=2", Num: 133, At: 16}},
		{"\x1b]633;E;ls\x1b\\", vterm.Event{Kind: vterm.EventMark, Name: "E", Text: "ls", Num: 633, At: 12}},
		{"\x1b]777;notify;T;B\x07", vterm.Event{Kind: vterm.EventNotify, Name: "T", Text: "B", At: 17}},
		{"\x1b]52;c;aGk=\x07", vterm.Event{Kind: vterm.EventClipboard, Name: "c", Text: "hi", At: 12}},
		{"\x1b]1337;SetUserVar=k=dg==\x07", vterm.Event{Kind: vterm.EventUserVar, Name: "k", Text: "v", At: 25}},
		{"\x1b]1337;CurrentDir=/x\x07", vterm.Event{Kind: vterm.EventCwd, Name: "1337", Text: "/x", At: 21}},
		{"\x1b]3008;start=1\x07", vterm.Event{Kind: vterm.EventContext, Text: "start=1", At: 15}},
		{"\x1b[?1h", vterm.Event{Kind: vterm.EventModes, At: 5}},
		{"\x1b[8;30;100t", vterm.Event{Kind: vterm.EventResize, Num: 100<<16 | 30, At: 11}},
		{"\n\n\x1b[22;0t", vterm.Event{Kind: vterm.EventWindow, Num: 22, At: 9, Line: 2}},
	} {
		got := newTest(20, 3, tt.in).Events(nil)
		if len(got) != 1 || got[0] != tt.want {
			t.Errorf("%q: events %+v, want %+v", tt.in, got, tt.want)
		}
	}
}

func TestEventsOfScreens(t *testing.T) {
	e := newTest(20, 3, "\x1b[?1049h\x1b[?2026h\x1b[?2026l\x1bc")
	var kinds []vterm.EventKind
	for _, ev := range e.Events(nil) {
		if ev.Kind != vterm.EventModes {
			kinds = append(kinds, ev.Kind)
		}
	}
	want := []vterm.EventKind{vterm.EventAltScreen, vterm.EventSync, vterm.EventSync, vterm.EventAltScreen, vterm.EventReset}
	if len(kinds) != len(want) {
		t.Fatalf("events %v, want %v", kinds, want)
	}
	for i := range want {
		if kinds[i] != want[i] {
			t.Errorf("event %d is %v, want %v", i, kinds[i], want[i])
		}
	}
}

func TestEventsAreBounded(t *testing.T) {
	e := newTest(20, 3, strings.Repeat("\x07", vterm.EventQueueMax+100))
	evs := e.Events(nil)
	if last := evs[len(evs)-1]; len(evs) != vterm.EventQueueMax || last.Kind != vterm.EventDropped || last.Num != 101 {
		t.Errorf("%d events, the last %+v", len(evs), evs[len(evs)-1])
	}
	if len(e.Events(nil)) > 0 {
		t.Error("events are handed out twice")
	}
	big := "\x1b]9;" + strings.Repeat("x", maxStr-10) + "\x07"
	for range 100 {
		_, _ = e.Write([]byte(big))
	}
	n := 0
	for _, ev := range e.Events(nil) {
		n += len(ev.Text)
	}
	if n > maxEventBytes {
		t.Errorf("%d bytes of events", n)
	}
}

func TestModes(t *testing.T) {
	def := vterm.Modes{CellWidth: 8, CellHeight: 16}
	with := func(f func(*vterm.Modes)) vterm.Modes {
		m := def
		f(&m)
		return m
	}
	for _, tt := range []struct {
		in   string
		want vterm.Modes
	}{
		{"\x1b[?1;2004;1004;5;66;67;1007;2031h\x1b[20h", with(func(m *vterm.Modes) {
			m.AppCursor, m.BracketedPaste, m.FocusEvents, m.ReverseVideo = true, true, true, true
			m.AppKeypad, m.BackarrowBS, m.AltScroll, m.SchemeReports, m.NewLine = true, true, true, true, true
		})},
		{"\x1b=", with(func(m *vterm.Modes) { m.AppKeypad = true })},
		{"\x1b=\x1b>", def},
		{"\x1b[?1000;1006h", with(func(m *vterm.Modes) { m.Mouse, m.MouseEncoding = vterm.MouseNormal, vterm.MouseEncodingSGR })},
		{"\x1b[?1000;1003h", with(func(m *vterm.Modes) { m.Mouse = vterm.MouseAny })},
		{"\x1b[?9h\x1b[?1002;1015h\x1b[?1002;1006l", with(func(m *vterm.Modes) { m.MouseEncoding = vterm.MouseEncodingURXVT })},
		{"\x1b[>4;2m", with(func(m *vterm.Modes) { m.ModifyOtherKeys = 2 })},
		{"\x1b[>4;2m\x1b[>4m", def},
		{"\x1b[>4;2m\x1b[>4n", def},
		{"\x1b[>4;1f\x1b[>2;2m", with(func(m *vterm.Modes) { m.FormatOtherKeys = 1 })},
		{"\x1b[>31u", with(func(m *vterm.Modes) { m.Kitty = 31 })},
		{"\x1b[>1u\x1b[>2u\x1b[<5u", def},
		{"\x1b[?1049h", with(func(m *vterm.Modes) { m.AltScreen = true })},
		{"\x1b[?1;1000;2004;1049h\x1b[>1u\x1bc", def},
		{"\x1b[?1h\x1b=\x1b[!p", def},
	} {
		if got := newTest(20, 3, tt.in).Modes(); got != tt.want {
			t.Errorf("%q: %+v, want %+v", tt.in, got, tt.want)
		}
	}
}
