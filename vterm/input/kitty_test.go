package input

import (
	"testing"

	"github.com/longterm-dev/longterm/vterm"
)

// TestKittyDisambiguate checks the protocol's disambiguation. Sources:
// https://sw.kovidgoyal.net/kitty/keyboard-protocol/, "Disambiguate escape codes", "Functional key definitions".
func TestKittyDisambiguate(t *testing.T) {
	checkKeys(t, vterm.Modes{Kitty: vterm.KittyDisambiguate, AppCursor: true, ModifyOtherKeys: 2}, []keyTest{
		{"a", "a"}, {"A", "A"}, {"é", "é"}, {"Space", " "}, {"S-Space", " "},
		{"C-a", "\x1b[97;5u"}, {"C-S-a", "\x1b[97;6u"}, {"M-a", "\x1b[97;3u"}, {"M-A", "\x1b[97;4u"}, {"C-M-a", "\x1b[97;7u"}, {"D-a", "\x1b[97;9u"},
		{"Hyper-a", "\x1b[97;17u"}, {"Meta-a", "\x1b[97;33u"}, {"C-Space", "\x1b[32;5u"}, {"C-i", "\x1b[105;5u"},
		{"Escape", "\x1b[27u"}, {"Enter", "\r"}, {"Tab", "\t"}, {"BSpace", "\x7f"},
		{"C-Enter", "\x1b[13;5u"}, {"S-Tab", "\x1b[9;2u"}, {"M-BSpace", "\x1b[127;3u"}, {"S-Enter", "\x1b[13;2u"},
		{"Up", "\x1b[A"}, {"C-Up", "\x1b[1;5A"}, {"D-Up", "\x1b[1;9A"}, {"Home", "\x1b[H"}, {"Delete", "\x1b[3~"}, {"PageUp", "\x1b[5~"},
		{"F1", "\x1b[P"}, {"F2", "\x1b[Q"}, {"F3", "\x1b[13~"}, {"F4", "\x1b[S"}, {"S-F3", "\x1b[13;2~"}, {"F5", "\x1b[15~"}, {"F12", "\x1b[24~"},
		{"F13", "\x1b[57376u"}, {"F35", "\x1b[57398u"}, {"Menu", "\x1b[57363u"}, {"Pause", "\x1b[57362u"}, {"PrintScreen", "\x1b[57361u"},
		{"KP0", "\x1b[57399u"}, {"KP9", "\x1b[57408u"}, {"KP.", "\x1b[57409u"}, {"KPEnter", "\x1b[57414u"}, {"KPUp", "\x1b[57419u"},
		{"KPDelete", "\x1b[57426u"}, {"KPBegin", "\x1b[E"}, {"MediaPlay", "\x1b[57428u"}, {"VolumeMute", "\x1b[57440u"},
		{"LeftShift", ""}, {"CapsLock", ""},
	})
}

