//go:build unix

package output

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/listing"
)

// The words for sessions are the daemon's own, which writes tables of them.

func StateText(s *api.Session) string { return listing.StateText(s) }
func PidText(s *api.Session) string   { return listing.PidText(s) }

// ActivityText describes what the session's program does.
func ActivityText(s *api.Session) string       { return listing.Doing(s) }
func AgentText(a *api.AgentState) string       { return listing.AgentText(a) }
func ProgressText(p *api.Progress) string      { return listing.ProgressText(p) }
func CountsText(errors, warnings int) []string { return listing.CountsText(errors, warnings) }
func Elapsed(ms int64) string                  { return listing.Elapsed(ms) }

// ProblemText returns an error with its file and line.
func ProblemText(p *api.Problem) string {
	switch {
	case p.File != "" && p.Line > 0:
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
	case p.File != "":
		return p.File + ": " + p.Message
	}
	return p.Message
}

// TakenText describes the outcome of input.
func TakenText(t *api.Taken) string {
	text := "read " + t.Read + ", echoed " + t.Echoed + ", drawn " + t.Drawn
	if t.Submitted != "" {
		text += ", submitted " + t.Submitted
	}
	return text
}

// OwnerText returns a short description of a client's owner: its agent, token or host, else its terminal.
func OwnerText(c *api.Attached) string {
	var by []string
	for _, f := range [][2]string{{"agent", c.By.Agent}, {"token", c.By.Token}, {"host", c.By.Host}} {
		if f[1] != "" {
			by = append(by, f[0]+" "+f[1])
		}
	}
	return cmp.Or(strings.Join(by, " "), c.Terminal, fmt.Sprint("pid ", c.By.PID))
}
