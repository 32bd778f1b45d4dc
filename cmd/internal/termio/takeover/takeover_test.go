//go:build unix

package takeover

import (
	"os"
	"strings"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/term"

	"github.com/longterm-dev/longterm/render"
)

// TestResetsAreRenders checks that the sequences written out here equal those of package render.
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

// TestGuard_EndsAnUnfinishedString kills a program's drawing within a control string: the guard ends the string before it resets.
//
// FEATURES: R75
func TestGuard_EndsAnUnfinishedString(t *testing.T) {
	outer, tty, err := pty.Open()
	if err != nil {
		t.Skip("no terminals: ", err)
	}
	defer outer.Close()
	if _, err := term.MakeRaw(int(tty.Fd())); err != nil {
		t.Fatal(err)
	}
	const unfinished, reset = "\x1bP+q54", "\x1b[mreset"
	if _, err := tty.WriteString(unfinished); err != nil {
		t.Fatal(err)
	}
	g := StartGuard(tty, reset, "settings")
	if g == nil {
		t.Fatal("the guard did not start")
	}
	_ = g.pipe.Close() // as the kernel does when this process is killed
	p, err := os.FindProcess(g.pid)
	if err == nil {
		_, err = p.Wait()
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = tty.Close()
	b := make([]byte, 4096)
	n, err := outer.Read(b)
	if got, want := string(b[:n]), unfinished+"\x1b\\"+reset; err != nil || !strings.HasPrefix(got, want) {
		t.Errorf("the terminal gets %q, %v; want %q", got, err, want)
	}
}
