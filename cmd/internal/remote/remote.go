//go:build unix

// Package remote gives verbs access to other hosts: it creates the way to a remote daemon (session/hosts) from flags
// and configuration, asks the user before it installs longterm, and runs verbs on the remote host.
package remote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/hosts"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/paths"
)

// Env is the environment variable that names the host of a verb.
const Env = "LONGTERM_HOST"

// Hosts creates connections (hosts.RemoteHost) to remote hosts.
type Hosts struct {
	*output.Printer
	Stdin    *os.File
	Dirs     paths.Dirs
	Settings *config.Settings
	Install  bool   // install longterm on a host without it, without asking the user
	Releases string // directory of builds to install; empty means this executable
}

// ssh returns how to call ssh.
func (h *Hosts) ssh() hosts.SSH {
	return hosts.SSH{Argv: h.Settings.Hosts.SSH, Keep: h.Settings.Hosts.ConnIdleTimeout, Dir: h.Dirs.Hosts()}
}

// Way returns the way to reach a host.
func (h *Hosts) Way(name string) (*hosts.RemoteHost, error) {
	t, err := hosts.ParseTarget(name)
	if err != nil {
		return nil, err
	}
	if err := h.Dirs.Make(); err != nil {
		return nil, api.Errorf(api.CodeStorage, "%v", err)
	}
	return &hosts.RemoteHost{
		Target: t, SSH: h.ssh(), LinkArgv: LinkArgv, Log: h.Dirs.KeeperLog(), Prompts: termio.IsTerminal(h.Stdin),
		InstallMissing: func(ctx context.Context, there hosts.ProbeResult, why error) (string, error) {
			return h.offerInstall(ctx, t, there, why)
		},
	}, nil
}

// LinkArgv returns the command line of the process that holds the connection to a host.
func LinkArgv(t hosts.Target, program string) []string {
	return []string{"longterm", "bridge", "--link", string(t), "--program", program}
}

// offerInstall offers to install longterm on a host that lacks it, and returns the installed program's path. why is the error
// of the first attempt.
func (h *Hosts) offerInstall(ctx context.Context, t hosts.Target, system hosts.ProbeResult, why error) (string, error) {
	if !h.Install && (h.JSON || !termio.IsTerminal(h.Stdin)) {
		return "", why
	}
	b, err := hosts.FindBuild(system.System, h.Releases)
	if err != nil {
		return "", err
	}
	if !h.Install {
		question := fmt.Sprintf("%s (%s) has no longterm. Copy %s there, to ~/.local/bin/longterm?\n%.1f MB, SHA-256 %s",
			t, system.System, b.Path, float64(b.Bytes)/1e6, b.SHA256)
		if !termio.Confirm(h.Stdin, h.Stderr, question) {
			return "", why
		}
	}
	return h.copy(ctx, t, b)
}

func (h *Hosts) copy(ctx context.Context, t hosts.Target, b hosts.Build) (string, error) {
	ssh := h.ssh()
	program, err := ssh.Install(ctx, t, b, !termio.IsTerminal(h.Stdin))
	if err == nil {
		fmt.Fprintf(h.Stderr, "longterm: installed on %s: %s, SHA-256 %s\n", t, program, b.SHA256)
	}
	return program, err
}

// Installed is the result of `hosts install`.
type Installed struct {
	Host    string `json:"host"`
	System  string `json:"system"`
	Program string `json:"program"`
	SHA256  string `json:"sha256"`
	Bytes   int64  `json:"bytes"`
}

// InstallOn installs longterm on a host, replacing an existing one. It closes the connection to the previous program, so that
// the next call uses the new one.
func (h *Hosts) InstallOn(ctx context.Context, name string) (Installed, error) {
	w, err := h.Way(name)
	if err != nil {
		return Installed{}, err
	}
	there, err := w.Probe(ctx)
	if err != nil {
		return Installed{}, err
	}
	b, err := hosts.FindBuild(there.System, h.Releases)
	if err != nil {
		return Installed{}, err
	}
	program, err := h.copy(ctx, w.Target, b)
	if err != nil {
		return Installed{}, err
	}
	_, err = w.Disconnect(ctx)
	return Installed{name, there.System, program, b.SHA256, b.Bytes}, err
}

// WithoutHost returns the arguments of a command line without host flags.
func WithoutHost(args []string) (rest []string) {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--":
			return append(rest, args[i:]...)
		case arg == "-H" || arg == "--host":
			i++
		case strings.HasPrefix(arg, "-H"), strings.HasPrefix(arg, "--host="), arg == "--install":
		default:
			rest = append(rest, arg)
		}
	}
	return rest
}

// RunVerb runs a verb on the host itself, with this process's terminal, and returns its exit status.
func (h *Hosts) RunVerb(ctx context.Context, name string, args []string) error {
	w, err := h.Way(name)
	if err != nil {
		return err
	}
	there, err := w.Probe(ctx)
	if err != nil {
		return err
	}
	if there.Program == "" {
		return api.Errorf(api.CodeHostBare, "%s: longterm not found", name).WithHint("install it with `longterm hosts install %s`", name)
	}
	terminal := termio.IsTerminal(h.Stdin) && termio.AreTerminals(h.Stdin, os.Stdout)
	argv := w.SSH.Command(w.Target, os.Getenv(identity.Env), there.Program, args, terminal)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = h.Stdin, h.Stdout, h.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	err = cmd.Run()
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended) && ended.ExitCode() >= 0:
		return exit.Silent(ended.ExitCode())
	case err != nil:
		return err
	}
	return exit.Silent(0)
}
