//go:build unix

package terminals

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestTmuxKeys runs the viewer with tmux's keys, which have the same effects as in tmux.
//
// FEATURES: R76 R119
func TestTmuxKeys(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Env = append(i.Env, "EDITOR=vi", "VISUAL=")
	i.Run("config", "set", "view.keys", "tmux")
	o := newViewer(t, i, 100, 30)
	pressed := map[string]bool{}
	tmux := func(keys ...string) {
		pressed[strings.TrimPrefix(keys[0], `\`)] = true
		o.keys(append([]string{"C-b"}, keys...)...)
	}
	column := func(text string) int { // column of a text in the first row that contains it
		for _, l := range strings.Split(o.text(), "\n") {
			if at := strings.Index(l, text); at >= 0 {
				return len([]rune(l[:at]))
			}
		}
		return -1
	}
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
	tmux("Left")
	o.line("echo left$((4+4))")
	screens(i, "left8", "bash")
	tmux("}")
	o.shows("1 bash-2", "2 bash ")
	tmux("{")
	o.shows("1 bash ", "2 bash-2")
	tmux("Space")
	o.shows("tiles")
	for key, name := range map[string]string{"M-1": "columns", "M-2": "rows", "M-3": "main above", "M-4": "main left", "M-5": "tiles"} {
		tmux(key)
		e2e.Eventually(t, "the layout is "+name, func() bool { return strings.HasSuffix(strings.TrimSpace(o.text()), name) })
	}
	tmux("M-1")
	tmux("E")
	tmux("q")
	o.shows("go to pane 1-9")
	o.keys("1")
	o.lacks("go to pane")
	before := column("│")
	tmux("C-Right")
	e2e.Eventually(t, "the first pane is wider", func() bool { return column("│") > before })
	tmux("M-5")
	tmux("q")
	o.keys("3")
	o.line("echo third$((5+5))")
	screens(i, "third10", "bash-3")
	tmux("y")
	o.shows("SYNC")
	o.line("echo all$((6+6))")
	screens(i, "all12", "bash", "bash-2", "bash-3")
	tmux("y")
	o.lacks("SYNC")
	tmux("M-n")
	o.shows("no session needs attention")
	tmux(":")
	o.shows("Command palette")
	o.keys("Escape")
	o.lacks("Command palette")

	// windows
	tmux("c")
	o.lacks("2 bash-2")
	o.shows("bash-4")
	tmux(",")
	o.shows("tab name: bash-4") // tmux offers it, too
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
	o.shows("pane is already alone in its tab")

	// Copy mode with vi's keys, and a paste of the copy.
	o.line("echo copied-$((5+5))")
	o.shows("copied-10") // copy mode works on the shown rows: the session shows it earlier
	tmux("[")
	o.keys("?")
	o.line("copied-10")
	o.keys("0", "v", "$", "Enter")
	o.shows("copied 9 characters")
	o.keys("echo '")
	tmux("]")
	o.line("' again")
	screens(i, "copied-10 again", "bash-4")

	// choose-tree, rename, detach
	for _, key := range []string{"s", "w", "f"} {
		tmux(key)
		o.shows("Sessions  4")
		o.keys("Escape")
		o.lacks("Sessions  4")
	}
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

	// Closing a tab ends no session; killing does, after a confirmation.
	tmux("c")
	o.shows("3 bash-4") // a name that is free again
	tmux("&")
	o.shows("its sessions keep running")
	tmux("c")
	o.shows("bash-5")
	tmux("x")
	o.shows("kill bash-5? y/n")
	o.keys("y")
	o.shows("bash-5 killed; output kept")
	tmux("d")
	o.shows("STATUS=0")
	if got := strings.Count(i.Run("ls", "-F", "{{.state}}"), "running"); got != 5 {
		t.Errorf("%d sessions run after detaching", got)
	}
	page, err := os.ReadFile("../../../../docs/from-tmux.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `C-b ([^` ]+)` \\|").FindAllStringSubmatch(string(page), -1)
	if len(rows) < 30 {
		t.Errorf("the page has %d keys", len(rows))
	}
	for _, r := range rows {
		if !pressed[r[1]] {
			t.Errorf("C-b %s is on the page and was not pressed", r[1])
		}
	}
}
