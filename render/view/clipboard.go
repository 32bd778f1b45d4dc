package view

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/panes"
)

// maxTerminalCopy is the longest text sent to the terminal's clipboard, in bytes: terminals truncate or drop longer
// ones.
const maxTerminalCopy = 1 << 20

// copy copies text to the terminal's clipboard (OSC 52) and to the system's.
func (v *viewer) copy(text string) {
	if strings.TrimSpace(text) == "" {
		v.message = "nothing to copy"
		return
	}
	if v.copied = text; len(text) <= maxTerminalCopy {
		v.o.Screen.SetClipboard([]byte(text))
	}
	lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	v.message = "copied " + count(utf8.RuneCountInString(strings.TrimSuffix(text, "\n")), "character", "characters")
	if lines > 1 {
		v.message = fmt.Sprintf("copied %d lines", lines)
	}
	if v.o.Clipboard == nil {
		return
	}
	v.spawn(func() {
		if err := v.o.Clipboard.Copy(v.ctx, text); err != nil {
			v.later(func() { v.message = "copied by the terminal only: " + err.Error() })
		}
	})
}

// forwardEffects passes clipboard writes and notifications of a shown session's program to the terminal, and the bell of the
// focused session. Bells of other sessions are alerts. The terminal's clipboard is never read.
func (v *viewer) forwardEffects(id string, effects []panes.Effect) {
	for i := range effects {
		switch e := &effects[i]; e.Kind {
		case panes.EffectBell:
			if id == v.m.Focus && !v.unfocused && !v.m.DisabledAlerts.NoBell {
				_ = v.o.Screen.Beep()
			}
		case panes.EffectNotify:
			canvas.Notify(v.o.Screen, e.Title, e.Text)
		case panes.EffectClipboard:
			canvas.SetClipboard(v.o.Screen, e.Title, e.Text)
		}
	}
}

// count returns a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
