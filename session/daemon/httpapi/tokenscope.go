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

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/daemon/fleetmember"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/identity"
)

// RequireToken guards a handler for TCP clients. It rejects cross-origin requests and foreign host names before reading
// them, then requests without a valid token. Accepted requests act as the daemon's user, with the token's name and
// rights.
func (s *Server) RequireToken(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		source := apitoken.Source{Hosts: s.conf.Get().HTTP.Hosts, Origins: s.conf.Get().HTTP.Origins}
		if err := source.Check(r); err != nil {
			writeError(w, sourceError(err))
			return
		}
		secret, ok := apitoken.BearerOf(r)
		if !ok {
			w.Header().Set("WWW-Authenticate", `Bearer realm="longterm"`)
			writeError(w, api.Errorf(api.CodeUnauthorized, "token missing").WithHint("%s", api.CodeUnauthorized.Hint()))
			return
		}
		g, err := s.daemon.Tokens().Verify(secret)
		if err != nil {
			s.log.Warn("refused a token", "from", r.RemoteAddr, "err", err)
			w.Header().Set("WWW-Authenticate", `Bearer realm="longterm", error="invalid_token"`)
			writeError(w, tokenError(err))
			return
		}
		a := identity.Actor{UID: os.Getuid()}
		if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil && !apitoken.Loopback(r.RemoteAddr) {
			a.Host = host
		}
		s.serveGranted(w, r.WithContext(identity.WithActor(r.Context(), a)), g, next)
	})
}

// serveGranted serves a request within what its token allows, for as long as that counts.
func (s *Server) serveGranted(w http.ResponseWriter, r *http.Request, g apitoken.Grant, next http.Handler) {
	ctx, done := s.daemon.Tokens().During(context.WithValue(r.Context(), grantKey{}, &g), g)
	defer done()
	a := identity.Of(ctx)
	a.Token = g.Name
	next.ServeHTTP(w, r.WithContext(identity.WithActor(ctx, a)))
}

// restrictToken limits requests on the local socket that name a token to its rights. They come from our own processes,
// such as the MCP server. Naming a token only removes rights.
func (s *Server) restrictToken(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.Header.Get(identity.TokenHeader)
		if name == "" || grantOf(r.Context()) != nil {
			next.ServeHTTP(w, r)
			return
		}
		g, err := s.daemon.Tokens().GrantByName(name)
		if err != nil {
			writeError(w, tokenError(err))
			return
		}
		s.serveGranted(w, r, g, next)
	})
}

type grantKey struct{}

// grantOf returns the grant of the request's token; nil means no restriction.
func grantOf(ctx context.Context) *apitoken.Grant {
	g, _ := ctx.Value(grantKey{}).(*apitoken.Grant)
	return g
}

// sourceError returns the API error for a request from a foreign origin or host name.
func sourceError(err error) error {
	e := api.Errorf(api.CodeDenied, "%v", err)
	var of *apitoken.SourceError
	if errors.As(err, &of) && of.What == "origin" {
		return e.WithHint("if the page is yours, add its origin to http.origins (`longterm config set`)")
	}
	return e.WithHint("if the name is yours, add it to http.hosts (`longterm config set`)")
}

// tokenError returns the API error for a request whose token does not count.
func tokenError(err error) error {
	if !errors.Is(err, apitoken.ErrNotFound) && !errors.Is(err, apitoken.ErrExpired) {
		return api.Errorf(api.CodeStorage, "%v", err)
	}
	return api.Errorf(api.CodeUnauthorized, "%v", err).WithHint("create one with `longterm token new`")
}

// permittedLabel returns the agent label of a request: the requested one, as far as the token permits. The holder of a
// restricted token counts as an agent.
func permittedLabel(g *apitoken.Grant, asked string) string {
	switch {
	case g == nil:
		return asked
	case g.Agent != "":
		return g.Agent
	case asked == "" && g.Page && g.May&apitoken.Approve != 0: // a holder that may approve is a user
	case asked == "" && g.Rights() != apitoken.Everything:
		return g.Name
	}
	return asked
}

