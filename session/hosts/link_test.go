//go:build unix

package hosts

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/shellquote"
)

// fakeSSH returns an ssh command that exits with these messages, one per call, and the last one forever.
func fakeSSH(t *testing.T, dir string, complaints ...string) []string {
	t.Helper()
	script := "case \"$*\" in *'-O exit'*) exit 0;; esac\n" +
		"echo >>" + shellquote.Word(filepath.Join(dir, "calls")) + "\nn=$(wc -l <" + shellquote.Word(filepath.Join(dir, "calls")) + ")\n"
	for i, c := range complaints {
		script += fmt.Sprintf("[ $n -gt %d ] && what=%s\n", i, shellquote.Word(c))
	}
	name := filepath.Join(dir, "fakessh")
	if err := os.WriteFile(name, []byte(script+"echo \"$what\" >&2\nexit 255\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"/bin/sh", name}
}

// TestLink_EndsIfRefused checks that a link whose host needs a user's answer exits, and its callers get the error. A
// link without network retries.
func TestLink_EndsIfRefused(t *testing.T) {
	dir, err := os.MkdirTemp("", "lt")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	ssh := fakeSSH(t, dir, "connect to host far port 22: No route to host",
		"ssh: Could not resolve hostname far: Temporary failure in name resolution", "me@far: Permission denied (publickey,password).")
	l := &Link{Target: "far", SSH: SSH{Argv: ssh, Dir: dir}, Program: "longterm", Keep: time.Hour, Log: slog.New(slog.DiscardHandler)}
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- l.Serve(t.Context(), func() { close(ready) }) }()
	<-ready
	told := make(chan error, 1)
	go func() {
		_, err := l.stream(t.Context())
		told <- err
	}()
	if err := <-told; err == nil {
		t.Error("there is a connection")
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var e *api.Error
	if !errors.As(l.state.err, &e) || e.Code != api.CodeHostRefused {
		t.Errorf("got end with error %v", l.state.err)
	}
}

// TestSessionEnviron checks that variables of the bridge's connection are not passed to sessions, which outlive it.
func TestSessionEnviron(t *testing.T) {
	for _, name := range []string{"SSH_TTY", "SSH_CONNECTION", "SSH_CLIENT", "SSH_AUTH_SOCK", "LONGTERM_SESSION", "SSH_ASKPASS"} {
		t.Setenv(name, "x")
	}
	for _, kv := range sessionEnviron() {
		if strings.HasPrefix(kv, "SSH_") && kv != "SSH_ASKPASS=x" || strings.HasPrefix(kv, "LONGTERM_SESSION=") {
			t.Error(kv)
		}
	}
	if !slices.Contains(sessionEnviron(), "SSH_ASKPASS=x") {
		t.Error("got no other variables")
	}
}
