//go:build unix

package takeover

import (
	"testing"

	"github.com/longterm-dev/longterm/render"
)

// What is written out here is what package render makes.
func TestResetsAreRenders(t *testing.T) {
	if got := string(render.AppendModesReset(nil)); got != ModesReset {
		t.Errorf("modes are reset by %q, not by %q", got, ModesReset)
	}
	if got := string(render.AppendSettingsReset(nil)); got != SettingsReset {
		t.Errorf("settings are reset by %q, not by %q", got, SettingsReset)
	}
}

func TestChangesSettings(t *testing.T) {
	for s, want := range map[string]bool{
		"": false, "\x1b[m": false, "\x1b]": false, "\x1b]2;4;\a": false, "\x1b]4": false,
		"a\x1b]4;1;red\a": true, "\x1b]10;": true, "\x1b\x1b]11;#fff\a": true, "\x1b]12;?": true, "\x1bH": true, "\x1b[3g": true, "\x1b[H": false,
	} {
		if got := ChangesSettings([]byte(s)); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}