// routeLevels are the token levels of routes, if the method does not imply them: GET reads, DELETE ends and removes,
// others change.
var routeLevels = map[string]apitoken.Level{
	"stop": apitoken.All, "upgrade": apitoken.All, "prune": apitoken.All, "kill": apitoken.All, "kill-several": apitoken.All, "signal": apitoken.All, "stop-job": apitoken.All,
	"answer-approval": apitoken.All, "answer-approvals": apitoken.All, "answer-inbox": apitoken.All, "commit-draft": apitoken.All, "discard-draft": apitoken.All,
	"subscribe-push": apitoken.All,
	"unsubscribe":    apitoken.Change, // required as for subscribing
	"get-file":       apitoken.Change, // required as for putting one
	"answer-order":   apitoken.Read,   // viewers that receive the order may answer it
}

// localOnly lists the routes that only the local user may use, through the socket.
var localOnly = map[string]bool{
	"list-tokens": true, "new-token": true, "revoke-token": true, "open-web": true, "close-web": true, "share": true,
	"list-clients": true, "change-client": true, "renew-environment": true, "list-shares": true, "end-share": true,
}

// pageToo lists the routes of localOnly that logins of the page with all rights may use: a share link grants less than
// such a login, and no longer.
var pageToo = map[string]bool{"share": true, "list-shares": true, "end-share": true}

// Level returns the token level that the route requires.
func (r *Route) Level() apitoken.Level {
	if l, ok := routeLevels[r.ID]; ok {
		return l
	}
	switch r.Method {
	case http.MethodGet:
		return apitoken.Read
	case http.MethodDelete:
		return apitoken.All
	}
	return apitoken.Change
}

// routeRights are the rights that routes require of tokens, if the method does not imply them: GET views, others
// manage.
var routeRights = map[string]apitoken.Rights{
	"type": apitoken.Type, "exec": apitoken.Type, "batch": apitoken.Type, "add-rules": apitoken.Type, "remove-rules": apitoken.Type,
	"resize": apitoken.Type, "background-job": apitoken.Type, "agent-event": apitoken.Type, "ask-network": apitoken.Type,
	"put-file": apitoken.Type, "get-file": apitoken.Type, // a holder that may type can have programs read and write them
	"get-env":         apitoken.Type, // a holder that may type can print it; one that may look sees what was printed
	"wait":            apitoken.Type, // it may type first
	"answer-order":    apitoken.Look,
	"answer-approval": apitoken.Approve, "answer-approvals": apitoken.Approve, "answer-inbox": apitoken.Approve, "revoke-grant": apitoken.Approve,
	"commit-draft": apitoken.Approve, "subscribe-push": apitoken.Approve, "unsubscribe-push": apitoken.Approve, // others see no inbox
}

// Right returns the right that the route requires of a token.
func (r *Route) Right() apitoken.Rights {
	if right, ok := routeRights[r.ID]; ok {
		return right
	}
	if r.Method == http.MethodGet {
		return apitoken.Look
	}
	return apitoken.Manage
}

// scope is the effect of a token for one session on a route whose path names no session.
type scope int

const (
	// the token does not permit the route
	refused            scope = iota
	filtered                 // the handler omits other sessions
	narrowed                 // the parameter session is set to the token's session
	narrowedOrFiltered       // narrowed; for a token of a label, filtered
	// permitted if the job belongs to the token's session
	jobOfSession
	// permitted if the approval belongs to the token's session
	approvalOfSession
)

// routeScopes are the routes that a token for one session may use in addition to those of its session.
var routeScopes = map[string]scope{
	"list-sessions": filtered, "table-sessions": filtered, "events": filtered, "page": filtered, "get-web": filtered,
	"kill-several": filtered, "list-inbox": filtered, "answer-inbox": filtered, "done-inbox": filtered, "snooze-inbox": filtered,
	"list-push": filtered, "subscribe-push": filtered, "unsubscribe-push": filtered,
	"search": narrowedOrFiltered, "list-commands": narrowed, "list-jobs": narrowed, "list-approvals": narrowed,
	"get-job": jobOfSession, "stop-job": jobOfSession, "background-job": jobOfSession, "forget-job": jobOfSession,
	"get-approval": approvalOfSession, "answer-approval": approvalOfSession,
}

