package input

import (
	"testing"

	"github.com/longterm-dev/longterm/vterm"
)

func key(s string) Key {
	k, err := ParseKey(s)
	if err != nil {
		panic(err)
	}
	return k
}

// keyTest gives a key by its name.
type keyTest struct{ key, want string }

func checkKeys(t *testing.T, m vterm.Modes, tests []keyTest) {
	t.Helper()
	for _, tt := range tests {
		if got := string(AppendKey(nil, key(tt.key), &m)); got != tt.want {
			t.Errorf("%s sends %q, want %q", tt.key, got, tt.want)
		}
	}
}

// TestLegacyKeys checks function keys in their old encodings. Sources: xterm ctlseqs, "PC-Style Function Keys",
// "VT220-Style Function Keys"; for keys that are C0 controls also the table "C0 controls" of the kitty keyboard
// protocol, which matches xterm.
func TestLegacyKeys(t *testing.T) {
	checkKeys(t, vterm.Modes{}, []keyTest{
		{"Up", "\x1b[A"}, {"Down", "\x1b[B"}, {"Right", "\x1b[C"}, {"Left", "\x1b[D"}, {"Home", "\x1b[H"}, {"End", "\x1b[F"},
		{"S-Up", "\x1b[1;2A"}, {"M-Up", "\x1b[1;3A"}, {"M-S-Up", "\x1b[1;4A"}, {"C-Up", "\x1b[1;5A"}, {"C-S-Up", "\x1b[1;6A"},
		{"C-M-Up", "\x1b[1;7A"}, {"C-M-S-Up", "\x1b[1;8A"}, {"Meta-Up", "\x1b[1;9A"}, {"D-Up", "\x1b[A"},
		{"Insert", "\x1b[2~"}, {"Delete", "\x1b[3~"}, {"PageUp", "\x1b[5~"}, {"PageDown", "\x1b[6~"}, {"C-Delete", "\x1b[3;5~"},
		{"F1", "\x1bOP"}, {"F2", "\x1bOQ"}, {"F3", "\x1bOR"}, {"F4", "\x1bOS"}, {"S-F3", "\x1b[1;2R"},
		{"F5", "\x1b[15~"}, {"F6", "\x1b[17~"}, {"F7", "\x1b[18~"}, {"F8", "\x1b[19~"}, {"F9", "\x1b[20~"}, {"F10", "\x1b[21~"},
		{"F11", "\x1b[23~"}, {"F12", "\x1b[24~"}, {"F13", "\x1b[25~"}, {"F14", "\x1b[26~"}, {"F15", "\x1b[28~"}, {"F16", "\x1b[29~"},
		{"F17", "\x1b[31~"}, {"F18", "\x1b[32~"}, {"F19", "\x1b[33~"}, {"F20", "\x1b[34~"}, {"F21", "\x1b[42~"}, {"F35", "\x1b[56~"},
		{"S-F5", "\x1b[15;2~"}, {"C-F12", "\x1b[24;5~"}, {"Menu", "\x1b[29~"}, {"PrintScreen", ""}, {"CapsLock", ""}, {"LeftShift", ""},

		{"Enter", "\r"}, {"C-Enter", "\r"}, {"M-Enter", "\x1b\r"}, {"S-Enter", "\r"},
		{"Escape", "\x1b"}, {"C-Escape", "\x1b"}, {"M-Escape", "\x1b\x1b"}, {"C-M-Escape", "\x1b\x1b"},
		{"BSpace", "\x7f"}, {"C-BSpace", "\b"}, {"M-BSpace", "\x1b\x7f"}, {"C-M-BSpace", "\x1b\b"}, {"S-BSpace", "\x7f"},
		{"Tab", "\t"}, {"C-Tab", "\t"}, {"M-Tab", "\x1b\t"}, {"S-Tab", "\x1b[Z"}, {"C-S-Tab", "\x1b[Z"}, {"M-S-Tab", "\x1b\x1b[Z"},
		{"Space", " "}, {"C-Space", "\x00"}, {"M-Space", "\x1b "}, {"S-Space", " "}, {"C-M-Space", "\x1b\x00"},
	})
}

