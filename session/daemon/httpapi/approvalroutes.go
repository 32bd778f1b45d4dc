//go:build unix

package httpapi

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/gateway"
	"github.com/longterm-dev/longterm/session/daemon/jobs"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/sandbox"
)

type approvalsQuery struct {
	All     bool   `query:"all" doc:"those that were answered or are gone too"`
	Session string `query:"session" doc:"of one session: id, name, or a unique prefix; default: of all"`
	Limit   int    `query:"limit" minimum:"0" maximum:"10000" doc:"the newest so many; default 1000"`
}

func (s *Server) listApprovals(ctx context.Context, in *approvalsQuery) ([]api.Approval, error) {
	q := gateway.Query{All: in.All, Limit: in.Limit}
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
	return s.gate.Answer(ctx, in.Approval, actor.Of(ctx), in.Body)
}

func (s *Server) postApprovals(ctx context.Context, in *struct{ Body api.ApprovalsAnswer }) (api.ApprovalsAnswered, error) {
	return s.gate.AnswerAll(ctx, actor.Of(ctx), in.Body)
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
}) (none, error) {
	return none{true}, s.gate.Revoke(ctx, actor.Of(ctx), in.Grant)
}

// admitNew asks whether a session may be started; a shell by itself always may. What it returns is told the
// session's id.
func (s *Server) admitNew(ctx context.Context, n *api.NewSession) (func(id string), error) {
	if err := withinRules(ctx, n); err != nil {
		return nil, err
	}
	if err := s.gate.Check(n.Policy); err != nil {
		return nil, err
	}
	if n.AskID == "" {
		n.AskID = uuid.NewString()
	}
	ask := jobs.AskNew(n.AskID, actor.Of(ctx), n)
	if jobs.ShellAlone(n) {
		return func(string) {}, s.gate.Unjudged(ctx, ask)
	}
	answer, err := s.admit(ctx, ask, n.OnApproval)
	return func(id string) {
		ask.Session = id
		s.gate.Started(id, ask, answer)
	}, err
}

// admit asks whether something may be done, and waits for whoever has to allow it, unless the caller wants to
// be told of that at once.
func (s *Server) admit(ctx context.Context, ask gateway.Ask, onApproval string) (gateway.Answer, error) {
	return s.admitTelling(ctx, ask, onApproval, func() {})
}

// admitTelling is admit; asked is told when somebody is about to be waited for.
func (s *Server) admitTelling(ctx context.Context, ask gateway.Ask, onApproval string, asked func()) (gateway.Answer, error) {
	answer, p, err := s.gate.Begin(ctx, ask)
	if p == nil {
		return answer, err
	}
	if onApproval == "return" {
		defer p.Later()
		v := p.Approval()
		return answer, gateway.Needed(&v)
	}
	asked()
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(s.jobs.Done(), cancel) // the daemon leaves: its successor is asked again
	defer stop()
	wait := p.Wait
	if ask.Actor.Host != "" {
		wait = p.WaitForNow
	}
	answer, err = wait(waiting)
	if err != nil && s.jobs.Leaving() {
		return answer, registry.Replaced()
	}
	return answer, err
}

// admitAgain asks whether a session's program may be started again. It notes in req which file is judged: no other one is
// started.
func (s *Server) admitAgain(ctx context.Context, e *registry.Handle, req *api.Restore) error {
	n, err := s.reg.Again(e, *req)
	if err != nil {
		return err
	}
	ask := jobs.AskNew(uuid.NewString(), actor.Of(ctx), n)
	ask.Session, ask.Kept = e.ID(), n.Policy
	req.Judged = n.Judged
	if jobs.ShellAlone(n) {
		return s.gate.Unjudged(ctx, ask)
	}
	answer, err := s.admit(ctx, ask, "")
	if err == nil {
		s.gate.Started(e.ID(), ask, answer)
	}
	return err
}

