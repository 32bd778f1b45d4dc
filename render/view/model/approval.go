package model

import "time"

// Approval is something that a person is asked to allow.
type Approval struct {
	ID       string
	Who      string // asks
	Session  string // id; empty: there is none yet
	Name     string // of the session
	What     string // the line, the command, the host, the secret
	Commands []Judged
	Started  string // of an execution: what started it
	Cwd      string
	Why      string
	Instead  string // what to do instead
	Risk     string // low, medium, high
	Group    string // approvals of one group are much the same
	Covers   []string
	Rule     string // that an answer for always would write; empty: none is proposed
	NoRule   string // why none can allow it; empty: one may
	Count    int    // how many ask for the same
	Asked    time.Time
}

// Judged is a command that would be run, and what the rules say of it: allow, ask or deny.
type Judged struct{ Text, Verdict string }

// Ended is how an approval ended, in words.
type Ended struct{ ID, How string }

// NeedsApproval is what a session needs in which something waits for a person's approval.
const NeedsApproval = "approval"

// Ending is how an approval ended that does not wait any more; empty: that is not known.
func (m *Model) Ending(id string) string {
	for _, e := range m.Ended {
		if e.ID == id {
			return e.How
		}
	}
	return ""
}
