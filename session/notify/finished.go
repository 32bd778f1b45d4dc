package notify

import (
	"fmt"
	"strconv"

	"github.com/longterm-dev/longterm/session/notify/webhook"
)

// title implements notification.
func (f *FinishedEvent) title() string { return f.Name }

// environ implements notification.
func (f *FinishedEvent) environ() []string {
	exit := ""
	if f.ExitCode != nil {
		exit = strconv.Itoa(*f.ExitCode)
	}
	return []string{
		"LONGTERM_NAME=" + f.Name, "LONGTERM_SESSION=" + f.Session, "LONGTERM_COMMAND=" + f.Command,
		"LONGTERM_CWD=" + f.Cwd, "LONGTERM_EXIT=" + exit, "LONGTERM_SIGNAL=" + f.Signal, "LONGTERM_DURATION_MS=" + strconv.FormatInt(f.DurationMS, 10),
		"LONGTERM_ERRORS=" + strconv.Itoa(f.Errors), "LONGTERM_WARNINGS=" + strconv.Itoa(f.Warnings),
	}
}

// fillNotice implements notification.
func (f *FinishedEvent) fillNotice(n *webhook.Notice) {
	n.At, n.Key = f.Ended, fmt.Sprintf("finished %s %d %d", f.Session, f.Number, f.Ended.UnixNano())
	n.Event, n.Title = "failed", f.Name+": "
	switch {
	case f.hasSucceeded():
		n.Event = "finished"
		n.Title += "done"
	case f.ExitCode != nil:
		n.Title += fmt.Sprintf("failed (%d)", *f.ExitCode)
	case f.Signal != "":
		n.Title += "ended by " + f.Signal
	default:
		n.Title += "ended, how is not known"
	}
	n.Title = webhook.OneLine(n.Title, 120)
	if n.Text = f.Text(); f.FirstError != "" {
		n.Text += ": " + webhook.OneLine(f.FirstError, 200)
	}
}

// redact implements notification.
func (f *FinishedEvent) redact(mask func(string) string) notification {
	c := *f
	c.Name, c.Command, c.Cwd, c.FirstError = mask(f.Name), mask(f.Command), mask(f.Cwd), mask(f.FirstError)
	return &c
}

// briefData implements notification.
func (f *FinishedEvent) briefData() any {
	return struct {
		Session    string `json:"session"`
		Name       string `json:"name"`
		ExitCode   *int   `json:"exit_code"`
		Signal     string `json:"signal,omitempty"`
		DurationMS int64  `json:"duration_ms"`
	}{f.Session, f.Name, f.ExitCode, f.Signal, f.DurationMS}
}
