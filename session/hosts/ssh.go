//go:build unix

package hosts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/shellquote"
)

// SSH is how ssh(1) is called.
type SSH struct {
	Argv []string      // program and first arguments; empty: ssh
	Keep time.Duration // how long ssh keeps an unused connection
	Dir  string        // for the sockets of its connections
}

// maxControl is what a socket's path may be long: ssh adds 17 bytes while it makes one.
const maxControl = 103 - 17

// waitDelay is how long ssh's descriptors are waited for after its end: one that went to the background keeps some.
const waitDelay = 2 * time.Second

// controlPath returns the ControlPath by which calls of ssh share a connection, or "" if it would be too long.
func (s *SSH) controlPath(t Target) string {
	if p := filepath.Join(s.Dir, t.key()+".ssh"); len(p) <= maxControl && !strings.Contains(p, `"`) {
		return p
	}
	return ""
}

// argv returns the command line that runs a command on a host. quiet: never prompt on a terminal.
func (s *SSH) argv(t Target, quiet bool, more ...string) []string {
	argv := append([]string{}, s.Argv...)
	if len(argv) == 0 {
		argv = []string{"ssh"}
	}
	if quiet {
		argv = append(argv, "-o", "BatchMode=yes")
	}
	if c := s.controlPath(t); c != "" {
		// Percent signs are ssh's, and its parser cuts at blanks.
		c = `"` + strings.ReplaceAll(c, "%", "%%") + `"`
		argv = append(argv, "-o", "ControlMaster=auto", "-o", "ControlPath="+c,
			"-o", fmt.Sprintf("ControlPersist=%d", max(1, int(s.Keep.Seconds()))))
	}
	argv = append(argv, "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3", "-o", "ConnectTimeout=15")
	return append(argv, more...)
}

// command runs a line of the remote shell, with neither terminal nor escape characters.
func (s *SSH) command(ctx context.Context, t Target, quiet bool, line string) *exec.Cmd {
	argv := append(s.argv(t, quiet, "-T", "-e", "none", "--", string(t)), line)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = waitDelay
	return cmd
}

// run runs a line to its end.
func (s *SSH) run(ctx context.Context, t Target, quiet bool, line string, in io.Reader) (string, error) {
	cmd := s.command(ctx, t, quiet, line)
	var complaint tail
	cmd.Stdin, cmd.Stderr = in, &complaint
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrWaitDelay) { // it continues in the background with its input
		err = nil
	}
	if err != nil && ctx.Err() != nil {
		return "", ctx.Err()
	}
	return string(out), failureOf(t, err, complaint.String())
}

// closeMaster closes ssh's master connection to a host, if one is open.
func (s *SSH) closeMaster(t Target) {
	if s.controlPath(t) == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	argv := s.argv(t, true, "-O", "exit", "--", string(t))
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = waitDelay
	_ = cmd.Run()
}

// complaints are ssh's messages before it exits with 255, and their meaning. The first match counts.
var complaints = []struct {
	text string
	code api.Code
	hint string
}{
	{"Could not resolve hostname", api.CodeHostUnknown, ""},
	{"Host key verification failed", api.CodeHostRefused, "to trust the host, run `ssh %s` once on a terminal and check the host's key"},
	{"REMOTE HOST IDENTIFICATION HAS CHANGED", api.CodeHostRefused, "its key has changed: find out why before you continue; `ssh %s` shows details"},
	{"Permission denied", api.CodeHostRefused, "check that `ssh %s` works; ssh asks for a password only if longterm runs on a terminal"},
	{"Too many authentication failures", api.CodeHostRefused, "name the right key in ~/.ssh/config (IdentityFile, IdentitiesOnly); `ssh %s` has to work by itself"},
	{"Bad configuration option", api.CodeInvalid, "fix ~/.ssh/config; `ssh %s` must work"},
	{"Bad owner or permissions", api.CodeHostRefused, "fix the permissions of ~/.ssh; `ssh %s` must work"},
}

// sshFailed is ssh's own exit status.
const sshFailed = 255

// failureOf makes an error of how a call of ssh ended.
func failureOf(t Target, err error, complaint string) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return api.Errorf(api.CodeNoSSH, "ssh cannot be started: %v", err)
	}
	var ended *exec.ExitError
	if !errors.As(err, &ended) || ended.ExitCode() >= 0 && ended.ExitCode() != sshFailed {
		return fmt.Errorf("on %s: %w: %s", t, err, lastLine(complaint))
	}
	for _, c := range complaints {
		if strings.Contains(complaint, c.text) {
			e := api.Errorf(c.code, "%s: %s", t, lastLine(complaint))
			if c.hint != "" {
				e = e.WithHint(c.hint, string(t))
			}
			return e
		}
	}
	said := lastLine(complaint)
	if said == "" {
		said = "ssh ended: " + err.Error()
	}
	return api.Errorf(api.CodeUnavailable, "%s cannot be reached: %s", t, said).WithHint("see whether `ssh %s` works by itself", string(t))
}

// tail keeps the end of the written bytes.
type tail struct {
	mu sync.Mutex
	b  []byte
}

const maxTail = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.b = append(t.b, p...); len(t.b) > maxTail {
		t.b = append([]byte{}, t.b[len(t.b)-maxTail:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}

// Command returns the command line that runs longterm's own commands on a host, on a terminal if requested. agent is
// the label of the calling agent; empty for a user.
func (s *SSH) Command(t Target, agent, program string, args []string, terminal bool) []string {
	line := "exec "
	if agent != "" {
		line += "env " + shellquote.Word(identity.Env+"="+agent) + " "
	}
	line += shellquote.Word(program)
	for _, a := range args {
		line += " " + shellquote.Word(a)
	}
	how := "-T"
	if terminal {
		how = "-t"
	}
	return append(s.argv(t, !terminal, how, "-e", "none", "--", string(t)), line)
}