// TestLegacyText checks text keys in their old encodings. Sources: VT100 User Guide, table 3-5; xterm's input.c,
// IsControlAlias.
func TestLegacyText(t *testing.T) {
	checkKeys(t, vterm.Modes{}, []keyTest{
		{"a", "a"}, {"A", "A"}, {"S-a", "A"}, {"M-a", "\x1ba"}, {"M-A", "\x1bA"}, {"é", "é"}, {"S-é", "É"}, {"M-é", "\x1bé"}, {"世", "世"},
		{"S-1", "!"}, {"S-/", "?"}, {"-", "-"}, {"+", "+"}, {"<", "<"},
		{"C-a", "\x01"}, {"C-A", "\x01"}, {"C-S-a", "\x01"}, {"C-z", "\x1a"}, {"C-M-a", "\x1b\x01"},
		{"C-@", "\x00"}, {"C-2", "\x00"}, {"C-`", "\x00"}, {"C-[", "\x1b"}, {"C-3", "\x1b"}, {"C-\\", "\x1c"}, {"C-4", "\x1c"}, {"C-]", "\x1d"},
		{"C-5", "\x1d"}, {"C-^", "\x1e"}, {"C-6", "\x1e"}, {"C-~", "\x1e"}, {"C-_", "\x1f"}, {"C-7", "\x1f"}, {"C-/", "\x1f"}, {"C-8", "\x7f"}, {"C-?", "\x7f"},
		{"C-S-2", "\x00"}, {"C-S-3", "#"}, {"C--", "-"}, {"C-S--", "\x1f"}, {"C-1", "1"}, {"C-é", ""}, {"^C", "\x03"}, {"^[", "\x1b"},
		{"D-a", ""}, {"Hyper-a", ""},
	})
	m := &vterm.Modes{}
	for _, tt := range []struct {
		key  Key
		want string
	}{
		{Key{Code: 'a', Text: "ä"}, "ä"},
		{Key{Text: "漢字"}, "漢字"}, // from an input method
		{Key{Code: 'с', Base: 'c', Mods: Ctrl}, "\x03"},
		{Key{Code: '4', Mods: Shift, Shifted: '¤'}, "¤"},
		{Key{Code: 'a', Mods: CapsLock}, "A"},
		{Key{Code: 'a', Mods: CapsLock | Shift}, "a"},
		{Key{Code: 'a', Action: KeyRepeat}, "a"},
		{Key{Code: 'a', Action: KeyRelease}, ""},
		{Key{Code: 3}, "\x03"},
		{Key{Code: 0x7f}, "\x7f"},
		{Key{Code: 0xd800}, ""},
		{Key{Code: -1}, ""},
		{Key{Code: 0x7fffffff}, ""},
		{Key{Code: KeyNone}, ""},
	} {
		if got := string(AppendKey(nil, tt.key, m)); got != tt.want {
			t.Errorf("%+v sends %q, want %q", tt.key, got, tt.want)
		}
	}
}

