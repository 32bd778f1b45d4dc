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
		stop := a.Working("restoring the session")
		info, err := s.Restore(cmd.Context(), r)
		stop()
		if err != nil {
			return err
		}
		return a.Print(info, func(io.Writer) {})
	})
	c.Long = `Start an ended session again under the same id: a shell in its last directory, with its exported variables
on top of the caller's environment. Old screen and history stay above a dated line. A session that ran a command
needs --command or --shell.

  longterm restore work
  longterm restore build --command

A coding agent that ran in it (claude, codex, gemini, kimi, opencode, aider) continues its conversation: it is
started with its flags and in its directory, plus the option that resumes it. info shows the command; --fresh
starts a new conversation.`
	c.Flags().BoolVar(&r.NewConversation, "fresh", false, "new conversation of the session's agent")
	c.Flags().BoolVar(&r.Command, "command", false, "the session's command, started again")
	c.Flags().BoolVar(&r.Shell, "shell", false, "a shell, whatever ran before")
}
