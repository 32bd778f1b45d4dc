//go:build unix

package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/longterm-dev/longterm/session/access"
	"github.com/longterm-dev/longterm/session/api"
)

// levels say what a token has to allow for a route, where its method does not: GET looks, DELETE is for all that
// ends and removes, and anything else changes.
var levels = map[string]access.Level{
	"stop": access.All, "upgrade": access.All, "prune": access.All, "kill": access.All, "signal": access.All, "stop-job": access.All,
	"answer-approval": access.All, "answer-approvals": access.All,
}

// persons are routes for the person alone, who comes by the socket.
var persons = map[string]bool{"list-tokens": true, "new-token": true, "revoke-token": true}

// Level is what a token has to allow for the route.
func (r *Route) Level() access.Level {
	if l, ok := levels[r.ID]; ok {
		return l
	}
	switch r.Method {
	case http.MethodGet:
		return access.Read
	case http.MethodDelete:
		return access.All
	}
	return access.Change
}

// scope says what a token for one session makes of a route that is not about one session by its path.
type scope int

const (
	refused  scope = iota
	filtered       // its handler leaves the others out
	narrowed       // its parameter session is set
	ofItsJob
	ofItsApproval
)

// scopes are the routes that such a token may use besides those about its session.
var scopes = map[string]scope{
	"list-sessions": filtered, "events": filtered,
	"search": narrowed, "list-commands": narrowed, "list-jobs": narrowed, "list-approvals": narrowed,
	"get-job": ofItsJob, "stop-job": ofItsJob, "background-job": ofItsJob, "forget-job": ofItsJob,
	"get-approval": ofItsApproval, "answer-approval": ofItsApproval,
}

// permit says whether a token allows a request of a route; path gives the parameters of its path.
func (s *Server) permit(ctx context.Context, r *Route, path func(string) string) error {
	g := grantOf(ctx)
	noteCall(ctx, r, path)
	switch {
	case persons[r.ID]:
		return s.permitPerson(ctx)
	case g == nil:
		return nil
	case g.Level < r.Level():
		return api.Errorf(api.CodeDenied, "the token %s is of level %s, and this needs %s", g.Name, g.Level, r.Level()).
			WithHint("a person makes one with `longterm token new NAME --level %s`", r.Level())
	case g.Session == "":
		return nil
	}
	if ref := path("session"); ref != "" {
		if e, err := s.reg.Resolve(ref); err != nil || e.ID() != g.Session { // that there are others is not told
			return api.Errorf(api.CodeNotFound, "no session %q", ref).WithHint("`longterm ls` lists them: the token %s is for one session", g.Name)
		}
		return nil
	}
	switch scopes[r.ID] {
	case filtered, narrowed:
		return nil
	case ofItsJob:
		if j, err := s.jobs.SessionOf(ctx, path("job")); err == nil && j == g.Session {
			return nil
		}
		return api.Errorf(api.CodeNotFound, "no job %q", path("job")).WithHint("`longterm jobs` lists them: the token %s is for one session", g.Name)
	case ofItsApproval:
		if a, err := s.gate.Get(ctx, path("approval")); err == nil && a.Session == g.Session {
			return nil
		}
		return api.Errorf(api.CodeNotFound, "no approval %q", path("approval")).WithHint("`longterm approvals` lists them: the token %s is for one session", g.Name)
	}
	return api.Errorf(api.CodeDenied, "the token %s is for one session, and this is about all of them", g.Name).
		WithHint("a person makes one for all sessions with `longterm token new`")
}

// shows says whether whoever asks may see a session.
func shows(ctx context.Context, id string) bool {
	g := grantOf(ctx)
	return g == nil || g.Session == "" || g.Session == id
}

// scoped has huma's requests permitted before their handlers see them.
func (s *Server) scoped(hc huma.Context, next func(huma.Context)) {
	r := routeOf[hc.Operation().OperationID]
	if err := s.permit(hc.Context(), r, hc.Param); err != nil {
		_, w := humago.Unwrap(hc)
		writeError(w, err)
		return
	}
	if g := grantOf(hc.Context()); g != nil && g.Session != "" && scopes[r.ID] == narrowed {
		hc = narrow{hc, g.Session}
	}
	next(hc)
}

// narrow is a request whose parameter session is set.
type narrow struct {
	request
	session string
}

type request = huma.Context

// Query implements huma.Context.
func (n narrow) Query(name string) string {
	if name == "session" {
		return n.session
	}
	return n.request.Query(name)
}

// routeOf finds routes by their ids.
var routeOf = map[string]*Route{}

func init() {
	for i := range Routes {
		routeOf[Routes[i].ID] = &Routes[i]
	}
}
