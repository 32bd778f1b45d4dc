//go:build unix

package httpapi

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/longterm-dev/longterm/session/access"
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/member"
	"github.com/longterm-dev/longterm/session/daemon/registry"
)

// Doorway serves what a handler does to who comes over TCP: requests of pages and for names that are not ours are
// refused before anything of them is read, then those without a token that counts. Whoever comes in asks as the
// user whose daemon this is, with the token's name and within what it allows.
func (s *Server) Doorway(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		source := access.Source{Hosts: s.conf.Get().HTTP.Hosts, Origins: s.conf.Get().HTTP.Origins}
		if err := source.Check(r); err != nil {
			writeError(w, notOurs(err))
			return
		}
		secret, ok := access.BearerOf(r)
		if !ok {
			w.Header().Set("WWW-Authenticate", `Bearer realm="longterm"`)
			writeError(w, api.Errorf(api.CodeUnauthorized, "this request has no token").WithHint("%s", api.CodeUnauthorized.Hint()))
			return
		}
		g, err := s.daemon.Tokens().Verify(secret)
		if err != nil {
			s.log.Warn("refused a token", "from", r.RemoteAddr, "err", err)
			w.Header().Set("WWW-Authenticate", `Bearer realm="longterm", error="invalid_token"`)
			writeError(w, notGranted(err))
			return
		}
		a := actor.Actor{UID: os.Getuid()}
		if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil && !access.Loopback(r.RemoteAddr) {
			a.Host = host
		}
		s.serveGranted(w, r.WithContext(actor.With(r.Context(), a)), g, next)
	})
}

// serveGranted serves a request within what its token allows, for as long as that counts.
func (s *Server) serveGranted(w http.ResponseWriter, r *http.Request, g access.Grant, next http.Handler) {
	ctx, done := s.daemon.Tokens().During(context.WithValue(r.Context(), grantKey{}, &g), g)
	defer done()
	a := actor.Of(ctx)
	a.Token = g.Name
	next.ServeHTTP(w, r.WithContext(actor.With(ctx, a)))
}

// granted has requests over our own socket that name a token served within what that allows: they are those of a
// process of ours, such as the MCP server, that was shown it. Naming one only ever takes away.
func (s *Server) granted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.Header.Get(actor.TokenHeader)
		if name == "" || grantOf(r.Context()) != nil {
			next.ServeHTTP(w, r)
			return
		}
		g, err := s.daemon.Tokens().Named(name)
		if err != nil {
			writeError(w, notGranted(err))
			return
		}
		s.serveGranted(w, r, g, next)
	})
}

type grantKey struct{}

// grantOf is what the token allows with which is asked; nil: there is none, and everything is.
func grantOf(ctx context.Context) *access.Grant {
	g, _ := ctx.Value(grantKey{}).(*access.Grant)
	return g
}

func notOurs(err error) error {
	e := api.Errorf(api.CodeDenied, "%v", err)
	var of *access.SourceError
	if errors.As(err, &of) && of.What == "origin" {
		return e.WithHint("if the page is yours, name its origin in http.origins (`longterm config set`)")
	}
	return e.WithHint("if the name is yours, have it in http.hosts (`longterm config set`)")
}

func notGranted(err error) error {
	if !errors.Is(err, access.ErrUnknown) && !errors.Is(err, access.ErrExpired) {
		return api.Errorf(api.CodeStorage, "%v", err)
	}
	return api.Errorf(api.CodeUnauthorized, "%v", err).WithHint("make another one with `longterm token new`")
}

// ownLabel is the label of the agent that asks: what the request says, within what its token does. Whoever has a
// token that does not allow everything is an agent, too.
func ownLabel(g *access.Grant, asked string) string {
	switch {
	case g == nil:
		return asked
	case g.Agent != "":
		return g.Agent
	case asked == "" && g.Page && g.May&access.Approve != 0: // whoever may decide is a person
	case asked == "" && g.Rights() != access.Everything:
		return g.Name
	}
	return asked
}

// levels say what a token has to allow for a route, where its method does not: GET looks, DELETE is for all that
// ends and removes, and anything else changes.
var levels = map[string]access.Level{
	"stop": access.All, "upgrade": access.All, "prune": access.All, "kill": access.All, "kill-several": access.All, "signal": access.All, "stop-job": access.All,
	"answer-approval": access.All, "answer-approvals": access.All,
	"unsubscribe":  access.Change, // whoever may subscribe may end that
	"answer-order": access.Read,   // whoever is asked may answer
}

// persons are routes for the person alone, who comes by the socket.
var persons = map[string]bool{
	"list-tokens": true, "new-token": true, "revoke-token": true, "open-web": true, "close-web": true, "share": true,
	"list-clients": true, "change-client": true, "renew-environment": true,
}

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

// rights are those that routes need of tokens that name rights, where the method does not say: GET looks, and anything
// else manages.
var rights = map[string]access.Rights{
	"type": access.Type, "exec": access.Type, "batch": access.Type, "add-rules": access.Type, "remove-rules": access.Type,
	"resize": access.Type, "background-job": access.Type, "agent-event": access.Type, "ask-network": access.Type,
	"get-env":         access.Type, // who may type can have it told; who may look sees what was printed
	"wait":            access.Type, // it may type first
	"answer-order":    access.Look,
	"answer-approval": access.Approve, "answer-approvals": access.Approve, "revoke-grant": access.Approve,
}

