package vterm_test

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/vterm"
)

// TestAlternateScreen checks the alternate screen in its three modes, and which state belongs to a screen and which to
// both.
//
// FEATURES: R34
func TestAlternateScreen(t *testing.T) {
	runExamples(t, []example{
		{
			name:   "1049 saves the cursor, clears, and brings both back",
			spec:   "xterm ctlseqs, DECSET 1049",
			in:     "ab\r\ncd\x1b[?1049h\x1b[Halternate\x1b[?1049lx",
			screen: []string{"ab", "cdx"},
			row:    1, col: 3,
			events: []string{"alternate ||1", "alternate"},
		},
		{
			name:   "1049 leaves the cursor where it is, on an empty screen",
			spec:   "xterm ctlseqs, DECSET 1049",
			in:     "ab\r\ncd\x1b[?1049hx",
			screen: []string{"", "  x"},
			row:    1, col: 3,
			events: []string{"alternate ||1"},
		},
		{
			name:   "1049 set again clears again",
			spec:   "xterm: it clears on entering, wherever it comes from",
			in:     "\x1b[?1049hold\x1b[?1049hx",
			screen: []string{"   x"},
			col:    4,
			events: []string{"alternate ||1"},
		},
		{
			name:   "47 clears nothing and saves no cursor",
			spec:   "xterm ctlseqs, DECSET 47",
			in:     "ab\x1b[?47hxy\x1b[?47l\r\nc\x1b[?47hz",
			screen: []string{"  xy", " z"},
			row:    1, col: 2,
			events: []string{"alternate ||1", "alternate", "alternate ||1"},
		},
		{
			name:   "1047 clears on leaving",
			spec:   "xterm ctlseqs, DECSET 1047",
			in:     "\x1b[?1047hold\x1b[?1047l\x1b[?1047hx",
			screen: []string{"   x"},
			col:    4,
		},
		{
			name:   "1047 reset on the primary screen clears nothing",
			spec:   "xterm ctlseqs, DECRST 1047",
			in:     "ab\x1b[?1047lc",
			screen: []string{"abc"},
			col:    3,
			events: []string{},
		},
		{
			name:   "1048 saves and restores the cursor as DECSC and DECRC",
			spec:   "xterm ctlseqs, DECSET 1048",
			in:     "ab\x1b[?1048h\x1b[3;5Hcd\x1b[?1048lx",
			screen: []string{"abx", "", "    cd"},
			col:    3,
		},
		{
			name:   "any of the three modes leaves the alternate screen",
			spec:   "xterm: there is one alternate screen",
			in:     "ab\x1b[?1049h\x1b[?47lc",
			screen: []string{"abc"},
			col:    3,
			events: []string{"alternate ||1", "alternate"},
		},
		{
			name:   "what scrolls on the alternate screen is not saved",
			spec:   "xterm: the alternate screen has no saved lines",
			in:     "\x1b[?1049h" + full + "\r\nx",
			screen: []string{"klmnopqrst", "uvwxyzABCD", "EFGHIJKLMN", "x"},
			row:    3, col: 1,
			history: []string{},
		},
		{
			name:   "ED 3 on the alternate screen erases the primary's history",
			spec:   "xterm ctlseqs, ED 3",
			in:     full + "\r\nx\x1b[?1049h\x1b[3J\x1b[?1049l",
			screen: []string{"klmnopqrst", "uvwxyzABCD", "EFGHIJKLMN", "x"},
			row:    3, col: 1,
			history: []string{},
		},
		{
			name:   "margins and tabs are of both screens",
			spec:   "xterm: they belong to the terminal",
			in:     "\x1b[2;3r\x1b[?1049h\x1b[4;1Hx\x1b[3;1Hy\nz",
			screen: []string{"", "y", " z", "x"},
			row:    2, col: 2,
		},
		{
			name:   "character sets are of both screens",
			spec:   "xterm: they belong to the terminal",
			in:     "\x1b(0\x1b[?47hq",
			screen: []string{"─"},
			col:    1,
		},
		{
			name:   "each screen has a saved cursor of its own",
			spec:   "xterm: DECSC keeps one for each screen",
			in:     "a\x1b7\x1b[?47h\x1b[3;3H\x1b7\x1b[?47l\x1b8b\x1b[?47h\x1b8c",
			screen: []string{"", "", "  c"},
			row:    2, col: 3,
		},
		{
			name:   "RIS leaves the alternate screen",
			spec:   "VT510, RIS; xterm",
			in:     "ab\x1b[?1049hcd\x1bcx",
			screen: []string{"x"},
			col:    1,
			events: []string{"alternate ||1", "alternate", "reset"},
		},
		{
			name:   "DECSTR does not",
			spec:   "VT510, DECSTR",
			in:     "ab\x1b[?1049h\x1b[Hcd\x1b[!px",
			screen: []string{"cdx"},
			col:    3,
			events: []string{"alternate ||1"},
		},
		{
			name:   "a wide character, a style and a wrap survive under the alternate screen",
			spec:   "xterm ctlseqs, DECSET 1049",
			in:     "\x1b[1m012345678你\x1b[?1049h\x1b[2Jx\x1b[?1049l\x1b[m!",
			screen: []string{"012345678", "你!"},
			row:    1, col: 3,
		},
		{
			name:    "XTSAVE keeps which screen is shown",
			spec:    "xterm ctlseqs, XTSAVE",
			in:      "ab\x1b[?1049s\x1b[?1049h\x1b[Hcd\x1b[?1049rx",
			screen:  []string{"abx"},
			col:     3,
			replies: "",
		},
		{
			name:    "DECRQM of all three tells which screen is shown",
			spec:    "xterm: they are one state",
			in:      "\x1b[?47h\x1b[?47$p\x1b[?1047$p\x1b[?1049$p\x1b[?1049l\x1b[?47$p",
			replies: "\x1b[?47;1$y\x1b[?1047;1$y\x1b[?1049;1$y\x1b[?47;2$y",
		},
	})
}

