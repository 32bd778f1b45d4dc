//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/longterm-dev/longterm/render/view"
	"github.com/longterm-dev/longterm/session/api"
)

func viewCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "view [S…]", Short: "Show sessions in panes",
		Long: "Show sessions in panes on this terminal: those named, or all that run. Ctrl-Space, then ?, lists the keys.",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := a.connect()
			if err != nil {
				return err
			}
			var only []string
			for _, ref := range args {
				info, err := b.client.Session(ref).Info(cmd.Context())
				if err != nil {
					return err
				}
				only = append(only, info.ID)
			}
			return a.view(cmd.Context(), only)
		},
	}
}

// viewDefault is longterm without a verb: the viewer, with a shell to begin with.
func (a *app) viewDefault(cmd *cobra.Command) error {
	if !a.onTerminal() {
		return usagef("%w; `longterm --help` lists the verbs", errNoTerminal)
	}
	b, err := a.connect()
	if err != nil {
		return err
	}
	list, err := b.client.List(cmd.Context())
	if err != nil {
		return err
	}
	for _, s := range list {
		if s.State == "running" {
			return a.view(cmd.Context(), nil)
		}
	}
	n, err := shellHere()
	if err != nil {
		return err
	}
	if _, err := b.client.NewSession(cmd.Context(), n); err != nil {
		return err
	}
	return a.view(cmd.Context(), nil)
}

func (a *app) onTerminal() bool {
	return term.IsTerminal(int(a.stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
}

func (a *app) view(ctx context.Context, only []string) error {
	if !a.onTerminal() {
		return errNoTerminal
	}
	b, err := a.connect()
	if err != nil {
		return err
	}
	err = view.Run(ctx, newViewSource(b.client), view.Options{Only: only})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// shellHere is the user's shell in the current directory.
func shellHere() (api.NewSession, error) {
	cwd, err := filepath.Abs("")
	return api.NewSession{Cwd: cwd, Env: os.Environ()}, err
}
