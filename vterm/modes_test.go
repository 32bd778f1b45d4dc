package vterm_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/vterm"
)

var (
	modeReply    = regexp.MustCompile(`\x1b\[(\??\d+;\d)\$y`)
	settingReply = regexp.MustCompile(`\x1bP1\$r(.*?)(m|r|s|"q|"p| q|\*x|\*\||\$\||t)\x1b\\`)
	kittyReply   = regexp.MustCompile(`\x1b\[\?(\d+)u`)
)

// shortReplies abbreviates the replies to DECRQM, DECRQSS and kitty's query.
func shortReplies(replies string) string {
	replies = settingReply.ReplaceAllString(replies, "$2$1 ")
	replies = modeReply.ReplaceAllString(replies, "$1 ")
	return strings.TrimSpace(kittyReply.ReplaceAllString(replies, "u$1 "))
}

// TestModesTheViewerSees checks which sequences change the Modes that encoders and viewers get.
//
// FEATURES: R30
func TestModesTheViewerSees(t *testing.T) {
	begin := vterm.New(vterm.Options{}).Modes()
	for _, c := range []struct {
		in     string
		change func(m *vterm.Modes)
	}{
		{"", func(*vterm.Modes) {}},
		{"\x1b[?1h", func(m *vterm.Modes) { m.AppCursor = true }},
		{"\x1b[?1h\x1b[?1l", func(*vterm.Modes) {}},
		{"\x1b=", func(m *vterm.Modes) { m.AppKeypad = true }},
		{"\x1b[?66h", func(m *vterm.Modes) { m.AppKeypad = true }},
		{"\x1b=\x1b>", func(*vterm.Modes) {}},
		{"\x1b[?66h\x1b>", func(*vterm.Modes) {}},
		{"\x1b[?2004h", func(m *vterm.Modes) { m.BracketedPaste = true }},
		{"\x1b[?1004h", func(m *vterm.Modes) { m.FocusEvents = true }},
		{"\x1b[?5h", func(m *vterm.Modes) { m.ReverseVideo = true }},
		{"\x1b[20h", func(m *vterm.Modes) { m.NewLine = true }},
		{"\x1b[?67h", func(m *vterm.Modes) { m.BackarrowBS = true }},
		{"\x1b[?1049h", func(m *vterm.Modes) { m.AltScreen = true }},
		{"\x1b[?47h", func(m *vterm.Modes) { m.AltScreen = true }},
		{"\x1b[?1007l", func(m *vterm.Modes) { m.AltScroll = false }},
		{"\x1b[?2026h", func(m *vterm.Modes) { m.Sync = true }},
		{"\x1b[?2048h", func(m *vterm.Modes) { m.InBandResize = true }},
		{"\x1b[?2031h", func(m *vterm.Modes) { m.SchemeReports = true }},
		{"\x1b[?9h", func(m *vterm.Modes) { m.Mouse = vterm.MouseX10 }},
		{"\x1b[?1000h", func(m *vterm.Modes) { m.Mouse = vterm.MouseNormal }},
		{"\x1b[?1002h", func(m *vterm.Modes) { m.Mouse = vterm.MouseButton }},
		{"\x1b[?1003h", func(m *vterm.Modes) { m.Mouse = vterm.MouseAny }},
		{"\x1b[?1000h\x1b[?1003h", func(m *vterm.Modes) { m.Mouse = vterm.MouseAny }},    // the last one
		{"\x1b[?1003h\x1b[?1000h", func(m *vterm.Modes) { m.Mouse = vterm.MouseNormal }}, // counts
		{"\x1b[?1003h\x1b[?1000l", func(*vterm.Modes) {}},                                // any reset ends all
		{"\x1b[?1000;1006h", func(m *vterm.Modes) { m.Mouse, m.MouseEncoding = vterm.MouseNormal, vterm.MouseEncodingSGR }},
		{"\x1b[?1005h", func(m *vterm.Modes) { m.MouseEncoding = vterm.MouseEncodingUTF8 }},
		{"\x1b[?1015h", func(m *vterm.Modes) { m.MouseEncoding = vterm.MouseEncodingURXVT }},
		{"\x1b[?1016h", func(m *vterm.Modes) { m.MouseEncoding = vterm.MouseEncodingPixel }},
		{"\x1b[?1006;1015h", func(m *vterm.Modes) { m.MouseEncoding = vterm.MouseEncodingURXVT }},
		{"\x1b[?1006;1015h\x1b[?1006l", func(*vterm.Modes) {}},
		{"\x1b[>1u", func(m *vterm.Modes) { m.Kitty = vterm.KittyDisambiguate }},
		{"\x1b[>31u", func(m *vterm.Modes) { m.Kitty = vterm.KittyFlagsAll }},
		{"\x1b[>4;1m", func(m *vterm.Modes) { m.ModifyOtherKeys = 1 }},
		{"\x1b[>4;2m", func(m *vterm.Modes) { m.ModifyOtherKeys = 2 }},
		{"\x1b[>4;2m\x1b[>4m", func(*vterm.Modes) {}},
		{"\x1b[>4;2m\x1b[>4;0m", func(*vterm.Modes) {}},
		{"\x1b[>4;2m\x1b[>m", func(*vterm.Modes) {}},
		{"\x1b[>4;2m\x1b[>4n", func(*vterm.Modes) {}},
		{"\x1b[>4;9m", func(*vterm.Modes) {}},
		{"\x1b[>1;2m", func(*vterm.Modes) {}}, // another resource
		{"\x1b[>4;1f", func(m *vterm.Modes) { m.FormatOtherKeys = 1 }},
		{"\x1b[>4;1f\x1b[>4f", func(*vterm.Modes) {}},
		{"\x1b[4h", func(*vterm.Modes) {}}, // no affair of theirs
		{"\x1b[?7l\x1b[?6h\x1b[?25l", func(*vterm.Modes) {}},
		{"\x1b[?1;2004;1000;1006h\x1b[>4;2m\x1b[>5u\x1bc", func(*vterm.Modes) {}},
		{"\x1b[?1;66h\x1b[!p", func(*vterm.Modes) {}},
	} {
		term := vterm.New(vterm.Options{})
		write(term, c.in)
		want := begin
		c.change(&want)
		if got := term.Modes(); got != want {
			t.Errorf("%q: %+v, want %+v", c.in, got, want)
		}
		changes := 0
		for _, e := range term.Events(nil) {
			if e.Kind == vterm.EventModes {
				changes++
			}
		}
		if (changes > 0) != (want != begin) {
			t.Errorf("%q reports %d changes of modes", c.in, changes)
		}
	}
}

