package authorize

import (
	"context"
	"errors"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/store"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// Query selects approvals.
type Query struct {
	All     bool // include ended approvals
	Session string
	Limit   int // maximum number, newest first; 0: all
}

// List lists approvals, oldest first.
func (g *Gateway) List(ctx context.Context, q Query) ([]api.Approval, error) {
	list := []api.Approval{}
	if !q.All {
		g.mu.Lock()
		defer g.mu.Unlock()
		for _, e := range g.queue.pending() {
			if q.Session == "" || e.view.Session == q.Session {
				list = append(list, e.view)
			}
		}
		return list[max(0, len(list)-limitOf(q.Limit, len(list))):], nil
	}
	rows, err := g.c.Store.Approvals(ctx, store.ApprovalQuery{Session: q.Session, Limit: q.Limit})
	if err != nil {
		return nil, storageError(err)
	}
	for i := len(rows) - 1; i >= 0; i-- {
		e, err := entryOf(&rows[i])
		if err != nil {
			return nil, storageError(err)
		}
		list = append(list, e.view)
	}
	return list, nil
}

// limitOf returns a query's limit, at most all; 0 means all.
func limitOf(limit, all int) int {
	if limit == 0 {
		return all
	}
	return min(limit, all)
}

// Get describes an approval.
func (g *Gateway) Get(ctx context.Context, id string) (api.Approval, error) {
	n, err := numberOf(id)
	if err != nil {
		return api.Approval{}, err
	}
	g.mu.Lock()
	if e := g.queue.open[n]; e != nil {
		defer g.mu.Unlock()
		return e.view, nil
	}
	g.mu.Unlock()
	r, err := g.c.Store.Approval(ctx, n)
	switch {
	case errors.Is(err, store.ErrNoApproval):
		return api.Approval{}, api.Errorf(api.CodeNotFound, "no approval %s", idOf(n)).WithHint("`longterm approvals --all` lists them")
	case err != nil:
		return api.Approval{}, storageError(err)
	}
	e, err := entryOf(&r)
	if err != nil {
		return api.Approval{}, storageError(err)
	}
	return e.view, nil
}

// Pending returns the number of approvals that wait for a user.
func (g *Gateway) Pending() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.queue.open)
}

// Waiting returns the ids of approvals that commands of a session wait for. It excludes rejected input, which only
// proceeds when it is typed again.
func (g *Gateway) Waiting(session string) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.queue.open) == 0 {
		return nil
	}
	return g.queue.openIn(session)
}

// OldestBlocking returns the oldest approval requested since then that blocks a running program of the session: of an
// execution, or of a sandbox's network access. It returns nil if none does.
func (g *Gateway) OldestBlocking(session string, since time.Time) *api.Approval {
	g.mu.Lock()
	defer g.mu.Unlock()
	e := g.queue.oldestBlocking(session, since)
	if e == nil {
		return nil
	}
	v := e.view
	return &v
}

// Change returns a channel that is closed when an approval of a session is requested or ends. Take it before reading
// the pending ones.
func (g *Gateway) Change(session string) <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.queue.change(session)
}

// AnswerAll answers several approvals: those with the ids, those of a group, or all pending ones. It continues if one
// fails.
func (g *Gateway) AnswerAll(ctx context.Context, by identity.Actor, ans api.ApprovalsAnswer) (api.ApprovalsAnswered, error) {
	out := api.ApprovalsAnswered{Answered: []api.Approval{}}
	ctx = context.WithoutCancel(ctx)
	given, began := 0, time.Now()
	for _, yes := range []bool{len(ans.IDs) > 0, ans.Group != "", ans.All} {
		if yes {
			given++
		}
	}
	if given != 1 {
		return out, api.Errorf(api.CodeInvalid, "exactly one of ids, group and all is given").WithHint("`longterm approvals` lists ids and groups")
	}
	ids := ans.IDs
	if len(ids) == 0 {
		list, err := g.List(ctx, Query{})
		if err != nil {
			return out, err
		}
		for i := range list {
			if ans.All || plaintext.Literal(list[i].Group) == plaintext.Literal(ans.Group) {
				ids = append(ids, list[i].ID)
			}
		}
		if len(ids) == 0 && ans.Group != "" {
			return out, api.Errorf(api.CodeNotFound, "no approval is pending in the group %q", oneLine(ans.Group)).WithHint("`longterm approvals` lists the groups")
		}
	}
	for _, id := range ids {
		v, err := g.Answer(ctx, id, by, ans.ApprovalAnswer)
		if err == nil {
			out.Answered = append(out.Answered, v)
			continue
		}
		if now, getErr := g.Get(ctx, id); getErr == nil && errorCode(err) == api.CodeAnswered && alreadyAnswered(&now, by, ans.Answer, began) {
			out.Answered = append(out.Answered, now)
			continue
		}
		out.Failed = append(out.Failed, api.Failed{ID: id, Error: *asError(err)})
	}
	if len(out.Answered) == 0 && len(out.Failed) == 1 {
		e := out.Failed[0].Error
		return out, &e
	}
	return out, nil
}

// alreadyAnswered reports whether the same answer was already given since then: a grant or rule may answer other
// approvals too.
func alreadyAnswered(v *api.Approval, by identity.Actor, answer string, since time.Time) bool {
	return v.By != nil && *v.By == by && v.Answer == answer && v.Ended.After(since)
}

// asError returns an error in its API form.
func asError(err error) *api.Error {
	var e *api.Error
	if errors.As(err, &e) {
		return e
	}
	return api.Errorf(api.CodeInternal, "%v", err)
}

func errorCode(err error) api.Code { return asError(err).Code }
