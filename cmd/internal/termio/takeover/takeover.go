//go:build unix

package takeover

import (
	"os"
	"syscall"
)

// TerminationSignals lists the signals at which a client restores the terminal and exits.
var TerminationSignals = []os.Signal{syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT}

// XTWINOPS 22 and 23 save and restore the window title.
const (
	saveTitle    = "\x1b[22;0t"
	RestoreTitle = "\x1b[23;0t"
)

// ModesReset resets every mode that a session may have set. SettingsReset resets colours, tab stops and the mouse
// pointer, which users may have set themselves. Both equal those of package render and are constants here, because this
// package must start without render's tables (TestResetsAreRenders).
const (
	ModesReset = "\x1b]8;;\x1b\\\x1b[m\x1b[?69l\x1b[r\x1b[?6l\x1b[4l\x1b[?7h\x1b[?45l\x1b(B\x0f" +
		"\x1b[?42l\x1b[?80l\x1b[?1045l\x1b[?8452l\x1b[?1070h\x1b[>4;0f\x1b[<16u\x1b[>4;0m\x1b[=0;1u\x1b[?2026l\x1b[?2048l" +
		"\x1b[?1049l\x1b[?1l\x1b[?5l\x1b[?67l\x1b[20l\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1016l" +
		"\x1b[?1004l\x1b[?2004l\x1b[?2031l\x1b[?1007h\x1b>\x1b[>4;0m\x1b[=0;1u\x1b[0 q\x1b[?25h\x1b[m"
	SettingsReset = "\x1b]104\x1b\\\x1b]105\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\\x1b]113\x1b\\\x1b]114\x1b\\" +
		"\x1b]117\x1b\\\x1b]119\x1b\\\x1b]22;\x1b\\\x1b[?5W"
)

// AlternateReset restores a terminal from the alternate screen: modes, title and cursor position.
const AlternateReset = "\x1b[m" + ModesReset + RestoreTitle

// Enter returns the sequence that saves the title and, if alternate is set, enters and clears the alternate screen.
func Enter(alternate bool) string {
	if alternate {
		return saveTitle + "\x1b[?1049h\x1b[H\x1b[2J"
	}
	return saveTitle
}

// Banner returns the line above a session's output, which remains on the screen afterwards.
func Banner(name, leave string) string {
	return "[attached to " + name + "; " + leave + " detaches, the session keeps running]\r\n"
}

// settingPrefixes lists the prefixes of sequences that change what SettingsReset resets.
var settingPrefixes = [...]string{
	"\x1b]4;", "\x1b]5;", "\x1b]10;", "\x1b]11;", "\x1b]12;", "\x1b]13;", "\x1b]14;", "\x1b]17;", "\x1b]19;", "\x1b]21;", "\x1b]22;",
	"\x1bH", "\x1b[g", "\x1b[0g", "\x1b[3g",
}

// ChangesSettings reports whether p has a sequence that changes what SettingsReset resets.
func ChangesSettings(p []byte) bool {
	for i, c := range p {
		if c != '\x1b' {
			continue
		}
		for _, s := range settingPrefixes {
			if len(p)-i >= len(s) && string(p[i:i+len(s)]) == s {
				return true
			}
		}
	}
	return false
}