// TestModesInOneSequence: several parameters set several modes, from the first to the last.
func TestModesInOneSequence(t *testing.T) {
	for _, c := range []struct{ in, ask, want string }{
		{"\x1b[?1;7;25l", "\x1b[?1$p\x1b[?7$p\x1b[?25$p", "?1;2 ?7;2 ?25;2"},
		{"\x1b[?1;9999;2004h", "\x1b[?1$p\x1b[?2004$p", "?1;1 ?2004;1"}, // an unknown one is skipped
		{"\x1b[?;1h", "\x1b[?1$p", "?1;1"},
		{"\x1b[4;20h", "\x1b[4$p\x1b[20$p", "4;1 20;1"},
		{"\x1b[1h\x1b[7h", "\x1b[?1$p\x1b[?7$p", "?1;2 ?7;1"}, // ANSI modes have other numbers
		{"\x1b[?4h\x1b[?20h", "\x1b[4$p\x1b[20$p", "4;2 20;2"},
		{"\x1b[?1000;1002;1003h", "\x1b[?1000$p\x1b[?1002$p\x1b[?1003$p", "?1000;2 ?1002;2 ?1003;1"},
		{"\x1b[61\"p\x1b[?7l", "\x1b[?7$p", ""}, // at level 1 there is no DECRQM
		{"\x1b[62\"p", "\x1b[?7$p", ""},
		{"\x1b[63\"p", "\x1b[?7$p", "?7;1"},
		{"\x1b[63\"p\x1b[?69h", "\x1b[?69$p", "?69;2"}, // nor margins below level 4
		{"\x1b[64\"p\x1b[?69h", "\x1b[?69$p", "?69;1"},
	} {
		term := (&example{}).terminal()
		write(term, c.in+c.ask)
		if got := shortReplies(string(term.Replies(nil))); got != c.want {
			t.Errorf("%q: %s, want %s", c.in, got, c.want)
		}
	}
}

