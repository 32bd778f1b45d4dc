//go:build unix

package httpapi

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/authorize"
	"github.com/longterm-dev/longterm/session/daemon/inbox"
	"github.com/longterm-dev/longterm/session/daemon/jobs"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/sandbox"
)

type approvalsQuery struct {
	All     bool   `query:"all" doc:"include answered and closed ones"`
	Session string `query:"session" doc:"of one session: id, name, or a unique prefix; default: of all"`
	Limit   int    `query:"limit" minimum:"0" maximum:"10000" doc:"maximum number, newest first; default 1000"`
}

func (s *Server) listApprovals(ctx context.Context, in *approvalsQuery) ([]api.Approval, error) {
	q := authorize.Query{All: in.All, Limit: in.Limit}
	if q.Limit == 0 {
		q.Limit = 1000
	}
	if in.Session != "" {
		e, err := s.reg.Resolve(in.Session)
		if err != nil {
			return nil, err
		}
		q.Session = e.ID()
	}
	return s.gate.List(ctx, q)
}

// ApprovalPath names an approval. It is exported because huma fills embedded fields only then.
type ApprovalPath struct {
	Approval string `path:"approval" maxLength:"20" doc:"id, as in A7"`
}

func (s *Server) getApproval(ctx context.Context, in *ApprovalPath) (api.Approval, error) {
	return s.gate.Get(ctx, in.Approval)
}

func (s *Server) postApproval(ctx context.Context, in *struct {
	ApprovalPath
	Body api.ApprovalAnswer
}) (api.Approval, error) {
	return s.gate.Answer(ctx, in.Approval, identity.Of(ctx), in.Body)
}

func (s *Server) postApprovals(ctx context.Context, in *struct{ Body api.ApprovalsAnswer }) (api.ApprovalsAnswered, error) {
	return s.gate.AnswerAll(ctx, identity.Of(ctx), in.Body)
}

func (s *Server) listGrants(context.Context, *struct{}) ([]api.Grant, error) {
	list := s.gate.Grants()
	for i := range list {
		if e := s.reg.ByID(list[i].Session); e != nil {
			list[i].Name = e.Record().Name
		}
	}
	return list, nil
}

func (s *Server) deleteGrant(ctx context.Context, in *struct {
	Grant string `path:"grant" maxLength:"20" doc:"id, as in G3"`
}) (noContent, error) {
	return noContent{true}, s.gate.Revoke(ctx, identity.Of(ctx), in.Grant)
}

// admitNew checks whether a session may be started; a plain shell always may. Call the returned function with the
// session's id.
func (s *Server) admitNew(ctx context.Context, n *api.NewSession) (func(id string), error) {
	if err := inheritPolicy(ctx, n); err != nil {
		return nil, err
	}
	if err := s.gate.Check(n.Policy); err != nil {
		return nil, err
	}
	if n.AskID == "" {
		n.AskID = uuid.NewString()
	}
	ask := jobs.NewSessionRequest(n.AskID, identity.Of(ctx), n)
	if jobs.IsPlainShell(n) {
		return func(string) {}, s.gate.RecordUnjudged(ctx, ask)
	}
	answer, err := s.admit(ctx, ask, n.OnApproval)
	return func(id string) {
		ask.Session = id
		s.gate.Started(id, ask, answer)
	}, err
}

// admit checks whether an action is allowed and waits for approval, unless the caller wants to know at once that
// approval is required.
func (s *Server) admit(ctx context.Context, ask authorize.Request, onApproval string) (authorize.Answer, error) {
	return s.admitNotify(ctx, ask, onApproval, func() {})
}

// admitNotify works like admit, and calls onWait before it waits.
func (s *Server) admitNotify(ctx context.Context, ask authorize.Request, onApproval string, onWait func()) (authorize.Answer, error) {
	answer, p, err := s.gate.Begin(ctx, ask)
	if p == nil {
		return answer, err
	}
	if onApproval == "return" {
		defer p.Release()
		v := p.Approval()
		return answer, authorize.ErrApprovalNeeded(&v)
	}
	onWait()
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	// the daemon stops: the caller repeats the request at its successor
	stop := context.AfterFunc(s.jobs.Context(), cancel)
	defer stop()
	wait := p.Wait
	if ask.Actor.Host != "" {
		wait = p.WaitWithGrace
	}
	answer, err = wait(waiting)
	if err != nil && s.jobs.IsStopping() {
		return answer, registry.ErrReplaced()
	}
	return answer, err
}

