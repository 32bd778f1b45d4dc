package attach

import "testing"

func defaultChords(t *testing.T) *Chords {
	var c Chords
	for key, do := range map[string]Action{DefaultDetachKey: Detach, DefaultNextKey: Next, DefaultPreviousKey: Previous, "C-a Q": Next} {
		if err := c.Bind(key, do); err != nil {
			t.Fatal(err)
		}
	}
	return &c
}

// FEATURES: R75
// FAULT: H9
func TestChords(t *testing.T) {
	for _, c := range []struct {
		name  string
		reads []string
		out   string
		do    Action
		rest  string
	}{
		{"plain typing", []string{"ls -l\r"}, "ls -l\r", None, ""},
		{"detach in one read", []string{"x\x1cd"}, "x", Detach, ""},
		{"detach in two reads", []string{"\x1c", "d"}, "", Detach, ""},
		{"what follows a switch is for the next session", []string{"a\x1cnb"}, "a", Next, "b"},
		{"previous", []string{"\x1cp"}, "", Previous, ""},
		{"another first key", []string{"\x01Q"}, "", Next, ""},
		{"second key of another first key", []string{"\x01d"}, "\x01d", None, ""},
		{"another key after the first", []string{"\x1c", "x"}, "\x1cx", None, ""},
		{"a control character after the first", []string{"\x1c\x04"}, "\x1c\x04", None, ""},
		{"first key twice", []string{"\x1c\x1cx"}, "\x1cx", None, ""},
		{"d alone", []string{"d"}, "d", None, ""},
		{"held back until decided", []string{"a\x1c"}, "a", None, ""},
		{"kitty protocol", []string{"\x1b[92;5u", "d"}, "", Detach, ""},
		{"kitty protocol, all keys as sequences", []string{"\x1b[92;5u\x1b[100u"}, "", Detach, ""},
		{"kitty protocol, with events, locks and text", []string{"\x1b[57442;5u\x1b[92;69u\x1b[92;69:3u\x1b[57442;5:3u\x1b[100;1:1;100u"}, "\x1b[57442;5u", Detach, ""},
		{"kitty protocol, Shift", []string{"\x1b[97;5u\x1b[57441;2u\x1b[113:81;2u"}, "", Next, ""},
		{"kitty protocol, twice", []string{"\x1b[92;5u\x1b[92;5:3u\x1b[92;5u"}, "\x1b[92;5u\x1b[92;5:3u", None, ""},
		{"modifyOtherKeys", []string{"\x1b[27;5;92~d"}, "", Detach, ""},
		{"another layout, base key reported", []string{"\x1b[1078::92;5u\x1b[1074::100u"}, "", Detach, ""},
		{"another layout, Shift", []string{"\x1b[1092::97;5u\x1b[1081:1049:113;2u"}, "", Next, ""},
		{"another layout, modifyOtherKeys", []string{"\x1b[27;5;1092~", "Й"}, "", Next, ""},
		{"another layout, text", []string{"\x1c", "в"}, "", Detach, ""},
		{"another key of another layout", []string{"\x1c", "б"}, "\x1cб", None, ""},
		{"arrow keys pass", []string{"\x1b[A\x1b[1;5C\x1b[1;5:3C\x1bOA\x1b[200~d\x1b[201~"}, "\x1b[A\x1b[1;5C\x1b[1;5:3C\x1bOA\x1b[200~d\x1b[201~", None, ""},
		{"Escape passes", []string{"\x1b", "[", "\x1b\x1b"}, "\x1b[\x1b\x1b", None, ""},
		{"bytes of UTF-8 pass", []string{"ü", "\xff\xfe"}, "ü\xff\xfe", None, ""},
	} {
		m := defaultChords(t)
		var out []byte
		var do Action
		rest := ""
		for _, r := range c.reads {
			o, d, left := m.Feed([]byte(r))
			out = append(out, o...)
			if d != None {
				do, rest = d, string(left)
			}
		}
		if string(out) != c.out || do != c.do || rest != c.rest {
			t.Errorf("%s: %q, %v, %q; want %q, %v, %q", c.name, out, do, rest, c.out, c.do, c.rest)
		}
	}
}

func TestCheckKey(t *testing.T) {
	for _, key := range []string{`C-\ d`, "C-a d", "c-B x", ""} {
		if err := CheckKey(key); err != nil {
			t.Errorf("%q: %v", key, err)
		}
	}
	for _, key := range []string{"x", "C-[ d", "C-a", "C-a dd", "M-a d", "C-1 d"} {
		if err := CheckKey(key); err == nil {
			t.Errorf("%q was accepted", key)
		}
	}
	c := defaultChords(t)
	if err := c.Bind("c-A Q", Detach); err == nil {
		t.Error("a key was bound twice")
	}
}

// FuzzChords checks that only the keys of chords are removed from input.
func FuzzChords(f *testing.F) {
	f.Add([]byte("a\x1cx\x1b[92;5ud"))
	f.Add([]byte("\x1b[27;5;92~\x1b[100;;u\x1b[:;:u"))
	f.Fuzz(func(t *testing.T, in []byte) {
		c := defaultChords(t)
		out, do, rest := c.Feed(in)
		if len(out)+len(rest)+len(c.held) > len(in) {
			t.Fatalf("%q made %q %q", in, out, rest)
		}
		if do == None && len(c.held) == 0 && len(out) < len(in) {
			for _, k := range in { // only a doubled first key is removed
				if k == 0x1c || k == 1 || k == 'u' || k == '~' {
					return
				}
			}
			t.Fatalf("%q became %q", in, out)
		}
	})
}

// TestChords_IsPlain checks that plain input passes Feed unchanged and leaves its state unchanged.
func TestChords_IsPlain(t *testing.T) {
	for in, plain := range map[string]bool{
		"ls -l\r": true, "\x03": true, "h\u00e9": true, "\x1c": false, "a\x1cd": false, "\x1b[A": false, "\x1b": false,
	} {
		var c Chords
		if err := c.Bind(DefaultDetachKey, Detach); err != nil {
			t.Fatal(err)
		}
		if got := c.IsPlain([]byte(in)); got != plain {
			t.Errorf("%q: %v", in, got)
		}
		if out, do, _ := c.Feed([]byte(in)); plain && (string(out) != in || do != None || !c.IsPlain([]byte("x"))) {
			t.Errorf("%q is plain, and becomes %q, %v", in, out, do)
		}
	}
	var c Chords
	if err := c.Bind(DefaultDetachKey, Detach); err != nil {
		t.Fatal(err)
	}
	if c.Feed([]byte{0x1c}); c.IsPlain([]byte("d")) {
		t.Error("IsPlain = true for the second key of a chord, want false")
	}
}
