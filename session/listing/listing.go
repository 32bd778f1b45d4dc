// Package listing formats sessions and comparisons of runs for users: the cells and the table of `longterm ls`, and the lines of
// `longterm why`. The daemon renders that table, so that the command line needs no initialization for it.
package listing

import "github.com/longterm-dev/longterm/session/api"

// doingWithPorts returns Doing with the session's TCP ports, unless it needs the user, and with its draft.
func doingWithPorts(s *api.Session) string { return withDraft(s, portsAfter(s, Doing(s))) }

// portsAfter returns what a session does with its TCP ports.
func portsAfter(s *api.Session, doing string) string {
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
		s.ID[:min(8, len(s.ID))], s.Name, StateText(s), Elapsed(s.Duration), PidText(s), Printable(s.Cwd), doingWithPorts(s), Printable(Shorten(s.Command, 60)),
	}
}
