//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

func commandsVerb(a *app, c *cobra.Command) {
	var q client.CommandQuery
	var raw, parse bool
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 2 {
			return a.commandOutput(cmd.Context(), args[0], args[1], raw, parse)
		}
		if len(args) == 1 {
			q.Session = args[0]
		}
		b, err := a.connect()
		if err != nil {
			return err
		}
		list, err := b.client.Commands(cmd.Context(), q)
		if err != nil {
			return err
		}
		return a.Print(list, func(w io.Writer) { commandTable(w, list, q.Session == "") })
	}
	c.Long = `List the commands that shells ran, in running and ended sessions: number, start, duration,
exit status, directory, line. With a session and a number, print what that command printed, however long
ago; 0 is the newest.`
	f := c.Flags()
	f.StringVar(&q.Text, "text", "", "only commands that contain this")
	f.BoolVar(&q.Failed, "failed", false, "only commands that failed")
	f.BoolVar(&q.Running, "running", false, "only commands that are running")
	f.IntVar(&q.Limit, "limit", 100, "at most this many, the newest")
	f.BoolVar(&raw, "raw", false, "print a command's output bytes unchanged")
	f.BoolVar(&parse, "parse", false, "parse a command's output and print it as JSON: problems, tests, listings, a summary")
}

func commandTable(w io.Writer, list []api.Command, sessions bool) {
	for _, c := range list {
		status := "…"
		switch {
		case c.ExitCode != nil:
			status = strconv.Itoa(*c.ExitCode)
		case c.State != "running":
			status = "?"
		}
		where := ""
		if sessions {
			where = fmt.Sprintf("%-10s ", output.Printable(c.Name))
		}
		first, rest, more := strings.Cut(c.Text, "\n")
		if more && rest != "" {
			first += " …"
		}
		by := ""
		if strings.Contains(c.By, ":") { // an agent, or a person who is not the user at this machine
			by = "  by " + output.Printable(c.By)
		}
		fmt.Fprintf(w, "%s%4d  %s  %7s  %3s  %s  %s%s\n", where, c.N, c.Started.Local().Format("15:04:05"),
			output.Elapsed(c.Duration), status, output.Printable(output.Shorten(c.Cwd, 30)), output.Printable(first), by)
	}
}

// commandOutput prints what a command printed.
func (a *app) commandOutput(ctx context.Context, ref, number string, raw, parse bool) error {
	n, err := strconv.Atoi(number)
	if err != nil {
		return exit.Usagef("%q is no number of a command", number)
	}
	s, err := a.session(ref)
	if err != nil {
		return err
	}
	c, err := s.Command(ctx, n)
	if err != nil {
		return err
	}
	switch {
	case parse:
		r, err := s.Parsed(ctx, n)
		a.JSON = true
		return errors.Join(err, a.Print(r, nil))
	case a.JSON:
		return a.Print(c, nil)
	}
	end := c.Output.End
	if end == 0 {
		info, err := s.Info(ctx)
		if err != nil {
			return err
		}
		end = info.Output.End
	}
	w := a.Writer(raw)
	return errors.Join(output.ReadRange(ctx, s, c.Output.Start, end, w.Put), w.Flush())
}
