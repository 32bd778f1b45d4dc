package input

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestParseKey(t *testing.T) {
	for _, tt := range []struct {
		names string // blank-separated
		want  Key
		str   string
	}{
		{"C-c c-c Ctrl+C ctrl-c Control-c <C-c> <c-C> ^C ^c", Key{Code: 'c', Mods: Ctrl}, "C-c"},
		{"M-x A-x Alt+x <M-x> <A-x> opt-x", Key{Code: 'x', Mods: Alt}, "M-x"},
		{"M-X M-S-x <M-X>", Key{Code: 'x', Mods: Alt | Shift}, "M-X"},
		{"S-Tab BTab <S-Tab> shift+tab", Key{Code: KeyTab, Mods: Shift}, "S-Tab"},
		{"C-M-Up M-C-Up Ctrl+Alt+Up <C-M-up>", Key{Code: KeyUp, Mods: Ctrl | Alt}, "C-M-Up"},
		{"C-S-a Ctrl+Shift+A", Key{Code: 'a', Mods: Ctrl | Shift}, "C-S-a"},
		{"Enter <Enter> <CR> <cr> Return ENTER \r \n", Key{Code: KeyEnter}, "Enter"},
		{"Escape Esc <Esc> \x1b", Key{Code: KeyEscape}, "Escape"},
		{"BSpace <BS> Backspace \x7f", Key{Code: KeyBackspace}, "BSpace"},
		{"PageUp PgUp PPage <PageUp>", Key{Code: KeyPageUp}, "PageUp"},
		{"PageDown PgDn NPage", Key{Code: KeyPageDown}, "PageDown"},
		{"IC Insert <Insert>", Key{Code: KeyInsert}, "Insert"},
		{"DC Del Delete <Del>", Key{Code: KeyDelete}, "Delete"},
		{"F5 f5 <F5>", Key{Code: KeyF1 + 4}, "F5"},
		{"S-F5 <S-F5>", Key{Code: KeyF1 + 4, Mods: Shift}, "S-F5"},
		{"F35", Key{Code: KeyF35}, "F35"},
		{"Space <Space>", Key{Code: KeySpace}, "Space"},
		{"C-Space <C-Space> <Nul> \x00", Key{Code: KeySpace, Mods: Ctrl}, "C-Space"},
		{"a <a>", Key{Code: 'a'}, "a"},
		{"A <A> S-a", Key{Code: 'a', Mods: Shift}, "A"},
		{"é", Key{Code: 'é'}, "é"},
		{"É", Key{Code: 'é', Mods: Shift}, "É"},
		{"- <-> Minus", Key{Code: '-'}, "-"},
		{"+ Plus", Key{Code: '+'}, "+"},
		{"C-- Ctrl+-", Key{Code: '-', Mods: Ctrl}, "C--"},
		{"C-+ Ctrl++", Key{Code: '+', Mods: Ctrl}, "C-+"},
		{"< <lt> <<>", Key{Code: '<'}, "<"},
		{"> <gt> <>>", Key{Code: '>'}, ">"},
		{"C-> <C->>", Key{Code: '>', Mods: Ctrl}, "C->"},
		{"<Bar> |", Key{Code: '|'}, "|"},
		{"^", Key{Code: '^'}, "^"},
		{"D-a Cmd+a Super-a <D-a>", Key{Code: 'a', Mods: Super}, "D-a"},
		{"Meta-a", Key{Code: 'a', Mods: Meta}, "Meta-a"},
		{"Hyper+a", Key{Code: 'a', Mods: Hyper}, "Hyper-a"},
		{"KP5 <k5>", Key{Code: KeyKP0 + 5}, "KP5"},
		{"C-KP- <C-kMinus>", Key{Code: KeyKPSubtract, Mods: Ctrl}, "C-KP-"},
		{"KP+", Key{Code: KeyKPAdd}, "KP+"},
		{"\x01", Key{Code: 'a', Mods: Ctrl}, "C-a"},
	} {
		for _, name := range strings.Split(tt.names, " ") {
			got, err := ParseKey(name)
			if err != nil || got != tt.want {
				t.Errorf("%q: %+v, %v; want %+v", name, got, err, tt.want)
			}
		}
		if s := tt.want.String(); s != tt.str {
			t.Errorf("%+v is named %q, want %q", tt.want, s, tt.str)
		}
	}
}

