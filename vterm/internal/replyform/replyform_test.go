package replyform

import (
	"slices"
	"strings"
	"testing"
)

// forms has one reply or more of each kind, and texts that only look like one: another number, a number that is too
// long, a byte that output could have chosen, a missing end.
var forms = []struct {
	kind string
	good []string
	bad  []string
}{
	{"DA1", []string{"\x1b[?1;2c", "\x1b[?62;22c", "\x1b[?65;1;2;4;6;9;15;16;17;18;21;22;28;29c", "\x9b?1;2c"}, []string{"\x1b[?1;2", "\x1b[?66;1;2;4;6;9;15;16;17;18;21;22;28;29c", "\x1b[?1;2;3c"}},
	{"DA2", []string{"\x1b[>64;398;0c", "\x1b[>0;10;0c"}, []string{"\x1b[>2;398;0c", "\x1b[>64;399;0c", "\x1b[>64;398c"}},
	{"DA3", []string{"\x1bP!|00000000\x1b\\", "\x90!|00000000\x9c", "\x1bP!|00000000\x07"}, []string{"\x1bP!|00000000", "\x1bP!|12345678\x1b\\"}},
	{"XTVERSION", []string{"\x1bP>|longterm(1)\x1b\\", "\x1bP>|longterm(vt10x)\x1b\\"}, []string{"\x1bP>|xterm(398)\x1b\\", "\x1bP>|longterm(2)\x1b\\"}},
	{"VT52 identity", []string{"\x1b/Z"}, []string{"\x1b/K"}},
	{"DSR: operating status", []string{"\x1b[0n"}, []string{"\x1b[3n"}},
	{"DSR: cursor position", []string{"\x1b[1;1R", "\x1b[4096;4096R"}, []string{"\x1b[1R", "\x1b[100000;1R", "\x1b[-1;1R", "\x1b[1;1r"}},
	{"DECXCPR", []string{"\x1b[?1;80;1R"}, []string{"\x1b[?1;80;2R", "\x1b[?1;80R"}},
	{"DECDSR: devices, which are absent", []string{"\x1b[?13n", "\x1b[?20n", "\x1b[?27;1;0;0n", "\x1b[?50n", "\x1b[?57;0n", "\x1b[?70n", "\x1b[?83n"}, []string{"\x1b[?10n", "\x1b[?57;1n", "\x1b[?n"}},
	{"DECDSR: colour scheme", []string{"\x1b[?997;1n", "\x1b[?997;2n"}, []string{"\x1b[?997;3n", "\x1b[?997n"}},
	{"DECMSR", []string{"\x1b[0000*{"}, []string{"\x1b[0001*{"}},
	{"DECCKSR: checksum", []string{"\x1bP7!~00FF\x1b\\"}, []string{"\x1bP7!~0FF\x1b\\", "\x1bP7!~00ff\x1b\\", "\x1bP!~00FF\x1b\\"}},
	{"DECREPTPARM", []string{"\x1b[2;1;1;128;128;1;0x", "\x1b[3;1;1;128;128;1;0x"}, []string{"\x1b[1;1;1;128;128;1;0x"}},
	{"DECLRP: no locator", []string{"\x1b[0&w"}, []string{"\x1b[1&w"}},
	{"DECRPM", []string{"\x1b[4;2$y", "\x1b[?2026;1$y", "\x1b[?65535;0$y"}, []string{"\x1b[4;5$y", "\x1b[>4;1$y", "\x1b[4$y"}},
	{"XTQMODKEYS", []string{"\x1b[>4;2m"}, []string{"\x1b[>8;2m", "\x1b[>4;4m", "\x1b[>4m"}},
	{"kitty keyboard flags", []string{"\x1b[?31u"}, []string{"\x1b[?u", "\x1b[31u"}},
	{"XTREPORTSGR", []string{"\x1b[0m", "\x1b[0;1;4:3;38:5:99;48:2::1:2:3m"}, []string{"\x1b[m", "\x1b[1m", "\x1b[0;38:2:1:2:3m", "\x1b[0;1000m"}},
	{"XTREPORTCOLORS", []string{"\x1b[?1;1#Q"}, []string{"\x1b[?1#Q"}},
	{"XTSMGRAPHICS", []string{"\x1b[?1;0;256S", "\x1b[?2;0;80;64S", "\x1b[?9;1S"}, []string{"\x1b[?1;0;1024S", "\x1b[?9;3S"}},
	{"XTWINOPS: state, position", []string{"\x1b[1t", "\x1b[3;0;0t"}, []string{"\x1b[2t", "\x1b[3;1;0t"}},
	{"XTWINOPS: sizes", []string{"\x1b[4;384;640t", "\x1b[8;24;80t"}, []string{"\x1b[8;24t", "\x1b[7;24;80t", "\x1b[8;24;80;1t"}},
	{"XTWINOPS: titles, empty", []string{"\x1b]l\x1b\\", "\x1b]L\x1b\\", "\x1b]l\x07"}, []string{"\x1b]ltitle\x1b\\", "\x1b]l"}},
	{"in-band size", []string{"\x1b[48;24;80;384;640t"}, []string{"\x1b[48;24;80t"}},
	{"DECRQUPSS", []string{"\x1bP0!u%5\x1b\\"}, []string{"\x1bP1!u%5\x1b\\"}},
	{"DECCIR", []string{"\x1bP1$u1;1;1;@;@;@;0;2;@;BBBB\x1b\\", "\x1bP1$u24;80;1;O;A;H;3;1;B;0%5\">B\x1b\\"}, []string{"\x1bP1$u1;1;2;@;@;@;0;2;@;BBBB\x1b\\", "\x1bP1$u1;1;1;@;B;@;0;2;@;BBBB\x1b\\", "\x1bP1$u1;1;1;@;@;@;0;2;@;BBB\x1b\\", "\x1bP1$u1;1;1;@;@;@;4;2;@;BBBB\x1b\\"}},
	{"DECTABSR", []string{"\x1bP2$u\x1b\\", "\x1bP2$u9\x1b\\", "\x1bP2$u9/17/25\x1b\\"}, []string{"\x1bP2$u9/\x1b\\", "\x1bP2$u/9\x1b\\", "\x1bP2$u9;17\x1b\\"}},
	{"DECRQSS", []string{"\x1bP0$r\x1b\\", "\x1bP1$r0;1m\x1b\\", "\x1bP1$r1;24r\x1b\\", "\x1bP1$r2 q\x1b\\", "\x1bP1$r65;1\"p\x1b\\", "\x1bP1$r61\"p\x1b\\", "\x1bP1$r>4;2m\x1b\\"}, []string{"\x1bP0$rm\x1b\\", "\x1bP1$r1m\x1b\\", "\x1bP1$r\x1b\\", "\x1bP1$r0;touch xm\x1b\\"}},
	{"XTGETTCAP", []string{"\x1bP0+r\x1b\\", "\x1bP1+r544E=787465726D\x1b\\", "\x1bP1+r5463=\x1b\\"}, []string{"\x1bP0+r544E\x1b\\", "\x1bP1+rTN=xterm\x1b\\", "\x1bP1+r54=78\x1b\\", "\x1bP1+r544e=78\x1b\\"}},
	{"OSC 4, 5: palette", []string{"\x1b]4;1;rgb:cdcd/0000/0000\x07", "\x1b]5;0;rgb:ffff/ffff/ffff\x1b\\"}, []string{"\x1b]4;1;rgb:cd/00/00\x07", "\x1b]4;1;red\x07", "\x1b]4;1;rgb:CDCD/0000/0000\x07", "\x1b]4;1;rgb:cdcd/0000/0000"}},
	{"OSC 10 to 19: dynamic colours", []string{"\x1b]10;rgb:0000/0000/0000\x07", "\x1b]19;rgb:0000/0000/0000\x1b\\"}, []string{"\x1b]20;rgb:0000/0000/0000\x07", "\x1b]10;?\x07"}},
	{"OSC 21: colours by name", []string{"\x1b]21;foreground=rgb:0000/0000/0000\x07", "\x1b]21;7=rgb:0000/0000/0000;cursor_text=?\x1b\\"}, []string{"\x1b]21;touch=rgb:0000/0000/0000\x07", "\x1b]21;1000=rgb:0000/0000/0000\x07", "\x1b]21;\x07", "\x1b]21;foreground=?\x07"}},
	{"kitty graphics", []string{"\x1b_Gi=1;OK\x1b\\", "\x1b_Gi=4294967295,I=9,p=3;EINVAL:bad size\x1b\\", "\x1b_G;OK\x1b\\"}, []string{"\x1b_Gi=1;no\x1b\\", "\x1b_Gi=1;EINVAL:" + strings.Repeat("x", 81) + "\x1b\\", "\x1b_Gi=1;ENOENT:$(touch x)\x1b\\", "\x1b_Gx=1;OK\x1b\\"}},
}