// postNetwork answers a sandbox's proxy, which asks about hosts that the profile does not list. What no sandbox holds is
// not asked about.
func (s *Server) postNetwork(ctx context.Context, in *sessionBody[api.NetworkAsk]) (none, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return none{}, err
	}
	box, err := s.reg.SandboxReport(e)
	if err != nil {
		return none{}, err
	}
	if box == nil || box.Network == sandbox.NetworkOn {
		return none{true}, nil
	}
	to := net.JoinHostPort(in.Body.Host, strconv.Itoa(in.Body.Port))
	if box.Rules == nil || !box.Rules.Ask {
		return none{}, api.Errorf(api.CodeDenied, "%s is not listed in sandbox profile %s", to, box.Profile).
			WithHint(`add it to network of the profile, or write on_difference = "ask" there`)
	}
	id := in.Body.ID
	if id == "" {
		id = uuid.NewString()
	}
	rec, by := e.Record(), actor.Of(ctx)
	by.Agent = rec.Agent
	_, err = s.admit(ctx, gateway.Ask{
		ID: "network-" + id, Kind: gateway.Network, Actor: by, Session: e.ID(), Name: rec.Name, Labels: rec.Labels, Path: to,
		Cwd: box.Rules.Cwd, Home: box.Rules.Home, Kept: rec.Policy,
	}, "")
	return none{err == nil}, err
}

// endingTime is how long an agent that would end a session waits for the person's answer: then it is told of the asking, which
// stays, and does the same again once that is answered.
const endingTime = 2 * time.Second

// endings are the askings of agents to end sessions that were not answered yet, by what they would do.
type endings struct {
	mu  sync.Mutex
	ids map[string]string
}

// mostEndings bounds those who never came again.
const mostEndings = 1000

func (e *endings) id(what string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ids == nil || len(e.ids) >= mostEndings {
		e.ids = map[string]string{}
	}
	if e.ids[what] == "" {
		e.ids[what] = uuid.NewString()
	}
	return e.ids[what]
}

func (e *endings) over(what string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.ids, what)
}

// over says that an agent would end a session of another that has ended: nobody is asked, and nothing is done.
func (s *Server) over(ctx context.Context, e *registry.Handle) bool {
	by := actor.Of(ctx)
	return by.IsAgent() && e.Record().Agent != by.Agent && !s.reg.Lives(e)
}

// mayEnd asks a person before an agent ends or forgets sessions that it has not started itself. Several are one asking.
func (s *Server) mayEnd(ctx context.Context, what string, list ...*registry.Handle) error {
	by := actor.Of(ctx)
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
	_, p, err := s.gate.Begin(ctx, gateway.Ask{
		ID: s.endings.id(key), Kind: gateway.Stop, Actor: by, Session: rec.ID, Name: rec.Name, Labels: rec.Labels,
		Path: what + " " + strings.Join(names, ", "),
	})
	if p != nil {
		waiting, cancel := context.WithTimeout(ctx, endingTime)
		defer cancel()
		if _, err = p.WaitForNow(waiting); errors.Is(err, context.DeadlineExceeded) {
			v := p.Approval()
			return gateway.Needed(&v).WithHint("`longterm approvals answer %s once` allows it; then do the same again, within a minute, or you are asked anew", v.ID)
		}
	}
	if !s.jobs.Leaving() {
		s.endings.over(key)
	}
	return err
}

// maySignal asks before an agent sends a signal that ends or stops to a session that is not its own. Ctrl-C it may type, too.
func (s *Server) maySignal(ctx context.Context, e *registry.Handle, signal *api.Signal) error {
	name := strings.TrimPrefix(strings.ToUpper(signal.Signal), "SIG")
	switch name {
	case "INT", "2", "CONT", "18", "WINCH", "28", "URG", "CHLD", "0": // end or stop nothing by themselves
		return nil
	}
	return s.mayEnd(ctx, "signal "+name+" to session", e)
}
