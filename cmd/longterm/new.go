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
	"github.com/longterm-dev/longterm/cmd/internal/request"
	"github.com/longterm-dev/longterm/cmd/internal/shortcut"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

func newVerb(a *app, c *cobra.Command) {
	var start request.StartFlags
	var asking request.AskFlags
	var ensured string
	c.Long = `Start CMD, or the user's shell, in a session that outlives this terminal, and print the session's id.

With -A NAME there is one session of that name, whoever asks how often: it is started if there is none, started
again below its history if it has ended, and attached to this terminal. Without a terminal, or with --json, it
is not attached; its id is printed.`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		n, err := start.Request(cmd, args)
		if err != nil {
			return err
		}
		n.Asking = asking.Asking()
		n.AskID = shortcut.ID
		if cmd.Flags().Changed("attach") {
			if strings.HasPrefix(ensured, "-") { // as in tmux's new -A -s NAME, where the flag has no name behind it
				return exit.Usagef("-A has the session's name behind it, not %s: longterm new -A NAME", ensured)
			}
			if n.Name != "" {
				return exit.Usagef("-A %s names the session already; leave -n away", ensured)
			}
			n.Name = ensured
			return a.attachOrCreate(cmd, n)
		}
		b, err := a.connect()
		if err != nil {
			return err
		}
		s, err := b.client.NewSession(cmd.Context(), n)
		if err != nil {
			return exit.Judged(err)
		}
		return a.Print(s, func(w io.Writer) { fmt.Fprintln(w, s.ID) })
	}
	c.Flags().StringVarP(&ensured, "attach", "A", "", "NAME of a session to attach to, which is started if there is none")
	start.Register(c)
	asking.Register(c, &a.agent)
	c.Flags().BoolVar(&start.Stdin, "stdin", false, "with --pipe: have a standard input that send types into, instead of none")
	c.Flags().StringVar(&start.Restore, "restore", "", "what to start when the machine or the keeper went down under it: never, shell or command (default: shells.restore of the configuration)")
}

// attachOrCreate has a session of a name run, and puts it on the terminal where there is one.
func (a *app) attachOrCreate(cmd *cobra.Command, n api.NewSession) error {
	b, err := a.connect()
	if err != nil {
		return err
	}
	s, err := ensure(cmd.Context(), b.client, n)
	if err != nil {
		return exit.Judged(err)
	}
	if !a.forPerson() {
		return a.Print(s, func(w io.Writer) { fmt.Fprintln(w, s.ID) })
	}
	return a.attach(cmd, b.client.Session(s.ID), attachFlags{})
}

// ensure is the session of a name, running: found, restored or started. Where another one asks for it at the
// same time, one of both starts it.
func ensure(ctx context.Context, c *client.Client, n api.NewSession) (api.Session, error) {
	if n.Name == "" {
		return api.Session{}, exit.Usagef("a session that is found again needs a name")
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
		case api.CodeNameTaken, api.CodeRunning: // another one was faster
		case api.CodeUnavailable: // a daemon that died meanwhile may have done it
			if i < 0 {
				return s, err // which was asked again until it was known
			}
		default:
			return s, err
		}
	}
	return api.Session{}, last
}
