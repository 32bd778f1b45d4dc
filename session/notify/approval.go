package notify

import (
	"cmp"
	"fmt"
	"time"

	"github.com/longterm-dev/longterm/session/notify/webhook"
)

// ApprovalEvent reports that an approval request waits for a user.
type ApprovalEvent struct {
	Approval string    `json:"approval"` // id, as in A7
	Session  string    `json:"session"`  // id; empty if no session exists yet
	Name     string    `json:"name"`
	Actor    string    `json:"who"` // agent or program that needs the approval
	Command  string    `json:"command"`
	Cwd      string    `json:"cwd"`
	Reason   string    `json:"why"` // of the policy
	Risk     string    `json:"risk"`
	Time     time.Time `json:"time"`
}

// Text returns the event as one line.
func (a *ApprovalEvent) Text() string {
	text := "? " + a.Approval + ": " + a.Command
	if a.Reason != "" {
		text += " (" + a.Reason + ")"
	}
	return webhook.OneLine(text, 120)
}

// title implements notification.
func (a *ApprovalEvent) title() string { return webhook.OneLine("longterm asks: "+a.Actor, 60) }

// environ implements notification.
func (a *ApprovalEvent) environ() []string {
	return []string{
		"LONGTERM_APPROVAL=" + a.Approval, "LONGTERM_NAME=" + a.Name, "LONGTERM_SESSION=" + a.Session, "LONGTERM_COMMAND=" + a.Command,
		"LONGTERM_CWD=" + a.Cwd, "LONGTERM_WHO=" + a.Actor, "LONGTERM_WHY=" + a.Reason, "LONGTERM_RISK=" + a.Risk,
	}
}

// fillNotice implements notification.
func (a *ApprovalEvent) fillNotice(n *webhook.Notice) {
	n.Event, n.Urgent, n.At, n.Key = "approval", true, a.Time, fmt.Sprint("approval ", a.Approval, " ", a.Time.UnixNano())
	n.Title, n.Text = webhook.OneLine("May "+cmp.Or(a.Actor, "a program")+" do this?", 120), webhook.OneLine(a.Text(), webhook.MaxText)
}

// redact implements notification.
func (a *ApprovalEvent) redact(mask func(string) string) notification {
	c := *a
	c.Name, c.Command, c.Cwd, c.Reason = mask(a.Name), mask(a.Command), mask(a.Cwd), mask(a.Reason)
	return &c
}

// briefData implements notification.
func (a *ApprovalEvent) briefData() any {
	return struct {
		Approval string `json:"approval"`
		Session  string `json:"session"`
		Name     string `json:"name"`
	}{a.Approval, a.Session, a.Name}
}
