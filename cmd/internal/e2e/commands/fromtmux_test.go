//go:build unix

package commands

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/vterm/input"
)

var (
	keyHabit = regexp.MustCompile("(?m)^\\| `C-b (.+)` \\| `([a-z-]+)` \\| .+ \\|$")
	habit    = regexp.MustCompile(`(?m)^(\| .+ \| .+ \||\*\*.+)$`)
)

// TestFromTmux runs the commands on the page for tmux users and compares its keys with the preset's.
//
// FEATURES: R119
func TestFromTmux(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	bash := tier.Path(t, "bash")
	page, err := os.ReadFile("../../../../docs/from-tmux.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(habit.FindAllString(string(page), -1)); n < 40 {
		t.Errorf("%d habits", n)
	}
	preset, err := keymap.Choose("tmux", "vi")
	if err != nil {
		t.Fatal(err)
	}
	keys, err := keymap.New(preset.With(nil))
	if err != nil {
		t.Fatal(err)
	}
	rows := keyHabit.FindAllStringSubmatch(string(page), -1)
	if len(rows) < 25 {
		t.Errorf("%d keys", len(rows))
	}
	for _, row := range rows {
		k, err := input.ParseKey(row[1])
		if got := keys.AfterPrefix(k); err != nil || string(got) != row[2] {
			t.Errorf("C-b %s is %q, not %q (%v)", row[1], got, row[2], err)
		}
	}

	i := e2e.New(t)
	i.Run("config", "set", "exec.grace", "30s") // a pipe's command ends by itself, however busy the machine is
	if err := os.Symlink(i.Exe, filepath.Join(i.Dir, "longterm")); err != nil {
		t.Fatal(err)
	}
	steps := e2e.Steps(string(page))
	if len(steps) < 15 {
		t.Fatalf("only %d commands were found", len(steps))
	}
	work := t.TempDir()
	for _, s := range steps {
		cmd := exec.CommandContext(t.Context(), bash, "-c", s.Command)
		cmd.Dir = work
		cmd.Env = append(i.Env, "PATH="+i.Dir+":"+os.Getenv("PATH"), "SHELL="+bash, "HOME="+work)
		out, err := cmd.CombinedOutput()
		if !e2e.LoosePattern(s.Prints).Match(out) {
			t.Fatalf("from-tmux.md:%d: %s\nprinted (%v)\n%s\ninstead of\n%s", s.Line, s.Command, err, out, strings.Join(s.Prints, "\n"))
		}
	}
}
