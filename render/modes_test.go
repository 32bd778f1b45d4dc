package render

import (
	"testing"

	"github.com/longterm-dev/longterm/vterm"
)

// modeCases lists sequences with which programs set modes.
var modeCases = []string{
	"", "\x1b[?1h\x1b=", "\x1b[?1049h\x1b[?2004h\x1b[?1004h", "\x1b[?1000h\x1b[?1006h", "\x1b[?1002h\x1b[?1015h",
	"\x1b[?1003h\x1b[?1016h", "\x1b[?9h", "\x1b[?1003h\x1b[?1005h", "\x1b[=31;1u", "\x1b[?1049h\x1b[=5;1u", "\x1b[>4;2m",
	"\x1b[?5h\x1b[?67h\x1b[20h\x1b[?1007h\x1b[?2031h", "\x1b[?2026h\x1b[?2048h",
}

// carried lists the modes that AppendModes can transfer.
func carried(m vterm.Modes) vterm.Modes {
	m.Sync, m.InBandResize, m.FormatOtherKeys = false, false, 0
	return m
}

// FEATURES: R75
func TestModes(t *testing.T) {
	for _, before := range modeCases {
		for _, want := range modeCases {
			program, client := native(20, 5), native(20, 5)
			_, _ = program.Write([]byte(want))
			_, _ = client.Write([]byte(before))
			m := program.Modes()
			_, _ = client.Write(AppendModes(nil, &m))
			if got := client.Modes(); got != carried(m) {
				t.Errorf("%q on a terminal with %q:\n%+v, want\n%+v", want, before, got, carried(m))
			}
		}
	}
}

// FEATURES: R75
func TestModesReset(t *testing.T) {
	fresh := native(20, 5).Modes()
	for _, before := range modeCases {
		client := native(20, 5)
		_, _ = client.Write([]byte(before + "\x1b[2;4r\x1b[?6h\x1b[4h\x1b(0\x1b[?7l\x1b[31m\x1b[3 q\x1b[?25l"))
		_, _ = client.Write(AppendModesReset(nil))
		if got := client.Modes(); got != carried(fresh) {
			t.Errorf("after %q: %+v", before, got)
		}
		// Reset: text is plain, wraps, and scrolls the whole screen.
		f := frameOf(client, "\x1b[5;1H0123456789012345678q\r\nlast")
		if l := f.Lines[3]; string(appendCell(nil, f, l.Cells, 19)) != "q" || f.Style(l.Cells[0]) != (vterm.Style{}) || !f.Cursor.Visible {
			t.Errorf("after %q the terminal is not as new:\n%s", before, picture(f))
		}
	}
}
