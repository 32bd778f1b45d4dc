package vterm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/vterm"
)

// TestInterrupted checks sequences that are interrupted, malformed, too long or unknown.
//
// FEATURES: R30, R93
func TestInterrupted(t *testing.T) {
	runExamples(t, []example{
		{
			name:   "CAN ends a control sequence",
			spec:   "ECMA-48 8.3.6",
			in:     "a\x1b[3\x18Cb",
			screen: []string{"aCb"},
			col:    3,
		},
		{
			name:   "SUB ends a control sequence and prints nothing",
			spec:   "ECMA-48 8.3.148; docs/conformance.md, Choices",
			in:     "a\x1b[3\x1aCb",
			screen: []string{"aCb"},
			col:    3,
		},
		{
			name:   "ESC within a control sequence begins another",
			spec:   "DEC STD 070: ESC cancels what was begun",
			in:     "a\x1b[3\x1b[2Cb",
			screen: []string{"a  b"},
			col:    4,
		},
		{
			name:   "ESC ESC is one ESC",
			spec:   "DEC STD 070: ESC cancels what was begun",
			in:     "a\x1b\x1b\x1b[2Cb",
			screen: []string{"a  b"},
			col:    4,
		},
		{
			name:   "controls within a control sequence are carried out",
			spec:   "DEC STD 070: C0 within a sequence acts at once",
			in:     "abc\x1b[2\bDx\x1b[\r1Cy\x1b\nCz",
			screen: []string{"xyc", "  z"},
			row:    1, col: 3,
			events: nil,
		},
		{
			name:   "BEL within a control sequence rings",
			spec:   "DEC STD 070: C0 within a sequence acts at once",
			in:     "a\x1b[3\aCb",
			screen: []string{"a   b"},
			col:    5,
			events: []string{"bell"},
		},
		{
			name:   "NUL and DEL within a control sequence are nothing",
			spec:   "ECMA-48 8.3.88; DEC STD 070: DEL is ignored",
			in:     "a\x1b[\x00\x7f3\x7fCb",
			screen: []string{"a   b"},
			col:    5,
		},
		{
			name:   "a private mark in the wrong place makes it no function",
			spec:   "ECMA-48 5.4.1",
			in:     "a\x1b[3?Cb\x1b[3;>4Hc",
			screen: []string{"abc"},
			col:    3,
		},
		{
			name:   "a parameter behind an intermediate makes it no function",
			spec:   "ECMA-48 5.4",
			in:     "a\x1b[ 3@b",
			screen: []string{"ab"},
			col:    2,
		},
		{
			name:   "intermediates too many are no function",
			spec:   "ECMA-48 5.4 allows any number; none is defined with three",
			in:     "a\x1b[!!!pb\x1b[2   @c",
			screen: []string{"abc"},
			col:    3,
		},
		{
			name:   "an unknown final byte is swallowed with its parameters",
			spec:   "ECMA-48 5.4: finals 4/0 to 7/14",
			in:     "a\x1b[1;2;3vb\x1b[?5wc\x1b[>1~d\x1b[1jX\x1b[1kY",
			screen: []string{"abcdXY"},
			col:    6,
		},
		{
			name:   "an unknown escape sequence is swallowed",
			spec:   "ECMA-35 13.2",
			in:     "a\x1b!Ab\x1b#9c\x1b%/Id\x1b ~e",
			screen: []string{"abcde"},
			col:    5,
		},
		{
			name:   "parameters beyond any bound are read to the end",
			spec:   "here: 64 count",
			in:     "a\x1b[" + strings.Repeat("1;", 500) + "1mb\x1b[" + strings.Repeat(";", 300) + "Hc",
			screen: []string{"cb"},
			col:    1,
		},
		{
			name:   "CAN ends an OSC without running it",
			spec:   "ECMA-48 8.3.6; xterm",
			in:     "\x1b]2;title\x18x",
			screen: []string{"x"},
			col:    1,
			events: []string{},
		},
		{
			name:   "SUB ends an OSC without running it",
			spec:   "xterm",
			in:     "\x1b]2;title\x1ax",
			screen: []string{"x"},
			col:    1,
			events: []string{},
		},
		{
			name:   "another escape sequence drops an OSC and is run",
			spec:   "docs/conformance.md, Choices: as xterm",
			in:     "a\x1b]2;title\x1b[2Cx",
			screen: []string{"a  x"},
			col:    4,
			events: []string{},
		},
		{
			name:   "BEL ends an OSC",
			spec:   "xterm ctlseqs",
			in:     "\x1b]2;t\ax",
			screen: []string{"x"},
			col:    1,
			events: []string{"title |t"},
		},
		{
			name:   "ST in 8 bits ends an OSC that began in 8 bits",
			spec:   "ECMA-48 8.3.89, 8.3.143",
			in:     "\u009d2;t\u009cx",
			screen: []string{"x"},
			col:    1,
			events: []string{"title |t"},
		},
		{
			name:   "BEL does not end a DCS, an APC, a PM or an SOS",
			spec:   "ECMA-48 8.3.27: ST ends it",
			in:     "\x1bP1\aa\x1b\\b\x1b_c\ad\x1b\\e\x1b^f\ag\x1b\\h\x1bXi\aj\x1b\\k",
			screen: []string{"behk"},
			col:    4,
			events: []string{},
		},
		{
			name:   "8-bit forms of DCS, SOS, PM and APC",
			spec:   "ECMA-48 8.2.1",
			in:     "a\u00901$r\u009cb\u0098x\u009cc\u009ex\u009cd\u009fx\u009ce",
			screen: []string{"abcde"},
			col:    5,
		},
		{
			name:   "controls within an OSC are no part of its text",
			spec:   "xterm ignores them",
			in:     "\x1b]2;a\nb\tc\rd\x1b\\x",
			screen: []string{"x"},
			col:    1,
			events: []string{"title |abcd"},
		},
		{
			name:   "ST without a string is nothing",
			spec:   "ECMA-48 8.3.143",
			in:     "a\x1b\\b\u009cc",
			screen: []string{"abc"},
			col:    3,
		},
		{
			name:   "ESC at the end of a string and its backslash apart",
			spec:   "ECMA-48 8.3.143",
			in:     "\x1b]2;t\x1b\\x\x1bP$qm\x1b\\y",
			screen: []string{"xy"},
			col:    2, replies: "\x1bP1$r0m\x1b\\",
			events: []string{"title |t"},
		},
		{
			name:   "a character above ASCII in a control sequence ends it and is lost with it",
			spec:   "docs/conformance.md, Choices: as xterm",
			in:     "a\x1b[3éCb",
			screen: []string{"aCb"},
			col:    3,
		},
		{
			name:   "CSI in 8 bits",
			spec:   "ECMA-48 8.2.1, encoded in UTF-8",
			in:     "a\u009b2Cb",
			screen: []string{"a  b"},
			col:    4,
		},
		{
			name:   "raw C1 bytes are malformed UTF-8, not controls",
			spec:   "docs/conformance.md, Choices",
			in:     "a\x9b2Cb",
			screen: []string{"a\ufffd2Cb"},
			col:    5,
		},
		{
			name:   "C0 controls that do nothing",
			spec:   "ECMA-48: SOH, STX, ETX, EOT, ACK, DLE, DC1 to DC4, NAK, SYN, ETB, EM, FS to US",
			in:     "a\x01\x02\x03\x04\x06\x10\x11\x12\x13\x14\x15\x16\x17\x19\x1c\x1d\x1e\x1fb",
			screen: []string{"ab"},
			col:    2,
		},
		{
			name:    "ENQ is not answered",
			spec:    "xterm: the answerback string is empty",
			in:      "a\x05b",
			screen:  []string{"ab"},
			col:     2,
			replies: "",
		},
		{
			name:   "colons in other sequences are as semicolons",
			spec:   "docs/conformance.md, Choices",
			in:     "\x1b[2:3Hx",
			screen: []string{"", "  x"},
			row:    1, col: 3,
		},
		{
			name: "an unfinished sequence shows nothing",
			spec: "ECMA-48 5.4",
			in:   "a\x1b[38;5",
			screen: []string{
				"a",
			},
			col: 1,
		},
		{
			name: "an unfinished character shows nothing",
			spec: "Unicode 3.9",
			in:   "a\xe4\xbd",
			screen: []string{
				"a",
			},
			col: 1,
		},
		{
			name: "half a character before a control is one replacement",
			spec: "Unicode 3.9",
			in:   "a\xe4\xbd\r\nb\xf0\x9f\x98\x1b[Cc",
			screen: []string{
				"a\ufffd",
				"b\ufffd c",
			},
			row: 1, col: 4,
		},
	})
}

