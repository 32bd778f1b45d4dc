package shell

import (
	"net/url"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm"
)

func ptr[T any](v T) *T { return &v }

// FEATURES: R45
func TestParseMark(t *testing.T) {
	for _, c := range []struct {
		osc        int
		name, text string
		want       Mark
	}{
		{133, "A", "", Mark{Kind: MarkPrompt}},
		{133, "A", "lt=ab;n=7;exit=1;cwd=/a%20b;b=1", Mark{Kind: MarkPrompt, Nonce: "ab", Prompt: 7, Exit: ptr(1), Cwd: "/a b", InputFollows: true}},
		{133, "A", "k=s;lt=ab", Mark{Kind: MarkContinuation, Nonce: "ab"}},
		{133, "B", "", Mark{Kind: MarkInput}},
		{133, "C", "lt=ab;cmdline_url=ls%0A%3B%", Mark{Kind: MarkOutput, Nonce: "ab", Text: "ls\n;%", HasText: true}},
		{133, "C", "guess=1;cut=1;cmdline_url=", Mark{Kind: MarkOutput, HasText: true, IsGuess: true, IsCut: true}},
		{133, "D", "", Mark{Kind: MarkDone}},
		{133, "D", "0", Mark{Kind: MarkDone, Exit: ptr(0)}},
		{133, "D", "130;aid=1;lt=ab", Mark{Kind: MarkDone, Exit: ptr(130), Nonce: "ab"}},
		{133, "D", "-1073741510", Mark{Kind: MarkDone, Exit: ptr(-1073741510)}},
		{133, "D", "x", Mark{Kind: MarkDone}},
		{133, "D", "99999999999999", Mark{Kind: MarkDone}},
		{633, "E", `echo a\x3b\\n;nonce`, Mark{Kind: MarkText, Text: `echo a;\n`, HasText: true}},
		{633, "D", "2", Mark{Kind: MarkDone, Exit: ptr(2)}},
		{133, "Z", "", Mark{}},
		{1337, "A", "", Mark{}},
	} {
		got := ParseMark(c.osc, c.name, c.text)
		got.Length = 0
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%d;%s;%s: got %+v, want %+v", c.osc, c.name, c.text, got, c.want)
		}
	}
}

// TestMark_Length checks that Length is the length of the whole sequence.
func TestMark_Length(t *testing.T) {
	for _, s := range []string{"\x1b]133;A\a", "\x1b]133;D;0;lt=abc\a", "\x1b]133;C;lt=a;cmdline_url=žluť\a"} {
		e := vterm.New(vterm.Options{})
		_, _ = e.Write([]byte(s))
		event, ok := FromVterm(&e.Events(nil)[0])
		if !ok || event.Mark.Length != uint64(len(s)) || event.At != uint64(len(s)) {
			t.Errorf("%q: got %+v", s, event)
		}
	}
}

// FEATURES: R45
func TestParseCwd(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       Cwd
	}{
		{"7", "file://host/a/b%20c%25", Cwd{"host", "/a/b c%"}},
		{"7", "file:///a/../b/", Cwd{"", "/b"}},
		{"7", "kitty-shell-cwd://host/a%20b", Cwd{"host", "/a%20b"}},
		{"7", "/plain/path", Cwd{"", "/plain/path"}},
		{"7", "http://host/a", Cwd{}},
		{"7", "relative", Cwd{}},
		{"7", "file://host", Cwd{"host", "/"}},
		{"7", "file://h/%00", Cwd{Host: "h"}},
		{"1337", "/x;y", Cwd{"", "/x;y"}},
		{"9;9", `C:\Users`, Cwd{"", `C:\Users`}},
		{"633", "", Cwd{}},
	} {
		if got := ParseCwd(c.name, c.text); got != c.want {
			t.Errorf("%s %q: got %+v, want %+v", c.name, c.text, got, c.want)
		}
	}
}

func FuzzParseMark(f *testing.F) {
	f.Add(133, "C", "lt=ab;cmdline_url=ls%0A%3B%")
	f.Add(633, "E", `a\x3b\\;n`)
	f.Add(133, "D", "1;lt=x")
	f.Fuzz(func(t *testing.T, osc int, name, text string) {
		m := ParseMark(osc, name, text)
		if !utf8.ValidString(m.Text) && utf8.ValidString(text) {
			t.Errorf("text %q of %q", m.Text, text)
		}
		if m.Nonce != "" && !strings.Contains(text, "lt="+m.Nonce) {
			t.Errorf("nonce %q of %q", m.Nonce, text)
		}
	})
}

func FuzzDecodePercent(f *testing.F) {
	f.Add("a b;c%\n\x80")
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := decodePercent(url.PathEscape(s)), strings.ToValidUTF8(s, "\uFFFD"); url.PathEscape(s) != s && got != want {
			t.Errorf("%q: %q", s, got)
		}
	})
}

func FuzzParseCwd(f *testing.F) {
	f.Add("7", "file://host/a%20b")
	f.Add("9;9", `C:\Users`)
	f.Fuzz(func(t *testing.T, name, text string) {
		c := ParseCwd(name, text)
		if c.Path != "" && c.Path[0] != '/' && !hasDrive(c.Path) || strings.ContainsRune(c.Path, 0) {
			t.Errorf("%q: %+v", text, c)
		}
	})
}
