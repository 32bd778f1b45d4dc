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

// SSH configures calls of ssh(1).
type SSH struct {
	Argv []string      // program and first arguments; empty: ssh
	Keep time.Duration // how long ssh keeps an unused connection
	Dir  string        // directory for the sockets of its connections
}

// maxControl bounds a socket's path, in bytes: ssh appends 17 bytes while it creates one.
const maxControl = 103 - 17

// waitDelay bounds the wait for ssh's descriptors after its exit: a background ssh keeps some.
const waitDelay = 2 * time.Second

// controlPath returns the ControlPath by which calls of ssh share a connection, or "" if it would be too long.
func (s *SSH) controlPath(t Target) string {
	if p := filepath.Join(s.Dir, t.fileKey()+".ssh"); len(p) <= maxControl && !strings.Contains(p, `"`) {
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
		// ssh interprets percent signs, and its parser splits at blanks.
		c = `"` + strings.ReplaceAll(c, "%", "%%") + `"`
		argv = append(argv, "-o", "ControlMaster=auto", "-o", "ControlPath="+c,
			"-o", fmt.Sprintf("ControlPersist=%d", max(1, int(s.Keep.Seconds()))))
	}
	argv = append(argv, "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3", "-o", "ConnectTimeout=15")
	return append(argv, more...)
}

// command returns a command that runs a line of the remote shell, without terminal and escape characters.
func (s *SSH) command(ctx context.Context, t Target, quiet bool, line string) *exec.Cmd {
	argv := append(s.argv(t, quiet, "-T", "-e", "none", "--", string(t)), line)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = waitDelay
	return cmd
}

// run runs a line and returns its output.
func (s *SSH) run(ctx context.Context, t Target, quiet bool, line string, in io.Reader) (string, error) {
	cmd := s.command(ctx, t, quiet, line)
	var complaint tailBuffer
	cmd.Stdin, cmd.Stderr = in, &complaint
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrWaitDelay) { // it continues in the background with its input
		err = nil
	}
	if err != nil && ctx.Err() != nil {
		return "", ctx.Err()
	}
	return string(out), sshError(t, err, complaint.String())
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

// sshErrors lists ssh's messages before exit status 255, and their meaning. The first match counts.
var sshErrors = []struct {
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

// sshError returns the error of a call of ssh.
func sshError(t Target, err error, complaint string) error {
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
	for _, c := range sshErrors {
		if strings.Contains(complaint, c.text) {
			e := api.Errorf(c.code, "%s: %s", t, lastLine(complaint))
			if c.hint != "" {
				e = e.WithHint(c.hint, string(t))
			}
			return e
		}
	}
	message := lastLine(complaint)
	if message == "" {
		message = "ssh ended: " + err.Error()
	}
	return api.Errorf(api.CodeUnavailable, "%s cannot be reached: %s", t, message).WithHint("see whether `ssh %s` works by itself", string(t))
}

// tailBuffer keeps the end of the written bytes.
type tailBuffer struct {
	mu sync.Mutex
	b  []byte
}

// maxTail bounds the kept bytes.
const maxTail = 4 << 10

func (t *tailBuffer) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.b = append(t.b, p...); len(t.b) > maxTail {
		t.b = append([]byte{}, t.b[len(t.b)-maxTail:]...)
	}
	return len(p), nil
}

func (t *tailBuffer) String() string {
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
