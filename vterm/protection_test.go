package vterm_test

import "testing"

// TestProtection checks that selective erases spare cells protected by DECSCA, and that all erases spare those of SPA.
//
// FEATURES: R30
func TestProtection(t *testing.T) {
	const mixed = "ab\x1b[1\"qcd\x1b[0\"qef" // cd are protected
	const guarded = "ab\x1bVcd\x1bWef"       // cd are guarded
	runExamples(t, []example{
		{
			name:   "DECSED spares what DECSCA protects",
			spec:   "VT510, DECSED",
			in:     mixed + "\x1b[?2J",
			screen: []string{"  cd"},
			col:    6,
		},
		{
			name:   "DECSED 0 and 1",
			spec:   "VT510, DECSED",
			in:     mixed + "\x1b[1;4H\x1b[?0J\r\n" + mixed + "\x1b[2;3H\x1b[?1J",
			screen: []string{"  cd", "  cdef"},
			row:    1, col: 2,
		},
		{
			name:   "DECSEL",
			spec:   "VT510, DECSEL",
			in:     mixed + "\r\n" + mixed + "\r\n" + mixed + "\x1b[1;2H\x1b[?K\x1b[2;5H\x1b[?1K\x1b[3;1H\x1b[?2K",
			screen: []string{"a cd", "  cd f", "  cd"},
			row:    2,
		},
		{
			name:   "ED and EL take what DECSCA protects",
			spec:   "VT510, ED: DECSCA is for selective erases",
			in:     mixed + "\r\n" + mixed + "\x1b[2K\x1b[1;4H\x1b[1J",
			screen: []string{"    ef"},
			col:    3,
		},
		{
			name:   "ECH takes what DECSCA protects",
			spec:   "VT510, ECH",
			in:     mixed + "\x1b[1;2H\x1b[3X",
			screen: []string{"a   ef"},
			col:    1,
		},
		{
			name:   "ED, EL and ECH spare what SPA guards",
			spec:   "ECMA-48 8.3.129; xterm",
			in:     guarded + "\r\n" + guarded + "\r\n" + guarded + "\x1b[1;1H\x1b[6X\x1b[2;1H\x1b[K\x1b[3;6H\x1b[1J",
			screen: []string{"  cd", "  cd", "  cd"},
			row:    2, col: 5,
		},
		{
			name:   "selective erases spare what SPA guards as well",
			spec:   "xterm",
			in:     guarded + "\x1b[?2J",
			screen: []string{"  cd"},
			col:    6,
		},
		{
			name:   "DECSCA, whatever it says, ends the sparing of all erases",
			spec:   "xterm: the last of the two decides",
			in:     guarded + "\x1b[0\"q\x1b[2J",
			screen: nil,
			col:    6,
		},
		{
			name:   "SPA after DECSCA has all erases spare what either protects",
			spec:   "xterm: the last of the two decides",
			in:     mixed + "\x1bV\x1bW\x1b[2J",
			screen: []string{"  cd"},
			col:    6,
		},
		{
			name:   "writing over it needs no permission",
			spec:   "VT510, DECSCA: it protects against erasing",
			in:     mixed + "\x1b[1;3HXY\x1b[?2J",
			screen: nil,
			col:    4,
		},
		{
			name:   "DCH and ICH move it",
			spec:   "VT510, DECSCA",
			in:     mixed + "\x1b[1;1H\x1b[P\x1b[?2J",
			screen: []string{" cd"},
		},
		{
			name:   "DL and scrolling take it along",
			spec:   "VT510, DECSCA",
			in:     "\r\n" + mixed + "\x1b[S\x1b[?2J",
			screen: []string{"  cd"},
			row:    1, col: 6,
		},
		{
			name:   "DECSTR ends protecting, what is protected stays so",
			spec:   "VT510, DECSTR",
			in:     "\x1b[1\"qab\x1b[!pcd\x1b[1\"q\x1b[0\"q\x1b[?2J",
			screen: []string{"ab"},
			col:    4,
		},
		{
			name:   "SGR has nothing to do with it",
			spec:   "VT510, DECSCA",
			in:     "\x1b[1\"q\x1b[1ma\x1b[0mb\x1b[?2J",
			screen: []string{"ab"},
			col:    2,
		},
		{
			name:   "a protected wide character is spared whole",
			spec:   "xterm: half a wide character is none",
			in:     "a\x1b[1\"q你\x1b[0\"qb\x1b[1;3H\x1b[?K\x1b[1;2H\x1b[?1K",
			screen: []string{" 你"},
			col:    1,
		},
		{
			name:   "blanks that were written are protected, cells never written are not",
			spec:   "VT510, DECSCA: characters are",
			in:     "\x1b[1\"q  \x1b[0\"qab\x1b[1;1H\x1b[?J",
			screen: nil,
		},
		{
			name:    "DECRQSS tells of both",
			spec:    "VT510, DECRQSS",
			in:      "\x1b[1\"q\x1bP$q\"q\x1b\\\x1b[2\"q\x1bP$q\"q\x1b\\\x1bV\x1bP$q\"q\x1b\\",
			replies: "\x1bP1$r1\"q\x1b\\\x1bP1$r0\"q\x1b\\\x1bP1$r1\"q\x1b\\",
		},
		{
			name:   "the alternate screen is cleared without heed to it",
			spec:   "xterm, DECSET 1049",
			in:     "\x1b[?47h\x1bVab\x1b[?1049h",
			screen: nil,
			col:    2,
		},
		{
			name:   "RIS clears it",
			spec:   "VT510, RIS",
			in:     guarded + "\x1bcx\x1b[2J",
			screen: nil,
			col:    1,
		},
	})
}
