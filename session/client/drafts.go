//go:build unix

package client

import (
	"context"
	"net/url"
	"strconv"

	"github.com/longterm-dev/longterm/session/api"
)

// Drafts returns the drafts that were neither committed nor discarded.
func (c *Client) Drafts(ctx context.Context) ([]api.DraftSummary, error) {
	return send[[]api.DraftSummary](ctx, c, "GET", "/drafts", nil, nil)
}

// Changes returns the changes of the session's draft: all, or those during a command if it is not 0.
func (s *Session) Changes(ctx context.Context, command int) (api.Draft, error) {
	q := url.Values{}
	if command > 0 {
		q.Set("command", strconv.Itoa(command))
	}
	return send[api.Draft](ctx, s.client, "GET", s.path+"/changes", q, nil)
}

// Diff returns the changes of the session's draft at some paths, or all, as a unified diff.
func (s *Session) Diff(ctx context.Context, paths []string) (api.DraftDiff, error) {
	return send[api.DraftDiff](ctx, s.client, "GET", s.path+"/diff", url.Values{"path": paths}, nil)
}

// Commit applies changes of the session's draft.
func (s *Session) Commit(ctx context.Context, c api.Commit) (api.DraftResult, error) {
	return send[api.DraftResult](ctx, s.client, "POST", s.path+"/commit", nil, c)
}

// Undo restores the files of the session's draft to what they were before a command.
func (s *Session) Undo(ctx context.Context, u api.Undo) (api.Undone, error) {
	return send[api.Undone](ctx, s.client, "POST", s.path+"/undo", nil, u)
}

// Discard removes changes of the session's draft, or all of it.
func (s *Session) Discard(ctx context.Context, d api.Discard) (api.DraftResult, error) {
	return send[api.DraftResult](ctx, s.client, "POST", s.path+"/discard", nil, d)
}
