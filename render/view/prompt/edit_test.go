package prompt

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/vterm/input"
)

// TestEditing checks editing; the | in an expected text is the cursor.
//
// FEATURES: R80
func TestEditing(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"one two", "one two|"},
		{"one two<C-a>x", "x|one two"},
		{"one two<C-a><C-e>x", "one twox|"},
		{"one two<Left><Left>x", "one tx|wo"},
		{"one two<C-b><C-f>x", "one twox|"},
		{"one two three<M-b><M-b>x", "one x|two three"},
		{"one two<Home><C-Right>x", "onex| two"},
		{"one two.three<C-w>", "one |"},
		{"one two.three<M-Backspace>", "one two.|"},
		{"one two<C-a><M-d>", "| two"},
		{"one two<M-b><C-k>", "one |"},
		{"one two<M-b><C-u>", "|two"},
		{"one two<C-w><C-a><C-y>", "two|one "},
		{"ab<C-t>", "ba|"},
		{"abc<Left><C-t>", "acb|"},
		{"one<C-a><M-u>", "ONE|"},
		{"oNE two<M-<><M-c>", "One| two"},
		{"ONE<Home><M-l>", "one|"},
		{"abc<Left><Delete>", "ab|"},
		{"abc<C-a><C-d>", "|bc"},
		// grapheme clusters are one
		{"ae\u0301<Backspace>", "a|"},
		{"👩‍👩‍👧x<Left><Left>y", "y|👩‍👩‍👧x"},
		{"🇩🇪🇫🇷<Backspace>", "🇩🇪|"},
		{"世界<Left><Backspace>", "|界"},
		// rows
		{"one<M-Enter>two", "one\ntwo|"},
		{`one\<Enter>two`, "one\ntwo|"},
		{"first<C-j>second<Up>x", "firstx|\nsecond"},
		{"a long row<C-j>x<Up><C-a><Down><C-e>y", "a long row\nxy|"},
		{"ab<C-j>cd<C-a><C-u>", "ab\n|cd"},
		{"ab<C-j>cd<Up><C-k>", "ab|cd"},
		// undo
		{"one two<C-_>", "one |"},
		{"one two<C-_><C-_>", "|"},
		{"one two<C-w><C-_>", "one two|"},
		{"one two<C-_><M-_>", "one two|"},
		{"one<C-k><C-u><C-_>x", "onex|"},
		{"x<C-_><C-_><C-_>y", "y|"},
	} {
		p := New(Options{})
		press(t, p, c.keys)
		got := p.line.text[:p.line.cursor] + "|" + p.line.text[p.line.cursor:]
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.keys, got, c.want)
		}
	}
}

// TestKeyNames checks that the three ways of reporting Ctrl mean the same.
func TestKeyNames(t *testing.T) {
	for _, e := range []*tcell.EventKey{
		tcell.NewEventKey(tcell.KeyCtrlX, 0, tcell.ModCtrl), tcell.NewEventKey(tcell.Key(0x18), 0x18, tcell.ModNone),
		tcell.NewEventKey(tcell.KeyRune, 'x', tcell.ModCtrl),
	} {
		if got := keyName(e); got != "C-x" {
			t.Errorf("%v is %q", e.Name(), got)
		}
	}
	if got := keyName(tcell.NewEventKey(tcell.KeyEnter, 0, tcell.ModAlt)); got != "M-Enter" {
		t.Error(got)
	}
}

// TestViewKeys checks that the viewer's keys mean the same as tcell's.
func TestViewKeys(t *testing.T) {
	for _, c := range []struct {
		key        input.Key
		name, text string
	}{
		{input.Key{Code: 'a', Text: "a"}, "a", "a"}, {input.Key{Code: 'A', Text: "A"}, "A", "A"},
		{input.Key{Code: 'x', Mods: input.Ctrl}, "C-x", ""}, {input.Key{Code: 'b', Mods: input.Alt}, "M-b", ""},
		{input.Key{Code: '<', Mods: input.Alt}, "M-<", ""}, {input.Key{Code: input.KeyLeft, Mods: input.Ctrl}, "C-Left", ""},
		{input.Key{Code: input.KeyEnter, Mods: input.Shift}, "M-Enter", ""}, {input.Key{Code: input.KeyTab, Mods: input.Shift}, "Backtab", ""},
		{input.Key{Code: input.KeyBackspace}, "Backspace", ""}, {input.Key{Code: input.KeyF1}, "", ""}, {input.Key{Code: '_', Mods: input.Ctrl}, "C-_", ""},
	} {
		if name, text := viewKeyName(c.key); name != c.name || text != c.text {
			t.Errorf("%+v: %q %q", c.key, name, text)
		}
	}
	p := New(Options{})
	for _, k := range []input.Key{{Code: '!', Text: "!"}, {Code: 'l', Text: "l"}, {Code: 's', Text: "s"}} {
		p.Press(k)
	}
	if got := p.Press(input.Key{Code: input.KeyEnter}); len(got) != 1 || got[0].Kind != Run || got[0].Text != "ls" {
		t.Errorf("%+v", got)
	}
}

// TestBoundaries checks that boundaries are found from anywhere in a long row, and equal those found from its start.
func TestBoundaries(t *testing.T) {
	parts := []string{"a", " ", "\n", "\r", "\xce", "\uFFFD", "e\u0301", "👩‍👩‍👧", "👩", "\u200d", "\u0301", "🇩", "🇪", "한", "\u1100", "\u1161", "\u0600", "क", "\u094d", "\u093f", "世", "\ufe0f", "🏽", "\u200b"}
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		l := line{}
		for range r.IntN(14) {
			l.text += parts[r.IntN(len(parts))]
		}
		for at := 0; at < len(l.text); {
			next := l.next(at)
			if got := l.prev(next); got != at {
				t.Fatalf("%q: before %d is %d, want %d", l.text, next, got, at)
			}
			at = next
		}
	}
	for _, text := range []string{strings.Repeat("\xce", 1500), strings.Repeat("ab ", 5000)} {
		l := line{text: text}
		if at := l.safeBoundary(len(text) - 10); at < len(text)-20 {
			t.Errorf("%.10q is searched from %d on", text, at)
		}
	}
}

func FuzzEditing(f *testing.F) {
	f.Add("ab\x01\x06ü👩‍👩‍👧\x17\x19\x1f", 7)
	f.Add("yb\u00fc\xf2"+strings.Repeat("\xce", 1500)+"\u039f\x91\xa9👧", 332)
	f.Add("!ls \t\r/he\t\r\x12l\x1b", 3)
	f.Fuzz(func(t *testing.T, keys string, w int) {
		p := New(Options{History: &History{lines: []string{"one", "!two"}}, Completer: &Local{Dir: "testdata"}})
		for i, r := range keys {
			switch {
			case r >= ' ':
				p.Event(tcell.NewEventKey(tcell.KeyRune, r, tcell.ModMask(i%5&int(tcell.ModAlt))))
			case r == 2:
				p.Paste(keys)
			case r == 4 && i%2 == 0:
				p.Output(p.out.ids, keys)
			default:
				p.Event(tcell.NewEventKey(tcell.Key(r), r, tcell.ModNone))
			}
			if l := &p.line; l.cursor < 0 || l.cursor > len(l.text) || utf8.ValidString(l.text) && !utf8.ValidString(l.text[:l.cursor]) {
				t.Fatalf("cursor %d in %q", l.cursor, l.text)
			}
		}
		screen(t, p, max(w%60, -w%60, 1), 12)
	})
}
