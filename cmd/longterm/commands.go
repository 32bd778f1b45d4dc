//go:build unix

package main

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/listing"
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
		return a.Print(list, func(w io.Writer) {
			home := ""
			if a.host == "" {
				home, _ = os.UserHomeDir()
			}
			commandTable(w, list, q.Session == "", termio.Width(a.Stdout), home)
		})
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

// commandTable writes commands, with a column for sessions if sessions is set. It shows directories below home with a ~.
func commandTable(w io.Writer, list []api.Command, sessions bool, width int, home string) {
	columns := []listing.Column{
		{Head: "SESSION", Least: 8}, {Head: "N", Wide: 4, Right: true}, {Head: "STARTED"}, {Head: "TIME", Wide: 7, Right: true},
		{Head: "STATUS", Right: true}, {Head: "BY", Least: 8}, {Head: "CWD", Least: 6, Tail: true}, {Head: "COMMAND", Least: 10},
	}
	const session, by = 0, 5
	hidden := map[int]bool{session: !sessions, by: true}
	rows := make([][]string, 0, len(list))
	for _, c := range list {
		status := "…"
		switch {
		case c.ExitCode != nil:
			status = strconv.Itoa(*c.ExitCode)
		case c.State != "running":
			status = "?"
		}
		first, rest, more := strings.Cut(c.Text, "\n")
		if more && rest != "" {
			first += " …"
		}
		actor := ""
		if strings.Contains(c.By, ":") { // an agent, or a person who is not the user at this machine
			actor, hidden[by] = output.Printable(c.By), false
		}
		rows = append(rows, []string{
			output.Printable(c.Name), strconv.Itoa(c.N), c.Started.Local().Format("15:04:05"), output.Elapsed(c.Duration), status,
			actor, output.Printable(listing.FromHome(c.Cwd, home)), output.Printable(first),
		})
	}
	for k := len(columns) - 1; k >= 0; k-- {
		if !hidden[k] {
			continue
		}
		columns = slices.Delete(columns, k, k+1)
		for i := range rows {
			rows[i] = slices.Delete(rows[i], k, k+1)
		}
	}
	_ = listing.Write(w, columns, rows, width) // fails only if the reader has closed the output
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