func TestForms(t *testing.T) {
	for _, f := range forms {
		for _, answer := range f.good {
			if seen, err := CountByForm([]byte(answer)); err != nil || seen[f.kind] != 1 || len(seen) != 1 {
				t.Errorf("%q is %v, %v; want one %s", answer, seen, err, f.kind)
			}
		}
		for _, answer := range f.bad {
			if seen, err := CountByForm([]byte(answer)); err == nil {
				t.Errorf("%q is read as %v", answer, seen)
			}
			// Nor does it pass between answers that are good.
			if _, err := CountByForm([]byte("\x1b[0n" + answer + "\x1b[0n")); err == nil {
				t.Errorf("%q passes between others", answer)
			}
		}
	}
	for _, k := range Kinds {
		if !slices.ContainsFunc(forms, func(f struct {
			kind string
			good []string
			bad  []string
		},
		) bool {
			return f.kind == k.Name
		}) {
			t.Errorf("%s has no example", k.Name)
		}
	}
}

// TestCheckCounts checks that consecutive replies are counted by kind, up to the first that is none.
func TestCheckCounts(t *testing.T) {
	for _, c := range []struct {
		in   string
		want map[string]int
		good bool
	}{
		{"", map[string]int{}, true},
		{"\x1b[0n\x1b[1;1R\x1b[0n", map[string]int{"DSR: operating status": 2, "DSR: cursor position": 1}, true},
		{"\x1b[0n\x9b0n", map[string]int{"DSR: operating status": 2}, true},
		{"\x1b[0nls\r", map[string]int{"DSR: operating status": 1}, false},
		{"ls\r", map[string]int{}, false},
		{"\x1b[0n\n", map[string]int{"DSR: operating status": 1}, false},
		{"\x1b", map[string]int{}, false},
		{" \x1b[0n", map[string]int{}, false},
		{"\xc2\x9b0n", map[string]int{}, false}, // answers in 8 bits are bytes, not UTF-8
	} {
		seen, err := CountByForm([]byte(c.in))
		if (err == nil) != c.good {
			t.Errorf("%q: %v", c.in, err)
		}
		for kind, n := range c.want {
			if seen[kind] != n {
				t.Errorf("%q: %d of %s, want %d", c.in, seen[kind], kind, n)
			}
		}
		if len(seen) != len(c.want) {
			t.Errorf("%q: %v, want %v", c.in, seen, c.want)
		}
		if err != nil && len(err.Error()) > 1000 {
			t.Errorf("%q: the error is %d bytes long", c.in, len(err.Error()))
		}
	}
	if _, err := CountByForm([]byte("x" + strings.Repeat("y", 100_000))); err == nil || len(err.Error()) > 1000 {
		t.Errorf("a long one: %d bytes of error", len(err.Error()))
	}
}

// TestKindsAreApart checks that no two kinds start alike, so that the order of the table does not matter.
func TestKindsAreApart(t *testing.T) {
	for _, f := range forms {
		for _, answer := range f.good {
			for i, re := range compiled {
				seven := c1.Replace(answer)
				if loc := re.FindStringIndex(seven); loc != nil && Kinds[i].Name != f.kind && loc[1] == len(seven) {
					t.Errorf("%q is %s and %s", answer, f.kind, Kinds[i].Name)
				}
			}
		}
	}
	names := map[string]bool{}
	for _, k := range Kinds {
		if names[k.Name] {
			t.Errorf("%s is there twice", k.Name)
		}
		names[k.Name] = true
	}
}
