package vterm_test

import "testing"

// TestCursor checks cursor movement: the edges of the screen, the pending wrap, margins and origin mode, and parameters
// that are omitted, zero or huge.
//
// FEATURES: R30
func TestCursor(t *testing.T) {
	runExamples(t, []example{
		{
			name: "CUP without parameters goes home",
			spec: "ECMA-48 8.3.21: the default of both is 1",
			in:   "abc\r\ndef\x1b[Hx",
			screen: []string{
				"xbc",
				"def",
			},
			col: 1,
		},
		{
			name: "CUP with the row only",
			spec: "ECMA-48 8.3.21",
			in:   "\x1b[3Hx",
			screen: []string{
				"",
				"",
				"x",
			},
			row: 2, col: 1,
		},
		{
			name: "CUP with the column only",
			spec: "ECMA-48 8.3.21, 5.4.2 e: an empty parameter has its default",
			in:   "\x1b[;5Hx",
			screen: []string{
				"    x",
			},
			col: 5,
		},
		{
			name: "CUP takes zero for one",
			spec: "DEC STD 070, CUP; xterm ctlseqs",
			in:   "abc\x1b[0;0Hx",
			screen: []string{
				"xbc",
			},
			col: 1,
		},
		{
			name: "CUP beyond the screen goes to its corner",
			spec: "DEC STD 070, CUP",
			in:   "\x1b[999;999Hx",
			screen: []string{
				"",
				"",
				"",
				"         x",
			},
			row: 3, col: 9, pending: true,
		},
		{
			name: "CUP with a number over every bound",
			spec: "ECMA-48 5.4.1 leaves the size of parameters open; xterm clamps",
			in:   "\x1b[99999999999999999999;2Hx",
			screen: []string{
				"",
				"",
				"",
				" x",
			},
			row: 3, col: 2,
		},
		{
			name: "CUP with parameters too many",
			spec: "xterm ctlseqs: what is not expected is ignored",
			in:   "\x1b[2;3;4;5Hx",
			screen: []string{
				"",
				"  x",
			},
			row: 1, col: 3,
		},
		{
			name: "CUP with a private mark is none",
			spec: "ECMA-48 5.4.1: 3/12 to 3/15 first is for private use",
			in:   "ab\x1b[?2;2Hx\x1b[>1;1Hy\x1b[=3Hz",
			screen: []string{
				"abxyz",
			},
			col: 5,
		},
		{
			name: "CUP with an intermediate is none",
			spec: "ECMA-48 5.4: intermediates are part of the function's name",
			in:   "ab\x1b[2;2 Hx",
			screen: []string{
				"abx",
			},
			col: 3,
		},
		{
			name: "CUP ends a pending wrap",
			spec: "DEC STD 070, last column flag",
			in:   "0123456789\x1b[1;10Hx",
			screen: []string{
				"012345678x",
			},
			col: 9, pending: true,
		},
		{
			name: "HVP is CUP",
			spec: "ECMA-48 8.3.63",
			in:   "\x1b[2;4fx\x1b[fy",
			screen: []string{
				"y",
				"   x",
			},
			col: 1,
		},
		{
			name: "CUU stops at the first row",
			spec: "ECMA-48 8.3.22",
			in:   "\x1b[3;3H\x1b[9Ax",
			screen: []string{
				"  x",
			},
			col: 3,
		},
		{
			name: "CUU moves one by default and by zero",
			spec: "ECMA-48 8.3.22; DEC STD 070: zero is one",
			in:   "\x1b[4;1H\x1b[Aa\x1b[0Ab",
			screen: []string{
				"",
				" b",
				"a",
			},
			row: 1, col: 2,
		},
		{
			name: "CUU stops at the top margin from below it",
			spec: "DEC STD 070, CUU",
			in:   "\x1b[2;4r\x1b[4;1H\x1b[9Ax",
			screen: []string{
				"",
				"x",
			},
			row: 1, col: 1,
		},
		{
			name: "CUU from the top margin itself stays",
			spec: "DEC STD 070, CUU",
			in:   "\x1b[2;4r\x1b[2;1H\x1b[Ax",
			screen: []string{
				"",
				"x",
			},
			row: 1, col: 1,
		},
		{
			name: "CUU above the top margin goes to the first row",
			spec: "DEC STD 070, CUU",
			in:   "\x1b[3;4r\x1b[2;1H\x1b[9Ax",
			screen: []string{
				"x",
			},
			col: 1,
		},
		{
			name: "CUU ends a pending wrap",
			spec: "DEC STD 070, last column flag",
			in:   "\r\n0123456789\x1b[Ax",
			screen: []string{
				"         x",
				"0123456789",
			},
			col: 9, pending: true,
		},
		{
			name: "CUD stops at the last row and does not scroll",
			spec: "ECMA-48 8.3.19",
			in:   "a\x1b[9Bx",
			screen: []string{
				"a",
				"",
				"",
				" x",
			},
			row: 3, col: 2,
		},
		{
			name: "CUD stops at the bottom margin from above it",
			spec: "DEC STD 070, CUD",
			in:   "\x1b[1;3r\x1b[1;1H\x1b[9Bx",
			screen: []string{
				"",
				"",
				"x",
			},
			row: 2, col: 1,
		},
		{
			name: "CUD below the bottom margin goes to the last row",
			spec: "DEC STD 070, CUD",
			in:   "\x1b[1;2r\x1b[3;1H\x1b[9Bx",
			screen: []string{
				"",
				"",
				"",
				"x",
			},
			row: 3, col: 1,
		},
		{
			name: "CUF stops at the last column without a wrap",
			spec: "ECMA-48 8.3.20",
			in:   "\x1b[99Cx\x1b[Cy",
			screen: []string{
				"         y",
			},
			col: 9, pending: true,
		},
		{
			name: "CUF stops at the right margin from within",
			spec: "VT510, CUF and DECSLRM",
			in:   "\x1b[?69h\x1b[2;6s\x1b[1;3H\x1b[99Cx",
			screen: []string{
				"     x",
			},
			col: 5, pending: true,
		},
		{
			name: "CUF right of the right margin goes to the last column",
			spec: "VT510, CUF and DECSLRM",
			in:   "\x1b[?69h\x1b[2;4s\x1b[1;7H\x1b[99Cx",
			screen: []string{
				"         x",
			},
			col: 9, pending: true,
		},
		{
			name: "CUB stops at the first column",
			spec: "ECMA-48 8.3.18",
			in:   "abc\x1b[99Dx",
			screen: []string{
				"xbc",
			},
			col: 1,
		},
		{
			name: "CUB from a pending wrap counts from the last column",
			spec: "DEC STD 070, last column flag: the flag is no column",
			in:   "0123456789\x1b[Dx",
			screen: []string{
				"01234567x9",
			},
			col: 9,
		},
		{
			name: "CUB stops at the left margin from within",
			spec: "VT510, CUB and DECSLRM",
			in:   "\x1b[?69h\x1b[3;8s\x1b[1;6H\x1b[99Dx",
			screen: []string{
				"  x",
			},
			col: 3,
		},
		{
			name: "CUB left of the left margin goes to the first column",
			spec: "VT510, CUB and DECSLRM",
			in:   "\x1b[?69h\x1b[5;8s\x1b[1;3H\x1b[99Dx",
			screen: []string{
				"x",
			},
			col: 1,
		},
		{
			name: "CNL goes to the first column, CPL too",
			spec: "ECMA-48 8.3.12, 8.3.13",
			in:   "\x1b[2;5H\x1b[2Ex\x1b[3;5H\x1b[Fy",
			screen: []string{
				"",
				"y",
				"",
				"x",
			},
			row: 1, col: 1,
		},
		{
			name: "CNL stops at the bottom margin and goes to the left one",
			spec: "xterm, CNL with DECSLRM",
			in:   "\x1b[?69h\x1b[3;8s\x1b[1;3r\x1b[1;5H\x1b[9Ex",
			screen: []string{
				"",
				"",
				"  x",
			},
			row: 2, col: 3,
		},
		{
			name: "CPL stops at the top margin",
			spec: "xterm, CPL",
			in:   "\x1b[2;4r\x1b[4;5H\x1b[9Fx",
			screen: []string{
				"",
				"x",
			},
			row: 1, col: 1,
		},
		{
			name: "CHA and HPA count columns from one",
			spec: "ECMA-48 8.3.9, 8.3.57",
			in:   "\x1b[5Ga\x1b[2`b\x1b[Gc\x1b[99Gd",
			screen: []string{
				"cb  a    d",
			},
			col: 9, pending: true,
		},
		{
			name: "CHA counts from the left margin in origin mode",
			spec: "VT510, DECOM with DECSLRM; xterm",
			in:   "\x1b[?69h\x1b[3;8s\x1b[?6h\x1b[2Gx\x1b[99Gy",
			screen: []string{
				"   x   y",
			},
			col: 7, pending: true,
		},
		{
			name: "VPA keeps the column",
			spec: "ECMA-48 8.3.158",
			in:   "abc\x1b[3dx\x1b[dy\x1b[99dz",
			screen: []string{
				"abc y",
				"",
				"   x",
				"     z",
			},
			row: 3, col: 6,
		},
		{
			name: "VPA in origin mode stays between the margins",
			spec: "VT510, DECOM",
			in:   "\x1b[2;3r\x1b[?6h\x1b[99dx\x1b[dy",
			screen: []string{
				"",
				" y",
				"x",
			},
			row: 1, col: 2,
		},
		{
			name: "HPR and VPR move by what is said",
			spec: "ECMA-48 8.3.59, 8.3.160",
			in:   "\x1b[3ax\x1b[2ey\x1b[9a\x1b[9ez",
			screen: []string{
				"   x",
				"",
				"    y",
				"         z",
			},
			row: 3, col: 9, pending: true,
		},
		{
			name: "VPR does not heed the bottom margin, as VPA does not",
			spec: "xterm, VPR; VT510 limits it to the page",
			in:   "\x1b[1;2r\x1b[1;1H\x1b[9ex",
			screen: []string{
				"",
				"",
				"",
				"x",
			},
			row: 3, col: 1,
		},
		{
			name: "BS stops at the first column",
			spec: "ECMA-48 8.3.5; DEC STD 070, BS",
			in:   "a\b\b\bx",
			screen: []string{
				"x",
			},
			col: 1,
		},
		{
			name: "BS from a pending wrap goes to the last column but one",
			spec: "DEC STD 070, last column flag; xterm",
			in:   "0123456789\bx",
			screen: []string{
				"01234567x9",
			},
			col: 9,
		},
		{
			name: "BS does not go back to the line before",
			spec: "DEC STD 070, BS",
			in:   "0123456789a\b\b\bx",
			screen: []string{
				"0123456789",
				"x",
			},
			row: 1, col: 1,
		},
		{
			name: "BS wraps back with mode 45",
			spec: "xterm ctlseqs, DECSET 45",
			in:   "\x1b[?45h0123456789ab\b\b\bx",
			screen: []string{
				"012345678x",
				"ab",
			},
			row: 0, col: 9, pending: true,
		},
		{
			name: "reverse wrap needs autowrap",
			spec: "xterm ctlseqs, DECSET 45",
			in:   "\x1b[?45h\x1b[2;2H\x1b[?7l\b\b\bx",
			screen: []string{
				"",
				"x",
			},
			row: 1, col: 1,
		},
		{
			name: "reverse wrap goes from the first row to the last",
			spec: "xterm ctlseqs, DECSET 1045",
			in:   "\x1b[?1045h\x1b[1;1H\bx",
			screen: []string{
				"",
				"",
				"",
				"         x",
			},
			row: 3, col: 9, pending: true,
		},
		{
			name: "reverse wrap stays between the margins",
			spec: "xterm ctlseqs, DECSET 45 and DECSLRM",
			in:   "\x1b[?45h\x1b[?69h\x1b[3;6s\x1b[2;3r\x1b[3;3H\bx",
			screen: []string{
				"",
				"     x",
			},
			row: 1, col: 5, pending: true,
		},
		{
			name: "CR goes to the left margin from within",
			spec: "VT510, CR and DECSLRM",
			in:   "\x1b[?69h\x1b[3;8s\x1b[1;6H\rx",
			screen: []string{
				"  x",
			},
			col: 3,
		},
		{
			name: "CR goes to the first column from left of the margin",
			spec: "VT510, CR and DECSLRM",
			in:   "\x1b[?69h\x1b[3;8s\x1b[1;2H\rx",
			screen: []string{
				"x",
			},
			col: 1,
		},
		{
			name: "CR goes to the left margin in origin mode",
			spec: "VT510, CR and DECOM",
			in:   "\x1b[?69h\x1b[3;8s\x1b[?6h\rx",
			screen: []string{
				"  x",
			},
			col: 3,
		},
		{
			name: "CR ends a pending wrap",
			spec: "DEC STD 070, last column flag",
			in:   "0123456789\rx",
			screen: []string{
				"x123456789",
			},
			col: 1,
		},
		{
			name: "DECOM sends the cursor home, on and off",
			spec: "VT510, DECOM",
			in:   "\x1b[2;3r\x1b[4;5H\x1b[?6ha\x1b[?6lb",
			screen: []string{
				"b",
				"a",
			},
			col: 1,
		},
		{
			name: "CUP in origin mode cannot leave the margins",
			spec: "VT510, DECOM",
			in:   "\x1b[?69h\x1b[3;6s\x1b[2;3r\x1b[?6h\x1b[99;99Hx",
			screen: []string{
				"",
				"",
				"     x",
			},
			row: 2, col: 5, pending: true,
		},
		{
			name: "DECOM without margins counts from the corner",
			spec: "VT510, DECOM",
			in:   "\x1b[?6h\x1b[2;2Hx",
			screen: []string{
				"",
				" x",
			},
			row: 1, col: 2,
		},
		{
			name: "DECSC and DECRC keep position and pending wrap",
			spec: "VT510, DECSC; xterm keeps the flag",
			in:   "0123456789\x1b7\x1b[3;3Hx\x1b8y",
			screen: []string{
				"0123456789",
				"y",
				"  x",
			},
			row: 1, col: 1,
		},
		{
			name: "a hidden cursor moves as a shown one",
			spec: "VT510, DECTCEM",
			in:   "\x1b[?25lab\x1b[2;2Hc",
			screen: []string{
				"ab",
				" c",
			},
			row: 1, col: 2, hidden: true,
		},
		{
			name: "LF from a pending wrap keeps the last column",
			spec: "DEC STD 070, last column flag: LF ends the flag and moves down",
			in:   "0123456789\nx",
			screen: []string{
				"0123456789",
				"         x",
			},
			row: 1, col: 9, pending: true,
		},
		{
			name: "IND and RI keep the column",
			spec: "ECMA-48 (4th edition) IND, 8.3.104 RI",
			in:   "ab\x1bDc\x1bMd",
			screen: []string{
				"ab d",
				"  c",
			},
			col: 4,
		},
		{
			name: "NEL goes to the left margin",
			spec: "ECMA-48 8.3.86; VT510 with DECSLRM",
			in:   "\x1b[?69h\x1b[3;8s\x1b[1;6H\x1bEx",
			screen: []string{
				"",
				"  x",
			},
			row: 1, col: 3,
		},
		{
			name: "8-bit forms of IND, NEL, HTS and RI",
			spec: "ECMA-48 8.2.1: C1 in 8 bits; here encoded in UTF-8",
			in:   "a\u0084b\u0085c\u008dd",
			screen: []string{
				"a",
				" d",
				"c",
			},
			row: 1, col: 2,
		},
	})
}