func TestUnknownKey(t *testing.T) {
	for _, tt := range []struct {
		name string
		near string
	}{
		{"Entr", "Enter"}, {"C-Entre", "Enter"}, {"PageUpp", "PageUp"}, {"<Esk>", "Esc"}, {"F36", "F3"}, {"Scroll", "ScrollLock"}, {"lft", "Left"},
	} {
		_, err := ParseKey(tt.name)
		var ke *KeyError
		if !errors.As(err, &ke) || ke.Name != tt.name || !slices.Contains(ke.Near, tt.near) {
			t.Errorf("%q: %v, want %q among the near names", tt.name, err, tt.near)
			continue
		}
		if msg := err.Error(); !strings.Contains(msg, tt.name) || !strings.Contains(msg, tt.near) {
			t.Errorf("message %q", msg)
		}
	}
	for _, name := range []string{"", "C-", "<>", "ab", "C-M-", "\xff", "Ctrl", "é́", "C--a", strings.Repeat("x", 1000)} {
		if k, err := ParseKey(name); err == nil {
			t.Errorf("%q is understood as %+v", name, k)
		}
	}
}

func TestParseKeys(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"hi<Enter>", "h i Enter"},
		{"a b\n", "a Space b Enter"},
		{"a\r\nb", "a Enter b"},
		{"<C-c><C-d>x", "C-c C-d x"},
		{"1 < 2 > 0", "1 Space < Space 2 Space > Space 0"},
		{"a<", "a <"},
		{"<<C-a>", "< C-a"},
		{"<lt>b>", "< b >"},
		{"<>", "< >"},
		{"<C->>.", "C-> ."},
		{"日Ä", "日 Ä"},
		{"C-c", "C-c"}, // FAULT: C
		{"ctrl+Up", "C-Up"},
		{"C-c x", "C - c Space x"},
		{"co-op", "c o - o p"},
	} {
		keys, err := ParseKeys(tt.in)
		var names []string
		for _, k := range keys {
			names = append(names, k.String())
		}
		if got := strings.Join(names, " "); err != nil || got != tt.want {
			t.Errorf("%q: %s, %v; want %s", tt.in, got, err, tt.want)
		}
	}
	for _, in := range []string{"a<Entr>", "#include<stdio.h>", "a\xffb"} {
		if keys, err := ParseKeys(in); err == nil {
			t.Errorf("%q: %v, want an error", in, keys)
		}
	}
}

// TestKeyNamesRoundTrip checks that every name of every key is parsed as that key.
func TestKeyNamesRoundTrip(t *testing.T) {
	for i := 1; i < len(keyTable); i++ {
		for _, mods := range []Mods{0, Shift, Ctrl | Alt, Super | Hyper | Meta, Shift | Ctrl | Alt} {
			k := Key{Code: KeyNone + rune(i), Mods: mods}
			if keyTable[i].names == "" {
				t.Fatalf("key %d has no name", i)
			}
			if got, err := ParseKey(k.String()); err != nil || got != k {
				t.Errorf("%+v is named %q, which is %+v, %v", k, k.String(), got, err)
			}
		}
	}
}

func FuzzParseKey(f *testing.F) {
	for _, s := range []string{"C-c", "<C-M-S-Up>", "^[", "Ctrl++", "é", "<<>", "C-S-A", "ǅ", "ẞ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if k, err := ParseKey(s); err == nil {
			again, err := ParseKey(k.String())
			if err != nil || normalKey(again) != normalKey(k) {
				t.Fatalf("%q is %+v, named %q, which is %+v, %v", s, k, k.String(), again, err)
			}
		}
		keys, err := ParseKeys(s)
		if err != nil {
			return
		}
		var b strings.Builder
		for _, k := range keys {
			switch n := k.String(); n {
			case "<":
				b.WriteString("<lt>")
			case ">":
				b.WriteString("<gt>")
			default:
				b.WriteString("<" + n + ">")
			}
		}
		again, err := ParseKeys(b.String())
		if err != nil || len(again) != len(keys) || len(keys) > 0 && !reflect.DeepEqual(again, keys) {
			t.Fatalf("%q: %v, written %q, which is %v, %v", s, keys, b.String(), again, err)
		}
	})
}

// TestParseKeys_NamesWithBlanks checks that both notations of keys are accepted wherever one is.
//
// FAULT: J
func TestParseKeys_NamesWithBlanks(t *testing.T) {
	for text, want := range map[string]string{
		"C-u": "<C-u>", "C-u Enter": "<C-u><Enter>", "Down Down Enter": "<Down><Down><Enter>", "Enter": "<Enter>",
		"M-x F5": "<M-x><F5>",
	} {
		got, err := ParseKeys(text)
		same, sameErr := ParseKeys(want)
		if err != nil || sameErr != nil || !slices.Equal(got, same) {
			t.Errorf("%q: %v %v, not %v", text, got, err, same)
		}
	}
	for _, text := range []string{"y", "A", "Yes", "down", "Down the road", "end<Enter>", "A B"} {
		if got, err := ParseKeys(text); err != nil || len(got) < len(text)-6 {
			t.Errorf("%q: %v %v", text, got, err)
		}
	}
}
