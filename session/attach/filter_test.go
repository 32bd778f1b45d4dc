package attach

import (
	"bytes"
	"strings"
	"testing"
)

var filterCases = []struct{ name, in, want string }{
	{"text", "plain ü text\r\n", "plain ü text\r\n"},
	{"styles pass", "\x1b[1;31mred\x1b[m", "\x1b[1;31mred\x1b[m"},
	{"DA1", "a\x1b[cb", "ab"},
	{"DA1 with parameter", "a\x1b[0cb", "ab"},
	{"DA2, DA3", "\x1b[>c\x1b[=c", ""},
	{"cursor position", "a\x1b[6nb", "ab"},
	{"private DSR", "\x1b[?996n", ""},
	{"modifyOtherKeys off passes", "\x1b[>4n", "\x1b[>4n"},
	{"DECRQM", "\x1b[?2026$p\x1b[4$p", ""},
	{"soft reset passes", "\x1b[!p", "\x1b[!p"},
	{"XTVERSION", "\x1b[>0q", ""},
	{"cursor shape passes", "\x1b[2 q", "\x1b[2 q"},
	{"kitty query", "\x1b[?u", ""},
	{"kitty push passes", "\x1b[>1u", "\x1b[>1u"},
	{"restore cursor passes", "\x1b[u", "\x1b[u"},
	{"window size report", "\x1b[18t\x1b[14;2t", ""},
	{"the stack of titles is the emulator's", "\x1b[22;0t\x1b[23;2tx", "x"},
	{"in-band resize is the emulator's", "\x1b[?2048h\x1b[?1004;2048;2004h\x1b[?2048l", "\x1b[?1004;2004h\x1b[?2048l"},
	{"other screen passes", "\x1b[?1049h\x1bc\x1b[3J", "\x1b[?1049h\x1bc\x1b[3J"},
	{"ENQ", "a\x05b", "ab"},
	{"ENQ inside a sequence", "\x1b[3\x051m", "\x1b[31m"},
	{"DECID", "\x1bZx", "x"},
	{"colour query", "\x1b]11;?\x1b\\x", "x"},
	{"colour query, BEL", "\x1b]10;?\ax", "x"},
	{"palette query", "\x1b]4;1;?\a", ""},
	{"palette set passes", "\x1b]4;1;rgb:ff/00/00\a", "\x1b]4;1;rgb:ff/00/00\a"},
	{"title with question mark passes", "\x1b]0;?\a", "\x1b]0;?\a"},
	{"clipboard read", "\x1b]52;c;?\a", ""},
	{"clipboard write passes", "\x1b]52;c;YQ==\a", "\x1b]52;c;YQ==\a"},
	{"XTGETTCAP", "\x1bP+q544e\x1b\\x", "x"},
	{"DECRQSS", "\x1bP$qm\x1b\\x", "x"},
	{"sixel passes", "\x1bPq#0~\x1b\\", "\x1bPq#0~\x1b\\"},
	{"kitty graphics query", "\x1b_Gi=1,a=q,s=1;AAAA\x1b\\", ""},
	{"kitty graphics passes", "\x1b_Ga=T,f=100;AAAA\x1b\\", "\x1b_Ga=T,f=100;AAAA\x1b\\"},
	{"cancelled sequence", "\x1b[6\x18n", "\x1b[6\x18n"},
	{"escape restarts", "\x1b[6\x1b[31mx", "\x1b[6\x1b[31mx"},
	{"string ended by another sequence", "\x1b]11;?\x1b[31mx", "\x1b[31mx"},
	{"a character set named [ begins no sequence", "\x1b([6nx", "\x1b([6nx"},
	{"endless intermediates", "\x1b" + strings.Repeat(" ", 3000) + "x\x1b[6ny", "\x1b" + strings.Repeat(" ", 3000) + "xy"},
	{"unfinished stays held", "a\x1b[6", "a"},
	{"long string passes", "\x1b]0;" + strings.Repeat("x", 3000) + "\aafter\x1b[6n", "\x1b]0;" + strings.Repeat("x", 3000) + "\aafter"},
	{"query after a long string ended by ESC", "\x1bPq" + strings.Repeat("~", 3000) + "\x1b[6nx", "\x1bPq" + strings.Repeat("~", 3000) + "x"},
}

