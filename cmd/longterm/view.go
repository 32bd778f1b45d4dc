//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/longterm-dev/longterm/render/view"
	"github.com/longterm-dev/longterm/render/view/theme"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/vterm"
)

// viewFlags are how a person wants the viewer.
type viewFlags struct{ theme, prefix, layout string }

// Variables that say how a person wants the viewer.
const (
	envTheme  = "LONGTERM_THEME"
	envPrefix = "LONGTERM_PREFIX"
)

func defaultViewFlags() viewFlags {
	f := viewFlags{theme: os.Getenv(envTheme), prefix: os.Getenv(envPrefix)}
	if f.prefix == "" {
		f.prefix = "C-Space"
	}
	return f
}

func viewCommand(a *app) *cobra.Command {
	f := defaultViewFlags()
	c := &cobra.Command{
		Use: "view [S…]", Short: "Show sessions in panes",
		Long: "Show sessions in panes on this terminal: those named, or all that run, arranged as they were last.\n" +
			"Ctrl-Space, then ?, lists the keys; docs/viewer.md tells the rest.",
		Args: cobra.ArbitraryArgs, ValidArgsFunction: a.completeSession,
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
			return a.view(cmd.Context(), only, f)
		},
	}
	c.Flags().StringVar(&f.theme, "theme", f.theme, strings.Join(theme.Names(), ", ")+"; default: as it was last, or what suits the terminal ($"+envTheme+")")
	c.Flags().StringVar(&f.prefix, "prefix", f.prefix, "key that begins a command, as in C-Space, C-a, F12 ($"+envPrefix+")")
	c.Flags().StringVar(&f.layout, "layout", "", "layout to begin with; default: as it was last")
	return c
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
			return a.view(cmd.Context(), nil, defaultViewFlags())
		}
	}
	n, err := shellHere()
	if err != nil {
		return err
	}
	if _, err := b.client.NewSession(cmd.Context(), n); err != nil {
		return err
	}
	return a.view(cmd.Context(), nil, defaultViewFlags())
}

func (a *app) onTerminal() bool {
	return term.IsTerminal(int(a.stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
}

func (a *app) view(ctx context.Context, only []string, f viewFlags) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	if !a.onTerminal() {
		return errNoTerminal
	}
	b, err := a.connect()
	if err != nil {
		return err
	}
	src := viewSource{b.client, b.dirs}
	o.Only, o.History, o.Steward = only, src, src
	o.Layouts = viewLayouts{filepath.Join(b.dirs.State, "layouts")}
	if c := findClipboard(); c != nil {
		o.Clipboard = c
	}
	err = view.Run(ctx, src, o)
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func (f *viewFlags) options() (view.Options, error) {
	o := view.Options{Layout: f.layout}
	if f.theme != "" {
		t, ok := theme.ByName(f.theme)
		if !ok {
			return o, usagef("no theme is called %q; there are %s", f.theme, strings.Join(theme.Names(), ", "))
		}
		o.Theme = t
	}
	if f.prefix != "" {
		k, err := vterm.ParseKey(f.prefix)
		if err != nil {
			return o, usagef("prefix: %w", err)
		}
		o.Prefix = k
	}
	return o, nil
}

// shellHere is the user's shell in the current directory.
func shellHere() (api.NewSession, error) {
	cwd, err := filepath.Abs("")
	return api.NewSession{Cwd: cwd, Env: os.Environ()}, err
}