func TestKittyEvents(t *testing.T) {
	events, all := uint8(vterm.KittyDisambiguate|vterm.KittyEventTypes), uint8(vterm.KittyEventTypes|vterm.KittyAllAsEscapes)
	for _, tt := range []struct {
		flags uint8
		key   Key
		want  string
	}{
		{vterm.KittyDisambiguate, Key{Code: 'a', Mods: Ctrl, Action: KeyRepeat}, "\x1b[97;5u"},
		{vterm.KittyDisambiguate, Key{Code: 'a', Mods: Ctrl, Action: KeyRelease}, ""},
		{events, Key{Code: 'a', Mods: Ctrl, Action: KeyRepeat}, "\x1b[97;5:2u"},
		{events, Key{Code: 'a', Mods: Ctrl, Action: KeyRelease}, "\x1b[97;5:3u"},
		{events, Key{Code: 'a', Mods: Ctrl}, "\x1b[97;5u"},
		{events, Key{Code: 'a', Action: KeyRepeat}, "a"}, // text has no events
		{events, Key{Code: 'a', Action: KeyRelease}, ""},
		{events, Key{Code: KeyEnter, Action: KeyRepeat}, "\r"},
		{events, Key{Code: KeyEnter, Action: KeyRelease}, ""},
		{events, Key{Code: KeyTab, Mods: Ctrl, Action: KeyRelease}, ""},
		{events, Key{Code: KeyUp, Action: KeyRelease}, "\x1b[1;1:3A"},
		{events, Key{Code: KeyF1 + 4, Mods: Shift, Action: KeyRepeat}, "\x1b[15;2:2~"},
		{vterm.KittyEventTypes, Key{Code: 'a', Mods: Ctrl}, "\x01"},
		{vterm.KittyEventTypes, Key{Code: 'a', Mods: Ctrl, Action: KeyRelease}, "\x1b[97;5:3u"},
		{vterm.KittyEventTypes, Key{Code: KeyEscape}, "\x1b"},
		{vterm.KittyEventTypes, Key{Code: KeyUp}, "\x1b[A"},
		{all, Key{Code: 'a', Action: KeyRelease}, "\x1b[97;1:3u"},
		{all, Key{Code: KeyEnter, Action: KeyRelease}, "\x1b[13;1:3u"},
		{all, Key{Code: KeyLeftShift, Mods: Shift}, "\x1b[57441;2u"},
		{all, Key{Code: KeyRightCtrl, Action: KeyRelease}, "\x1b[57448;1:3u"},
		{all, Key{Code: KeyCapsLock}, "\x1b[57358u"},
	} {
		if got := string(AppendKey(nil, tt.key, &vterm.Modes{Kitty: tt.flags})); got != tt.want {
			t.Errorf("flags %d: %+v sends %q, want %q", tt.flags, tt.key, got, tt.want)
		}
	}
}

// TestKittyAllKeys checks that all keys are reported. Sources: the protocol's "Key codes", "Report all keys as escape
// codes", "Text as code points".
func TestKittyAllKeys(t *testing.T) {
	const text = vterm.KittyAllAsEscapes | vterm.KittyAssociatedText
	for _, tt := range []struct {
		flags uint8
		key   Key
		want  string
	}{
		{vterm.KittyAllAsEscapes, Key{Code: 'a'}, "\x1b[97u"},
		{vterm.KittyAllAsEscapes, Key{Code: 'A'}, "\x1b[97;2u"},
		{vterm.KittyAllAsEscapes, Key{Code: KeyEnter}, "\x1b[13u"},
		{vterm.KittyAllAsEscapes, Key{Code: KeyTab}, "\x1b[9u"},
		{vterm.KittyAllAsEscapes, Key{Code: KeyBackspace}, "\x1b[127u"},
		{vterm.KittyAllAsEscapes, Key{Code: KeySpace}, "\x1b[32u"},
		{vterm.KittyAllAsEscapes, Key{Code: KeyUp}, "\x1b[A"},
		{vterm.KittyAllAsEscapes, Key{Code: 'a', Mods: CapsLock}, "\x1b[97;65u"},
		{vterm.KittyAllAsEscapes, Key{Code: KeyKP0, Text: "0", Mods: NumLock}, "\x1b[57399;129u"},
		{vterm.KittyDisambiguate, Key{Code: 'a', Mods: Ctrl | CapsLock}, "\x1b[97;5u"},
		{vterm.KittyDisambiguate, Key{Code: KeyKP0, Text: "0", Mods: NumLock}, "0"},
		{vterm.KittyDisambiguate | vterm.KittyAlternateKeys, Key{Code: 'a', Mods: Ctrl | Shift}, "\x1b[97:65;6u"},
		{vterm.KittyDisambiguate | vterm.KittyAlternateKeys, Key{Code: 'с', Base: 'c', Mods: Ctrl}, "\x1b[1089::99;5u"},
		{vterm.KittyDisambiguate | vterm.KittyAlternateKeys, Key{Code: '=', Shifted: '+', Base: '=', Mods: Ctrl | Shift}, "\x1b[61:43;6u"},
		{vterm.KittyDisambiguate | vterm.KittyAlternateKeys, Key{Code: 'a', Mods: Ctrl, Shifted: 'A'}, "\x1b[97;5u"},
		{vterm.KittyDisambiguate | vterm.KittyAlternateKeys, Key{Code: 'a', Mods: Shift}, "A"},
		{vterm.KittyAllAsEscapes | vterm.KittyAlternateKeys, Key{Code: 'a', Mods: Shift}, "\x1b[97:65;2u"},
		{text, Key{Code: 'a', Mods: Shift}, "\x1b[97;2;65u"},
		{text, Key{Code: 'a', Text: "å"}, "\x1b[97;;229u"},
		{text, Key{Text: "漢字"}, "\x1b[0;;28450:23383u"},
		{text, Key{Code: 'a', Mods: Ctrl}, "\x1b[97;5u"},
		{text, Key{Code: KeyEnter}, "\x1b[13u"},
		{text | vterm.KittyEventTypes, Key{Code: 'a', Action: KeyRepeat}, "\x1b[97;1:2;97u"},
		{text | vterm.KittyEventTypes, Key{Code: 'a', Action: KeyRelease}, "\x1b[97;1:3u"},
		{vterm.KittyFlagsAll, Key{Code: 'с', Base: 'c', Mods: Shift}, "\x1b[1089:1057:99;2;1057u"},
	} {
		if got := string(AppendKey(nil, tt.key, &vterm.Modes{Kitty: tt.flags})); got != tt.want {
			t.Errorf("flags %d: %+v sends %q, want %q", tt.flags, tt.key, got, tt.want)
		}
	}
}

