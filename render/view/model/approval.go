package model

import "time"

// Approval is a pending approval request.
type Approval struct {
	ID        string
	Requester string // the requester
	Session   string // id; "" means not started yet
	Name      string // of the session
	What      string // what is requested: a line, command, host or secret
	Commands  []Judged
	Started   string // for an execution: what started it
	Cwd       string
	Effects   []string // effects of the request
	Why       string   // rule that requires the approval
	Instead   string   // suggested alternative
	Risk      string   // low, medium, high
	Group     string   // approvals of a group are similar
	Covers    []string // later commands that an answer also covers
	Rule      string   // rule that "always" would write; "": none
	NoRule    string   // why no rule can allow it; "": a rule can
	Count     int      // number of identical requests
	Asked     time.Time
}

// Judged is a command of the request with its verdict: allow, ask or deny.
type Judged struct{ Text, Verdict string }

// EndedApproval describes how an approval ended.
type EndedApproval struct{ ID, How string }

// NeedsApproval is the value of Session.Needs for a pending approval.
const NeedsApproval = "approval"

// ApprovalOutcome returns how an approval ended, or "" if that is unknown.
func (m *Model) ApprovalOutcome(id string) string {
	for _, e := range m.Ended {
		if e.ID == id {
			return e.How
		}
	}
	return ""
}
