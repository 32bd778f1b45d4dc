//go:build unix

package terminals

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestViewerOnALightTerminal checks that the terminal's own answer selects the theme.
//
// FAULT: B21
// FEATURES: R76
func TestViewerOnALightTerminal(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	for _, tt := range []struct{ name, colour, bar string }{
		{"light", "#fdf6e3", "48;2;228;232;239"}, {"dark", "#002b36", "48;2;27;32;41"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			i := e2e.New(t)
			i.Env = append(i.Env, "COLORFGBG=", "NO_COLOR=", "HOME="+i.Dir)
			i.Run("new", "-n", "one", "--", "sh", "-c", "echo I am one; exec cat")
			// The viewer's terminal is itself a session of longterm, which reports its configured colour.
			i.Run("new", "-n", "outer", "--cols", "80", "--rows", "20", "--env", "COLORTERM=truecolor", "--", "sh", "-c",
				"printf '\\033]11;"+tt.colour+"\\007'; LONGTERM_SESSION= exec \"$0\" view one", named(i))
			e2e.Eventually(t, "the viewer shows the session", func() bool { return strings.Contains(i.Run("screen", "outer"), "I am one") })
			if ansi := i.Run("screen", "outer", "--format", "ansi"); !strings.Contains(ansi, tt.bar) {
				t.Errorf("no bar of %s in\n%q", tt.bar, ansi)
			}
		})
	}
}
