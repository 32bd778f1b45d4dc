//go:build unix

package fleet

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestDaemonsAreReplacedInMidCommand replaces the local and the remote daemon while remote commands run and their
// output is followed. All run to their end.
//
// FEATURES: R94, R115
func TestDaemonsAreReplacedInMidCommand(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	one, two := e2e.New(t), e2e.New(t)
	found(t, one)
	two.Run("fleet", "join", strings.TrimSpace(one.Run("fleet", "invite")), "--name", "two")
	connected(t, one, 2)
	two.Run("new", "-n", "shell", "--", "bash", "--norc")
	for name, who := range map[string]*e2e.Instance{"here": one, "there": two} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			line := func(what string) string {
				return "touch " + filepath.Join(dir, what) + "; until test -e " + filepath.Join(dir, "go") + "; do sleep 0.1; done; echo it goes on"
			}
			one.Run("new", "-H", "two", "-n", "printer-"+name, "--", "sh", "-c", line("printer"))
			type running struct {
				out, err bytes.Buffer
				end      chan error
			}
			all := map[string]*running{}
			for what, args := range map[string][]string{
				"exec":   {"exec", "two/shell", line("exec")},
				"run":    {"run", "-H", "two", "--", "sh", "-c", line("run")},
				"output": {"output", "-f", "two/printer-" + name},
			} {
				r := &running{end: make(chan error, 1)}
				c := one.Command(t.Context(), args...)
				c.Stdout, c.Stderr = &r.out, &r.err
				if err := c.Start(); err != nil {
					t.Fatal(err)
				}
				go func() { r.end <- c.Wait() }()
				all[what] = r
			}
			e2e.Eventually(t, "all commands have started", func() bool {
				here, err := os.ReadDir(dir)
				return err == nil && len(here) == len(all)
			})
			who.Run("daemon", "restart")
			connected(t, one, 2)
			if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			for what, r := range all {
				if err := <-r.end; err != nil || !strings.Contains(r.out.String(), "it goes on") {
					t.Errorf("%s: %v, %q: %s", what, err, r.out.String(), r.err.String())
				}
			}
		})
	}
}

// TestMachineComesAgain lets a machine leave and join again. The error names the way to free its name.
//
// FEATURES: R115
func TestMachineComesAgain(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	one, two := e2e.New(t), e2e.New(t)
	found(t, one)
	code := strings.TrimSpace(one.Run("fleet", "invite"))
	two.Run("fleet", "join", code, "--name", "two")
	two.Run("fleet", "leave")
	code = strings.TrimSpace(one.Run("fleet", "invite"))
	if _, stderr, status := two.Try("fleet", "join", code, "--name", "two"); status != 4 || !strings.Contains(stderr, "fleet revoke two") || strings.Contains(stderr, "fleet invite") {
		t.Errorf("%d, %s", status, stderr)
	}
	one.Run("fleet", "revoke", "two")
	two.Run("fleet", "join", code, "--name", "two")
	connected(t, one, 2)
}

// TestApprovalsOutliveTheCallersDaemon replaces the caller's daemon while a request on another host is pending. It
// stays pending and runs after approval. A request that its caller interrupts is withdrawn.
//
// FEATURES: R63, R115
func TestApprovalsOutliveTheCallersDaemon(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	one, two := e2e.New(t), e2e.New(t)
	found(t, one)
	two.Run("fleet", "join", strings.TrimSpace(one.Run("fleet", "invite")), "--name", "two")
	connected(t, one, 2)
	two.Run("new", "-n", "shell", "--", "bash", "--norc")
	pending := func() []api.Approval {
		return e2e.Decode[[]api.Approval](t, two.Run("approvals", "--json"))
	}
	for what, args := range map[string][]string{
		"exec": {"exec", "--policy", "readonly", "two/shell"},
		"run":  {"run", "-H", "two", "--policy", "readonly", "-c"},
	} {
		t.Run(what, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "made")
			var stderr bytes.Buffer
			c := one.Command(t.Context(), append(args, "touch "+file)...)
			c.Stderr = &stderr
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			e2e.Eventually(t, "an approval request is pending", func() bool { return len(pending()) == 1 })
			before := pending()[0]
			one.Run("daemon", "restart")
			connected(t, one, 2)
			two.Run("approvals", "answer", before.ID, "once")
			if err := c.Wait(); err != nil {
				t.Errorf("%v: %s", err, stderr.String())
			}
			if _, err := os.Stat(file); err != nil {
				t.Error(err)
			}
			c = one.Command(t.Context(), append(args, "touch "+file+".no")...)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			e2e.Eventually(t, "an approval request is pending", func() bool { return len(pending()) == 1 })
			if err := c.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			_ = c.Wait()
			if list := pending(); len(list) != 0 { // not in a minute: it reported that it stops
				t.Errorf("a canceled request is pending: %+v", list)
			}
		})
	}
}
