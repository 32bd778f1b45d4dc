package input

import (
	"testing"

	"github.com/longterm-dev/longterm/vterm"
)

// TestDecodeKey checks that keys that a terminal reports are read with their modifiers, events and alternates, and that
// other sequences are no keys.
//
// FAULT: H8
// FAULT: H9
func TestDecodeKey(t *testing.T) {
	for seq, want := range map[string]Key{
		"\x1b[57439u":          {Code: KeyVolumeUp},
		"\x1b[57428;5:3u":      {Code: KeyMediaPlay, Mods: Ctrl, Action: KeyRelease},
		"\x1b[57427u":          {Code: KeyKPBegin},
		"\x1b[57399;129;48u":   {Code: KeyKP0, Mods: NumLock, Text: "0"},
		"\x1b[57441;2u":        {Code: KeyLeftShift, Mods: Shift},
		"\x1b[97:65;2u":        {Code: 'a', Shifted: 'A', Mods: Shift},
		"\x1b[97:65;6:2u":      {Code: 'a', Shifted: 'A', Mods: Shift | Ctrl, Action: KeyRepeat},
		"\x1b[1089::99;5u":     {Code: 'с', Base: 'c', Mods: Ctrl},
		"\x1b[1089;5u":         {Code: 'с', Mods: Ctrl},
		"\x1b[97;9u":           {Code: 'a', Mods: Super},
		"\x1b[97;33u":          {Code: 'a', Mods: Meta},
		"\x1b[0;;28450:23383u": {Text: "漢字"},
		"\x1b[13;2u":           {Code: KeyEnter, Mods: Shift},
		"\x1b[13~":             {Code: KeyF1 + 2},
		"\x1b[13;2:3~":         {Code: KeyF1 + 2, Mods: Shift, Action: KeyRelease},
		"\x1b[27;5;1089~":      {Code: 'с', Mods: Ctrl},
		"\x1b[27;6;65~":        {Code: 'a', Mods: Ctrl | Shift},
		"\x1b[27;5;13~":        {Code: KeyEnter, Mods: Ctrl},
		"\x1b[1;5A":            {Code: KeyUp, Mods: Ctrl},
		"\x1b[1;1:2B":          {Code: KeyDown, Action: KeyRepeat},
		"\x1b[H":               {Code: KeyHome},
		"\x1b[1;9R":            {Code: KeyF1 + 2, Mods: Super},
		"\x1b[3;5~":            {Code: KeyDelete, Mods: Ctrl},
		"\x1b[7~":              {Code: KeyHome},
		"\x1b[57363u":          {Code: KeyMenu},
		"\x1b[E":               {Code: KeyKPBegin},
		"\x1b[Z":               {Code: KeyTab, Mods: Shift},
		"\x1bOt":               {Code: KeyKP0 + 4},
		"\x1bO5u":              {Code: KeyKP0 + 5, Mods: Ctrl},
		"\x1bOM":               {Code: KeyKPEnter},
		"\x1bOA":               {Code: KeyUp},
		"\x1bOR":               {Code: KeyF1 + 2},
	} {
		if got, ok := DecodeKey([]byte(seq)); !ok || got != want {
			t.Errorf("%q: %+v, %v; want %+v", seq, got, ok, want)
		}
	}
	for _, seq := range []string{
		"\x1b[I", "\x1b[O", "\x1b[200~", "\x1b[201~", "\x1b[<0;1;1M", "\x1b[?1u", "\x1b[57500u", "\x1b[u", "\x1b[24;80R", "\x1b[6;18;9t", "\x1b[?62;4c", "\x1bOz", "\x1b[55296u", "\x1b", "\x1b[",
	} {
		if got, ok := DecodeKey([]byte(seq)); ok {
			t.Errorf("%q: %+v", seq, got)
		}
	}
}

// TestDecodeKey_ReadsWhatIsEncoded checks that the encoding of every key in the kitty protocol, with all flags, is
// decoded to the key.
//
// FAULT: H8
func TestDecodeKey_ReadsWhatIsEncoded(t *testing.T) {
	m := &vterm.Modes{Kitty: vterm.KittyFlagsAll}
	for code := KeyNone + 1; int(code-KeyNone) < len(keyTable); code++ {
		k := Key{Code: code, Mods: Ctrl | Super, Action: KeyRelease}
		if code == KeySpace {
			k.Code = ' '
		}
		b := AppendKey(nil, k, m)
		if got, ok := DecodeKey(b); !ok || got != k {
			t.Errorf("%s: %q: %+v, %v", k, b, got, ok)
		}
	}
}

// TestCtrl_OnOtherLayouts checks that Ctrl with a letter of another script is the control of the key's position, and
// never text.
//
// FAULT: H9
func TestCtrl_OnOtherLayouts(t *testing.T) {
	checkKeys(t, vterm.Modes{}, []keyTest{{"C-с", "\x03"}, {"C-ψ", "\x03"}, {"C-ב", "\x03"}, {"C-M-с", "\x1b\x03"}, {"C-é", ""}, {"C-世", ""}, {"C-M-é", ""}})
	for _, tt := range []struct {
		key  Key
		want bool
	}{
		{Key{Code: 'в', Text: "в"}, true}, {Key{Code: 'δ'}, true}, {Key{Code: 'ж', Base: 'd'}, true}, {Key{Code: 'd'}, true}, {Key{Code: 'В', Text: "В"}, false},
		{Key{Code: 'é'}, false}, {Key{Code: 'в', Mods: Ctrl}, false}, {Key{Code: 'в', Mods: NumLock}, true},
	} {
		if got := tt.key.Is(Key{Code: 'd'}); got != tt.want {
			t.Errorf("%+v is d: %v", tt.key, got)
		}
	}
	if !(Key{Code: 'В', Text: "В"}).Is(Key{Code: 'D'}) || !(Key{Code: '"', Text: "\""}).Is(Key{Code: '"'}) {
		t.Error("capitals")
	}
}

// FuzzDecodeKey checks that no input breaks the decoder, and that each decoded key can be sent.
func FuzzDecodeKey(f *testing.F) {
	f.Add([]byte("\x1b[97:65:97;5:3;97u"))
	f.Add([]byte("\x1bO5u"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if k, ok := DecodeKey(b); ok {
			AppendKey(nil, k, &vterm.Modes{Kitty: vterm.KittyFlagsAll})
		}
	})
}
