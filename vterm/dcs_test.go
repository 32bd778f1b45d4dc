package vterm_test

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/vterm"
)

// TestSwallowed checks that functions that print, define keys or glyphs or move a pen are consumed completely: nothing
// is shown or answered, and the following text is in place.
//
// FEATURES: R30
func TestSwallowed(t *testing.T) {
	for name, in := range map[string]string{
		"MC: print the page":           "\x1b[i\x1b[0i\x1b[1i\x1b[2i",
		"MC: printer controller":       "\x1b[5iprinted?\x1b[4i",
		"DECMC":                        "\x1b[?i\x1b[?1i\x1b[?4i\x1b[?5i\x1b[?10i\x1b[?11i",
		"DECPFF and DECPEX":            "\x1b[?18h\x1b[?19l",
		"DECUDK":                       "\x1bP0;1|17/6c730d\x1b\\",
		"DECDLD":                       "\x1bP1;1;1;10;0;2;20;0{ @????/????\x1b\\",
		"XTSETTCAP":                    "\x1bP+p544e=78\x1b\\",
		"ReGIS":                        "\x1bP0pP[100,100]V[200,200]\x1b\\",
		"an unknown DCS":               "\x1bP1;2;3zdata\x1b\\\x1bP$zdata\x1b\\\x1bP>|x\x1b\\",
		"a DCS without a final byte":   "\x1bP1;2;3\x1b\\",
		"APC, PM and SOS":              "\x1b_anything\x1b\\\x1b^privacy\x1b\\\x1bXstart\x1b\\",
		"DECLL: lights":                "\x1b[q\x1b[0q\x1b[1;2;3q",
		"locator":                      "\x1b[1;2'z\x1b[1;1;2;2'w\x1b[1;3'{",
		"DECSMBV, DECSWBV: bells":      "\x1b[8 u\x1b[8 t",
		"DECSCS, DECSKCV, DECELF":      "\x1b[1 r\x1b[1 =\x1b[1;1+q",
		"XTPUSHSGR's old form":         "\x1b[#p\x1b[#q",
		"ISO 2022 announcements":       "\x1b A\x1b B\x1b %@\x1b%/G",
		"a soft hyphen is a character": "",
	} {
		term := (&example{}).terminal()
		write(term, "a"+in+"b")
		got := firstRow(term)
		if name == "MC: printer controller" { // text for a printer is shown here
			got = strings.ReplaceAll(got, "printed?", "")
		}
		if got != "ab" {
			t.Errorf("%s: %q shows %q", name, in, got)
		}
		if r := term.Replies(nil); len(r) > 0 {
			t.Errorf("%s: %q is answered %q", name, in, r)
		}
		if e := eventsOf(term); len(e) > 0 {
			t.Errorf("%s: %q reports %q", name, in, e)
		}
	}
}

// TestPictures: where the cursor goes with a picture, and what of the text it covers.
//
// FEATURES: R30
func TestPictures(t *testing.T) {
	const one = "f=24,s=1,v=1" // a picture of one pixel
	runExamples(t, []example{
		{
			name:   "kitty: the cursor goes behind the last row of the picture",
			spec:   "kitty graphics protocol, C=0",
			in:     "\x1b_Ga=T," + one + ",c=3,r=2;AAAA\x1b\\x",
			screen: []string{"", "   x"},
			row:    1, col: 4,
		},
		{
			name:   "kitty: or stays",
			spec:   "kitty graphics protocol, C=1",
			in:     "ab\x1b_Ga=T,C=1," + one + ",c=3,r=2;AAAA\x1b\\x",
			screen: []string{"abx"},
			col:    3,
		},
		{
			name:    "kitty: stored is not shown",
			spec:    "kitty graphics protocol, a=t",
			in:      "\x1b_Ga=t,i=5," + one + ";AAAA\x1b\\x",
			screen:  []string{"x"},
			col:     1,
			replies: "\x1b_Gi=5;OK\x1b\\",
		},
		{
			name:   "kitty: quiet",
			spec:   "kitty graphics protocol, q=1 and q=2",
			in:     "\x1b_Ga=t,q=1,i=5," + one + ";AAAA\x1b\\\x1b_Ga=p,q=2,i=6;\x1b\\x",
			screen: []string{"x"},
			col:    1,
		},
		{
			name:    "kitty: a question shows and keeps nothing",
			spec:    "kitty graphics protocol, a=q",
			in:      "\x1b_Ga=q,i=5," + one + ";AAAA\x1b\\\x1b_Ga=p,i=5;\x1b\\x",
			screen:  []string{"x"},
			col:     1,
			replies: "\x1b_Gi=5;OK\x1b\\\x1b_Gi=5;ENOENT:no such image\x1b\\",
		},
		{
			name:   "kitty: text over it takes its place",
			spec:   "here: a cell is a picture's or a character's",
			in:     "\x1b_Ga=T," + one + ",c=3,r=1;AAAA\x1b\\\x1b[1;2Hx",
			screen: []string{" x"},
			col:    2,
		},
		{
			name:   "sixel: the cursor goes to the row of the last sixels",
			spec:   "xterm, DECSDM reset",
			in:     "\r\nab\x1bPq\"1;1;8;32~\x1b\\x",
			screen: []string{"", "ab", "  x"},
			row:    2, col: 3,
		},
		{
			name:   "sixel: with DECSDM it does not move",
			spec:   "VT340, DECSDM",
			in:     "ab\x1b[?80h\x1bPq\"1;1;8;16~\x1b\\x",
			screen: []string{" bx"},
			col:    3,
		},
		{
			name:   "sixel: empty",
			spec:   "VT340",
			in:     "a\x1bPq\x1b\\b",
			screen: []string{"ab"},
			col:    2,
		},
	})
}