// Right is what a token that names rights has to name for the route.
func (r *Route) Right() access.Rights {
	if right, ok := rights[r.ID]; ok {
		return right
	}
	if r.Method == http.MethodGet {
		return access.Look
	}
	return access.Manage
}

// scope says what a token for one session makes of a route that is not about one session by its path.
type scope int

const (
	refused  scope = iota
	filtered       // its handler leaves the others out
	narrowed       // its parameter session is set
	sifted         // so it is; if the token is for a label, its handler leaves the others out
	ofItsJob
	ofItsApproval
)

// scopes are the routes that such a token may use besides those about its session.
var scopes = map[string]scope{
	"list-sessions": filtered, "table-sessions": filtered, "events": filtered, "page": filtered, "get-web": filtered,
	"kill-several": filtered,
	"search":       sifted, "list-commands": narrowed, "list-jobs": narrowed, "list-approvals": narrowed,
	"get-job": ofItsJob, "stop-job": ofItsJob, "background-job": ofItsJob, "forget-job": ofItsJob,
	"get-approval": ofItsApproval, "answer-approval": ofItsApproval,
}

// permit says whether a token allows a request of a route; path gives the parameters of its path, query the others.
func (s *Server) permit(ctx context.Context, r *Route, path, query func(string) string) error {
	g := grantOf(ctx)
	noteCall(ctx, r, path)
	if err := permitCopy(ctx, r, path, query); err != nil {
		return err
	}
	switch {
	case persons[r.ID]:
		return s.permitPerson(ctx, r)
	case g == nil:
		return nil
	case g.May != 0:
		if need := r.Right(); g.May&need == 0 {
			more := "a person makes one with `longterm token new NAME --may %s`"
			if strings.HasPrefix(g.Name, member.TokenPrefix) {
				more = "a machine of the fleet that is let in with `longterm fleet invite --may %s` may"
			}
			return api.Errorf(api.CodeDenied, "the token %s may %s, and this needs %s", g.Name, strings.Join(g.May.Names(), ", "), need.Names()[0]).
				WithHint(more, strings.Join((g.May|need).Names(), ","))
		}
	case g.Level < r.Level():
		return api.Errorf(api.CodeDenied, "the token %s is of level %s, and this needs %s", g.Name, g.Level, r.Level()).
			WithHint("a person makes one with `longterm token new NAME --level %s`", r.Level())
	}
	if g.Whole() {
		return nil
	}
	if ref := path("session"); ref != "" {
		_, err := s.visible(ctx, ref)
		return err
	}
	switch scopes[r.ID] {
	case filtered:
		return nil
	case narrowed, sifted:
		if g.Session == "" && query("session") == "" {
			if scopes[r.ID] == sifted {
				return nil
			}
			return api.Errorf(api.CodeDenied, "the token %s is for %s, and this is about all of them", g.Name, g.Of()).
				WithHint("say which session is meant")
		}
		if g.Session == "" {
			_, err := s.visible(ctx, query("session"))
			return err
		}
		return nil
	case ofItsJob:
		if j, err := s.jobs.SessionOf(ctx, path("job")); err == nil && s.shows(ctx, j) {
			return nil
		}
		return api.Errorf(api.CodeNotFound, "no job %q", path("job")).WithHint("`longterm jobs` lists them: the token %s is for %s", g.Name, g.Of())
	case ofItsApproval:
		if a, err := s.gate.Get(ctx, path("approval")); err == nil && s.shows(ctx, a.Session) {
			return nil
		}
		return api.Errorf(api.CodeNotFound, "no approval %q", path("approval")).WithHint("`longterm approvals` lists them: the token %s is for %s", g.Name, g.Of())
	}
	return api.Errorf(api.CodeDenied, "the token %s is for %s, and this is about all of them", g.Name, g.Of()).
		WithHint("a person makes one for all sessions with `longterm token new`")
}

// visible is a session that whoever asks may see. That there are others is not told.
func (s *Server) visible(ctx context.Context, ref string) (*registry.Handle, error) {
	e, err := s.reg.Resolve(ref)
	if g := grantOf(ctx); g != nil && !g.Whole() && (err != nil || !g.Shows(e.ID(), e.Record().Labels)) {
		return nil, api.Errorf(api.CodeNotFound, "no session %q", ref).WithHint("`longterm ls` lists them: the token %s is for %s", g.Name, g.Of())
	}
	return e, err
}

// shows says whether whoever asks may see a session; of none, what is about none.
func (s *Server) shows(ctx context.Context, id string) bool {
	g := grantOf(ctx)
	if g == nil || g.Whole() {
		return true
	}
	e := s.reg.ByID(id)
	if e == nil { // removed: its labels are not known any more
		return g.Label == "" && g.Shows(id, nil)
	}
	return g.Shows(id, e.Record().Labels)
}

// scoped has huma's requests permitted before their handlers see them.
func (s *Server) scoped(hc huma.Context, next func(huma.Context)) {
	r := routeOf[hc.Operation().OperationID]
	if err := s.permit(hc.Context(), r, hc.Param, hc.Query); err != nil {
		_, w := humago.Unwrap(hc)
		writeError(w, err)
		return
	}
	if g := grantOf(hc.Context()); g != nil && g.Session != "" && (scopes[r.ID] == narrowed || scopes[r.ID] == sifted) {
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
