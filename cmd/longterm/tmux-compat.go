//go:build unix

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/tmuxcompat"
)

func tmuxcompatVerb(a *app, c *cobra.Command) {
	c.Long = "Run tmux commands on longterm sessions, for programs that drive tmux. A pane is a session, with its lifetime.\n" +
		"If longterm is called as tmux, it runs this verb:\n\n" +
		"  longterm tmux-compat list-panes -a\n" +
		"  ln -s \"$(command -v longterm)\" ~/bin/tmux\n\n" +
		"`longterm help tmux-compat` lists the commands and the differences from tmux."
	c.DisableFlagParsing = true // tmux's own flags
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 && (args[0] == "--help" || args[0] == "-h") {
			return cmd.Help()
		}
		if len(args) > 0 && strings.HasPrefix(args[0], "--") {
			return exit.Usagef("tmux has no %s; use tmux's own arguments, as in `longterm tmux-compat list-panes -a`", args[0])
		}
		b, err := a.connect()
		if err != nil {
			return err
		}
		if err := b.dirs.Make(); err != nil {
			return err
		}
		cwd, err := os.Getwd()
		if err != nil {
			cwd = "/" // the directory was removed
		}
		status := tmuxcompat.Run(cmd.Context(), tmuxcompat.Options{
			Daemon:  func() (tmuxcompat.Daemon, error) { return b.client, b.client.Ensure(cmd.Context()) },
			Numbers: filepath.Join(b.dirs.State, "tmux.json"), RunDir: b.dirs.Run, Env: os.Environ(), Cwd: cwd,
			Terminal: term.IsTerminal(int(a.stdin.Fd())), Show: showSessions, Pipe: pipeOutput,
			Stdin: a.stdin, Stdout: a.Stdout, Stderr: a.Stderr,
		}, args)
		if status != 0 {
			return exit.Silent(status)
		}
		return nil
	}
}

// showSessions runs the viewer in a separate process, which ends with the terminal's client.
func showSessions(ctx context.Context, ids []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.CommandContext(ctx, self, append([]string{"view"}, ids...)...)
	c.Args[0] = "longterm" // os.Args[0] may be tmux
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	return c.Run()
}

// pipeOutput runs the verb pipe in a separate process. Its output is dropped, because tmux prints none.
func pipeOutput(ctx context.Context, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.CommandContext(ctx, self, append([]string{"pipe"}, args...)...)
	c.Args[0] = "longterm" // os.Args[0] may be tmux
	c.Stderr = os.Stderr
	return c.Run()
}
