//go:build unix

package client

import (
	"context"
	"net/url"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// Inbox returns what needs the user's attention, of sessions with the labels. Items that block a program come first.
// all includes items that are done or snoozed.
func (c *Client) Inbox(ctx context.Context, all bool, labels ...string) ([]api.InboxItem, error) {
	v := url.Values{}
	if all {
		v.Set("all", "true")
	}
	if len(labels) > 0 {
		v["label"] = labels
	}
	return get[[]api.InboxItem](ctx, c, "/inbox", v)
}

// AnswerInbox answers an approval or a question of the inbox.
func (c *Client) AnswerInbox(ctx context.Context, id string, a api.InboxAnswer) (api.InboxItem, error) {
	return send[api.InboxItem](ctx, c, "POST", "/inbox/"+url.PathEscape(id)+"/answer", nil, a)
}

// MarkDone marks an entry of the inbox as done.
func (c *Client) MarkDone(ctx context.Context, id string) (api.InboxItem, error) {
	return send[api.InboxItem](ctx, c, "POST", "/inbox/"+url.PathEscape(id)+"/done", nil, nil)
}

// Snooze hides an entry of the inbox for a time; 0 shows it again.
func (c *Client) Snooze(ctx context.Context, id string, d time.Duration) (api.InboxItem, error) {
	return send[api.InboxItem](ctx, c, "POST", "/inbox/"+url.PathEscape(id)+"/snooze", nil, api.InboxSnooze{ForMS: d.Milliseconds()})
}
