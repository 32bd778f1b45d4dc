// Package listing tells of sessions in words, for people: what stands in the lines of `longterm ls`, and the table of
// them. The daemon writes that table for the command line, which then has nothing to initialise for it.
package listing

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/longterm-dev/longterm/session/api"
)

// Table writes sessions as a table.
func Table(w io.Writer, list []api.Session) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "no sessions; `longterm new` starts one")
		return err
	}
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(tw, "ID\tNAME\tSTATE\tTIME\tPID\tCWD\tDOING\tCOMMAND")
	for i := range list {
		fmt.Fprintln(tw, strings.Join(cells(&list[i]), "\t"))
	}
	return tw.Flush()
}

// cells returns a session's row of a table.
func cells(s *api.Session) []string {
	return []string{
		s.ID[:min(8, len(s.ID))], s.Name, StateText(s), Elapsed(s.Duration), PidText(s), Printable(s.Cwd), Doing(s), Printable(Shorten(s.Command, 60)),
	}
}