// TestBothScreens reads each screen while the other is shown. The frame identifies its screen.
func TestBothScreens(t *testing.T) {
	term := (&example{}).terminal()
	write(term, "primary")
	var f vterm.Frame
	if term.Frame(&f, vterm.Query{Screen: vterm.ScreenAlternate}); f.Alt || len(f.Lines) != 0 && strings.Join(rowsShown(&f), "") != "" {
		t.Errorf("an alternate screen that was never shown: %+v", f)
	}
	write(term, "\x1b[?47halternate")
	for which, want := range map[vterm.ScreenKind]string{
		vterm.ScreenActive: "       alt/ernate", vterm.ScreenPrimary: "primary", vterm.ScreenAlternate: "       alt/ernate",
	} {
		term.Frame(&f, vterm.Query{Screen: which})
		if got := strings.Join(rowsShown(&f), "/"); got != want || !f.Alt {
			t.Errorf("screen %d: %q, alternate %t", which, got, f.Alt)
		}
	}
	write(term, "\x1b[?47l\r!")
	term.Frame(&f, vterm.Query{Screen: vterm.ScreenAlternate})
	if got := strings.Join(rowsShown(&f), "/"); got != "       alt/ernate" || f.Alt {
		t.Errorf("afterwards the alternate screen is %q, shown %t", got, f.Alt)
	}
}

// TestAlternateScreenResized checks that the alternate screen is cut and extended at its edges, not reflowed, and that
// the primary screen is reflowed.
//
// FEATURES: R10
func TestAlternateScreenResized(t *testing.T) {
	term := (&example{}).terminal()
	write(term, "0123456789abcde\r\nend\x1b[?1049h\x1b[1;1Htop line ..\x1b[4;1Hbottom\x1b[2;4H")
	for _, c := range []struct {
		cols, rows int
		alternate  string
		primary    string
	}{
		{6, 4, "top li/.//bottom", "012345/6789ab/cde/end"},
		{20, 5, "top li/.//bottom", "0123456789abcde/end"},
		{20, 2, "top li/.", "0123456789abcde/end"},
		{10, 4, "top li/.", "0123456789/abcde/end"},
	} {
		term.Resize(c.cols, c.rows)
		var f vterm.Frame
		term.Frame(&f, vterm.Query{})
		if got := strings.Join(rowsShown(&f), "/"); got != c.alternate {
			t.Errorf("%dx%d: alternate %q, want %q", c.cols, c.rows, got, c.alternate)
		}
		term.Frame(&f, vterm.Query{Screen: vterm.ScreenPrimary})
		if got := strings.Join(append(historyOf(term), rowsShown(&f)...), "/"); got != c.primary {
			t.Errorf("%dx%d: primary %q, want %q", c.cols, c.rows, got, c.primary)
		}
		if what := unsound(term); what != "" {
			t.Errorf("%dx%d: %s", c.cols, c.rows, what)
		}
	}
	write(term, "\x1b[?1049lx")
	var f vterm.Frame
	term.Frame(&f, vterm.Query{})
	if got := strings.Join(rowsShown(&f), "/"); got != "0123456789/abcde/endx" {
		t.Errorf("back on the primary screen: %q", got)
	}
}
