//go:build unix

// Package remote is what verbs need of other hosts: the way to a daemon there (session/hosts), made of flags,
// configuration and a person who is asked before anything is copied; and verbs that are run there as they are.
package remote

import (
	"bufio"
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
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/hosts"
	"github.com/longterm-dev/longterm/session/paths"
)

// Env is the variable that names the host that verbs are about.
const Env = "LONGTERM_HOST"

// Hosts makes ways to hosts.
type Hosts struct {
	*output.Printer
	Stdin    *os.File
	Dirs     paths.Dirs
	Settings *config.Settings
	Install  bool   // without being asked
	Releases string // directory of builds; empty: that of this program
}

// ssh is how ssh is called here.
func (h *Hosts) ssh() hosts.SSH {
	return hosts.SSH{Argv: h.Settings.Hosts.SSH, Keep: h.Settings.Hosts.Keep, Dir: h.Dirs.Hosts()}
}

// Way is the way to a host.
func (h *Hosts) Way(name string) (*hosts.Way, error) {
	t, err := hosts.ParseTarget(name)
	if err != nil {
		return nil, err
	}
	if err := h.Dirs.Make(); err != nil {
		return nil, api.Errorf(api.CodeStorage, "%v", err)
	}
	return &hosts.Way{
		Target: t, SSH: h.ssh(), LinkArgv: LinkArgv, Log: h.Dirs.KeeperLog(), Asks: termio.IsTerminal(h.Stdin),
		Bare: func(ctx context.Context, there hosts.There, why error) (string, error) {
			return h.bare(ctx, t, there, why)
		},
	}, nil
}

// LinkArgv is the command line of the process that holds the connection to a host.
func LinkArgv(t hosts.Target, program string) []string {
	return []string{"longterm", "bridge", "--link", string(t), "--program", program}
}

// bare offers to install longterm where there is none.
func (h *Hosts) bare(ctx context.Context, t hosts.Target, there hosts.There, why error) (string, error) {
	if !h.Install && (h.JSON || !termio.IsTerminal(h.Stdin)) {
		return "", why
	}
	b, err := hosts.FindBuild(there.System, h.Releases)
	if err != nil {
		return "", err
	}
	if !h.Install {
		fmt.Fprintf(h.Stderr, "%s (%s) has no longterm. Copy %s there, to ~/.local/bin/longterm?\n%s, SHA-256 %s [y/N] ",
			t, there.System, b.Path, fmt.Sprintf("%.1f MB", float64(b.Bytes)/1e6), b.SHA256)
		line, err := bufio.NewReader(h.Stdin).ReadString('\n')
		if answer := strings.ToLower(strings.TrimSpace(line)); err != nil || answer != "y" && answer != "yes" {
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

// Installed is what `hosts install` tells.
type Installed struct {
	Host    string `json:"host"`
	System  string `json:"system"`
	Program string `json:"program"`
	SHA256  string `json:"sha256"`
	Bytes   int64  `json:"bytes"`
}

// Put installs longterm on a host, whatever is there. A connection to what was there before is ended: the next call
// makes one to the new one.
func (h *Hosts) Put(ctx context.Context, name string) (Installed, error) {
	w, err := h.Way(name)
	if err != nil {
		return Installed{}, err
	}
	there, err := w.Look(ctx)
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
	_, err = w.Leave(ctx)
	return Installed{name, there.System, program, b.SHA256, b.Bytes}, err
}

// WithoutHost are the arguments of a command line without what says on which host it is to be run.
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

// There runs a verb on the host itself, with this process's terminal, and returns its exit status.
func (h *Hosts) There(ctx context.Context, name string, args []string) error {
	w, err := h.Way(name)
	if err != nil {
		return err
	}
	there, err := w.Look(ctx)
	if err != nil {
		return err
	}
	if there.Program == "" {
		return api.Errorf(api.CodeHostBare, "%s: there is no longterm", name).WithHint("`longterm hosts install %s` copies this one there", name)
	}
	terminal := termio.IsTerminal(h.Stdin) && termio.AreTerminals(h.Stdin, os.Stdout)
	argv := w.SSH.There(w.Target, os.Getenv(actor.Env), there.Program, args, terminal)
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
