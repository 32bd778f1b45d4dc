//go:build unix

package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// ahead is a program that gets much input before it reads, turns the echo off for a while at a prompt without reading,
// and prompts again when it has read all.
const ahead = `until [ -e "$1" ]; do sleep 0.02; done
stty -echo; printf 'Password: '; until [ -e "$1.on" ] || [ "$n" = 30 ]; do sleep 0.02; n=$((n + $2)); done; stty echo; echo
while read -r l && [ "$l" != END ]; do :; done
echo read it; stty -echo; printf 'Password: '; read -r p; stty echo; echo; echo "it has ${#p}"; read -r x`

// TestSecretBehindTypedAhead types a secret behind unread input. It is not queued there, because the echo could be on
// when it is read. It waits for a prompt that reads it, or is never typed.
//
// FAULT: A3
// FEATURES: R53
func TestSecretBehindTypedAhead(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	const secret = "correct-horse"
	for _, how := range []string{"rule", "send"} {
		t.Run(how, func(t *testing.T) {
			i := e2e.New(t)
			dir := t.TempDir()
			ready, file := filepath.Join(dir, "ready"), filepath.Join(dir, "secret")
			if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			step := map[string]string{"rule": "1", "send": "0"}[how] // time until the first prompt ends by itself
			i.Run("new", "-n", "a", "--", "sh", "-c", ahead, "sh", ready, step)
			line := strings.Repeat("x", 99) + `\n`
			typing := make(chan string, 1)
			go func() { // it is answered when the program has read it
				_, errOut, code := i.Try("send", "a", strings.ReplaceAll(strings.Repeat(line, 200)+`END\n`, `\n`, "\n"))
				typing <- fmt.Sprint(code, errOut)
			}()
			defer func() {
				if got := <-typing; got != "0" {
					t.Errorf("typing ahead: %s", got)
				}
			}()
			e2e.Eventually(t, "the terminal's buffer is full", func() bool { return len(i.Run("output", "--raw", "a")) > 2000 })
			if how == "rule" {
				i.Run("respond", "a", "add", "--on", "Password: ", "--secret", "file:"+file)
			}
			if err := os.WriteFile(ready, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			i.Run("wait", "a", "--for", "text=Password", "--since", "0")
			if how == "send" {
				_, first := i.Post("/sessions/a/input", `{"text":"`+secret+`","secret":true}`)
				if first == 200 {
					t.Error("the first secret was typed")
				}
				if err := os.WriteFile(ready+".on", nil, 0o600); err != nil {
					t.Fatal(err)
				}
				i.Run("wait", "a", "--for", "text=read it", "--since", "0")
				e2e.Eventually(t, "the daemon has accepted the second input", func() bool {
					_, code := i.Post("/sessions/a/input", `{"text":"`+secret+`","secret":true}`)
					return code == 200
				})
				i.Run("keys", "a", "<Enter>")
			}
			i.Run("wait", "a", "--for", "text=it has 13", "--since", "0")
			i.Run("daemon", "stop")
			if holds := filesWith(t, filepath.Join(i.Dir, "state"), secret); len(holds) > 0 {
				t.Errorf("the secret is in %q", holds)
			}
			if out := i.Run("output", "--raw", "a"); strings.Contains(out, secret) {
				t.Errorf("it was shown: %q", out[strings.Index(out, secret)-200:])
			}
		})
	}
}

// filesWith are the files below a directory that contain a text.
func filesWith(t *testing.T, dir, text string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), text) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return found
}

// TestHangingSecretLookup_BlocksNothing runs a secret lookup that hangs. Screens, removal of rules and sessions, and
// the end of the daemon are not delayed.
//
// FAULT: A4
func TestHangingSecretLookup_BlocksNothing(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		i.Run("new", "-n", name, "--", "sh", "-c", "read -r go; stty -echo; printf 'Password: '; read -r p")
		i.Run("respond", name, "add", "--on", "Password: ", "--secret", "file:"+fifo)
		i.Run("send", name, "-e", "go")
		i.Run("wait", name, "--for", "text=Password", "--since", "0")
	}
	if out := i.Run("screen", "a"); !strings.Contains(out, "Password") {
		t.Errorf("screen: %q", out)
	}
	i.Run("respond", "a", "rm", "--all")
	if out := i.Run("screen", "a"); !strings.Contains(out, "Password") {
		t.Errorf("screen without rules: %q", out)
	}
	i.Run("rm", "--force", "b")
	before := i.Status().DaemonPID
	i.Run("daemon", "restart")
	if i.Status().DaemonPID == before || len(e2e.Decode[[]api.Session](t, i.Run("ls", "--json"))) != 2 {
		t.Error("the daemon was not restarted")
	}
}
