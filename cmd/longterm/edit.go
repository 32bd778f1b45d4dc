//go:build unix

package main

import (
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/output"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/request"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/values"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

// on makes a verb whose first argument is a session.
func (a *app) on(use, short string, args cobra.PositionalArgs, do func(*cobra.Command, *client.Session, []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: args, ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.session(args[0])
			if err != nil {
				return err
			}
			return do(cmd, s, args[1:])
		},
	}
}

// completeSession completes the first argument with sessions' names. It starts nothing:
// a press of Tab is no wish for a daemon.
func (a *app) completeSession(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	b, err := a.connect()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	list, err := b.quiet.List(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, s := range list {
		if strings.HasPrefix(s.Name, toComplete) {
			names = append(names, s.Name+"\t"+output.StateText(&s)+" "+output.Printable(output.Shorten(s.Command, 40)))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func renameCommand(a *app) *cobra.Command {
	return a.JSONFlag(a.on("rename S NAME", "Give a session another name", cobra.ExactArgs(2),
		func(cmd *cobra.Command, s *client.Session, args []string) error {
			info, err := s.Edit(cmd.Context(), api.Edit{Name: &args[0]})
			if err != nil {
				return err
			}
			return a.Print(info, nil)
		}))
}

func labelCommand(a *app) *cobra.Command {
	return a.JSONFlag(a.on("label S NAME=VALUE…", "Label a session; an empty VALUE removes the label", cobra.MinimumNArgs(2),
		func(cmd *cobra.Command, s *client.Session, args []string) error {
			labels, err := values.Pairs(args, "label")
			if err != nil {
				return err
			}
			info, err := s.Edit(cmd.Context(), api.Edit{Labels: labels})
			if err != nil {
				return err
			}
			return a.Print(info, nil)
		}))
}

func resizeCommand(a *app) *cobra.Command {
	return a.on("resize S COLSxROWS", "Change a session's size in cells", cobra.ExactArgs(2),
		func(cmd *cobra.Command, s *client.Session, args []string) error {
			cols, rows, err := values.Size(args[0])
			if err != nil {
				return err
			}
			return s.Resize(cmd.Context(), cols, rows)
		})
}

func signalCommand(a *app) *cobra.Command {
	var scope string
	c := a.on("signal S SIGNAL", "Send a signal to a session's processes", cobra.ExactArgs(2),
		func(cmd *cobra.Command, s *client.Session, args []string) error {
			return s.Signal(cmd.Context(), api.Signal{Signal: args[0], Scope: scope})
		})
	c.Flags().StringVar(&scope, "scope", "foreground", "who gets it: child, group, foreground or all")
	return c
}

func killCommand(a *app) *cobra.Command {
	var grace time.Duration
	c := a.on("kill S", "End a session's process and all its descendants",
		cobra.ExactArgs(1), func(cmd *cobra.Command, s *client.Session, _ []string) error {
			info, err := s.Kill(cmd.Context(), api.Kill{GraceMS: request.GraceMS(cmd, grace)})
			if err != nil {
				return err
			}
			return a.Print(info, func(io.Writer) {})
		})
	c.Long = "End a session's process and all its descendants: interrupt, terminate, hang up, kill, each after the grace time (exec.grace of the configuration).\nScreen and output stay until `longterm rm`."
	c.Flags().DurationVar(&grace, "grace", 200*time.Millisecond, "time each step has to work")
	return a.JSONFlag(c)
}

func restoreCommand(a *app) *cobra.Command {
	var r api.Restore
	c := a.on("restore S", "Start the process of an ended session again, below its history",
		cobra.ExactArgs(1), func(cmd *cobra.Command, s *client.Session, _ []string) error {
			r.Env = os.Environ()
			info, err := s.Restore(cmd.Context(), r)
			if err != nil {
				return err
			}
			return a.Print(info, func(io.Writer) {})
		})
	c.Long = `Start an ended session again under the same id: a shell in the directory it was in, with what
it had exported over the caller's environment; its old screen and history stand above
a dated line. A session that ran a command needs --command or --shell.`
	c.Flags().BoolVar(&r.Command, "command", false, "run the session's command again")
	c.Flags().BoolVar(&r.Shell, "shell", false, "start a shell, whatever ran before")
	return a.JSONFlag(c)
}

func removeCommand(a *app) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use: "rm S…", Short: "Forget sessions and their history", Args: cobra.MinimumNArgs(1), ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, ref := range args {
				s, err := a.session(ref)
				if err != nil {
					return err
				}
				if err := s.Remove(cmd.Context(), force); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().BoolVarP(&force, "force", "f", false, "end a session that runs")
	return c
}
