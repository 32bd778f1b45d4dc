//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/request"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

// typeIn sends input, and with --json prints the cursor from which a later wait or output continues.
func (a *app) typeIn(cmd *cobra.Command, s *client.Session, in api.Input) error {
	t, err := s.Type(cmd.Context(), in)
	if err != nil {
		return err
	}
	err = a.Print(t, func(w io.Writer) {
		if t.Outcome != nil {
			fmt.Fprintln(w, output.TakenText(t.Outcome))
		}
	})
	if err == nil && t.Outcome != nil && t.Outcome.Submitted == "no" {
		return exit.With(api.ExitFailure, errors.New("message not accepted by the program; see `longterm screen`"))
	}
	return err
}

// preconditionFlags adds the flags for when input is rejected: --expect-version, --if-version and --force.
func preconditionFlags(c *cobra.Command, in *api.Input) {
	f := c.Flags()
	f.Uint64Var(&in.ExpectVersion, "expect-version", 0, "required screen `VERSION`: reject the input if the screen has changed since")
	f.Uint64Var(&in.ExpectVersion, "if-version", 0, "same as --expect-version")
	f.BoolVar(&in.Force, "force", false, "input even if the user has typed a partial line")
}

// proveFlag adds --prove, which confirms the input.
func proveFlag(c *cobra.Command, in *api.Input) {
	f := c.Flags().VarPF(request.Millis(&in.ConfirmMS), "prove", "", "confirmation that the program read, echoed and drew the input; `DURATION` is the longest wait")
	f.NoOptDefVal = "500ms"
}

func sendVerb(a *app, c *cobra.Command) {
	var in api.Input
	c.RunE = a.onSession(func(cmd *cobra.Command, s *client.Session, args []string) error {
		in.Text = args[0]
		return a.typeIn(cmd, s, in)
	})
	c.Flags().BoolVarP(&in.Enter, "enter", "e", false, "Enter after the text")
	c.Flags().BoolVar(&in.EOF, "eof", false, "end of the standard input of a session on pipes (new --pipe --stdin)")
	submit := false
	c.Flags().BoolVar(&submit, "submit", false, "one message for a program with its own editor, such as an agent: a paste, and Enter once it is drawn")
	c.PreRun = func(*cobra.Command, []string) {
		if submit {
			in.Submit, in.Enter, in.ID = "always", true, uuid.NewString()
		}
	}
	c.Long = `Type TEXT unchanged into a session. The input is rejected while an attached user has a partial line there, unless
--force is given.

  longterm send work 'make test' -e
  longterm send agent 'fix the failing test' --submit

--prove reports what happened to the text: whether the program read it (the terminal's queue is empty), whether
it is on the screen, and whether the screen changed, each as yes, no or unknown. --submit passes the text once, as
one message, to a program with its own editor: it is pasted, and Enter is pressed when it is drawn. The exit
status is 1 if the program did not accept it.`
	preconditionFlags(c, &in)
	proveFlag(c, &in)
}
