//go:build unix

package crash

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestHalfALineOverADeath kills the daemon while a line is partially typed. An answer is not appended to it, because
// the screen shows it. An answer to a prompt without input is typed.
//
// FEATURES: R90 R102
func TestHalfALineOverADeath(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "asks", "--", "bash", "-c", `read -p "Name: " a; echo "got $a"; read -p "Sure? [y/N] " b; echo "and $b"; exec cat`)
	path := "/sessions/" + i.Info("asks").ID + "/input"
	asks := func(what string) {
		t.Helper()
		e2e.Eventually(t, what, func() bool {
			n := i.Info("asks").Needs
			return n != nil && strings.Contains(n.Reason, what)
		})
	}
	answer := func(want int) {
		t.Helper()
		if out, code := i.Post(path, `{"text":"y","enter":true,"fresh_line":true}`); code != want {
			t.Errorf("%d, %s", code, out)
		}
	}
	die := func() {
		t.Helper()
		if err := syscall.Kill(i.Status().DaemonPID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		i.Run("ls")
	}
	asks("Name:")
	i.Run("send", "asks", "ha")
	e2e.Eventually(t, "the screen shows the partial line", func() bool { return strings.Contains(i.Run("screen", "asks"), "Name: ha") })
	asks("Name:")
	die()
	answer(http.StatusConflict)
	i.Run("keys", "asks", "C-u", "--force")
	answer(http.StatusOK)
	asks("Sure?")
	die()
	answer(http.StatusOK)
	e2e.Eventually(t, "both answers are printed", func() bool {
		s := i.Run("screen", "asks")
		return strings.Contains(s, "got y") && strings.Contains(s, "and y")
	})
}
