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
	Who      string    `json:"who"`
	Command  string    `json:"command"`
	Cwd      string    `json:"cwd"`
	Why      string    `json:"why"`
	Risk     string    `json:"risk"`
	Time     time.Time `json:"time"`
}

// Text returns the event as one line.
func (a *ApprovalEvent) Text() string {
	text := "? " + a.Approval + ": " + a.Command
	if a.Why != "" {
		text += " (" + a.Why + ")"
	}
	return webhook.OneLine(text, 120)
}

func (a *ApprovalEvent) title() string { return webhook.OneLine("longterm asks: "+a.Who, 60) }

func (a *ApprovalEvent) environ() []string {
	return []string{
		"LONGTERM_APPROVAL=" + a.Approval, "LONGTERM_NAME=" + a.Name, "LONGTERM_SESSION=" + a.Session, "LONGTERM_COMMAND=" + a.Command,
		"LONGTERM_CWD=" + a.Cwd, "LONGTERM_WHO=" + a.Who, "LONGTERM_WHY=" + a.Why, "LONGTERM_RISK=" + a.Risk,
	}
}

func (a *ApprovalEvent) describe(n *webhook.Notice) {
	n.Event, n.Urgent, n.At, n.Key = "approval", true, a.Time, fmt.Sprint("approval ", a.Approval, " ", a.Time.UnixNano())
	n.Title, n.Text = webhook.OneLine("May "+cmp.Or(a.Who, "a program")+" do this?", 120), webhook.OneLine(a.Text(), webhook.MaxText)
}

func (a *ApprovalEvent) redact(mask func(string) string) notification {
	c := *a
	c.Name, c.Command, c.Cwd, c.Why = mask(a.Name), mask(a.Command), mask(a.Cwd), mask(a.Why)
	return &c
}

// brief returns the event without the command and its directory, for targets that must not receive them.
func (a *ApprovalEvent) brief() any {
	return struct {
		Approval string `json:"approval"`
		Session  string `json:"session"`
		Name     string `json:"name"`
	}{a.Approval, a.Session, a.Name}
}
