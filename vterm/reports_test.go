package vterm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/vterm"
)

// answer returns the reply to a query on a screen of 10 columns and 4 rows.
type answer struct {
	name, spec, in, want string
}

func checkAnswers(t *testing.T, answers []answer) {
	t.Helper()
	for _, a := range answers {
		term := (&example{}).terminal()
		write(term, a.in)
		if got := string(term.Replies(nil)); got != a.want {
			t.Errorf("%s (%s): %q is answered %q, want %q", a.name, a.spec, a.in, got, a.want)
		}
		if got := term.Replies(nil); len(got) > 0 {
			t.Errorf("%s: answered once more: %q", a.name, got)
		}
		bytewise := (&example{}).terminal()
		for i := range len(a.in) {
			write(bytewise, a.in[i:i+1])
		}
		if got := string(bytewise.Replies(nil)); got != a.want {
			t.Errorf("%s: %q a byte at a time is answered %q, want %q", a.name, a.in, got, a.want)
		}
	}
}

// TestReports checks the terminal's reports of itself, of its cursor and its size.
//
// FEATURES: R30
func TestReports(t *testing.T) {
	const primary = ";1;2;4;6;9;15;16;17;18;21;22;28;29c"
	checkAnswers(t, []answer{
		{"DA1", "VT510, DA1", "\x1b[c\x1b[0c", "\x1b[?65" + primary + "\x1b[?65" + primary},
		{"DA1 of another kind", "VT510, DA1", "\x1b[1c\x1b[5c", ""},
		{"DA1 with a prefix that is none", "ECMA-48 5.4.1", "\x1b[?c\x1b[<c", ""},
		{"DECID", "VT510, DECID", "\x1bZ\u009a", "\x1b[?65" + primary + "\x1b[?65" + primary},
		{"DA1 at level 1", "DEC STD 070: a VT102", "\x1b[61\"p\x1b[c", "\x1b[?1;2c"},
		{"DA1 at level 2", "VT510, DECSCL", "\x1b[62\"p\x1b[c", "\x1b[?62" + primary},
		{"DA2", "VT510, DA2; xterm's patch in the middle", "\x1b[>c\x1b[>0c\x1b[>1c", "\x1b[>64;398;0c\x1b[>64;398;0c"},
		{"DA2 at lower levels", "xterm, DA2", "\x1b[61\"p\x1b[>c\x1b[62\"p\x1b[>c\x1b[63\"p\x1b[>c\x1b[64\"p\x1b[>c", "\x1b[>0;398;0c\x1b[>1;398;0c\x1b[>24;398;0c\x1b[>41;398;0c"},
		{"DA3", "VT510, DA3", "\x1b[=c\x1b[=1c", "\x1bP!|00000000\x1b\\"},
		{"XTVERSION", "xterm ctlseqs", "\x1b[>q\x1b[>0q\x1b[>1q", "\x1bP>|longterm(1)\x1b\\\x1bP>|longterm(1)\x1b\\"},
		{"DSR 5", "ECMA-48 8.3.35", "\x1b[5n", "\x1b[0n"},
		{"DSR of other kinds", "ECMA-48 8.3.35", "\x1b[n\x1b[0n\x1b[1n\x1b[7n", ""},

		{"CPR", "ECMA-48 8.3.14", "\x1b[6n\x1b[3;5H\x1b[6n\x1b[99;99H\x1b[6n", "\x1b[1;1R\x1b[3;5R\x1b[4;10R"},
		{"CPR with a pending wrap", "xterm: it is the last column", "0123456789\x1b[6n", "\x1b[1;10R"},
		{"CPR in origin mode", "VT510, CPR and DECOM", "\x1b[?69h\x1b[3;8s\x1b[2;4r\x1b[?6h\x1b[2;3H\x1b[6n", "\x1b[2;3R"},
		{"CPR out of the margins in origin mode", "here: DECRC brings the cursor within", "\x1b[2;4r\x1b[?6h\x1b[6n", "\x1b[1;1R"},
		{"DECXCPR", "VT510, DECXCPR: the page too", "\x1b[2;3H\x1b[?6n", "\x1b[?2;3;1R"},
		{"DECXCPR in origin mode", "VT510, DECXCPR", "\x1b[2;4r\x1b[?6h\x1b[3;3H\x1b[?6n", "\x1b[?3;3;1R"},
		{"no printer", "VT510, DSR 15", "\x1b[?15n", "\x1b[?13n"},
		{"keys are not locked", "VT510, DSR 25", "\x1b[?25n", "\x1b[?20n"},
		{"keyboard", "VT510, DSR 26", "\x1b[?26n", "\x1b[?27;1;0;0n"},
		{"no locator", "VT510, DSR 53, 55 and 56", "\x1b[?53n\x1b[?55n\x1b[?56n", "\x1b[?50n\x1b[?50n\x1b[?57;0n"},
		{"macro space", "VT510, DSR 62", "\x1b[?62n", "\x1b[0000*{"},
		{"memory checksum", "VT510, DSR 63", "\x1b[?63;12n\x1b[?63n", "\x1bP12!~0000\x1b\\\x1bP0!~0000\x1b\\"},
		{"data integrity", "VT510, DSR 75", "\x1b[?75n", "\x1b[?70n"},
		{"no sessions", "VT510, DSR 85", "\x1b[?85n", "\x1b[?83n"},
		{"colour scheme", "contour, DSR 996", "\x1b[?996n", "\x1b[?997;1n"},
		{"private reports of other kinds", "VT510", "\x1b[?1n\x1b[?99n\x1b[?n", ""},
		{"DECREQTPARM", "VT100, DECREQTPARM", "\x1b[x\x1b[0x\x1b[1x\x1b[2x", "\x1b[2;1;1;128;128;1;0x\x1b[2;1;1;128;128;1;0x\x1b[3;1;1;128;128;1;0x"},
		{"DECRQUPSS", "VT510, DECRQUPSS", "\x1b[&u", "\x1bP0!u%5\x1b\\"},
		{"no locator events", "xterm ctlseqs, DECRQLP", "\x1b['|", "\x1b[0&w"},
		{"colours pushed", "xterm ctlseqs, XTREPORTCOLORS", "\x1b[#P\x1b[#P\x1b[#R\x1b[#Q\x1b[#R", "\x1b[?2;2#Q\x1b[?1;1#Q"},
		{"graphics", "xterm ctlseqs, XTSMGRAPHICS", "\x1b[?1;1S\x1b[?2;1S\x1b[?3;1S\x1b[?1;9S", "\x1b[?1;0;256S\x1b[?2;0;80;64S\x1b[?3;1S\x1b[?1;2S"},
		{"XTQMODKEYS", "xterm ctlseqs", "\x1b[?4m\x1b[>4;2m\x1b[?4m\x1b[?1m\x1b[?99m", "\x1b[>4;0m\x1b[>4;2m\x1b[>1;0m"},
	})
}

