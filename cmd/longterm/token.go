//go:build unix

package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/access"
	"github.com/longterm-dev/longterm/session/api"
)

func tokenVerb(a *app, c *cobra.Command) {
	c.Long = `Make and take back the tokens with which programs use the API over TCP (http.listen in the configuration) and the
MCP server over HTTP. The daemon's own socket needs none: its file is its user's alone.

What is kept of a token is its SHA-256. It lets its holder look (--level read), run and type, too (change), or also end,
remove and answer approvals (all), in all sessions, in one (--session), or in those that have a label (--label). --may
says it one by one instead: look, type, approve, manage (start, change, end and remove). Whoever shows a token of level read or change
is judged and shown secrets as an agent is. What is done with a token is in the audit log under its name.`
	c.AddCommand(a.tokenNew(), a.tokenLs(), a.tokenRevoke())
}

// tokenDays is how long a token counts unless another time is given.
const tokenDays = 90

func (a *app) tokenNew() *cobra.Command {
	var n api.NewToken
	c := &cobra.Command{Use: "new NAME", Short: "Make a token and print it, this once", Args: cobra.ExactArgs(1)}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(n.May) > 0 && !cmd.Flags().Changed("level") {
			n.Level = ""
		} else if _, err := access.ParseLevel(n.Level); err != nil {
			return exit.Usagef("--level %w", err)
		}
		if _, err := access.ParseRights(n.May); err != nil {
			return exit.Usagef("--may %w", err)
		}
		if n.Days < 0 || n.Days > 36500 {
			return exit.Usagef("--days %d: give 1 to 36500, or 0 for ever", n.Days)
		}
		b, err := a.connect()
		if err != nil {
			return err
		}
		n.Name = args[0]
		made, err := b.client.NewToken(cmd.Context(), n)
		if err != nil {
			return err
		}
		return a.Print(made, func(w io.Writer) { fmt.Fprintln(w, made.Secret) })
	}
	f := c.Flags()
	f.StringVar(&n.Level, "level", "read", "what it is for: read, change or all")
	f.StringSliceVar(&n.May, "may", nil, "rights one by one, in place of a level: look, type, approve, manage")
	f.StringVar(&n.Session, "session", "", "for this session only")
	f.StringVar(&n.Label, "label", "", "for sessions that have this label only, key=value")
	f.StringVar(&n.Agent, "agent", "", "for this agent: what is asked with it is judged and recorded as the agent's, by this label")
	f.IntVar(&n.Days, "days", tokenDays, "how many days it counts; 0: for ever")
	return a.JSONFlag(c)
}

func (a *app) tokenLs() *cobra.Command {
	c := &cobra.Command{Use: "ls", Short: "List tokens, without their secrets", Args: cobra.NoArgs}
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		b, err := a.connect()
		if err != nil {
			return err
		}
		list, err := b.client.Tokens(cmd.Context())
		if err != nil {
			return err
		}
		return a.Print(list, func(w io.Writer) { writeTokens(w, list) })
	}
	return a.JSONFlag(c)
}

func writeTokens(w io.Writer, list []api.Token) {
	if len(list) == 0 {
		fmt.Fprintln(w, "there are no tokens; `longterm token new NAME` makes one")
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tLEVEL\tSESSION\tAGENT\tMADE\tEXPIRES")
	for i := range list {
		k := &list[i]
		expires, session, agent := "never", "all", "-"
		switch {
		case k.Expired:
			expires = "expired"
		case !k.Expires.IsZero():
			expires = k.Expires.Local().Format(time.DateOnly)
		}
		if k.Session != "" {
			session = k.Session
		} else if k.Label != "" {
			session = output.Printable(k.Label)
		}
		level := k.Level
		if len(k.May) > 0 {
			level = strings.Join(k.May, ",")
		}
		if k.Agent != "" {
			agent = output.Printable(k.Agent)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", output.Printable(k.Name), level, session, agent, k.Created.Local().Format(time.DateOnly), expires)
	}
	_ = t.Flush()
}

func (a *app) tokenRevoke() *cobra.Command {
	c := &cobra.Command{Use: "revoke NAME…", Short: "Take tokens back, and end what is under way with them", Args: cobra.MinimumNArgs(1)}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		b, err := a.connect()
		if err != nil {
			return err
		}
		for _, name := range args {
			if err := b.client.RevokeToken(cmd.Context(), name); err != nil {
				return err
			}
		}
		return a.Print(struct {
			Revoked []string `json:"revoked"`
		}{args}, nil)
	}
	return a.JSONFlag(c)
}
