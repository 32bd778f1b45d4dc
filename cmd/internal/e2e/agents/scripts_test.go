//go:build unix

package agents

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// programs matches a program of docs/from-scripts.md: its language, its first line without "# ", and its text.
var programs = regexp.MustCompile("(?s)```(sh|python)\n# (.*?)\n(.*?)```")

// TestProgramsOfFromScripts runs the programs of docs/from-scripts.md. Each section's programs print the same, with pexpect or tmux and
// with longterm.
//
// FEATURES: R50, R86
func TestProgramsOfFromScripts(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	tier.Need(t, "bash")
	tier.Need(t, "tmux")
	python := tier.Path(t, "python3")
	for _, candidate := range []string{python, "/usr/bin/python3"} { // the distribution's has its packages
		if exec.Command(candidate, "-c", "import pexpect").Run() == nil {
			python = candidate
		}
	}
	if exec.Command(python, "-c", "import pexpect").Run() != nil {
		t.Skip("python3-pexpect is missing")
	}
	docs := filepath.Join("..", "..", "..", "..", "docs")
	page, err := os.ReadFile(filepath.Join(docs, "from-scripts.md"))
	if err != nil {
		t.Fatal(err)
	}
	client, err := os.ReadFile(filepath.Join(docs, "clients", "longterm.py"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"installed for ann, 6 characters\n3\n",
		"42\na\nb\n",
		"200\n",
	}
	sections := strings.Split(string(page), "\n## ")[1:]
	if len(sections) != len(want) {
		t.Fatalf("%d sections, %d results", len(sections), len(want))
	}
	i := e2e.New(t)
	i.Run("daemon", "start")
	for n, section := range sections {
		dir := t.TempDir()
		write := func(name, text string) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write("longterm.py", string(client))
		ran := 0
		for _, p := range programs.FindAllStringSubmatch(section, -1) {
			language, name, text := p[1], p[2], p[3]
			if strings.HasSuffix(name, ".sh") {
				write(name, text)
				continue
			}
			argv := []string{"bash", "-c", text}
			if language == "python" {
				argv = []string{python, "-c", text}
			}
			c := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
			c.Dir, c.Env = dir, append(i.Env, "INSTALL_PASSWORD=sesame", "TMUX_TMPDIR="+dir, "PATH="+filepath.Dir(i.Exe)+":"+os.Getenv("PATH"))
			out, err := c.CombinedOutput()
			if got := strings.ReplaceAll(string(out), "\r", ""); err != nil || got != want[n] {
				t.Errorf("section %d, %s: %v\n%s", n+1, name, err, got)
			}
			ran++
		}
		if ran < 2 {
			t.Errorf("section %d has %d programs", n+1, ran)
		}
	}
}