// TestSettings: DECRQSS for each setting, at first and when it is changed.
//
// FEATURES: R30
func TestSettings(t *testing.T) {
	for _, c := range []struct{ name, in, setting, want string }{
		{"rendition", "", "m", "0m"},
		{"margins", "", "r", "1;4r"},
		{"margins set", "\x1b[2;3r", "r", "2;3r"},
		{"margins refused", "\x1b[3;2r", "r", "1;4r"},
		{"side margins", "", "s", "1;10s"},
		{"side margins set", "\x1b[?69h\x1b[3;8s", "s", "3;8s"},
		{"lines", "", "t", "4t"},
		{"columns of a page", "", "$|", "10$|"},
		{"lines of a screen", "", "*|", "4*|"},
		{"cursor", "\x1b[5 q", " q", "5 q"},
		{"protection", "", "\"q", "0\"q"},
		{"protection set", "\x1b[1\"q", "\"q", "1\"q"},
		{"protection ended", "\x1b[1\"q\x1b[2\"q", "\"q", "0\"q"},
		{"guarding is protection", "\x1bV", "\"q", "1\"q"},
		{"level", "", "\"p", "65;1\"p"},
		{"a lower level", "\x1b[63;1\"p", "\"p", "63;1\"p"},
		{"level 1", "\x1b[61\"p", "\"p", "61\"p"},
		{"a level that is none", "\x1b[66\"p\x1b[60\"p", "\"p", "65;1\"p"},
		{"extent", "", "*x", "0*x"},
		{"extent set", "\x1b[2*x", "*x", "2*x"},
		{"status line", "", "$}", "0$}"},
		{"status display", "", "$~", "0$~"},
		{"other keys", "\x1b[>4;1m", ">4m", ">4;1m"},
	} {
		term := (&example{}).terminal()
		write(term, c.in+"\x1bP$q"+c.setting+"\x1b\\")
		if got, want := string(term.Replies(nil)), "\x1bP1$r"+c.want+"\x1b\\"; got != want {
			t.Errorf("%s: %q, want %q", c.name, got, want)
		}
	}
	for _, unknown := range []string{"", "x", "zz", "mm", "m;PWN", "\"x", " m", strings.Repeat("m", 1000)} {
		term := (&example{}).terminal()
		write(term, "\x1bP$q"+unknown+"\x1b\\")
		if got := string(term.Replies(nil)); got != "\x1bP0$r\x1b\\" {
			t.Errorf("%.20q: %q", unknown, got)
		}
	}
}

