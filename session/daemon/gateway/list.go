package gateway

import (
	"context"
	"errors"
	"time"

	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/store"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// Query says which approvals are asked for.
type Query struct {
	All     bool // those that are over too
	Session string
	Limit   int // the newest so many; 0: all
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

// Pending is how many approvals wait for a person.
func (g *Gateway) Pending() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.queue.open)
}

// Waiting are the ids of approvals that commands of a session wait for. What somebody typed and was told of at once is none
// of these: nothing waits there until it is typed again.
func (g *Gateway) Waiting(session string) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.queue.open) == 0 {
		return nil
	}
	return g.queue.of(session)
}

// WaitsWithin is the approval that a program in a session waits for, in the middle of its work, and that was asked for
// since then: an execution's, or that of a sandbox's network. nil: none does. of several it is the oldest.
func (g *Gateway) WaitsWithin(session string, since time.Time) *api.Approval {
	g.mu.Lock()
	defer g.mu.Unlock()
	e := g.queue.within(session, since)
	if e == nil {
		return nil
	}
	v := e.view
	return &v
}

// Change is closed when an approval of a session is asked for or over. Who looks at what is pending takes it before.
func (g *Gateway) Change(session string) <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.queue.change(session)
}

// AnswerAll answers several: those with the ids, those of a group, or all that are pending. One that cannot be
// answered does not keep the others.
func (g *Gateway) AnswerAll(ctx context.Context, by actor.Actor, ans api.ApprovalsAnswer) (api.ApprovalsAnswered, error) {
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
			return out, api.Errorf(api.CodeNotFound, "no approval is pending in the group %q", inLine(ans.Group)).WithHint("`longterm approvals` lists the groups")
		}
	}
	for _, id := range ids {
		v, err := g.Answer(ctx, id, by, ans.ApprovalAnswer)
		if err == nil {
			out.Answered = append(out.Answered, v)
			continue
		}
		if now, getErr := g.Get(ctx, id); getErr == nil && errorCode(err) == api.CodeAnswered && byTheWay(&now, by, ans.Answer, began) {
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

// byTheWay says that an approval was answered as it is meant to be since then: a grant or a rule that answers one
// answers others too.
func byTheWay(v *api.Approval, by actor.Actor, answer string, since time.Time) bool {
	return v.By != nil && *v.By == by && v.Answer == answer && v.Ended.After(since)
}

func asError(err error) *api.Error {
	var e *api.Error
	if errors.As(err, &e) {
		return e
	}
	return api.Errorf(api.CodeInternal, "%v", err)
}

func errorCode(err error) api.Code { return asError(err).Code }
