//go:build unix

package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

func restoreVerb(a *app, c *cobra.Command) {
	var r api.Restore
	c.RunE = a.onSession(func(cmd *cobra.Command, s *client.Session, _ []string) error {
		r.Env = os.Environ()
		info, err := s.Restore(cmd.Context(), r)
		if err != nil {
			return err
		}
		return a.Print(info, func(io.Writer) {})
	})
	c.Long = `Start an ended session again under the same id: a shell in the directory it was in, with what
it had exported over the caller's environment; its old screen and history stand above
a dated line. A session that ran a command needs --command or --shell.

A coding agent that ran in it (claude, codex, gemini, kimi, opencode, aider) goes on with its
conversation: it is started as it was, with its flags and in its directory, and what resumes it;
in a shell by a line. info tells the command; --fresh leaves it out.`
	c.Flags().BoolVar(&r.Fresh, "fresh", false, "do not take up the conversation of the agent that ran in it")
	c.Flags().BoolVar(&r.Command, "command", false, "run the session's command again")
	c.Flags().BoolVar(&r.Shell, "shell", false, "start a shell, whatever ran before")
}