// TestCapabilities checks that XTGETTCAP answers known names, up to the first unknown one, and never repeats unknown
// text.
func TestCapabilities(t *testing.T) {
	hex := func(s string) string { return fmt.Sprintf("%X", s) }
	known := func(name, value string) string { return "\x1bP1+r" + hex(name) + "=" + hex(value) + "\x1b\\" }
	for _, c := range []struct{ in, want string }{
		{hex("TN"), known("TN", "xterm-256color")},
		{strings.ToLower(hex("TN")), known("TN", "xterm-256color")},
		{hex("Co"), known("Co", "256")},
		{hex("RGB"), known("RGB", "8/8/8")},
		{hex("Tc"), "\x1bP1+r5463=\x1b\\"},
		{hex("Co") + ";" + hex("TN"), known("Co", "256") + known("TN", "xterm-256color")},
		{hex("Co") + ";" + hex("none") + ";" + hex("TN"), known("Co", "256") + "\x1bP0+r\x1b\\"},
		{hex("none"), "\x1bP0+r\x1b\\"},
		{"", "\x1bP0+r\x1b\\"},
		{"5", "\x1bP0+r\x1b\\"},
		{"zz", "\x1bP0+r\x1b\\"},
		{"touch PWN", "\x1bP0+r\x1b\\"},
	} {
		term := (&example{}).terminal()
		write(term, "\x1bP+q"+c.in+"\x1b\\")
		if got := string(term.Replies(nil)); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}

// TestPresentation checks DECCIR in both directions: the restored state is the reported one.
//
// FEATURES: R30
func TestPresentation(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"at first", "", "1;1;1;@;@;@;0;2;@;BBBB"},
		{"position", "\x1b[3;4H", "3;4;1;@;@;@;0;2;@;BBBB"},
		{"pending wrap", "0123456789", "1;10;1;@;@;H;0;2;@;BBBB"},
		{"bold and inverse", "\x1b[1;7m", "1;1;1;I;@;@;0;2;@;BBBB"},
		{"underline and blink", "\x1b[4;5m", "1;1;1;F;@;@;0;2;@;BBBB"},
		{"protection", "\x1b[1\"q", "1;1;1;@;A;@;0;2;@;BBBB"},
		{"origin mode", "\x1b[2;3r\x1b[?6h\x1b[2;2H", "2;2;1;@;@;A;0;2;@;BBBB"},
		{"single shift", "\x1bN", "1;1;1;@;@;B;0;2;@;BBBB"},
		{"the other", "\x1bO", "1;1;1;@;@;D;0;2;@;BBBB"},
		{"sets", "\x1b(0\x1b)>\x1b-A\x1b+<", "1;1;1;@;@;@;0;2;B;0AB<"},
		{"shifts", "\x1bn\x1b~", "1;1;1;@;@;@;2;1;@;BBBB"},
	} {
		term := (&example{}).terminal()
		write(term, c.in+"\x1b[1$w")
		got := string(term.Replies(nil))
		if want := "\x1bP1$u" + c.want + "\x1b\\"; got != want {
			t.Errorf("%s: %q, want %q", c.name, got, want)
		}
		if strings.Contains(c.name, "single") || c.name == "the other" {
			continue // the report does not bring these back
		}
		again := (&example{}).terminal()
		write(again, "\x1b[2;3r\x1bP1$t"+c.want+"\x1b\\\x1b[1$w")
		if back := string(again.Replies(nil)); back != got {
			t.Errorf("%s: restored it is %q, was %q", c.name, back, got)
		}
	}
	term := (&example{}).terminal()
	for _, bad := range []string{"", "1", "1;1;1;@;@;@;0;2;@", "x;1;1;@;@;@;0;2;@;BBBB", "1;x;1;@;@;@;0;2;@;BBBB", "1;1;1;;@;@;0;2;@;BBBB"} {
		write(term, "\x1b[2;2H\x1bP1$t"+bad+"\x1b\\\x1b[6n")
		if got := string(term.Replies(nil)); got != "\x1b[2;2R" {
			t.Errorf("%q moves the cursor: %q", bad, got)
		}
	}
	write(term, "\x1bP1$t99;99;1;@;@;@;9;9;@;BBBB\x1b\\\x1b[6nq")
	if got := string(term.Replies(nil)); got != "\x1b[4;10R" || unsound(term) != "" {
		t.Errorf("beyond the screen: %q, %s", got, unsound(term))
	}
}

