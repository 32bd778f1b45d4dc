//go:build unix

package tmuxcompat

import (
	"bytes"
	"testing"
)

func TestSteps(t *testing.T) {
	panes := []*pane{{}, {}, {}, {}}
	for i, p := range panes {
		p.Pane, p.PaneUsed = i, i+1 // the last is active
	}
	for word, want := range map[string]int{"+": 0, "+2": 1, "-1": 2, "-": 2, "-5": 2, "+4": 3, "{next}": 0, "1": 1} {
		if got := paneIn(panes, word); got == nil || got.Pane != want {
			t.Errorf("%s: %+v, not pane %d", word, got, want)
		}
	}
}

// TestSurplusArguments checks that surplus arguments are reported before any action: there is no daemon here.
func TestSurplusArguments(t *testing.T) {
	for _, name := range noArgCommands {
		var told bytes.Buffer
		status := Run(t.Context(), Options{Stderr: &told, Daemon: func() (Daemon, error) { return nil, failure("asked") }}, []string{name, "x"})
		if want := "command " + name + ": too many arguments (need at most 0)\n"; status != 1 || told.String() != want {
			t.Errorf("%s: %d, %q", name, status, told.String())
		}
	}
}

// TestRefusedParts checks that the messages are those of tmux 3.3a.
func TestRefusedParts(t *testing.T) {
	for _, c := range []struct {
		flag       byte
		text, want string
	}{
		{'l', "abc", "lines invalid"},
		{'l', "-3", "lines too small"},
		{'l', "5x%", "percentage invalid"},
		{'p', "-5", "create pane failed: -p too small"},
		{'p', "abc", "create pane failed: -p invalid"},
	} {
		x := &command{flags: map[byte][]string{c.flag: {c.text}}}
		if _, err := x.newPaneSize(24); err == nil || err.Error() != c.want {
			t.Errorf("-%c %s: %v", c.flag, c.text, err)
		}
	}
}
