// Package listing formats sessions and comparisons of runs for users: the cells and the table of `longterm ls`, and the lines of
// `longterm why`. The daemon renders that table, so that the command line needs no initialization for it.
package listing

import "github.com/longterm-dev/longterm/session/api"

// doingCell returns Doing with the session's TCP ports and the mark of its draft.
func doingCell(s *api.Session) string { return withDraft(s, withPorts(s, Doing(s))) }

// withPorts appends the session's TCP ports to doing, unless the session needs the user.
func withPorts(s *api.Session, doing string) string {
	ports := PortsText(s)
	switch {
	case ports == "" || doingStyle(doing) == Waiting:
		return doing
	case doing == "-":
		return ports
	}
	return doing + " " + ports
}

// cells returns a session's row of a table.
func cells(s *api.Session) []string {
	return []string{
		s.ID[:min(8, len(s.ID))], s.Name, StateText(s), Elapsed(s.Duration), PidText(s), Printable(s.Cwd), doingCell(s), Printable(Shorten(s.Command, 60)),
	}
}