// TestOptions checks the effect and the limits of each option.
func TestOptions(t *testing.T) {
	for _, c := range []struct {
		name    string
		o       vterm.Options
		in      string
		replies string
	}{
		{"the defaults", vterm.Options{}, "\x1b[18t\x1b[14t\x1b[16t", "\x1b[8;24;80t\x1b[4;384;640t\x1b[6;16;8t"},
		{"a size", vterm.Options{Cols: 100, Rows: 30}, "\x1b[18t", "\x1b[8;30;100t"},
		{"too large", vterm.Options{Cols: 1 << 20, Rows: 1}, "\x1b[18t", "\x1b[8;1;4096t"},
		{"too small", vterm.Options{Cols: -1, Rows: -1}, "\x1b[18t", "\x1b[8;1;1t"},
		{"cells", vterm.Options{Cols: 10, Rows: 10, CellWidth: 9, CellHeight: 18}, "\x1b[14t\x1b[16t", "\x1b[4;180;90t\x1b[6;18;9t"},
		{"a light scheme", vterm.Options{LightScheme: true}, "\x1b[?996n", "\x1b[?997;2n"},
		{"new lines", vterm.Options{NewLine: true}, "abc\nd\x1b[6n\x1b[20$p", "\x1b[2;2R\x1b[20;1$y"},
		{"and RIS keeps them", vterm.Options{NewLine: true, LegacyWidth: true}, "\x1bc\x1b[20$p\x1b[?2027$p", "\x1b[20;1$y\x1b[?2027;2$y"},
	} {
		term := vterm.New(c.o)
		write(term, c.in)
		if got := string(term.Replies(nil)); got != c.replies {
			t.Errorf("%s: %q, want %q", c.name, got, c.replies)
		}
	}
	for _, c := range []struct {
		cols, rows int
		valid      bool
	}{{1, 1, true}, {4096, 4096, true}, {0, 1, false}, {1, 0, false}, {4097, 1, false}, {1, 4097, false}, {-1, -1, false}} {
		if got := vterm.ValidSize(c.cols, c.rows); got != c.valid {
			t.Errorf("%dx%d: valid %t", c.cols, c.rows, got)
		}
	}
}

// TestDamagedSnapshots checks that a snapshot that is damaged anywhere is rejected, and that the terminal is as new.
//
// FEATURES: R93
func TestDamagedSnapshots(t *testing.T) {
	term := (&example{}).terminal()
	write(term, full+"\x1b[1;31m你好e\u0301\x1b]2;title\a\x1b[?1049h\x1b]8;;u\alink\x1b[2;3r\x1b[12;")
	snapshot := term.AppendSnapshot(nil)
	fresh := func(t2 *vterm.Terminal) bool {
		var f vterm.Frame
		t2.Frame(&f, vterm.Query{})
		return len(rowsShown(&f)) == 0 && f.Title == "" && !f.Alt && t2.History().Len() == 0
	}
	for i := range snapshot {
		for name, damaged := range map[string][]byte{
			"cut":     snapshot[:i],
			"flipped": append(append(append([]byte(nil), snapshot[:i]...), snapshot[i]^0x55), snapshot[i+1:]...),
		} {
			again := (&example{}).terminal()
			write(again, "before")
			if err := again.Restore(damaged); err == nil {
				t.Fatalf("%s at %d: restored", name, i)
			}
			if !fresh(again) {
				t.Fatalf("%s at %d: the terminal is not as new", name, i)
			}
		}
	}
	if err := (&example{}).terminal().Restore(append(snapshot, 0)); err == nil {
		t.Error("with a byte more: restored")
	}
	if err := (&example{}).terminal().Restore(nil); err == nil {
		t.Error("an empty snapshot: restored")
	}
	again := (&example{}).terminal()
	if err := again.Restore(snapshot); err != nil {
		t.Fatal(err)
	}
	if a, b := everything(term), everything(again); a != b {
		t.Error(difference(b, a))
	}
}