// TestKittyKeyboard: the stack of flags of kitty's keyboard protocol ("Progressive enhancement").
//
// FEATURES: R30
func TestKittyKeyboard(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     int
	}{
		{"none at first", "", 0},
		{"pushed", "\x1b[>5u", 5},
		{"pushed without flags", "\x1b[>u", 0},
		{"flags that are none are dropped", "\x1b[>255u", 31},
		{"the last pushed counts", "\x1b[>5u\x1b[>1u", 1},
		{"popped", "\x1b[>5u\x1b[>1u\x1b[<u", 5},
		{"two popped", "\x1b[>5u\x1b[>1u\x1b[<2u", 0},
		{"zero is one", "\x1b[>5u\x1b[>1u\x1b[<0u", 5},
		{"more popped than there are", "\x1b[>5u\x1b[<99u", 0},
		{"popping the empty stack resets the flags", "\x1b[=5u\x1b[<u", 0},
		{"set", "\x1b[=5u", 5},
		{"set with mode 1", "\x1b[=5u\x1b[=2;1u", 2},
		{"mode 2 adds", "\x1b[=5u\x1b[=2;2u", 7},
		{"mode 3 removes", "\x1b[=7u\x1b[=2;3u", 5},
		{"mode 4 is none", "\x1b[=7u\x1b[=2;4u", 7},
		{"set changes the top of the stack only", "\x1b[>5u\x1b[>1u\x1b[=8u\x1b[<u", 5},
		{"set below a push is kept", "\x1b[=3u\x1b[>5u\x1b[<u", 3},
		{"each screen has its own", "\x1b[>5u\x1b[?1049h", 0},
		{"and goes back to it", "\x1b[>5u\x1b[?1049h\x1b[>1u\x1b[?1049l", 5},
		{"and comes again to its", "\x1b[>5u\x1b[?1049h\x1b[>1u\x1b[?1049l\x1b[?1049h", 1},
		{"DECSC has nothing to do with it", "\x1b[>5u\x1b7\x1b[<u\x1b8", 0},
		{"SCORC is not a pop", "\x1b[>5u\x1b[u", 5},
		{"DECSTR leaves it", "\x1b[>5u\x1b[!p", 5},
		{"RIS resets it", "\x1b[>5u\x1b[?1049h\x1b[>5u\x1bc", 0},
	} {
		term := (&example{}).terminal()
		write(term, c.in+"\x1b[?u")
		if got, want := string(term.Replies(nil)), fmt.Sprintf("\x1b[?%du", c.want); got != want {
			t.Errorf("%s: %q: %q, want %q", c.name, c.in, got, want)
		}
		if got := int(term.Modes().Kitty); got != c.want {
			t.Errorf("%s: %q: flags %d, want %d", c.name, c.in, got, c.want)
		}
		checkSnapshot(t, term, c.in)
	}

	// A full stack drops its oldest entry, and the newest ones come back in order.
	term := (&example{}).terminal()
	for i := range 40 {
		write(term, fmt.Sprintf("\x1b[>%du", i%31+1))
	}
	for i := 39; i > 39-10; i-- {
		if got := int(term.Modes().Kitty); got != i%31+1 {
			t.Errorf("entry %d of a full stack is %d", i, got)
		}
		write(term, "\x1b[<u")
	}
	write(term, "\x1b[<99u")
	if got := term.Modes().Kitty; got != 0 {
		t.Errorf("an emptied stack has %d", got)
	}
}

// TestVT52: the terminal of the seventies, entered by DECANM and left by ESC <.
//
// FEATURES: R30
func TestVT52(t *testing.T) {
	runExamples(t, []example{
		{
			name:   "moves",
			spec:   "VT510, appendix A: ESC A to ESC D",
			in:     "\x1b[?2l\x1bB\x1bB\x1bCx\x1bAy\x1bD\x1bDz\x1b<",
			screen: []string{"", " zy", " x"},
			row:    1, col: 2,
		},
		{
			name:   "direct address",
			spec:   "VT510, appendix A: ESC Y line column, from 2/0 on",
			in:     "\x1b[?2l\x1bY!%x\x1bY\x20\x20y\x1bY~~z\x1b<",
			screen: []string{"y", "     x", "", "         z"},
			row:    3, col: 9, pending: true,
		},
		{
			name:   "home and erasing",
			spec:   "VT510, appendix A: ESC H, J and K",
			in:     full + "\x1b[?2l\x1bY!#\x1bK\x1bY\"#\x1bJ\x1bHx\x1b<",
			screen: []string{"xbcdefghij", "klm", "uvw"},
			col:    1,
		},
		{
			name:   "reverse line feed",
			spec:   "VT510, appendix A: ESC I",
			in:     "a\x1b[?2l\x1bIb\x1b<",
			screen: []string{" b", "a"},
			col:    2,
		},
		{
			name:   "graphics",
			spec:   "VT510, appendix A: ESC F and ESC G; the set is that of a VT100 here",
			in:     "\x1b[?2l\x1bFq\x1bGq\x1b<",
			screen: []string{"─q"},
			col:    2,
		},
		{
			name:    "identify",
			spec:    "VT510, appendix A: ESC Z is answered ESC / Z",
			in:      "\x1b[?2l\x1bZ\x1b<\x1b[?2$p",
			replies: "\x1b/Z\x1b[?2;1$y",
		},
		{
			name:   "there are no control sequences",
			spec:   "VT510, appendix A",
			in:     "\x1b[?2l\x1b[31mx\x1b<",
			screen: []string{"31mx"},
			col:    4,
		},
		{
			name:   "an unknown escape sequence is swallowed",
			spec:   "VT510, appendix A",
			in:     "\x1b[?2la\x1bQb\x1b<",
			screen: []string{"ab"},
			col:    2,
		},
		{
			name:   "controls act within a sequence, CAN ends it",
			spec:   "VT510, appendix A",
			in:     "\x1b[?2l\x1bY\n!\x18%x\x1b<",
			screen: []string{"", "%x"},
			row:    1, col: 2,
		},
	})
}

// TestSync checks that the start and the end of synchronized output are each reported once.
func TestSync(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b[?2026h":                       "sync ||1",
		"\x1b[?2026h\x1b[?2026h":            "sync ||1",
		"\x1b[?2026ha\x1b[?2026l":           "sync ||1, sync",
		"\x1b[?2026l":                       "",
		"\x1b[?2026h\x1b[?2026l\x1b[?2026h": "sync ||1, sync, sync ||1",
	} {
		term := (&example{}).terminal()
		write(term, in)
		if got := strings.Join(eventsOf(term), ", "); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
