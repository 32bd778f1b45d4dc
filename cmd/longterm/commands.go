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
		if len(list) == 0 {
			a.PrintEmpty("no commands; shells with integration record them")
		}
		return a.Print(list, func(w io.Writer) {
			home := ""
			if a.host == "" {
				home, _ = os.UserHomeDir()
			}
			commandTable(w, list, q.Session == "", a.TableLook(), home)
		})
	}
	c.Long = `List the commands that shells ran, in running and ended sessions: number, start, duration,
exit status, directory, line. With a session and a command number, print that command's output;
0 is the newest command.

  longterm commands work
  longterm commands work 0`
	f := c.Flags()
	f.StringVar(&q.Text, "text", "", "only commands that contain this `TEXT`")
	f.BoolVar(&q.Failed, "failed", false, "only failed commands")
	f.BoolVar(&q.Running, "running", false, "only running commands")
	f.IntVar(&q.Limit, "limit", 100, "maximum `NUMBER` of commands, the newest")
	f.BoolVar(&raw, "raw", false, "unchanged bytes of a command's output")
	f.BoolVar(&parse, "parse", false, "a command's output as JSON: problems, tests, listings, a summary")
}

// commandTable writes commands, with a column for sessions if sessions is set. It shows directories below home with a ~.
func commandTable(w io.Writer, list []api.Command, sessions bool, look listing.TableFormat, home string) {
	columns := []listing.Column{
		{Head: "SESSION", ShrinkTo: 8}, {Head: "N", MinWidth: 4, AlignRight: true}, {Head: "STARTED", Style: listing.AsFaint}, {Head: "TIME", MinWidth: 7, AlignRight: true},
		{Head: "STATUS", AlignRight: true, Style: listing.StatusStyle}, {Head: "BY", ShrinkTo: 8}, {Head: "CWD", ShrinkTo: 6, KeepsTail: true}, {Head: "COMMAND", ShrinkTo: 10},
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
		if strings.Contains(c.By, ":") { // an agent, or a user other than this machine's
			actor, hidden[by] = output.Printable(c.By), false
		}
		rows = append(rows, []string{
			output.Printable(c.Name), strconv.Itoa(c.N), c.Started.Local().Format("15:04:05"), output.Elapsed(c.Duration), status,
			actor, output.Printable(listing.AbbreviateHome(c.Cwd, home)), output.Printable(first),
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
	_ = listing.WriteTable(w, columns, rows, look) // fails only if the reader has closed the output
}

// commandOutput prints the output of a command.
func (a *app) commandOutput(ctx context.Context, ref, number string, raw, parse bool) error {
	n, err := strconv.Atoi(number)
	if err != nil {
		return exit.Usagef("%q: invalid command number", number)
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
		r, err := s.ParsedOutput(ctx, n)
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