// admitRestore checks whether a session's program may be started again. It stores the judged file in req, so that
// exactly that file is started.
func (s *Server) admitRestore(ctx context.Context, e *registry.Handle, req *api.Restore) error {
	n, err := s.reg.RestoreRequest(ctx, e, *req)
	if err != nil {
		return err
	}
	ask := jobs.NewSessionRequest(uuid.NewString(), identity.Of(ctx), n)
	ask.Session, ask.Kept = e.ID(), n.Policy
	req.Judged = n.Judged
	if jobs.IsPlainShell(n) {
		return s.gate.RecordUnjudged(ctx, ask)
	}
	answer, err := s.admit(ctx, ask, "")
	if err == nil {
		s.gate.Started(e.ID(), ask, answer)
	}
	return err
}

// postNetwork answers a sandbox's proxy about hosts that the profile does not list. It allows all if no sandbox
// restricts the network.
func (s *Server) postNetwork(ctx context.Context, in *sessionBody[api.NetworkAsk]) (noContent, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return noContent{}, err
	}
	box, err := s.reg.SandboxReport(e)
	if err != nil {
		return noContent{}, err
	}
	if box == nil || box.Network == sandbox.NetworkOn {
		return noContent{true}, nil
	}
	to := net.JoinHostPort(in.Body.Host, strconv.Itoa(in.Body.Port))
	if box.Rules == nil || !box.Rules.AsksOnDifference {
		return noContent{}, api.Errorf(api.CodeDenied, "%s is not listed in sandbox profile %s", to, box.Profile).
			WithHint(`add it to network of the profile, or write on_difference = "ask" there`)
	}
	id := in.Body.ID
	if id == "" {
		id = uuid.NewString()
	}
	rec, by := e.Record(), identity.Of(ctx)
	by.Agent = rec.Agent
	_, err = s.admit(ctx, authorize.Request{
		ID: "network-" + id, Kind: authorize.Network, Actor: by, Session: e.ID(), Name: rec.Name, Labels: rec.Labels, Path: to,
		Cwd: box.Rules.Cwd, Home: box.Rules.Home, Kept: rec.Policy,
	}, "")
	return noContent{err == nil}, err
}

// endingTime is how long an agent that ends another's session waits for the user. After that it gets the approval's id,
// which stays open, and repeats its call after the answer.
const endingTime = 2 * time.Second

// endings holds the IDs of unanswered approval requests of agents to end sessions, by the effect of the request. A
// repeated call joins the same approval.
type endings struct {
	mu  sync.Mutex
	ids map[string]string
}

// maxPendingEndRequests bounds the remembered requests to end sessions that wait for approval.
const maxPendingEndRequests = 1000

// id returns the ID of the pending request with this effect, or a new one.
func (e *endings) id(what string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ids == nil || len(e.ids) >= maxPendingEndRequests {
		e.ids = map[string]string{}
	}
	if e.ids[what] == "" {
		e.ids[what] = uuid.NewString()
	}
	return e.ids[what]
}

// forget removes a request that was answered.
func (e *endings) forget(what string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.ids, what)
}

// targetsEndedSession reports whether an agent would end another's session that has already ended, which needs no
// approval.
func (s *Server) targetsEndedSession(ctx context.Context, e *registry.Handle) bool {
	by := identity.Of(ctx)
	return by.IsAgent() && e.Record().Agent != by.Agent && !s.reg.Lives(e)
}

