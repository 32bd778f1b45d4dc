//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/exit"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/termio"
	"github.com/longterm-dev/longterm/render/view"
	"github.com/longterm-dev/longterm/render/view/theme"
	"github.com/longterm-dev/longterm/session/api"
)

// viewFlags are how a person wants the viewer.
type viewFlags struct{ theme, prefix, layout string }

func viewCommand(a *app) *cobra.Command {
	f := viewFlags{}
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
	c.Flags().StringVar(&f.theme, "theme", "", strings.Join(theme.Names(), ", ")+", or one of the configuration; default: as it was last, or what suits the terminal ($LONGTERM_THEME)")
	c.Flags().StringVar(&f.prefix, "prefix", "", "key that begins a command, as in C-Space, C-a, F12 (default C-Space; $LONGTERM_PREFIX)")
	c.Flags().StringVar(&f.layout, "layout", "", "layout to begin with; default: as it was last")
	return c
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
			return a.view(cmd.Context(), nil, viewFlags{})
		}
	}
	n, err := shellHere()
	if err != nil {
		return err
	}
	if _, err := b.client.NewSession(cmd.Context(), n); err != nil {
		return err
	}
	return a.view(cmd.Context(), nil, viewFlags{})
}

func (a *app) onTerminal() bool {
	return term.IsTerminal(int(a.stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
}

func (a *app) view(ctx context.Context, only []string, f viewFlags) error {
	w := &wishes{flags: f, changed: make(chan view.Looks, 1)}
	looks, err := w.looks(a.settings())
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
	src := viewSource{c: b.client, dirs: b.dirs, wishes: w, sizes: newSizeWish(a.settings().View.Size), mark: uuid.NewString()}
	o := view.Options{
		Looks: looks, Changed: w.changed, Only: only, Layout: w.layout(a.settings()), History: src, Steward: src,
		Layouts: viewLayouts{filepath.Join(b.dirs.State, "layouts")}, Footer: newViewPrompt(src),
	}
	if looks.Theme == nil && os.Getenv("COLORFGBG") == "" && os.Getenv("NO_COLOR") == "" {
		o.Light = termio.AskBackground(a.stdin, os.Stdout, time.Second)
	}
	if c := findClipboard(); c != nil {
		o.Clipboard = c
	}
	err = view.Run(ctx, src, o)
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