// TestChecksum checks DECRQCRA, the negated sum of the shown cells, and the flags of XTCHECKSUM.
func TestChecksum(t *testing.T) {
	for _, c := range []struct {
		name, in string
		sum      int
	}{
		{"one letter", "A\x1b[7;1;1;1;1;1*y", -'A'},
		{"two letters", "AB\x1b[7;1;1;1;1;2*y", -'A' - 'B'},
		{"a cell that nothing was written to is a space", "\x1b[7;1;1;1;1;1*y", -' '},
		{"the page is not looked at", "A\x1b[7;9;1;1;1;1*y", -'A'},
		{"two rows", "A\r\nB\x1b[7;1;1;1;2;1*y", -'A' - 'B'},
		{"without negation", "A\x1b[1#y\x1b[7;1;1;1;1;1*y", 'A'},
		{"without cells never written", "A\x1b[9#y\x1b[7;1;1;1;1;5*y", 'A'},
		{"a wide character counts once", "你\x1b[1#y\x1b[7;1;1;1;1;2*y", '你' & 0xffff},
		{"of a cluster its first", "e\u0301\x1b[1#y\x1b[7;1;1;1;1;1*y", 'e'},
		{"counted from the margins in origin mode", "A\r\n B\x1b[?69h\x1b[2;9s\x1b[2;3r\x1b[?6h\x1b[1#y\x1b[7;1;1;1;1;1*y", 'B'},
		{"upside down", "A\x1b[7;1;3;1;2;1*y", 0},
	} {
		term := (&example{}).terminal()
		write(term, c.in)
		if got, want := string(term.Replies(nil)), fmt.Sprintf("\x1bP7!~%04X\x1b\\", uint16(c.sum)); got != want {
			t.Errorf("%s: %q, want %q", c.name, got, want)
		}
	}
}

