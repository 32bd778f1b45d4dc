package vterm_test

import "testing"

// TestSaveRestore checks what DECSC saves, what it does not, and what DECRC restores of it after a change.
//
// FEATURES: R30
func TestSaveRestore(t *testing.T) {
	runExamples(t, []example{
		{
			name:   "DECRC with nothing saved goes home",
			spec:   "VT510, DECRC",
			in:     "abc\r\ndef\x1b8x",
			screen: []string{"xbc", "def"},
			col:    1,
		},
		{
			name:   "DECRC with nothing saved leaves origin mode",
			spec:   "VT510, DECRC",
			in:     "\x1b[2;3r\x1b[?6h\x1b8x",
			screen: []string{"x"},
			col:    1,
		},
		{
			name:   "what is saved can be restored twice",
			spec:   "VT510, DECRC",
			in:     "ab\x1b7\x1b[4;4H\x1b8c\x1b[3;3H\x1b8d",
			screen: []string{"abd"},
			col:    3,
		},
		{
			name:   "the last DECSC counts",
			spec:   "VT510, DECSC: there is one",
			in:     "a\x1b7b\x1b7\x1b[3;3H\x1b8c",
			screen: []string{"abc"},
			col:    3,
		},
		{
			name:   "SCOSC and SCORC are DECSC and DECRC",
			spec:   "xterm ctlseqs, CSI s and CSI u",
			in:     "ab\x1b[s\x1b[3;3H\x1b8c\x1b7\x1b[1;1H\x1b[ud",
			screen: []string{"abcd"},
			col:    4,
		},
		{
			name:   "SCOSC with parameters is none",
			spec:   "xterm ctlseqs: with parameters it is DECSLRM",
			in:     "ab\x1b7cd\x1b[1;5s\x1b8x",
			screen: []string{"abxd"},
			col:    3,
		},
		{
			name:   "origin mode is saved and restored",
			spec:   "VT510, DECSC",
			in:     "\x1b[2;3r\x1b[?6h\x1b[2;2H\x1b7\x1b[?6l\x1b[1;1Ha\x1b8b\x1b[1;1Hc",
			screen: []string{"a", "c", " b"},
			row:    1, col: 1,
		},
		{
			name:   "margins are not saved; a restored position in origin mode is brought within them",
			spec:   "VT510, DECSC lists what is; xterm clamps",
			in:     "\x1b[2;4r\x1b[?6h\x1b[3;5H\x1b7\x1b[?6l\x1b[1;2r\x1b8x",
			screen: []string{"", "    x"},
			row:    1, col: 5,
		},
		{
			name:   "insert mode is not saved",
			spec:   "VT510, DECSC",
			in:     "abc\r\x1b7\x1b[4h\x1b8x",
			screen: []string{"xabc"},
			col:    1,
		},
		{
			name:   "autowrap is not saved, the pending wrap is",
			spec:   "xterm, DECSC; VT510 has autowrap in its list, terminals do not",
			in:     "0123456789\x1b7\r\x1b[?7l\x1b8x\x1b[?7hy",
			screen: []string{"012345678x", "y"},
			row:    1, col: 1,
		},
		{
			name:   "protection is saved",
			spec:   "VT510, DECSC: the state of the selective erase attribute",
			in:     "\x1b[1\"q\x1b7\x1b[0\"q\x1b8ab\x1b[?2K",
			screen: []string{"ab"},
			col:    2,
		},
		{
			name:   "the cursor's visibility is not saved",
			spec:   "VT510, DECSC",
			in:     "\x1b7\x1b[?25l\x1b8",
			hidden: true,
		},
		{
			name:   "DECSTR forgets what is saved",
			spec:   "VT510, DECSTR: saved cursor state to home",
			in:     "abc\x1b7\x1b[!p\x1b8x",
			screen: []string{"xbc"},
			col:    1,
		},
		{
			name:   "a hyperlink is saved with the rendition",
			spec:   "VTE: the link is part of the rendition",
			in:     "\x1b]8;;http://x\x07a\x1b7\x1b]8;;\x07b\x1b8c",
			screen: []string{"ac"},
			col:    2,
		},
		{
			name:    "XTSAVE keeps each mode by itself",
			spec:    "xterm ctlseqs, CSI ? Pm s",
			in:      "\x1b[?7;25;2004s\x1b[?7;25l\x1b[?2004h\x1b[?25;2004r\x1b[?7$p\x1b[?25$p\x1b[?2004$p",
			replies: "\x1b[?7;2$y\x1b[?25;1$y\x1b[?2004;2$y",
		},
		{
			name:    "XTRESTORE of what was not saved changes nothing",
			spec:    "xterm: saved modes begin as they are",
			in:      "\x1b[?2004h\x1b[?2004r\x1b[?2004$p",
			replies: "\x1b[?2004;1$y",
		},
		{
			name:    "XTSAVE of unknown and of fixed modes is harmless",
			spec:    "xterm ctlseqs",
			in:      "\x1b[?9999;8s\x1b[?9999;8r\x1b[?8$p\x1b[?9999$p",
			replies: "\x1b[?8;4$y\x1b[?9999;0$y",
		},
	})
}

// TestResets checks the effect of each reset by DECRQM and DECRQSS.
//
// FEATURES: R30
func TestResets(t *testing.T) {
	const ask = "\x1b[4$p\x1b[?1$p\x1b[?5$p\x1b[?6$p\x1b[?7$p\x1b[?25$p\x1b[?45$p\x1b[?66$p\x1b[?69$p\x1b[?1000$p\x1b[?2004$p\x1bP$qm\x1b\\\x1bP$qr\x1b\\\x1bP$q\"q\x1b\\\x1b[?u"
	const change = "\x1b[4h\x1b[?1;5;6;45;66;69;1000;2004h\x1b[?7;25l\x1b[1m\x1b[2;3r\x1b[1\"q\x1b[>5u"
	for _, c := range []struct{ name, in, want string }{
		{
			"nothing", "",
			"4;2 ?1;2 ?5;2 ?6;2 ?7;1 ?25;1 ?45;2 ?66;2 ?69;2 ?1000;2 ?2004;2 m0 r1;4 \"q0 u0",
		},
		{
			"changed", change,
			"4;1 ?1;1 ?5;1 ?6;1 ?7;2 ?25;2 ?45;1 ?66;1 ?69;1 ?1000;1 ?2004;1 m0;1 r2;3 \"q1 u5",
		},
		{ // VT510, "DECSTR": mouse, paste, reverse video and key flags are not in its list
			"DECSTR", change + "\x1b[!p",
			"4;2 ?1;2 ?5;1 ?6;2 ?7;1 ?25;1 ?45;2 ?66;2 ?69;2 ?1000;1 ?2004;1 m0 r1;4 \"q0 u5",
		},
		{ // DECSCL resets softly
			"DECSCL", change + "\x1b[65\"p",
			"4;2 ?1;2 ?5;1 ?6;2 ?7;1 ?25;1 ?45;2 ?66;2 ?69;2 ?1000;1 ?2004;1 m0 r1;4 \"q0 u5",
		},
		{
			"RIS", change + "\x1bc",
			"4;2 ?1;2 ?5;2 ?6;2 ?7;1 ?25;1 ?45;2 ?66;2 ?69;2 ?1000;2 ?2004;2 m0 r1;4 \"q0 u0",
		},
	} {
		term := (&example{}).terminal()
		write(term, c.in+ask)
		if got := shortReplies(string(term.Replies(nil))); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.name, got, c.want)
		}
	}
}
