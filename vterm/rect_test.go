package vterm_test

import (
	"fmt"
	"testing"

	"github.com/longterm-dev/longterm/vterm"
)

// TestRectangles checks rectangles: filling, copying, erasing and changing the cells within four edges.
//
// FEATURES: R30
func TestRectangles(t *testing.T) {
	runExamples(t, []example{
		{
			name: "DECFRA fills, the cursor stays",
			spec: "VT510, DECFRA",
			in:   full + "\x1b[1;1H\x1b[42;2;3;3;5$x",
			screen: []string{
				"abcdefghij",
				"kl***pqrst",
				"uv***zABCD",
				"EFGHIJKLMN",
			},
		},
		{
			name: "DECFRA without edges fills the page",
			spec: "VT510, DECFRA: the defaults are the page's edges",
			in:   "\x1b[42$x",
			screen: []string{
				"**********",
				"**********",
				"**********",
				"**********",
			},
		},
		{
			name: "DECFRA with bottom and right left out goes to the edges",
			spec: "VT510, DECFRA",
			in:   full + "\x1b[42;3;8$x",
			screen: []string{
				"abcdefghij",
				"klmnopqrst",
				"uvwxyzA***",
				"EFGHIJK***",
			},
			row: 3, col: 9, pending: true,
		},
		{
			name: "DECFRA with controls fills nothing",
			spec: "VT510, DECFRA: 32 to 126 and 160 to 255",
			in:   "ab\x1b[7;1;1;1;2$x\x1b[127;1;1;1;2$x\x1b[128;1;1;1;2$x\x1b[159;1;1;1;2$x\x1b[256;1;1;1;2$x",
			screen: []string{
				"ab",
			},
			col: 2,
		},
		{
			name: "DECFRA with a character of the right half",
			spec: "VT510, DECFRA",
			in:   "\x1b[233;1;1;1;3$x",
			screen: []string{
				"ééé",
			},
		},
		{
			name: "DECFRA upside down fills nothing",
			spec: "VT510, DECFRA: the top must not be below the bottom",
			in:   "ab\x1b[42;2;1;1;2$x\x1b[42;1;2;1;1$x",
			screen: []string{
				"ab",
			},
			col: 2,
		},
		{
			name: "DECFRA of one cell",
			spec: "VT510, DECFRA",
			in:   "ab\x1b[42;1;2;1;2$x",
			screen: []string{
				"a*",
			},
			col: 2,
		},
		{
			name: "DECFRA counts from the margins in origin mode and ends at them",
			spec: "VT510, DECFRA and DECOM",
			in:   full + "\x1b[?69h\x1b[3;6s\x1b[2;3r\x1b[?6h\x1b[42;1;2;99;99$x",
			screen: []string{
				"abcdefghij",
				"klm***qrst",
				"uvw***ABCD",
				"EFGHIJKLMN",
			},
			row: 1, col: 2,
		},
		{
			name: "DECFRA does not heed margins without origin mode",
			spec: "VT510, DECFRA",
			in:   full + "\x1b[?69h\x1b[3;6s\x1b[2;3r\x1b[42;1;1;1;3$x",
			screen: []string{
				"***defghij",
				"klmnopqrst",
				"uvwxyzABCD",
				"EFGHIJKLMN",
			},
		},
		{
			name: "DECFRA that cuts wide characters blanks their halves",
			spec: "xterm: half a wide character is none",
			in:   "你好你\x1b[42;1;2;1;3$x",
			screen: []string{
				" ** 你",
			},
			col: 6,
		},
		{
			name: "DECFRA leaves a pending wrap",
			spec: "VT510, DECFRA: the cursor is not moved",
			in:   "0123456789\x1b[42;1;1;1;2$xa",
			screen: []string{
				"**23456789",
				"a",
			},
			row: 1, col: 1,
		},
		{
			name: "DECERA blanks",
			spec: "VT510, DECERA",
			in:   full + "\x1b[2;3;3;5$z",
			screen: []string{
				"abcdefghij",
				"kl   pqrst",
				"uv   zABCD",
				"EFGHIJKLMN",
			},
			row: 3, col: 9, pending: true,
		},
		{
			name: "DECERA takes protected cells too",
			spec: "VT510, DECERA against DECSERA",
			in:   "\x1b[1\"qab\x1b[1;1;1;1$z",
			screen: []string{
				" b",
			},
			col: 2,
		},
		{
			name: "DECERA that cuts wide characters blanks their halves",
			spec: "xterm: half a wide character is none",
			in:   "你好你\x1b[1;4;1;5$z",
			screen: []string{
				"你",
			},
			col: 6,
		},
		{
			name: "DECSERA spares protected cells",
			spec: "VT510, DECSERA",
			in:   "a\x1b[1\"qb\x1b[\"qc\x1b[1;1;1;3${",
			screen: []string{
				" b",
			},
			col: 3,
		},
		{
			name: "DECCRA copies",
			spec: "VT510, DECCRA",
			in:   full + "\x1b[1;1;2;3;1;3;5;1$v",
			screen: []string{
				"abcdefghij",
				"klmnopqrst",
				"uvwxabcBCD",
				"EFGHklmLMN",
			},
			row: 3, col: 9, pending: true,
		},
		{
			name: "DECCRA onto itself, to the right and down",
			spec: "VT510, DECCRA: as if all were read first",
			in:   full + "\x1b[1;1;3;9;1;2;2;1$v",
			screen: []string{
				"abcdefghij",
				"kabcdefghi",
				"uklmnopqrs",
				"EuvwxyzABC",
			},
			row: 3, col: 9, pending: true,
		},
		{
			name: "DECCRA onto itself, to the left and up",
			spec: "VT510, DECCRA: as if all were read first",
			in:   full + "\x1b[2;2;4;10;1;1;1;1$v",
			screen: []string{
				"lmnopqrstj",
				"vwxyzABCDt",
				"FGHIJKLMND",
				"EFGHIJKLMN",
			},
			row: 3, col: 9, pending: true,
		},
		{
			name: "DECCRA over the edge is cut",
			spec: "VT510, DECCRA",
			in:   full + "\x1b[1;1;2;3;1;4;9;1$v",
			screen: []string{
				"abcdefghij",
				"klmnopqrst",
				"uvwxyzABCD",
				"EFGHIJKLab",
			},
			row: 3, col: 9, pending: true,
		},
		{
			name: "DECCRA without parameters copies the page onto itself",
			spec: "VT510, DECCRA: the defaults",
			in:   full + "\x1b[$v",
			screen: []string{
				"abcdefghij",
				"klmnopqrst",
				"uvwxyzABCD",
				"EFGHIJKLMN",
			},
			row: 3, col: 9, pending: true,
		},
		{
			name: "DECCRA stays between the margins in origin mode",
			spec: "VT510, DECCRA and DECOM",
			in:   full + "\x1b[?69h\x1b[3;6s\x1b[2;3r\x1b[?6h\x1b[1;1;1;3;1;2;3;1$v",
			screen: []string{
				"abcdefghij",
				"klmnopqrst",
				"uvwxmnABCD",
				"EFGHIJKLMN",
			},
			row: 1, col: 2,
		},
		{
			name: "DECCRA of half a wide character copies a blank",
			spec: "xterm: half a wide character is none",
			in:   "a你b\x1b[1;2;1;2;1;2;1;1$v\x1b[1;3;1;3;1;2;3;1$v",
			screen: []string{
				"a你b",
			},
			col: 4,
		},
		{
			name: "DECCRA onto half a wide character blanks the other half",
			spec: "xterm: half a wide character is none",
			in:   "xy\r\n你好\x1b[1;1;1;2;1;2;2;1$v",
			screen: []string{
				"xy",
				" xy",
			},
			row: 1, col: 4,
		},
		{
			name: "DECCRA takes protection along",
			spec: "VT510, DECCRA: attributes are copied",
			in:   "\x1b[1\"qa\x1b[\"q\x1b[1;1;1;1;1;2;1;1$v\x1b[2J\x1b[1;1H\x1b[1\"qa\x1b[\"qb\x1b[1;1;1;2;1;2;1;1$v\x1b[?2J",
			screen: []string{
				"a",
				"a",
			},
			col: 2,
		},
	})
}

