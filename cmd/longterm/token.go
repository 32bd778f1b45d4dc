//go:build unix

package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/listing"
)

func tokenVerb(a *app, c *cobra.Command) {
	c.Long = `Create and revoke tokens, with which programs use the API over TCP (http.listen in the configuration) and the MCP
server over HTTP. The daemon's socket needs no token: only its user can open it.

  longterm token new dashboard --level read
  longterm token revoke dashboard

A level limits what a token allows: read (view), change (also run and type), all (also end, remove and answer
approval requests). --may lists single rights instead: look, type, approve, manage (start, change, end, remove).
A token applies to all sessions, to one (--session), or to those with a label (--label).

Callers with a token of level read or change are checked, and shown secrets, like an agent. The audit log records
requests under the token's name. longterm stores only the SHA-256 of a token.`
	c.AddCommand(a.tokenNew(), a.tokenLs(), a.tokenRevoke())
}

// tokenDays is the default validity of a token, in days.
const tokenDays = 90

func (a *app) tokenNew() *cobra.Command {
	var n api.NewToken
	c := &cobra.Command{Use: "new NAME", Short: "Create a token and print it once", Args: cobra.ExactArgs(1)}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(n.May) > 0 && !cmd.Flags().Changed("level") {
			n.Level = ""
		} else if _, err := apitoken.ParseLevel(n.Level); err != nil {
			return exit.Usagef("--level %w", err)
		}
		if _, err := apitoken.ParseRights(n.May); err != nil {
			return exit.Usagef("--may %w", err)
		}
		if n.Days < 0 || n.Days > 36500 {
			return exit.Usagef("--days %d: out of range (1 to 36500, or 0 for no limit)", n.Days)
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
	f.StringVar(&n.Level, "level", "read", "`LEVEL` of access: read, change or all")
	f.StringSliceVar(&n.May, "may", nil, "single `RIGHTS` instead of a level: look, type, approve, manage")
	f.StringVar(&n.Session, "session", "", "only `SESSION` that the token applies to")
	f.StringVar(&n.Label, "label", "", "only label `KEY=VALUE` of sessions that the token applies to")
	f.StringVar(&n.Agent, "agent", "", "`LABEL` of an agent: requests with the token are checked and recorded as the agent's")
	f.IntVar(&n.Days, "days", tokenDays, "validity in days; 0: no limit")
	return a.JSONFlag(c)
}

func (a *app) tokenLs() *cobra.Command {
	c := &cobra.Command{Use: "ls", Short: "List tokens without their secrets", Args: cobra.NoArgs}
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		b, err := a.connect()
		if err != nil {
			return err
		}
		list, err := b.client.Tokens(cmd.Context())
		if err != nil {
			return err
		}
		return a.Print(list, func(w io.Writer) { writeTokens(w, list, a.TableLook()) })
	}
	return a.JSONFlag(c)
}

func writeTokens(w io.Writer, list []api.Token, look listing.TableFormat) {
	if len(list) == 0 {
		fmt.Fprintln(w, "no tokens; create one with `longterm token new NAME`")
		return
	}
	columns := []listing.Column{
		{Head: "NAME", ShrinkTo: 8, Style: listing.AsBold}, {Head: "LEVEL", ShrinkTo: 8}, {Head: "SESSION", ShrinkTo: 8}, {Head: "AGENT", ShrinkTo: 6}, {Head: "MADE", Style: listing.AsFaint},
		{Head: "EXPIRES", Style: listing.StateStyle},
	}
	rows := make([][]string, 0, len(list))
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
		rows = append(rows, []string{output.Printable(k.Name), level, session, agent, k.Created.Local().Format(time.DateOnly), expires})
	}
	_ = listing.WriteTable(w, columns, rows, look) // fails only if the reader has closed the output
}

func (a *app) tokenRevoke() *cobra.Command {
	c := &cobra.Command{Use: "revoke NAME…", Short: "Revoke tokens and end their requests", Args: cobra.MinimumNArgs(1)}
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