// admitEnding requests approval before an agent ends or removes sessions that it did not start. Several sessions are
// one request.
func (s *Server) admitEnding(ctx context.Context, what string, list ...*registry.Handle) error {
	by := identity.Of(ctx)
	if !by.IsAgent() {
		return nil
	}
	var others []*registry.Handle
	var names []string
	key := by.Agent + " " + what
	for _, e := range list {
		if rec := e.Record(); rec.Agent != by.Agent {
			others, names, key = append(others, e), append(names, rec.Name), key+" "+rec.ID
		}
	}
	if len(others) == 0 {
		return nil
	}
	rec := others[0].Record()
	_, p, err := s.gate.Begin(ctx, authorize.Request{
		ID: s.endings.id(key), Kind: authorize.Stop, Actor: by, Session: rec.ID, Name: rec.Name, Labels: rec.Labels,
		Path: what + " " + strings.Join(names, ", "),
	})
	if p != nil {
		waiting, cancel := context.WithTimeout(ctx, endingTime)
		defer cancel()
		if _, err = p.WaitWithGrace(waiting); errors.Is(err, context.DeadlineExceeded) {
			v := p.Approval()
			return authorize.ErrApprovalNeeded(&v).WithHint("`longterm approvals answer %s once` allows it; then repeat the call within a minute", v.ID)
		}
	}
	if !s.jobs.IsStopping() {
		s.endings.forget(key)
	}
	return err
}

// admitSignal requests approval before an agent sends another's session a signal that ends or stops a process. Ctrl-C
// needs none, as the agent may type it.
func (s *Server) admitSignal(ctx context.Context, e *registry.Handle, signal *api.Signal) error {
	name := strings.TrimPrefix(strings.ToUpper(signal.Signal), "SIG")
	switch name {
	case "INT", "2", "CONT", "18", "WINCH", "28", "URG", "CHLD", "0": // end or stop nothing by themselves
		return nil
	}
	return s.admitEnding(ctx, "signal "+name+" to session", e)
}

type inboxQuery struct {
	All   bool     `query:"all" doc:"include entries that are done or snoozed"`
	State []string `query:"state" enum:"open,snoozed,done" doc:"only entries in these states; default: open"`
	Label []string `query:"label" doc:"only entries of sessions with these labels, NAME or NAME=VALUE"`
}

// matches reports whether an entry is in one of the requested states.
func (q *inboxQuery) matches(it *api.InboxItem) bool {
	if len(q.State) > 0 {
		return slices.Contains(q.State, it.State)
	}
	return q.All || it.State == "open"
}

func (s *Server) listInbox(ctx context.Context, in *inboxQuery) ([]api.InboxItem, error) {
	items, err := s.daemon.Inbox().Items(ctx)
	list := []api.InboxItem{}
	for i := range items {
		it := &items[i].InboxItem
		if in.matches(it) && s.showsItem(ctx, it) && matchLabels(it.Labels, in.Label) {
			list = append(list, *it)
		}
	}
	return list, err
}

// showsItem reports whether the caller may see an entry. Agents see their own only, programs in a session with a policy
// those of that session.
func (s *Server) showsItem(ctx context.Context, it *api.InboxItem) bool {
	by, v := identity.Of(ctx), callerOf(ctx)
	switch {
	case !s.shows(ctx, it.Session):
		return false
	case by.IsAgent():
		return it.Agent == by.Agent
	case by.Policy != "":
		return it.Session != "" && it.Session == v.Session
	}
	return true
}

// InboxPath names an entry of the inbox. It is exported because huma fills embedded fields only then.
type InboxPath struct {
	Item string `path:"item" maxLength:"24" doc:"id, as in A7 or I3"`
}

// ownItem returns an entry for a user to change. Agents get the error of approvals: they may not answer.
func (s *Server) ownItem(ctx context.Context, id string) (inbox.Item, error) {
	if err := authorize.CheckUser(identity.Of(ctx)); err != nil {
		return inbox.Item{}, err
	}
	it, err := s.daemon.Inbox().Get(ctx, id)
	if err == nil && !s.showsItem(ctx, &it.InboxItem) {
		return inbox.Item{}, api.Errorf(api.CodeNotFound, "no inbox entry %q", id).WithHint("`longterm inbox` lists them: the token %s is for %s", grantOf(ctx).Name, grantOf(ctx).Of())
	}
	return it, err
}