// TestRectangleAttributes: DECCARA sets and DECRARA reverses renditions, in a rectangle or along
// the text (DECSACE).
//
// FEATURES: R30
func TestRectangleAttributes(t *testing.T) {
	bold, inverse := vterm.Style{Attrs: vterm.Bold}, vterm.Style{Attrs: vterm.Inverse}
	for _, c := range []struct {
		name, in string
		want     map[[2]int]vterm.Style
	}{
		{
			"DECCARA along the text takes whole rows between",
			full + "\x1b[1;3;3;5;1$r",
			map[[2]int]vterm.Style{{0, 1}: {}, {0, 2}: bold, {0, 9}: bold, {1, 0}: bold, {1, 9}: bold, {2, 0}: bold, {2, 4}: bold, {2, 5}: {}},
		},
		{
			"DECCARA along the text whose end is left of its start is none, as in xterm (VT510: Pl is at most Pr)",
			full + "\x1b[1;9;3;2;1$r",
			map[[2]int]vterm.Style{{0, 8}: {}, {1, 0}: {}, {2, 1}: {}},
		},
		{
			"DECCARA in a rectangle",
			full + "\x1b[2*x\x1b[2;3;3;4;1$r",
			map[[2]int]vterm.Style{{1, 1}: {}, {1, 2}: bold, {1, 3}: bold, {1, 4}: {}, {2, 2}: bold, {3, 2}: {}, {0, 2}: {}},
		},
		{
			"DECSACE 1 is along the text again",
			full + "\x1b[2*x\x1b[1*x\x1b[1;2;2;2;1$r",
			map[[2]int]vterm.Style{{0, 0}: {}, {0, 9}: bold, {1, 0}: bold, {1, 2}: {}},
		},
		{
			"along the text cells never written stay",
			"ab\x1b[1;1;1;5;7$r",
			map[[2]int]vterm.Style{{0, 0}: inverse, {0, 1}: inverse, {0, 2}: {}},
		},
		{
			"in a rectangle they do not",
			"ab\x1b[2*x\x1b[1;1;1;5;7$r",
			map[[2]int]vterm.Style{{0, 1}: inverse, {0, 2}: inverse, {0, 4}: inverse, {0, 5}: {}},
		},
		{
			"DECCARA adds to what there is",
			"\x1b[31mab\x1b[2*x\x1b[1;1;1;1;1;4$r",
			map[[2]int]vterm.Style{{0, 0}: {FG: vterm.Index(1), Attrs: vterm.Bold, Underline: vterm.UnderlineSingle}, {0, 1}: {FG: vterm.Index(1)}},
		},
		{
			"DECCARA ends attributes one by one",
			"\x1b[1;4;7mab\x1b[2*x\x1b[1;1;1;1;22;24$r",
			map[[2]int]vterm.Style{{0, 0}: inverse},
		},
		{
			"DECCARA without a rendition is of 0",
			"\x1b[1;31mab\x1b[2*x\x1b[1;1;1;1$r",
			map[[2]int]vterm.Style{{0, 0}: {FG: vterm.Index(1)}, {0, 1}: {FG: vterm.Index(1), Attrs: vterm.Bold}},
		},
		{
			"DECCARA changes colours, as xterm's does",
			"ab\x1b[2*x\x1b[1;1;1;1;32;44$r",
			map[[2]int]vterm.Style{{0, 0}: {FG: vterm.Index(2), BG: vterm.Index(4)}, {0, 1}: {}},
		},
		{
			"the pen is another thing",
			"\x1b[2*x\x1b[1;1;1;1;1$rx",
			map[[2]int]vterm.Style{{0, 0}: {}},
		},
		{
			"DECRARA turns on what is off, and off what is on",
			"\x1b[1ma\x1b[0mb\x1b[2*x\x1b[1;1;1;2;1;7$t",
			map[[2]int]vterm.Style{{0, 0}: inverse, {0, 1}: {Attrs: vterm.Bold | vterm.Inverse}},
		},
		{
			"DECRARA of 0 reverses bold, underline, blink and inverse",
			"a\x1b[2*x\x1b[1;1;1;1;0$t",
			map[[2]int]vterm.Style{{0, 0}: {Attrs: vterm.Bold | vterm.Blink | vterm.Inverse, Underline: vterm.UnderlineSingle}},
		},
		{
			"DECRARA twice is nothing",
			"\x1b[1;4ma\x1b[2*x\x1b[1;1;1;1;0$t\x1b[1;1;1;1;0$t",
			map[[2]int]vterm.Style{{0, 0}: {Attrs: vterm.Bold, Underline: vterm.UnderlineSingle}},
		},
		{
			"DECRARA of 8 is of concealing",
			"ab\x1b[2*x\x1b[1;1;1;1;8$t",
			map[[2]int]vterm.Style{{0, 0}: {Attrs: vterm.Conceal}, {0, 1}: {}},
		},
		{
			"DECRARA of what it does not know",
			"ab\x1b[2*x\x1b[1;1;1;1;3;9;31$t",
			map[[2]int]vterm.Style{{0, 0}: {}},
		},
		{
			"both halves of a wide character",
			"你\x1b[2*x\x1b[1;1;1;2;7$r",
			map[[2]int]vterm.Style{{0, 0}: inverse, {0, 1}: inverse},
		},
		{
			"counted from the margins in origin mode",
			full + "\x1b[2*x\x1b[?69h\x1b[3;6s\x1b[2;3r\x1b[?6h\x1b[1;1;1;1;7$r",
			map[[2]int]vterm.Style{{1, 2}: inverse, {0, 0}: {}, {1, 3}: {}},
		},
		{
			"upside down",
			full + "\x1b[2*x\x1b[3;1;1;1;7$r",
			map[[2]int]vterm.Style{{0, 0}: {}, {2, 0}: {}},
		},
	} {
		term := (&example{}).terminal()
		write(term, c.in)
		for at, want := range c.want {
			if _, st := cellAt(term, at[0], at[1]); st != want {
				t.Errorf("%s: row %d, column %d is %+v, want %+v", c.name, at[0], at[1], st, want)
			}
		}
		if what := unsound(term); what != "" {
			t.Errorf("%s: %s", c.name, what)
		}
		checkSnapshot(t, term, c.in)
	}
}

// TestEveryRectangle checks that no rectangle exceeds the screen or leaves half a character.
func TestEveryRectangle(t *testing.T) {
	edges := []string{"", "0", "1", "2", "4", "5", "10", "11", "65535"}
	for _, top := range edges {
		for _, left := range edges {
			for _, bottom := range edges {
				for _, right := range edges {
					area := top + ";" + left + ";" + bottom + ";" + right
					for _, origin := range []string{"", "\x1b[?69h\x1b[2;9s\x1b[2;3r\x1b[?6h"} {
						in := "a你b你c你d\r\n你你你你你" + origin + fmt.Sprintf(
							"\x1b[42;%s$x\x1b[%s;1;2;2;1$v\x1b[2*x\x1b[%s;1;7$r\x1b[%s;0$t\x1b[%s$z\x1b[%s${\x1b[1;1;%s*y\x1b[%s#|",
							area, area, area, area, area, area, area, area)
						term := (&example{}).terminal()
						write(term, in)
						if what := unsound(term); what != "" {
							t.Fatalf("%q: %s", in, what)
						}
					}
				}
			}
		}
	}
}
