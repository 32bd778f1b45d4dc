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

// act does what a hook is there for, and acknowledges up to a cursor: it runs a program, or posts.
func (s *Set) act(ctx context.Context, h *hook, job string, c api.Completion, cursor uint64) error {
	if h.of == nil || h.of.Webhook == "" {
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

// does is what a hook of the configuration does, for people. The address is a secret but for its host.
func does(of *config.Hook) string {
	if of.Webhook != "" {
		return "post to " + webhook.Host(of.Webhook)
	}
	return shellquote.Line(of.Run)
}

// notice is what is posted of a completion. Asked for anew after a daemon's end it has the same key, and is not posted twice.
func (h *hook) notice(key string, c api.Completion, mask func(string) string) (webhook.Notice, error) {
	if h.of.Brief {
		c.Text = ""
	}
	if mask != nil {
		c.Name, c.Text = mask(c.Name), mask(c.Text)
	}
	event, how := told(&c)
	n := webhook.Notice{
		URL: h.of.Webhook, Format: webhook.Format(h.of.Format), Key: key, Event: event, Title: webhook.OneLine(c.Name+": "+how, 120), Text: c.Text,
		Urgent: c.Kind == store.OfInput || c.Kind == store.OfApproval, At: c.At,
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
	}{h.of.Name, c})
	return n, err
}

// told is a completion's event, by the names that alerts have, and how it is put in a few words.
func told(c *api.Completion) (event, how string) {
	switch c.Kind {
	case store.OfInput:
		return c.Kind, "waits for input (" + c.State + ")"
	case store.OfApproval:
		return c.Kind, "something has to be allowed"
	case store.OfSession, store.OfCommand, store.OfJob:
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
