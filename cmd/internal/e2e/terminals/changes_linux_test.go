package terminals

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestViewerChanges checks that the viewer's panel lists the changes of a session's draft, shows a diff, commits one
// file and discards another, each after a confirmation. The list and the session's mark follow.
//
// FEATURES: R76, R124
func TestViewerChanges(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	project := filepath.Join(t.TempDir(), "project")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"alpha", "beta", "gone"} {
		if err := os.WriteFile(filepath.Join(project, name), []byte("old "+name+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	is := func(name, want string) {
		t.Helper()
		got, err := os.ReadFile(filepath.Join(project, name))
		if err != nil && want != "" || string(got) != want {
			t.Errorf("%s: %q, want %q (%v)", name, got, want, err)
		}
	}
	if _, errOut, code := i.Try("new", "-n", "d", "--draft", "--cwd", project, "--", tier.Path(t, "bash"), "--norc", "--noprofile"); code != 0 {
		if strings.Contains(errOut, "namespaces") {
			t.Skip(errOut)
		}
		t.Fatal(errOut)
	}
	i.Run("exec", "--wait", "d", "echo new alpha > alpha; echo new beta > beta; rm gone; echo made > more; clear")
	o := newOuter(t, i, 110, 36, "view", "d")
	o.shows("draft(4)")
	o.after("V")
	o.shows("Changes of d  4", "alpha", "beta", "gone", "more", "Ctrl-S commit")

	// The diff, and back.
	o.keys("alpha")
	o.shows("modified")
	o.keys("Enter")
	o.shows("alpha  +1 -1 lines", "old alpha", "new alpha")
	o.keys("Enter")
	o.shows("Changes of d")

	// Nothing is committed while the session runs.
	o.keys("C-s")
	o.shows("end the session first")
	is("alpha", "old alpha\n")

	i.Run("kill", "--grace", "100ms", "d")
	e2e.Eventually(t, "the session has ended", func() bool { return i.Info("d").State != "running" })
	o.keys("C-s")
	o.shows("commit alpha?")
	o.keys("y")
	o.shows("1 change committed")
	e2e.Eventually(t, "the file is committed", func() bool {
		b, _ := os.ReadFile(filepath.Join(project, "alpha"))
		return string(b) == "new alpha\n"
	})
	is("beta", "old beta\n")
	is("gone", "old gone\n")
	o.shows("draft(3)")
	o.keys("C-u")
	o.shows("Changes of d  3")

	o.keys("beta")
	o.shows("Changes of d  1")
	o.keys("C-d")
	o.shows("discard the change of beta?")
	o.keys("n")
	o.shows("Changes of d")
	o.keys("C-d")
	o.shows("discard the change of beta?")
	o.keys("y")
	o.shows("1 change discarded", "draft(2)")
	o.keys("C-u")
	o.shows("Changes of d  2", "gone", "more")
	o.lacks("beta")
	is("beta", "old beta\n")

	o.keys("C-a")
	o.shows("commit 2 changes in ")
	o.keys("y")
	o.lacks("Changes of d")
	e2e.Eventually(t, "the rest is committed", func() bool {
		_, err := os.Stat(filepath.Join(project, "gone"))
		return os.IsNotExist(err)
	})
	is("more", "made\n")
	o.lacks("draft(")
}
