//go:build unix

package terminals

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/e2e"
)

// Someone who knows tmux finds what he knows: with its keys, the viewer in tmux does what tmux does.
//
// FEATURES: R76 R119
func TestTmuxKeys(t *testing.T) {
	i := e2e.New(t)
	i.Env = append(i.Env, "EDITOR=vi", "VISUAL=")
	i.Run("config", "set", "view.keys", "tmux")
	o := newViewer(t, i, 100, 30)
	tmux := func(keys ...string) { o.keys(append([]string{"C-b"}, keys...)...) }
	o.shows("1 bash", "Ctrl-b: commands")

	// panes
	tmux("%")
	o.shows("2 bash-2")
	tmux("\"")
	o.shows("3 bash-3")
	tmux(`\;`) // for the tmux around it, a semicolon ends a command
	o.line("echo last$((1+1))")
	screens(i, "last2", "bash-2")
	tmux("o")
	o.line("echo next$((2+2))")
	screens(i, "next4", "bash-3")
	tmux("Up")
	o.line("echo above$((3+3))")
	screens(i, "above6", "bash-2")
	tmux("z")
	o.lacks("1 bash ")
	tmux("z")
	o.shows("1 bash")
	tmux("}")
	tmux("{")
	tmux("Space")
	o.shows("tiles")
	tmux("E")

	// windows
	tmux("c")
	o.lacks("2 bash-2")
	o.shows("bash-4")
	tmux(",")
	o.shows("name of the tab")
	o.keys("C-u")
	o.line("logs")
	o.shows("logs")
	tmux("1")
	o.shows("2 bash-2")
	tmux("l")
	o.lacks("2 bash-2")
	tmux("p")
	o.shows("2 bash-2")
	tmux("n")
	o.lacks("2 bash-2")
	tmux("!")
	o.shows("it has a tab of its own")

	// copy mode with vi's keys, and what was copied pasted
	o.line("echo copied-$((5+5))")
	screens(i, "copied-10", "bash-4")
	tmux("[")
	o.keys("?")
	o.line("copied-10")
	o.keys("0", "v", "$", "Enter")
	o.shows("copied")
	o.keys("echo '")
	tmux("]")
	o.line("' again")
	screens(i, "copied-10 again", "bash-4")

	// choose-tree, rename, detach
	tmux("s")
	o.shows("Sessions  4")
	o.keys("Escape")
	o.lacks("Sessions  4")
	tmux("$")
	o.shows("name")
	o.keys("C-u")
	o.line("renamed")
	e2e.Eventually(t, "the session has its name", func() bool { return strings.Contains(i.Run("ls"), "renamed") })
	tmux("?")
	o.shows("Keys: after Ctrl-b")
	o.keys("Escape")
	o.lacks("Keys: after")
	tmux("C-b") // is the session's
	tmux("d")
	o.shows("STATUS=0")
	if got := strings.Count(i.Run("ls", "-F", "{{.state}}"), "running"); got != 4 {
		t.Errorf("%d sessions run after detaching", got)
	}
}
