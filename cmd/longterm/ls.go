//go:build unix

package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/output"
	"github.com/longterm-dev/longterm/session/api"
)

func lsVerb(a *app, c *cobra.Command) {
	var labels []string
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		b, err := a.connect()
		if err != nil {
			return err
		}
		list, err := b.client.List(cmd.Context(), labels...)
		if err != nil {
			return err
		}
		return a.Print(list, func(w io.Writer) { writeTable(w, list) })
	}
	c.Flags().StringArrayVar(&labels, "label", nil, "only sessions with this label, NAME or NAME=VALUE, repeatable")
}

func writeTable(w io.Writer, list []api.Session) {
	if len(list) == 0 {
		fmt.Fprintln(w, "no sessions; `longterm new` starts one")
		return
	}
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(tw, "ID\tNAME\tSTATE\tTIME\tPID\tCWD\tDOING\tCOMMAND")
	for _, s := range list {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", s.ID[:min(8, len(s.ID))], s.Name, output.StateText(&s),
			output.Elapsed(s.Duration), output.PidText(&s), output.Printable(s.Cwd), output.Doing(&s), output.Printable(output.Shorten(s.Command, 60)))
	}
	_ = tw.Flush()
}
