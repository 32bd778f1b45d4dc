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

// typeIn types and prints the cursor that a later wait or output goes on from.
func (a *app) typeIn(cmd *cobra.Command, s *client.Session, in api.Input) error {
	t, err := s.Type(cmd.Context(), in)
	if err != nil {
		return err
	}
	err = a.Print(t, func(w io.Writer) {
		if t.Taken != nil {
			fmt.Fprintln(w, output.TakenText(t.Taken))
		}
	})
	if err == nil && t.Taken != nil && t.Taken.Submitted == "no" {
		return exit.With(api.ExitFailure, errors.New("the program did not take it as a message; `longterm screen` shows where it stands"))
	}
	return err
}

func expectFlag(c *cobra.Command, in *api.Input) {
	f := c.Flags()
	f.Uint64Var(&in.ExpectVersion, "expect-version", 0, "refuse when the screen is not at this version any more")
	f.Uint64Var(&in.ExpectVersion, "if-version", 0, "the same as --expect-version")
	f.BoolVar(&in.Force, "force", false, "type even if a person has begun a line there")
}

// proveFlag has a verb tell whether what it types is taken.
func proveFlag(c *cobra.Command, in *api.Input) {
	f := c.Flags().VarPF(request.Millis(&in.ProveMS), "prove", "", "tell whether the program read, echoed and drew it, looking for at most this long")
	f.NoOptDefVal = "500ms"
}

func sendVerb(a *app, c *cobra.Command) {
	var in api.Input
	c.RunE = a.onSession(func(cmd *cobra.Command, s *client.Session, args []string) error {
		in.Text = args[0]
		return a.typeIn(cmd, s, in)
	})
	c.Flags().BoolVarP(&in.Enter, "enter", "e", false, "press Enter afterwards")
	c.Flags().BoolVar(&in.EOF, "eof", false, "afterwards close the standard input of a session on pipes (new --pipe --stdin)")
	submit := false
	c.Flags().BoolVar(&submit, "submit", false, "have the program, an agent say, take it as one message: pasted, and Enter once it is drawn")
	c.PreRun = func(*cobra.Command, []string) {
		if submit {
			in.Submit, in.Enter, in.ID = "always", true, uuid.NewString()
		}
	}
	c.Long = `Type text as it is. Refused while a person who is attached has begun a line there, unless --force is given.

With --prove it is told what became of the text: whether the program read it (the terminal's queue is empty),
whether it is on the screen, and whether the screen changed; what cannot be known is unknown. With --submit a
program with an editor of its own takes the text as one message, once: it is pasted, Enter is pressed when it
is drawn, and it is told whether the program took it; exit status 1 if it did not.`
	expectFlag(c, &in)
	proveFlag(c, &in)
}
