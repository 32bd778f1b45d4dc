//go:build unix

package terminals

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestViewerPrompt runs lines in the viewer's prompt line.
//
// FEATURES: R77, R80, R81
func TestViewerPrompt(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	o := newViewer(t, i, 100, 30)
	o.shows("1 bash", "idle")

	// In the focused shell, at its prompt: directory and variables live on.
	o.after("!")
	o.shows("[SHELL] $ a command; it runs in the shell of bash")
	o.line("WHERE=here; false")
	o.shows("$ WHERE=here; false", "✗ exit 1", "it runs in the shell of bash")
	o.line("echo $WHERE is $((20+3))")
	o.shows("here is 23\n✓ ", "it runs in the shell of bash") // reported separately by the viewer

	// While a command runs, another can run in a separate shell; Ctrl-C ends the newest.
	o.line("read x; echo got $x")
	o.shows("Ctrl-C: stop the command", "in a new shell", "needs text")
	o.line("echo own$((4+4)); sleep 1000")
	o.shows("own8")
	o.keys("C-c")
	o.shows("✗ ended")
	if out := i.Run("ls"); strings.Contains(out, "sleep") {
		t.Errorf("the ended command is still there:\n%s", out)
	}

	// Input for a waiting command is typed into its session, as a plain line.
	o.keys("Escape") // leaves the command line
	o.lacks("[SHELL]")
	o.after(`\;`)
	o.shows("> a line; it is typed into bash, with Enter")
	o.line("the answer")
	o.shows("got the answer\n✓ ")

	// A large paste is shown as a placeholder, and arrives completely.
	var pasted strings.Builder
	pasted.WriteString("cat <<'END' | sort -n | tail -1\n")
	for n := range 50 {
		pasted.WriteString(strings.Repeat("1", 1+n%7) + "\n")
	}
	pasted.WriteString("END\n")
	file := filepath.Join(i.Dir, "paste")
	if err := os.WriteFile(file, []byte(pasted.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	o.keys("!")
	o.shows("it runs in the shell of bash")
	o.cmd("load-buffer", file)
	o.cmd("paste-buffer", "-p")
	o.shows("[pasted text #1 +52 lines]")
	o.keys("Enter")
	o.shows("1111111\n✓ ")

	// The history is the directory's, and is restored.
	o.keys("C-d")
	o.lacks("[SHELL]")
	o.after("q")
	o.shows("STATUS=0")
	o.cmd("new-window", "-n", "again", filepath.Join(i.Dir, "longterm"))
	o.shows("1 bash")
	o.after(`\;`)
	o.shows("to bash")
	o.keys("C-r", "WHERE is")
	o.shows("echo $WHERE is $((20+3))")
	o.keys("Enter")
	o.shows("here is 23\n✓ ")
	o.keys("C-l", "Escape")
	o.shows("to bash")

	// Slash commands.
	for _, c := range []struct{ line, shows string }{
		{"/version", "longterm " + strings.TrimSpace(strings.Fields(i.Run("version"))[1])}, {"/sessions", "▸ bash"}, {"/mcp", "agents use longterm over MCP"},
		{"/theme light", "theme: light"}, {"/theme nothing", "no theme is called nothing"}, {"/layout", "no layout was saved"}, {"/help", "/theme [NAME]"},
	} {
		o.line(c.line)
		o.shows(c.shows)
	}
	o.keys("C-l")
	o.lacks("/theme")

	// In the configuration, errors are reported and valid keys are applied.
	conf := filepath.Join(i.Dir, "config.toml")
	if err := os.WriteFile(conf, []byte("[keys]\nzom = \"Z\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o.line("/reload")
	o.shows(`config.toml:2:1: keys.zom: the viewer has no such action`) // the path before it may take a row
	if err := os.WriteFile(conf, []byte("[view]\nprefix = \"C-b\"\ntheme = \"night\"\n[keys]\nprompt = \"F5\"\n[themes.night]\nbar = 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o.line("/reload")
	o.shows("✓ the configuration is in effect", "Ctrl-b: commands")
	o.line("/theme")
	o.shows("theme: night")
	o.keys("C-d")
	o.lacks("to bash")
	o.keys("C-b", "F5")
	o.shows("to bash")

	// A terminal of 40×10.
	o.cmd("resize-window", "-x", "40", "-y", "10")
	o.keys("!")
	o.line("seq 1 30")
	o.shows("30\n✓ ", "1 bash", "[SHELL] $")
	o.keys("C-d", "C-b", "q")
}
