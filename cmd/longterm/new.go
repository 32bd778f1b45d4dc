//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/fastpath"
	"github.com/longterm-dev/longterm/cmd/internal/request"
	"github.com/longterm-dev/longterm/cmd/internal/worktree"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

func newVerb(a *app, c *cobra.Command) {
	var start request.StartFlags
	var asking request.ApprovalFlags
	var ensured, branch string
	c.Long = `Start CMD, or the user's shell, in a session that survives this terminal, and print its id (on a terminal its name).

  longterm new --name work
  longterm new --name build -- make all
  longterm new --name fix --worktree -- claude

-A NAME attaches to the session NAME. If it does not exist, it is started; if it has ended, it is restarted below
its history. Without a terminal, or with --json, the id is printed instead.

--worktree starts the session in a new git worktree, REPOSITORY.worktrees/NAME, with a branch of that name.
` + "`longterm rm`" + ` removes the worktree if it has no uncommitted changes, and the branch if it is merged.`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		n, err := start.Request(cmd, args)
		if err != nil {
			return err
		}
		n.ApprovalOptions = asking.Options()
		n.AskID = fastpath.ID
		inTree := cmd.Flags().Changed("worktree")
		if cmd.Flags().Changed("attach") {
			if inTree {
				return exit.Usagef("--worktree starts a new session: use -n NAME, not -A")
			}
			if strings.HasPrefix(ensured, "-") { // as in tmux's `new -A -s NAME`, where -A takes no name
				return exit.Usagef("-A requires a session name, not %s; use `longterm new -A NAME`", ensured)
			}
			if n.Name != "" {
				return exit.Usagef("-A %s already names the session; omit -n", ensured)
			}
			n.Name = ensured
			return a.attachOrCreate(cmd, n)
		}
		b, err := a.connect()
		if err != nil {
			return err
		}
		var s api.Session
		if inTree {
			s, err = a.worktrees().Start(cmd.Context(), b.client, n, branch)
		} else {
			s, err = b.client.NewSession(cmd.Context(), n)
		}
		if err != nil {
			return exit.FromPolicy(err)
		}
		return a.Print(s, func(w io.Writer) { writeStarted(w, &s, a.TableLook().Width > 0) })
	}
	c.Flags().StringVarP(&ensured, "attach", "A", "", "`NAME` of a session to attach to, started if it does not exist")
	c.Flags().StringVar(&branch, "worktree", "", "new git worktree for the session, with `BRANCH` (default: the session's name)")
	c.Flags().Lookup("worktree").NoOptDefVal = worktree.SessionBranch
	start.Register(c)
	asking.Register(c, &a.agent)
	c.Flags().BoolVar(&start.Stdin, "stdin", false, "with --pipe: a standard input for text of send (default: none)")
	c.Flags().StringVar(&start.Restore, "restore", "", "`PROGRAM` to start after a crash of machine or keeper: never, shell or command (default: shells.restore)")
}

// writeStarted writes a new session: on a terminal its name and how to reach it, else its id.
func writeStarted(w io.Writer, s *api.Session, terminal bool) {
	if !terminal {
		fmt.Fprintln(w, s.ID)
		return
	}
	fmt.Fprintf(w, "session %s started; attach to it with `longterm attach %[1]s`\n", s.Name)
}

// attachOrCreate starts or restores the named session if needed, and attaches it to the terminal if there is one.
func (a *app) attachOrCreate(cmd *cobra.Command, n api.NewSession) error {
	b, err := a.connect()
	if err != nil {
		return err
	}
	s, err := ensure(cmd.Context(), b.client, n)
	if err != nil {
		return exit.FromPolicy(err)
	}
	if !a.isInteractive() {
		return a.Print(s, func(w io.Writer) { fmt.Fprintln(w, s.ID) })
	}
	return a.attach(cmd, b.client.Session(s.ID), attachFlags{})
}

// ensure returns the named session, running: it finds, restores or starts it. If two callers do so at the same time,
// one of them starts it.
func ensure(ctx context.Context, c *client.Client, n api.NewSession) (api.Session, error) {
	if n.Name == "" {
		return api.Session{}, exit.Usagef("-A requires a session name")
	}
	var last error
	for range 3 {
		list, err := c.List(ctx)
		if err != nil {
			return api.Session{}, err
		}
		i := slices.IndexFunc(list, func(s api.Session) bool { return s.Name == n.Name })
		var s api.Session
		switch {
		case i >= 0 && list[i].State == "running":
			return list[i], nil
		case i >= 0:
			s, err = c.Session(list[i].ID).Restore(ctx, api.Restore{Command: true, Env: n.Env})
		default:
			s, err = c.NewSession(ctx, n)
		}
		last = err
		var refused *api.Error
		if err == nil || !errors.As(err, &refused) {
			return s, err
		}
		switch refused.Code {
		case api.CodeNameTaken, api.CodeRunning: // another caller was faster
		case api.CodeUnavailable: // a daemon that died in the meantime may have started it
			if i < 0 {
				return s, err // NewSession has already retried until the result was known
			}
		default:
			return s, err
		}
	}
	return api.Session{}, last
}
