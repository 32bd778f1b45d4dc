//go:build unix

package main

import (
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/exit"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/termio"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/viewsource"
	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/theme"
)

func viewVerb(a *app, c *cobra.Command) {
	f := viewsource.Flags{}
	c.Long = "Show sessions in panes on this terminal: those named, or all that run, arranged as they were last.\n" +
		"Ctrl-Space, then ?, lists the keys; docs/viewer.md tells the rest."
	c.RunE = func(cmd *cobra.Command, args []string) error {
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
		return a.view(cmd.Context(), only, f)
	}
	c.Flags().StringVar(&f.Theme, "theme", "", strings.Join(theme.Names(), ", ")+", or one of the configuration; default: as it was last, or what suits the terminal ($LONGTERM_THEME)")
	c.Flags().StringVar(&f.Prefix, "prefix", "", "key that begins a command, as in C-Space, C-a, F12 (default C-Space; $LONGTERM_PREFIX)")
	c.Flags().StringVar(&f.Keys, "keys", "", strings.Join(keymap.PresetNames(), ", ")+": whose keys (default: the configuration's, longterm)")
	c.Flags().StringVar(&f.Layout, "layout", "", "layout to begin with; default: as it was last")
}

// viewDefault is longterm without a verb: the viewer, with a shell to begin with.
func (a *app) viewDefault(cmd *cobra.Command) error {
	if !a.onTerminal() {
		return exit.Usagef("%w; `longterm --help` lists the verbs", termio.ErrNoTerminal)
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
			return a.view(cmd.Context(), nil, viewsource.Flags{})
		}
	}
	n, err := viewsource.ShellHere()
	if err != nil {
		return err
	}
	if _, err := b.client.NewSession(cmd.Context(), n); err != nil {
		return err
	}
	return a.view(cmd.Context(), nil, viewsource.Flags{})
}

func (a *app) onTerminal() bool {
	return term.IsTerminal(int(a.stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
}

func (a *app) view(ctx context.Context, only []string, f viewsource.Flags) error {
	o, err := viewsource.NewOptions(f, a.settings(), readConfig)
	if err != nil {
		return exit.Usage(err)
	}
	if !a.onTerminal() {
		return termio.ErrNoTerminal
	}
	b, err := a.connect()
	if err != nil {
		return err
	}
	return viewsource.Run(ctx, viewsource.Program{Client: b.client, Dirs: b.dirs, Version: version, Stdin: a.stdin, Host: a.host}, o, only)
}