// FEATURES: R75
func TestFilter(t *testing.T) {
	for _, c := range filterCases {
		var f Filter
		if got := string(f.Append(nil, []byte(c.in))); got != c.want {
			t.Errorf("%s: %q\n got %q\nwant %q", c.name, c.in, got, c.want)
		}
	}
}

// TestFollowsScheme checks that with FollowsScheme, programs do not change the terminal's colour scheme reports.
//
// FAULT: H10
func TestFollowsScheme(t *testing.T) {
	f := Filter{FollowsScheme: true}
	if got := string(f.Append(nil, []byte("a\x1b[?2031h\x1b[?1;2031lb"))); got != "a\x1b[?1lb" {
		t.Errorf("%q", got)
	}
}

// FEATURES: R75
func TestContain(t *testing.T) {
	for _, c := range []struct {
		in, want string
		redraw   bool
	}{
		{"a\x1b[?1049hb", "ab", true},
		{"\x1b[?1049;2004h", "\x1b[?2004h", true},
		{"\x1b[?25;047;1l", "\x1b[?25;1l", true},
		{"\x1b[?2004h\x1b[?1048h", "\x1b[?2004h\x1b[?1048h", false},
		{"a\x1bcb", "ab", true},
		{"\x1b(c", "\x1b(c", false},
		{"\x1b[H\x1b[2J\x1b[3J", "\x1b[H\x1b[2J", false},
		{"\x1b[22;0t\x1b[23;0t", "", true},
		{"\x1b[?3h", "", true},
		{"\x1b[?1049s\x1b[?1;1049s", "\x1b[?1s", false},
		{"\x1b[?1049;1r", "\x1b[?1r", true},
		{"\x1b[8;24;80t", "\x1b[8;24;80t", false},
	} {
		f := Filter{Contain: true}
		if got := string(f.Append(nil, []byte(c.in))); got != c.want || f.TakeRedraw() != c.redraw || f.TakeRedraw() {
			t.Errorf("%q: %q, want %q, redraw %v", c.in, got, c.want, c.redraw)
		}
	}
}

// TestPrime checks that a primed filter continues like one that read the stream from its start.
//
// FEATURES: R75
func TestPrime(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{"text", "more", "more"},
		{"a\x1b[3", "1mred", "\x1b[31mred"},
		{"a\x1b", "[6nb", "b"},
		{"\x1b]0;ti", "tle\ax", "\x1b]0;title\ax"},
		{"\x1bPq" + strings.Repeat("~", 3000), "~~~\x1b\\x", "x"},
		{"\x1bPq" + strings.Repeat("~", 3000) + "\x1b", "\\x", "x"},
		{"\x1b]52;c;" + strings.Repeat("A", 3000), "AAA\ax\x1b[6ny", "xy"},
		{"\xe2\x94", "\x80x", "\xe2\x94\x80x"},
		{"ü", "x", "x"},
		{"x\xf0\x9f\x98", "\x80", "\xf0\x9f\x98\x80"},
		{"\x80\x80\x80\x80", "x", "x"},
		{"€", "x", "x"},
	} {
		f := Filter{Contain: true}
		out := append([]byte{}, f.Prime([]byte(c.before))...)
		if got := string(f.Append(out, []byte(c.after))); got != c.want {
			t.Errorf("%.20q then %q: %q, want %q", c.before, c.after, got, c.want)
		}
	}
}

func FuzzFilterSplit(f *testing.F) {
	for _, c := range filterCases {
		f.Add([]byte(c.in), 3)
	}
	f.Fuzz(func(t *testing.T, in []byte, at int) {
		whole, parts := Filter{Contain: at%2 == 0}, Filter{Contain: at%2 == 0}
		want := whole.Append(nil, in)
		if at < 0 || at > len(in) {
			at = len(in) / 2
		}
		got := parts.Append(nil, in[:at])
		for _, b := range in[at:] {
			got = parts.Append(got, []byte{b})
		}
		if !bytes.Equal(got, want) {
			t.Errorf("split at %d: %q, whole: %q", at, got, want)
		}
		if len(whole.held) > maxHeld+2 {
			t.Errorf("%d bytes held back", len(whole.held))
		}
	})
}