// TestKittyCodesAreDistinct checks that every row of the table has a form in the kitty protocol, and no two keys the
// same.
func TestKittyCodesAreDistinct(t *testing.T) {
	m := &vterm.Modes{Kitty: vterm.KittyAllAsEscapes}
	seen := map[string]rune{}
	for i := 1; i < len(keyTable); i++ {
		code := KeyNone + rune(i)
		s := string(AppendKey(nil, Key{Code: code}, m))
		if other, ok := seen[s]; ok || s == "" {
			t.Errorf("%s and %s send %q", codeName(code), codeName(other), s)
		}
		seen[s] = code
	}
}

func TestAppendKeyAllocatesNothing(t *testing.T) {
	dst := make([]byte, 0, 64)
	modes := []vterm.Modes{{}, {ModifyOtherKeys: 2}, {Kitty: vterm.KittyFlagsAll}}
	keys := []Key{{Code: 'a'}, {Code: 'a', Mods: Ctrl}, {Code: KeyUp, Mods: Shift}, {Code: KeyEnter}, {Code: 'é', Mods: Shift}}
	if n := testing.AllocsPerRun(100, func() {
		for i := range modes {
			for _, k := range keys {
				dst = AppendKey(dst[:0], k, &modes[i])
			}
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzAppendKey(f *testing.F) {
	f.Add(int32('a'), uint8(Ctrl), uint8(0), "", int32(0), int32(0), uint8(31), uint8(0), uint8(0))
	f.Add(int32(KeyF1), uint8(Shift), uint8(2), "x", int32('A'), int32('b'), uint8(0), uint8(2), uint8(255))
	f.Fuzz(func(t *testing.T, code int32, mods, action uint8, text string, shifted, base int32, kitty, other, bits uint8) {
		m := vterm.Modes{
			Kitty: kitty, ModifyOtherKeys: other, FormatOtherKeys: bits & 1,
			AppCursor: bits&2 != 0, AppKeypad: bits&4 != 0, NewLine: bits&8 != 0, BackarrowBS: bits&16 != 0,
		}
		k := Key{Code: code, Mods: Mods(mods), Action: KeyAction(action % 3), Text: text, Shifted: shifted, Base: base}
		got := AppendKey([]byte("head"), k, &m)
		if string(got[:4]) != "head" {
			t.Fatal("dst was changed")
		}
		if len(got) > 4+16+12*len(text)+64 {
			t.Fatalf("%+v sends %d bytes", k, len(got))
		}
	})
}