// TestLegacyModes checks modes that change keys. Sources: DEC STD 070 (DECCKM, DECKPAM, LNM, DECBKM); VT100 User Guide,
// tables 3-6 to 3-8.
func TestLegacyModes(t *testing.T) {
	checkKeys(t, vterm.Modes{AppCursor: true}, []keyTest{
		{"Up", "\x1bOA"}, {"Home", "\x1bOH"}, {"End", "\x1bOF"}, {"C-Up", "\x1b[1;5A"}, {"PageUp", "\x1b[5~"}, {"KPBegin", "\x1bOE"}, {"KPUp", "\x1bOA"},
	})
	checkKeys(t, vterm.Modes{NewLine: true}, []keyTest{{"Enter", "\r\n"}, {"KPEnter", "\r\n"}, {"C-j", "\n"}})
	checkKeys(t, vterm.Modes{BackarrowBS: true}, []keyTest{{"BSpace", "\b"}, {"C-BSpace", "\x7f"}, {"M-BSpace", "\x1b\b"}})
	checkKeys(t, vterm.Modes{}, []keyTest{
		{"KP0", "0"}, {"KP9", "9"}, {"KP+", "+"}, {"KP-", "-"}, {"KP*", "*"}, {"KP/", "/"}, {"KP.", "."}, {"KP,", ","}, {"KP=", "="},
		{"KPEnter", "\r"}, {"KPUp", "\x1b[A"}, {"KPHome", "\x1b[H"}, {"KPDelete", "\x1b[3~"}, {"KPBegin", "\x1b[E"}, {"C-KPUp", "\x1b[1;5A"},
	})
	checkKeys(t, vterm.Modes{AppKeypad: true}, []keyTest{
		{"KP0", "\x1bOp"}, {"KP5", "\x1bOu"}, {"KP9", "\x1bOy"}, {"KP+", "\x1bOk"}, {"KP-", "\x1bOm"}, {"KP*", "\x1bOj"}, {"KP/", "\x1bOo"},
		{"KP.", "\x1bOn"}, {"KP,", "\x1bOl"}, {"KP=", "\x1bOX"}, {"KPEnter", "\x1bOM"}, {"C-KP5", "\x1bO5u"}, {"KPUp", "\x1b[A"}, {"5", "5"},
	})
	if got := string(AppendKey(nil, Key{Code: KeyKP0 + 5, Mods: NumLock}, &vterm.Modes{AppKeypad: true})); got != "5" {
		t.Errorf("Num Lock: %q", got)
	}
}

// TestModifyOtherKeys checks modified keys. Sources: xterm manual, "modifyOtherKeys", "formatOtherKeys"; xterm's
// input.c, ModifyOtherKeys.
func TestModifyOtherKeys(t *testing.T) {
	checkKeys(t, vterm.Modes{ModifyOtherKeys: 1}, []keyTest{
		{"a", "a"}, {"A", "A"}, {"C-a", "\x01"}, {"C-S-a", "\x01"}, {"M-a", "\x1ba"}, {"C-M-a", "\x1b\x01"}, {"C-2", "\x00"},
		{"C-1", "\x1b[27;5;49~"}, {"C-,", "\x1b[27;5;44~"}, {"C-S-;", "\x1b[27;6;58~"}, {"C-M-1", "\x1b[27;7;49~"}, {"C-é", "\x1b[27;5;233~"},
		{"C-Enter", "\x1b[27;5;13~"}, {"S-Enter", "\x1b[27;2;13~"}, {"M-Enter", "\x1b\r"}, {"C-Tab", "\x1b[27;5;9~"}, {"S-Tab", "\x1b[Z"},
		{"C-BSpace", "\b"}, {"M-BSpace", "\x1b\x7f"}, {"M-Escape", "\x1b\x1b"}, {"C-Up", "\x1b[1;5A"}, {"S-Space", " "},
	})
	checkKeys(t, vterm.Modes{ModifyOtherKeys: 2}, []keyTest{
		{"a", "a"}, {"A", "A"}, {"S-1", "!"}, {"C-a", "\x1b[27;5;97~"}, {"C-S-a", "\x1b[27;6;65~"}, {"M-a", "\x1b[27;3;97~"}, {"C-i", "\x1b[27;5;105~"},
		{"C-M-a", "\x1b[27;7;97~"}, {"S-Space", "\x1b[27;2;32~"}, {"C-Space", "\x1b[27;5;32~"}, {"C-2", "\x1b[27;5;50~"},
		{"Enter", "\r"}, {"C-Enter", "\x1b[27;5;13~"}, {"M-Enter", "\x1b[27;3;13~"}, {"S-Tab", "\x1b[Z"}, {"C-S-Tab", "\x1b[27;6;9~"},
		{"C-BSpace", "\b"}, {"M-BSpace", "\x1b[27;3;127~"}, {"M-Escape", "\x1b[27;3;27~"}, {"Escape", "\x1b"}, {"F1", "\x1bOP"},
	})
	checkKeys(t, vterm.Modes{ModifyOtherKeys: 2, FormatOtherKeys: 1}, []keyTest{
		{"C-a", "\x1b[97;5u"}, {"C-Enter", "\x1b[13;5u"}, {"C-Up", "\x1b[1;5A"},
	})
}
