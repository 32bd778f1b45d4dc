//go:build unix

package subscriptions

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/notify/webhook"
	"github.com/longterm-dev/longterm/session/shellquote"
	"github.com/longterm-dev/longterm/store"
)

// act performs a hook's action, runs a program or posts, and acknowledges up to a cursor.
func (s *Set) act(ctx context.Context, h *hook, job string, c api.Completion, cursor uint64) error {
	if h.conf == nil || h.conf.Webhook == "" {
		return s.runHook(ctx, h, job, c, cursor)
	}
	n, err := h.notice(job, c, s.Mask)
	if err == nil {
		err = s.Post(n)
	}
	if err != nil { // it was not taken: a full disk, or too many addresses
		return err
	}
	return s.acknowledge(context.WithoutCancel(ctx), &h.sub, cursor, 0)
}

// actionText describes the action of a configured hook. It shows only the host of a webhook, as the address is a
// secret.
func actionText(conf *config.Hook) string {
	if conf.Webhook != "" {
		return "post to " + webhook.Host(conf.Webhook)
	}
	return shellquote.Line(conf.Run)
}

// notice builds the notice posted for a completion. The key stays the same after a restart of the daemon, so it is
// posted once.
func (h *hook) notice(key string, c api.Completion, mask func(string) string) (webhook.Notice, error) {
	if h.conf.Brief {
		c.Text = ""
	}
	if mask != nil {
		c.Name, c.Text = mask(c.Name), mask(c.Text)
	}
	event, how := eventText(&c)
	n := webhook.Notice{
		URL: h.conf.Webhook, Format: webhook.Format(h.conf.Format), Key: key, Event: event, Title: webhook.OneLine(c.Name+": "+how, 120), Text: c.Text,
		Urgent: c.Kind == store.CompletionInput || c.Kind == store.CompletionApproval, At: c.At,
	}
	if c.Name == "" {
		n.Title = webhook.OneLine("longterm: "+how, 120)
	}
	if n.Text == "" {
		n.Text = n.Title
	}
	var err error
	n.Data, err = json.Marshal(struct {
		Hook       string         `json:"hook"`
		Completion api.Completion `json:"completion"`
	}{h.conf.Name, c})
	return n, err
}

// eventText returns a completion's event, by the names that alerts use, and a short description.
func eventText(c *api.Completion) (event, how string) {
	switch c.Kind {
	case store.CompletionInput:
		return c.Kind, "waits for input (" + c.State + ")"
	case store.CompletionApproval:
		return c.Kind, "approval required"
	case store.CompletionSession, store.CompletionCommand, store.CompletionJob:
	case "agent":
		return c.Kind, "agent " + c.State
	default:
		return c.Kind, c.Kind
	}
	switch {
	case c.Signal != "":
		return "failed", "ended by " + c.Signal
	case c.State == "lost" || c.ExitCode == nil:
		return "failed", "ended, how is not known"
	case *c.ExitCode != 0:
		return "failed", fmt.Sprintf("failed (%d)", *c.ExitCode)
	}
	return "finished", "done"
}
