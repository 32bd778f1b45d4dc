package vterm

import "testing"

// TestCharsets prints characters through every kind of set.
//
// FEATURES: R30
func TestCharsets(t *testing.T) {
	for _, c := range []struct{ name, input, want string }{
		// VT330/VT340 Text Programming, table 2-7: a few of each column.
		{"DEC Technical", "\x1b(>!/07<?@OPQSVZ_`abcgjlnv{~", "⎷⎨⎬⟩≤∫∴≡ΠΨΣ√⊂∨¬αβχγθλνƒ←↓"},
		{"a hole of DEC Technical", "\x1b(>8R", "␦␦"},
		{"DEC Supplemental", "\x1b(<!(WW]}$", "¡¤ŒŒŸÿ␦"},
		{"DEC Supplemental by its other name", "\x1b(%5w", "œ"},
		{"ISO Latin-1 in G1", "\x1b-A\x0eaA~", "áÁþ"},
		{"ISO Latin-2 in G1", "\x1b-B\x0e!~", "Ąţ"},
		{"ISO Greek in G2", "\x1b.F\x1bna", "α"},
		{"ISO Hebrew in G3", "\x1b/H\x1bo`", "א"},
		{"ISO Cyrillic in G1", "\x1b-L\x0e0", "А"},
		{"ISO Latin-5 in G1", "\x1b-M\x0eP", "Ğ"},
		{"DEC Greek", "\x1b(\"?A", "Α"},
		{"DEC Hebrew", "\x1b(\"4`", "א"},
		{"DEC Turkish", "\x1b(%0.", "İ"},
		{"DEC Cyrillic", "\x1b(&4aA", "Аа"},
		{"national sets need DECNRCM", "\x1b(K[\x1b[?42h\x1b(K[", "[Ä"},
		{"Greek national set", "\x1b[?42h\x1b(\">A\x61", "AΑ"},
		{"Hebrew national set", "\x1b[?42h\x1b(%=A`", "Aא"},
		{"Russian national set", "\x1b[?42h\x1b(&5Aa", "AА"},
		{"Serbo-Croatian national set", "\x1b[?42h\x1b(%3@a", "Ža"},
		{"Turkish national set", "\x1b[?42h\x1b(%2&", "ğ"},
	} {
		if got := text(newTest(t, 80, 2, c.input)); got != c.want {
			t.Errorf("%s: %q prints %q, want %q", c.name, c.input, got, c.want)
		}
	}
	for _, s := range charsetTables {
		if n := len(s.last); n > 40 && n != 0x7f-0x21 {
			t.Errorf("set %q has %d characters", s.names, n)
		}
	}
}
