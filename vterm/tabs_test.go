package vterm_test

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/vterm"
)

// TestTabs checks tab stops: their defaults, setting, clearing, and moving by them.
//
// FEATURES: R30
func TestTabs(t *testing.T) {
	runExamples(t, []example{
		{
			name: "a stop at every eighth column",
			spec: "VT510, tab stops; xterm",
			cols: 40,
			in:   "\ta\tb\tc\td",
			screen: []string{
				"        a       b       c       d",
			},
			col: 33,
		},
		{
			name: "HT from a stop goes to the next",
			spec: "ECMA-48 8.3.60",
			cols: 40,
			in:   "\x1b[9G\tx",
			screen: []string{
				"                x",
			},
			col: 17,
		},
		{
			name: "HT behind the last stop goes to the last column and stays",
			spec: "ECMA-48 8.3.60; VT510, HT",
			in:   "\t\t\tx\ty",
			screen: []string{
				"         x",
				"y",
			},
			row: 1, col: 1,
		},
		{
			name: "HT stops at the right margin from within",
			spec: "VT510, HT and DECSLRM; xterm",
			cols: 20,
			in:   "\x1b[?69h\x1b[3;6s\x1b[1;4H\tx",
			screen: []string{
				"     x",
			},
			col: 5, pending: true,
		},
		{
			name: "HT leaves what it passes",
			spec: "ECMA-48 8.3.60: the cursor moves",
			in:   "abcdef\r\tx",
			screen: []string{
				"abcdef  x",
			},
			col: 9,
		},
		{
			name: "HTS and its 8-bit form set a stop at the cursor",
			spec: "ECMA-48 8.3.62",
			cols: 20,
			in:   "\x1b[4G\x1bH\x1b[6G\u0088\r\tx\ty\tz",
			screen: []string{
				"   x y  z",
			},
			col: 9,
		},
		{
			name: "TBC 0 clears the stop at the cursor, and no other",
			spec: "ECMA-48 8.3.154",
			cols: 40,
			in:   "\x1b[9G\x1b[0g\x1b[20G\x1b[g\r\tx",
			screen: []string{
				"                x",
			},
			col: 17,
		},
		{
			name: "TBC 3 clears all",
			spec: "ECMA-48 8.3.154",
			cols: 20,
			in:   "\x1b[3g\tx",
			screen: []string{
				"                   x",
			},
			col: 19, pending: true,
		},
		{
			name: "TBC with another number clears nothing",
			spec: "VT510, TBC has 0 and 3",
			cols: 20,
			in:   "\x1b[1g\x1b[2g\x1b[4g\x1b[5g\tx",
			screen: []string{
				"        x",
			},
			col: 9,
		},
		{
			name: "CTC sets, clears one and clears all",
			spec: "ECMA-48 8.3.17: 0, 2 and 5",
			cols: 20,
			in:   "\x1b[4G\x1b[0W\x1b[9G\x1b[2W\r\ta\tb\x1b[5W\r\tc",
			screen: []string{
				"   a            b  c",
			},
			col: 19, pending: true,
		},
		{
			name: "DECST8C brings the default stops back",
			spec: "VT510, DECST8C",
			cols: 20,
			in:   "\x1b[4G\x1bH\x1b[9G\x1b[g\x1b[?5W\r\ta\tb",
			screen: []string{
				"        a       b",
			},
			col: 17,
		},
		{
			name: "CHT goes over several stops, zero is one",
			spec: "ECMA-48 8.3.10",
			cols: 40,
			in:   "\x1b[2Ia\x1b[0Ib\x1b[99Ic",
			screen: []string{
				"                a       b              c",
			},
			col: 39, pending: true,
		},
		{
			name: "CBT goes back over several stops, to the first column at last",
			spec: "ECMA-48 8.3.7",
			cols: 40,
			in:   "\x1b[30G\x1b[Za\x1b[2Zb\x1b[99Zc",
			screen: []string{
				"c               b       a",
			},
			col: 1,
		},
		{
			name: "CBT from a stop goes to the one before",
			spec: "ECMA-48 8.3.7",
			cols: 40,
			in:   "\x1b[17G\x1b[Zx",
			screen: []string{
				"        x",
			},
			col: 9,
		},
		{
			name: "CBT does not heed the left margin without origin mode",
			spec: "xterm, CBT",
			cols: 40,
			in:   "\x1b[?69h\x1b[5;30s\x1b[1;7H\x1b[Zx",
			screen: []string{
				"x",
			},
			col: 1,
		},
		{
			name: "CBT stops at the left margin in origin mode",
			spec: "xterm, CBT",
			cols: 40,
			in:   "\x1b[?69h\x1b[5;30s\x1b[?6h\x1b[3G\x1b[Zx",
			screen: []string{
				"    x",
			},
			col: 5,
		},
		{
			name: "stops are for all rows",
			spec: "VT510, HTS",
			in:   "\x1b[4G\x1bH\r\n\ta\r\n\tb",
			screen: []string{
				"",
				"   a",
				"   b",
			},
			row: 2, col: 4,
		},
		{
			name: "stops are the same on both screens",
			spec: "xterm: one set of tab stops",
			in:   "\x1b[4G\x1bH\x1b[?1049h\x1b[H\ta\x1b[9G\x1bH\x1b[4G\x1b[g\x1b[?1049l\r\tb",
			screen: []string{
				"        b",
			},
			col: 9,
		},
		{
			name: "RIS brings the default stops back, DECSTR leaves them",
			spec: "VT510, RIS and DECSTR",
			cols: 20,
			in:   "\x1b[4G\x1bH\x1b[!p\r\ta\x1b[2;1H",
			screen: []string{
				"   a",
			},
			row: 1,
		},
		{
			name: "RIS",
			spec: "VT510, RIS",
			cols: 20,
			in:   "\x1b[4G\x1bH\x1b[3g\x1bc\ta",
			screen: []string{
				"        a",
			},
			col: 9,
		},
		{
			name:    "DECTABSR lists the stops, as DECRSPS takes them",
			spec:    "VT510, DECTABSR",
			cols:    40,
			in:      "\x1b[4G\x1bH\x1b[2$w\x1bP2$t3/11/21\x1b\\\x1b[2$w\r\tx",
			screen:  []string{"  x"},
			col:     3,
			replies: "\x1bP2$u4/9/17/25/33\x1b\\\x1bP2$u3/11/21\x1b\\",
		},
		{
			name:    "DECRSPS skips columns that are none",
			spec:    "VT510, DECRSPS",
			cols:    20,
			in:      "\x1bP2$t0/5/x//21/-3/99999999999999999999/7\x1b\\\x1b[2$w",
			replies: "\x1bP2$u5/7\x1b\\",
		},
		{
			name:    "DECTABSR without stops",
			spec:    "VT510, DECTABSR",
			in:      "\x1b[3g\x1b[2$w",
			replies: "\x1bP2$u\x1b\\",
		},
		{
			name: "a tab from a pending wrap stays in the last column",
			spec: "xterm without mode 41",
			in:   "0123456789\tx",
			screen: []string{
				"0123456789",
				"x",
			},
			row: 1, col: 1,
		},
		{
			name: "with mode 41 it wraps first",
			spec: "xterm ctlseqs, DECSET 41: the fix for more(1)",
			in:   "\x1b[?41h0123456789\tx",
			screen: []string{
				"0123456789",
				"        x",
			},
			row: 1, col: 9,
		},
	})
}

// TestTabsAcrossResize checks that columns that a wider screen adds have the default stops, and that the other stops
// stay.
func TestTabsAcrossResize(t *testing.T) {
	term := (&example{cols: 20}).terminal()
	write(term, "\x1b[3g\x1b[5G\x1bH")
	term.Resize(10, 4)
	term.Resize(200, 4)
	write(term, "\r\ta\tb\x1b[2$w")
	var f vterm.Frame
	term.Frame(&f, vterm.Query{})
	if got := rowsShown(&f)[0]; !strings.HasPrefix(got, "    a") {
		t.Errorf("%q", got)
	}
	got := string(term.Replies(nil))
	if !strings.HasPrefix(got, "\x1bP2$u5/") || !strings.HasSuffix(got, "/185/193\x1b\\") {
		t.Errorf("stops %q", got)
	}
}
