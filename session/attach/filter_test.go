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
	{"window title stack passes", "\x1b[22;0t", "\x1b[22;0t"},
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

func FuzzFilterSplit(f *testing.F) {
	for _, c := range filterCases {
		f.Add([]byte(c.in), 3)
	}
	f.Fuzz(func(t *testing.T, in []byte, at int) {
		var whole, parts Filter
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
			t.Errorf("%d bytes held", len(whole.held))
		}
	})
}