// permitGrant checks whether a token has the right or level that a route requires. Without a token it has.
func permitGrant(g *apitoken.Grant, r *Route) error {
	switch {
	case g == nil:
		return nil
	case g.May != 0:
		if need := r.Right(); g.May&need == 0 {
			more := "a user makes one with `longterm token new NAME --may %s`"
			if strings.HasPrefix(g.Name, fleetmember.TokenPrefix) {
				more = "a machine of the fleet that is let in with `longterm fleet invite --may %s` may"
			}
			return api.Errorf(api.CodeDenied, "the token %s may %s, and this needs %s", g.Name, strings.Join(g.May.Names(), ", "), need.Names()[0]).
				WithHint(more, strings.Join((g.May|need).Names(), ","))
		}
	case g.Level < r.Level():
		return api.Errorf(api.CodeDenied, "the token %s is of level %s, and this needs %s", g.Name, g.Level, r.Level()).
			WithHint("a user makes one with `longterm token new NAME --level %s`", r.Level())
	}
	return nil
}

// permit checks whether a token allows a request. path returns the path's parameters, query the others.
func (s *Server) permit(ctx context.Context, r *Route, path, query func(string) string) error {
	g := grantOf(ctx)
	noteCall(ctx, r, path)
	if err := permitReplica(ctx, r, path, query); err != nil {
		return err
	}
	if localOnly[r.ID] {
		if a := identity.Of(ctx); pageToo[r.ID] && g != nil && reachesOthers(g) && !a.IsAgent() && !callerOf(ctx).IsRestricted {
			return nil
		}
		return s.requireLocalUser(ctx, r)
	}
	if err := permitGrant(g, r); err != nil || g == nil {
		return err
	}
	if g.Whole() {
		return nil
	}
	if ref := path("session"); ref != "" {
		_, err := s.visible(ctx, ref)
		return err
	}
	switch routeScopes[r.ID] {
	case filtered:
		return nil
	case narrowed, narrowedOrFiltered:
		if g.Session == "" && query("session") == "" {
			if routeScopes[r.ID] == narrowedOrFiltered {
				return nil
			}
			return api.Errorf(api.CodeDenied, "the token %s is for %s, and this is about all of them", g.Name, g.Of()).
				WithHint("name the session")
		}
		if g.Session == "" {
			_, err := s.visible(ctx, query("session"))
			return err
		}
		return nil
	case jobOfSession:
		if j, err := s.jobs.SessionOf(ctx, path("job")); err == nil && s.shows(ctx, j) {
			return nil
		}
		return api.Errorf(api.CodeNotFound, "no job %q", path("job")).WithHint("`longterm jobs` lists them: the token %s is for %s", g.Name, g.Of())
	case approvalOfSession:
		if a, err := s.gate.Get(ctx, path("approval")); err == nil && s.shows(ctx, a.Session) {
			return nil
		}
		return api.Errorf(api.CodeNotFound, "no approval %q", path("approval")).WithHint("`longterm approvals` lists them: the token %s is for %s", g.Name, g.Of())
	}
	return api.Errorf(api.CodeDenied, "the token %s is for %s, and this is about all of them", g.Name, g.Of()).
		WithHint("a user makes one for all sessions with `longterm token new`")
}

// visible returns a session that the caller may see. For others it returns the same error as for missing ones.
func (s *Server) visible(ctx context.Context, ref string) (*registry.Handle, error) {
	e, err := s.reg.Resolve(ref)
	if g := grantOf(ctx); g != nil && !g.Whole() && (err != nil || !g.Shows(e.ID(), e.Record().Labels)) {
		return nil, api.Errorf(api.CodeNotFound, "no session %q", ref).WithHint("`longterm ls` lists them: the token %s is for %s", g.Name, g.Of())
	}
	return e, err
}

// shows reports whether the caller may see a session, or, without id, what concerns no session.
func (s *Server) shows(ctx context.Context, id string) bool {
	g := grantOf(ctx)
	if g == nil || g.Whole() {
		return true
	}
	e := s.reg.ByID(id)
	if e == nil { // removed: its labels are unknown
		return g.Label == "" && g.Shows(id, nil)
	}
	return g.Shows(id, e.Record().Labels)
}

// checkPermit permits huma's requests before their handlers run.
func (s *Server) checkPermit(hc huma.Context, next func(huma.Context)) {
	r := routeOf[hc.Operation().OperationID]
	if err := s.permit(hc.Context(), r, hc.Param, hc.Query); err != nil {
		_, w := humago.Unwrap(hc)
		writeError(w, err)
		return
	}
	if g := grantOf(hc.Context()); g != nil && g.Session != "" && (routeScopes[r.ID] == narrowed || routeScopes[r.ID] == narrowedOrFiltered) {
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
