package attach

import "testing"

// FEATURES: R75
func TestDetacher(t *testing.T) {
	cases := []struct {
		name   string
		reads  []string
		out    string
		detach bool
	}{
		{"plain typing", []string{"ls -l\r"}, "ls -l\r", false},
		{"detach in one read", []string{"x\x1cd"}, "x", true},
		{"detach in two reads", []string{"\x1c", "d"}, "", true},
		{"another key after the first", []string{"\x1c", "x"}, "\x1cx", false},
		{"first key twice", []string{"\x1c\x1cx"}, "\x1cx", false},
		{"d alone", []string{"d"}, "d", false},
		{"held back until decided", []string{"a\x1c"}, "a", false},
		{"kitty protocol", []string{"\x1b[92;5u", "d"}, "", true},
		{"kitty protocol, all keys as sequences", []string{"\x1b[92;5u\x1b[100u"}, "", true},
		{"modifyOtherKeys", []string{"\x1b[27;5;92~d"}, "", true},
		{"arrow keys pass", []string{"\x1b[A\x1b[1;5C"}, "\x1b[A\x1b[1;5C", false},
	}
	for _, c := range cases {
		d, err := NewDetacher(DefaultDetachKey)
		if err != nil {
			t.Fatal(err)
		}
		var out []byte
		left := false
		for _, r := range c.reads {
			o, l := d.Feed([]byte(r))
			out = append(out, o...)
			left = left || l
		}
		if string(out) != c.out || left != c.detach {
			t.Errorf("%s: %q, %v; want %q, %v", c.name, out, left, c.out, c.detach)
		}
	}
}

func TestDetachKeys(t *testing.T) {
	for _, key := range []string{`C-\ d`, "C-a d", "c-B x", ""} {
		if _, err := NewDetacher(key); err != nil {
			t.Errorf("%q: %v", key, err)
		}
	}
	for _, key := range []string{"x", "C-[ d", "C-a", "C-a dd", "M-a d", "C-1 d"} {
		if _, err := NewDetacher(key); err == nil {
			t.Errorf("%q was accepted", key)
		}
	}
}