// TestStringsTooLong checks that a string beyond its limit is reported once and that the following output is run.
func TestStringsTooLong(t *testing.T) {
	for name, c := range map[string]struct{ open, close string }{
		"OSC by BEL": {"\x1b]2;", "\a"},
		"OSC by ST":  {"\x1b]2;", "\x1b\\"},
		"DCS":        {"\x1bP$q", "\x1b\\"},
		"APC":        {"\x1b_G", "\x1b\\"},
	} {
		term := (&example{}).terminal()
		write(term, "a"+c.open)
		chunk := strings.Repeat("x", 1<<20)
		for range 18 {
			write(term, chunk)
		}
		write(term, c.close+"b\x1b]2;next\a")
		if got := firstRow(term); got != "ab" {
			t.Errorf("%s: %q", name, got)
		}
		events := eventsOf(term)
		if len(events) == 0 || events[len(events)-1] != "title |next" {
			t.Errorf("%s: %q", name, events)
		}
		for _, e := range events {
			if strings.HasPrefix(e, "title") && e != "title |next" {
				t.Errorf("%s: a string cut short was run: %.40q", name, e)
			}
		}
		if got := string(term.Replies(nil)); strings.Contains(got, "xx") {
			t.Errorf("%s: answered %.40q", name, got)
		}
	}
}

// TestEveryControlSequence checks that every control sequence, with every prefix and a few intermediates, is consumed
// completely: the following text is shown, once.
func TestEveryControlSequence(t *testing.T) {
	for _, prefix := range []string{"", "?", ">", "=", "<"} {
		for _, inter := range []string{"", " ", "!", "\"", "#", "$", "&", "'", "*", "+", ",", "-", "$$", " !"} {
			for final := byte(0x40); final < 0x7f; final++ {
				for _, params := range []string{"", "0", "2", "1;2", "1:2", "65535;65535;65535;65535"} {
					in := fmt.Sprintf("\x1b[%s%s%s%c", prefix, params, inter, final)
					term := (&example{options: vterm.Options{FixedSize: true}}).terminal()
					write(term, in)
					if what := unsound(term); what != "" {
						t.Fatalf("%q: %s", in, what)
					}
					write(term, "\x1b<\x1bc@") // ends VT52 mode and everything else
					if got := firstRow(term); got != "@" {
						t.Fatalf("after %q and a reset: %q", in, got)
					}
				}
			}
		}
	}
}