// TestCursorShape: DECSCUSR, blink and visibility are of the cursor, and survive what they should.
func TestCursorShape(t *testing.T) {
	for _, c := range []struct {
		in, asked string // input, and DECRQSS's answer
	}{
		{"", "2"},
		{"\x1b[ q", "1"},
		{"\x1b[0 q", "1"},
		{"\x1b[1 q", "1"},
		{"\x1b[2 q", "2"},
		{"\x1b[3 q", "3"},
		{"\x1b[4 q", "4"},
		{"\x1b[5 q", "5"},
		{"\x1b[6 q", "6"},
		{"\x1b[4 q\x1b[7 q", "4"},           // none such
		{"\x1b[4 q\x1b[99 q", "4"},          // nor such a style
		{"\x1b[4 q\x1b[?12h", "3"},          // xterm: mode 12 is the blinking
		{"\x1b[3 q\x1b[?12l", "4"},          // and its end
		{"\x1b[6 q\x1b[!p", "6"},            // DECSTR leaves the shape
		{"\x1b[6 q\x1bc", "2"},              // RIS does not
		{"\x1b[6 q\x1b[?1049h", "6"},        // one shape for both screens
		{"\x1b[6 q\x1b7\x1b[2 q\x1b8", "2"}, // DECSC does not keep it
	} {
		term := (&example{}).terminal()
		write(term, c.in)
		_ = term.Replies(nil)
		write(term, "\x1bP$q q\x1b\\")
		if got, want := string(term.Replies(nil)), "\x1bP1$r"+c.asked+" q\x1b\\"; got != want {
			t.Errorf("%q: %q, want %q", c.in, got, want)
		}
	}
}