// TestWindowOps checks XTWINOPS and its siblings: sizes queried, and sizes requested.
//
// FEATURES: R30
func TestWindowOps(t *testing.T) {
	for _, c := range []struct {
		name, spec, in string
		fixed          bool
		replies        string
		events         string
		cols, rows     int
	}{
		{"sizes", "xterm ctlseqs, CSI 14, 15, 16, 18 and 19 t", "\x1b[14t\x1b[15t\x1b[16t\x1b[18t\x1b[19t", false, "\x1b[4;64;80t\x1b[5;64;80t\x1b[6;16;8t\x1b[8;4;10t\x1b[9;4;10t", "", 10, 4},
		{"state and position", "xterm ctlseqs, CSI 11 and 13 t", "\x1b[11t\x1b[13t", false, "\x1b[1t\x1b[3;0;0t", "", 10, 4},
		{"titles are not told", "CVE-2003-0063: output would be input", "\x1b]0;rm -rf\a\x1b[20t\x1b[21t", false, "\x1b]L\x1b\\\x1b]l\x1b\\", "icon |rm -rf, title |rm -rf", 10, 4},
		{"another size", "xterm ctlseqs, CSI 8 t", "\x1b[8;5;20t\x1b[18t", false, "\x1b[8;5;20t", "resize ||1310725", 20, 5},
		{"the rows only", "xterm ctlseqs: an omitted size stays", "\x1b[8;6t", false, "", "resize ||655366", 10, 6},
		{"the columns only", "xterm ctlseqs: an omitted size stays", "\x1b[8;;30t", false, "", "resize ||1966084", 30, 4},
		{"no size", "xterm ctlseqs", "\x1b[8t", false, "", "resize ||655364", 10, 4},
		{"a huge size is told only", "here: 2^18 cells", "\x1b[8;4000;4000t", false, "", "resize ||262148000", 10, 4},
		{"beyond the largest", "here: 4096", "\x1b[8;65535;1t", false, "", fmt.Sprintf("resize ||%d", 1<<16|4096), 1, 4096},
		{"a fixed size is told only", "Options.FixedSize", "\x1b[8;5;20t\x1b[18t", true, "\x1b[8;4;10t", "resize ||1310725", 10, 4},
		{"DECSLPP", "VT510, DECSLPP: 24 lines and more", "\x1b[24t", false, "", "resize ||655384", 10, 24},
		{"DECSCPP", "VT510, DECSCPP", "\x1b[132$|", false, "", "resize ||8650756", 132, 4},
		{"DECSCPP without a number", "VT510, DECSCPP: 80", "\x1b[$|", false, "", "resize ||5242884", 80, 4},
		{"DECSCPP of another number", "VT510, DECSCPP", "\x1b[100$|", false, "", "", 10, 4},
		{"DECSNLS", "VT510, DECSNLS", "\x1b[7*|", false, "", "resize ||655367", 10, 7},
		{"DECSNLS of none", "VT510, DECSNLS", "\x1b[0*|\x1b[256*|", false, "", "", 10, 4},
		{"DECCOLM needs mode 40", "xterm ctlseqs, DECSET 40", "\x1b[?3h", false, "", "", 10, 4},
		{"DECCOLM", "VT510, DECCOLM", "\x1b[?40h\x1b[?3h", false, "", "resize ||8650756", 132, 4},
		{"DECCOLM there and back", "VT510, DECCOLM", "\x1b[?40h\x1b[?3h\x1b[?3l", false, "", "resize ||8650756, resize ||5242884", 80, 4},
	} {
		term := (&example{options: vterm.Options{FixedSize: c.fixed}}).terminal()
		write(term, c.in)
		if got := string(term.Replies(nil)); got != c.replies {
			t.Errorf("%s (%s): %q is answered %q, want %q", c.name, c.spec, c.in, got, c.replies)
		}
		if got := strings.Join(eventsOf(term), ", "); got != c.events {
			t.Errorf("%s (%s): %q reports %q, want %q", c.name, c.spec, c.in, got, c.events)
		}
		var f vterm.Frame
		term.Frame(&f, vterm.Query{})
		if f.Cols != c.cols || f.Rows != c.rows {
			t.Errorf("%s (%s): %q gives %dx%d, want %dx%d", c.name, c.spec, c.in, f.Cols, f.Rows, c.cols, c.rows)
		}
	}
	runExamples(t, []example{
		{
			name:    "DECCOLM clears, drops the margins and goes home",
			spec:    "VT510, DECCOLM",
			in:      full + "\x1b[?40h\x1b[?69h\x1b[3;6s\x1b[2;3r\x1b[3;3H\x1b[?3lx\x1bP$qr\x1b\\\x1bP$qs\x1b\\",
			screen:  []string{"x"},
			col:     1,
			replies: "\x1bP1$r1;4r\x1b\\\x1bP1$r1;80s\x1b\\",
		},
		{
			name:   "with DECNCSM it does not clear",
			spec:   "VT510, DECNCSM",
			in:     "abc\x1b[?40h\x1b[?95h\x1b[?3lx",
			screen: []string{"xbc"},
			col:    1,
		},
	})
}
