//go:build unix

package httpapi

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/audit"
	"github.com/longterm-dev/longterm/session/daemon/authorize"
	"github.com/longterm-dev/longterm/session/daemon/pagesocket"
	"github.com/longterm-dev/longterm/session/daemon/push"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/fairsched"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/redact"
	"github.com/longterm-dev/longterm/session/web"
	"github.com/longterm-dev/longterm/store/fleet"
)

// WebHandler returns the handler for browsers: the page's files, its logins, and the API and socket for logged-in
// users.
func (s *Server) WebHandler() http.Handler { return s.page }

func (s *Server) newWebServer() *web.Server {
	c := web.Config{Log: s.log}
	if s.daemon != nil { // nil if only the API is described
		c.Tokens = s.daemon.Tokens()
	}
	c.Source = func() apitoken.Source {
		h := s.conf.Get().HTTP
		return apitoken.Source{Hosts: h.Hosts, Origins: h.Origins}
	}
	c.IsProxy = func(peer string) bool { return isProxy(s.conf.Get().HTTP.Proxies, peer) }
	c.Serve = func(w http.ResponseWriter, r *http.Request, g apitoken.Grant) {
		a := identity.Actor{UID: os.Getuid()}
		if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil && !apitoken.Loopback(r.RemoteAddr) {
			a.Host = host
		}
		r.Header.Del(identity.TokenHeader) // only the daemon sets the caller
		s.serveGranted(w, r.WithContext(identity.WithActor(r.Context(), a)), g, s.inner)
	}
	c.ServeHost = s.serveOther
	c.OnLogin = func(r *http.Request, t apitoken.Token, what string) {
		s.recordToken(identity.WithActor(r.Context(), identity.Actor{UID: os.Getuid(), Token: t.Name}), &t, what)
		s.daemon.TokensRemoved() // if it was a logout
	}
	c.Redeem = func(ctx context.Context, text string, logins []apitoken.Grant) (apitoken.Grant, string, api.InboxAnswer, error) {
		a, g, err := s.daemon.Push().Redeem(ctx, text, logins)
		return g, a.Item, api.InboxAnswer{Answer: a.Answer}, toAPI(err)
	}
	return web.New(c)
}

// serveOther forwards a request of the page to another host, of the fleet or over ssh. There this host's rights count,
// or the user's, not the login's. So it requires a login with all rights here that is not a token for others.
func (s *Server) serveOther(w http.ResponseWriter, r *http.Request, g apitoken.Grant, host string) {
	name, ssh := strings.CutPrefix(host, web.SSHPrefix)
	switch {
	case ssh && !slices.ContainsFunc(s.daemon.SSH().List(), func(h api.SSHHost) bool { return h.Host == name }):
		writeError(w, api.Errorf(api.CodeNotFound, "%.60q is not among hosts.names", name).WithHint("see `longterm config`"))
		return
	case !ssh && fleet.CheckName(host) != nil:
		writeError(w, api.Errorf(api.CodeNotFound, "%.60q is no host of a fleet", host).WithHint("`longterm fleet hosts` lists them"))
		return
	case !reachesOthers(&g):
		writeError(w, api.Errorf(api.CodeDenied, "login %s may not access other hosts (requires all rights)", g.Name).
			WithHint("`longterm web` creates such a login link"))
		return
	}
	onward := s.toFleet
	if ssh {
		onward = s.toSSH
	}
	s.serveGranted(w, r, g, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { onward.Serve(w, r, name) }))
}

// reachesOthers reports whether a login has all rights of the daemon's user.
func reachesOthers(g *apitoken.Grant) bool {
	return g.Page && g.Rights() == apitoken.Everything && g.Whole() && !g.Masked && g.Agent == ""
}

func (s *Server) dialHost(ctx context.Context, host string) (net.Conn, error) {
	return s.daemon.Fleet().Dial(ctx, host)
}

func (s *Server) dialSSH(ctx context.Context, host string) (net.Conn, error) {
	return s.daemon.SSH().Dial(ctx, host)
}

// sshErrors are the errors of routes to ssh hosts.
var sshErrors = []api.Code{api.CodeNotFound, api.CodeInvalid, api.CodeDenied, api.CodeNoSSH, api.CodeHostUnknown, api.CodeHostRefused, api.CodeHostVersion, api.CodeHostBare}

// permitList rejects listing other hosts and their sessions for logins and tokens without all rights.
func permitList(ctx context.Context) error {
	g := grantOf(ctx)
	if g == nil || g.Rights() == apitoken.Everything && g.Whole() && !g.Masked && g.Agent == "" {
		return nil
	}
	return otherHostsError(g)
}