func (s *Server) postInboxDone(ctx context.Context, in *InboxPath) (api.InboxItem, error) {
	it, err := s.ownItem(ctx, in.Item)
	if err == nil {
		it, err = s.daemon.Inbox().Done(ctx, it)
	}
	return it.InboxItem, err
}

func (s *Server) postInboxSnooze(ctx context.Context, in *struct {
	InboxPath
	Body api.InboxSnooze
}) (api.InboxItem, error) {
	it, err := s.ownItem(ctx, in.Item)
	if err == nil {
		it, err = s.daemon.Inbox().Snooze(ctx, it, time.Duration(in.Body.ForMS)*time.Millisecond)
	}
	return it.InboxItem, err
}

func (s *Server) postInboxAnswer(ctx context.Context, in *struct {
	InboxPath
	Body api.InboxAnswer
}) (api.InboxItem, error) {
	it, err := s.ownItem(ctx, in.Item)
	switch {
	case err != nil:
		if a, getErr := s.gate.Get(ctx, in.Item); getErr == nil && strings.EqualFold(a.ID, in.Item) && authorize.CheckUser(identity.Of(ctx)) == nil && s.shows(ctx, a.Session) {
			it.ID, it.Answers = a.ID, a.Answers()
			err = s.answerApproval(ctx, &it, in.Body) // a conflict that has the first answer
		}
	case it.Kind == api.InboxApproval:
		err = s.answerApproval(ctx, &it, in.Body)
	case it.Kind == api.InboxQuestion:
		err = s.answerQuestion(ctx, &it, in.Body)
	default:
		err = api.Errorf(api.CodeInvalid, "%s is not a question (%s)", it.ID, it.Kind).WithHint("`longterm inbox done %s` removes it from the list", it.ID)
	}
	if err == nil {
		it.State = "done"
	}
	return it.InboxItem, err
}

// answerApproval answers an approval as its own route does.
func (s *Server) answerApproval(ctx context.Context, it *inbox.Item, ans api.InboxAnswer) error {
	answer := strings.ToLower(ans.Answer)
	if answer == "deny" {
		answer = "reject"
	}
	if !slices.Contains([]string{"once", "session", "always", "reject"}, answer) {
		return api.Errorf(api.CodeInvalid, "%q: invalid answer to approval %s", ans.Answer, it.ID).WithHint("answer %s", strings.Join(it.Answers, ", "))
	}
	_, err := s.gate.Answer(ctx, it.ID, identity.Of(ctx), api.ApprovalAnswer{Answer: answer, Feedback: ans.Feedback})
	return err
}

// answerQuestion types the answer, with Enter, if the question is still on the screen.
func (s *Server) answerQuestion(ctx context.Context, it *inbox.Item, ans api.InboxAnswer) error {
	if err := permitGrant(grantOf(ctx), routeOf["type"]); err != nil {
		return err
	}
	e, err := s.reg.Resolve(it.Session)
	if err != nil {
		return err
	}
	name := e.Record().Name
	switch {
	case it.Input == "password":
		return api.Errorf(api.CodeDenied, "%s is a secret prompt; secrets are typed only into the terminal", it.ID).
			WithHint("`longterm attach %s`, or a response rule: `longterm respond %[1]s add --regexp … --secret keyring:…`", name)
	case !it.Answerable:
		return api.Errorf(api.CodeInvalid, "%s is answered with keys, not with a line", it.ID).
			WithHint("`longterm attach %s`, or `longterm keys %[1]s KEY…`", name)
	case ans.Feedback != "":
		return api.Errorf(api.CodeInvalid, "feedback is for approvals; %s is a question", it.ID).WithHint("leave it out")
	case strings.ContainsFunc(ans.Answer, unicode.IsControl):
		return api.Errorf(api.CodeInvalid, "the answer has control characters").WithHint("answer one line; `longterm send %s TEXT -e` types others", name)
	}
	_, err = s.typeInput(ctx, e, api.Input{Text: ans.Answer, Enter: true, ExpectVersion: it.Version()})
	return err
}
