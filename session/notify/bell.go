package notify

import (
	"context"
	"fmt"
	"time"

	"github.com/longterm-dev/longterm/session/notify/webhook"
)

// BellEvent reports that a program rang the bell.
type BellEvent struct {
	Session string    `json:"session"` // id
	Name    string    `json:"name"`
	Title   string    `json:"title"` // title of its terminal
	Command string    `json:"command"`
	Cwd     string    `json:"cwd"`
	Time    time.Time `json:"time"`
}

// SendBell notifies of a bell without ringing one: attached terminals have rung already.
func (s *Sender) SendBell(ctx context.Context, n *Options, r *BellEvent) error {
	quiet := *n
	quiet.Bell = false
	return s.send(ctx, &quiet, r)
}

// Text returns the event as one line.
func (r *BellEvent) Text() string {
	text := "! " + r.Name + " rang the bell"
	if r.Title != "" && r.Title != r.Name {
		text += ": " + r.Title
	}
	return webhook.OneLine(text, 200)
}

// title implements notification.
func (r *BellEvent) title() string { return webhook.OneLine(r.Name+" rang the bell", 120) }

// environ implements notification.
func (r *BellEvent) environ() []string {
	return []string{
		"LONGTERM_NAME=" + r.Name, "LONGTERM_SESSION=" + r.Session, "LONGTERM_BELL=1", "LONGTERM_TITLE=" + r.Title,
		"LONGTERM_COMMAND=" + r.Command, "LONGTERM_CWD=" + r.Cwd,
	}
}

// fillNotice implements notification.
func (r *BellEvent) fillNotice(n *webhook.Notice) {
	n.Event, n.At, n.Key = "bell", r.Time, fmt.Sprintf("bell %s %d", r.Session, r.Time.UnixNano())
	n.Title, n.Text = r.title(), r.Text()
}

// redact implements notification.
func (r *BellEvent) redact(mask func(string) string) notification {
	c := *r
	c.Name, c.Title, c.Command, c.Cwd = mask(r.Name), mask(r.Title), mask(r.Command), mask(r.Cwd)
	return &c
}

// briefData implements notification.
func (r *BellEvent) briefData() any {
	return struct {
		Session string `json:"session"`
		Name    string `json:"name"`
	}{r.Session, r.Name}
}