// otherHostsError returns the error for a login without the rights to use other hosts.
func otherHostsError(g *apitoken.Grant) error {
	return api.Errorf(api.CodeDenied, "token %s may not access other hosts (requires all rights)", g.Name).
		WithHint("`longterm web` creates such a login link")
}

// permitSSH rejects connections to other hosts as the daemon's user for agents and for logins without all rights.
func permitSSH(ctx context.Context) error {
	if g := grantOf(ctx); g != nil {
		if reachesOthers(g) {
			return nil
		}
		return otherHostsError(g)
	}
	if callerOf(ctx).IsRestricted || identity.Of(ctx).IsAgent() {
		return api.Errorf(api.CodeDenied, "access to other hosts denied for %s", identity.Of(ctx)).
			WithHint("use it as a user, outside of sessions with an agent or a policy, without %s", identity.Env)
	}
	return nil
}

func (s *Server) listSSHHosts(ctx context.Context, _ *struct{}) ([]api.SSHHost, error) {
	if permitSSH(ctx) != nil { // it reaches none of them
		return []api.SSHHost{}, nil
	}
	return s.daemon.SSH().List(), nil
}

func (s *Server) listSSHSessions(ctx context.Context, in *struct {
	Host string `path:"host" doc:"name from hosts.names"`
}) ([]api.FleetSession, error) {
	if err := permitSSH(ctx); err != nil {
		return nil, err
	}
	if slot := fairsched.SlotOf(ctx); slot != nil { // a host may be long in answering
		slot.Give()
	}
	return s.daemon.SSH().Sessions(ctx, in.Host)
}

// ShareHandler serves a reader of a shared session through a relay, within the rights of a token.
func (s *Server) ShareHandler(token string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g, err := s.daemon.Tokens().GrantByName(token)
		if err != nil {
			writeError(w, tokenError(err))
			return
		}
		if r.URL.Path == "/web/me" {
			web.WriteLoginInfo(w, g)
			return
		}
		r.Header.Del(identity.TokenHeader) // only the daemon sets the caller
		s.serveGranted(w, r.WithContext(identity.WithActor(r.Context(), identity.Actor{UID: os.Getuid()})), g, s.inner)
	})
}

// isProxy reports whether a peer is in a list of addresses and networks.
func isProxy(proxies []string, peer string) bool {
	addr, err := netip.ParseAddr(peer)
	if err != nil {
		return false
	}
	addr = addr.Unmap()
	for _, p := range proxies {
		if one, err := netip.ParseAddr(p); err == nil && one.Unmap() == addr {
			return true
		}
		if network, err := netip.ParsePrefix(p); err == nil && network.Contains(addr) {
			return true
		}
	}
	return false
}

func (s *Server) getWeb(context.Context, *struct{}) (api.Web, error) { return s.daemon.Web(), nil }

// loginDays is the default lifetime of a login.
const loginDays = 30

func (s *Server) openWeb(ctx context.Context, in *struct{ Body api.OpenWeb }) (api.WebLink, error) {
	o := in.Body
	t := apitoken.Token{Name: strings.TrimSuffix(web.LoginPrefix, "-"), May: o.May, Label: o.Label, Page: true, Masked: o.Masked}
	if len(t.May) == 0 {
		t.May = apitoken.Everything.Names()
	}
	if _, err := apitoken.ParseRights(t.May); err != nil {
		return api.WebLink{}, api.Errorf(api.CodeInvalid, "%v", err)
	}
	if err := apitoken.CheckLabel(o.Label); o.Label != "" && err != nil {
		return api.WebLink{}, api.Errorf(api.CodeInvalid, "%v", err)
	}
	if o.Session != "" {
		e, err := s.reg.Resolve(o.Session)
		if err != nil {
			return api.WebLink{}, err
		}
		t.Session = e.ID()
	}
	at, err := s.daemon.OpenWeb(o)
	if err != nil {
		return api.WebLink{}, err
	}
	v := api.WebLink{Web: at}
	if o.NoLink {
		return v, nil
	}
	t.Expires = time.Now().AddDate(0, 0, cmp.Or(o.Days, loginDays)).UTC().Truncate(time.Second)
	v.Link, v.Expires = at.URL+"#login="+s.page.Link(t), time.Now().Add(web.LinkLifetime).Truncate(time.Second)
	s.recordToken(ctx, &t, "a link to log in was made, for "+strings.Join(t.May, ", "))
	return v, nil
}

func (s *Server) closeWeb(ctx context.Context, _ *struct{}) (noContent, error) {
	if err := s.daemon.CloseWeb(); err != nil {
		return noContent{}, err
	}
	s.daemon.Audit().AppendLater(audit.Record{Actor: identity.Of(ctx), Kind: audit.Write, Path: "page", Verdict: "allow", Note: "served no longer"})
	return noContent{true}, nil
}

func (s *Server) servePage(w http.ResponseWriter, r *http.Request) {
	if err := s.pages.Serve(w, r); err != nil {
		writeError(w, err)
	}
}

// pageHost implements pagesocket.Host.
type pageHost struct{ s *Server }

var _ pagesocket.Host = pageHost{}

func (h pageHost) Grant(ctx context.Context) apitoken.Grant {
	if g := grantOf(ctx); g != nil {
		return *g
	}
	return apitoken.Grant{Level: apitoken.All}
}

func (h pageHost) Sessions(ctx context.Context) ([]api.Session, error) {
	return h.s.listSessions(ctx, &listQuery{})
}

func (h pageHost) Session(ctx context.Context, name string) (*registry.Handle, error) {
	return h.s.visible(ctx, name)
}

func (h pageHost) Approvals(ctx context.Context) ([]api.Approval, error) {
	asked, err := h.s.gate.List(ctx, authorize.Query{Limit: 1000})
	mine := []api.Approval{}
	for i := range asked {
		if h.s.shows(ctx, asked[i].Session) {
			mine = append(mine, asked[i])
		}
	}
	return mine, err
}

func (h pageHost) ShowsEvent(ctx context.Context, e *api.Event) bool { return h.s.showsEvent(ctx, e) }
func (h pageHost) Redactor(ctx context.Context) *redact.Set          { return h.s.redactorFor(ctx) }

func (h pageHost) Type(ctx context.Context, e *registry.Handle, t session.TypeRequest, asked func()) error {
	_, err := h.s.typeNotify(ctx, e, t, "", asked)
	return err
}

func (h pageHost) Offset(ctx context.Context, e *registry.Handle, moment string) (uint64, error) {
	return offsetOf(ctx, e, moment)
}

func (h pageHost) Error(err error) *api.Error {
	var e *api.Error
	if !errors.As(toAPI(err), &e) {
		e = api.Errorf(api.CodeInternal, "%v", err)
	}
	return e
}

// pushFor returns the subscriptions to notifications, and the caller's login, if any. Agents get none: they would send
// elsewhere what users see.
func (s *Server) pushFor(ctx context.Context) (*push.Set, *apitoken.Grant, error) {
	if err := authorize.CheckUser(identity.Of(ctx)); err != nil || callerOf(ctx).IsRestricted {
		return nil, nil, api.Errorf(api.CodeDenied, "notifications denied for %s: they are for users", identity.Of(ctx)).
			WithHint("a user subscribes in the page's settings (`longterm web`), with a login that may approve")
	}
	return s.daemon.Push(), grantOf(ctx), nil
}

func (s *Server) listPush(ctx context.Context, _ *struct{}) (v api.Push, err error) {
	set, g, err := s.pushFor(ctx)
	if err != nil {
		return v, err
	}
	if v.Key, err = set.Key(); err == nil {
		v.Subscriptions, err = set.Subscriptions(g)
	}
	return v, err
}

func (s *Server) postPush(ctx context.Context, in *struct{ Body api.SubscribePush }) (api.PushSubscription, error) {
	set, g, err := s.pushFor(ctx)
	if err != nil {
		return api.PushSubscription{}, err
	}
	v, err := set.Subscribe(g, in.Body)
	if err == nil {
		s.recordPush(ctx, v.ID, "subscribed a browser at "+v.Service)
	}
	return v, err
}

func (s *Server) deletePush(ctx context.Context, in *struct {
	Subscription string `path:"subscription" maxLength:"40" doc:"its id"`
}) (noContent, error) {
	set, g, err := s.pushFor(ctx)
	if err == nil {
		err = set.Unsubscribe(g, in.Subscription)
	}
	if err != nil {
		return noContent{}, err
	}
	s.recordPush(ctx, in.Subscription, "removed")
	return noContent{true}, nil
}

// recordPush adds a change of a subscription to the audit log.
func (s *Server) recordPush(ctx context.Context, id, what string) {
	s.daemon.Audit().AppendLater(audit.Record{Actor: identity.Of(ctx), Kind: audit.Write, Path: "notifications " + id, Verdict: "allow", Note: what})
}

// InboxOf returns the entries of the inbox that a login may see, as it may see them.
func (s *Server) InboxOf(ctx context.Context, g apitoken.Grant, all []api.InboxItem) []api.InboxItem {
	a := identity.Actor{UID: os.Getuid(), Token: g.Name}
	if g.Name != "" {
		ctx = context.WithValue(ctx, grantKey{}, &g)
		a.Agent = permittedLabel(&g, "")
	}
	ctx = identity.WithActor(ctx, a)
	list := []api.InboxItem{}
	for i := range all {
		if s.showsItem(ctx, &all[i]) {
			list = append(list, all[i])
		}
	}
	s.prepareAnswer(ctx, &list)
	return list
}
