//go:build unix

package httpapi

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/access"
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/audit"
	"github.com/longterm-dev/longterm/session/turns"
	"github.com/longterm-dev/longterm/session/web"
	"github.com/longterm-dev/longterm/store/fleet"
)

// PageDoor is where browsers come in: the page's files, its logins, and the API and the socket for who is logged in.
func (s *Server) PageDoor() http.Handler { return s.page }

func (s *Server) newPageDoor() *web.Door {
	c := web.Config{Log: s.log}
	if s.daemon != nil { // there is none where only the API is described
		c.Tokens = s.daemon.Tokens()
	}
	c.Source = func() access.Source {
		h := s.conf.Get().HTTP
		return access.Source{Hosts: h.Hosts, Origins: h.Origins}
	}
	c.Proxies = func(peer string) bool { return isProxy(s.conf.Get().HTTP.Proxies, peer) }
	c.Serve = func(w http.ResponseWriter, r *http.Request, g access.Grant) {
		a := actor.Actor{UID: os.Getuid()}
		if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil && !access.Loopback(r.RemoteAddr) {
			a.Host = host
		}
		r.Header.Del(actor.TokenHeader) // it is ours to say who asks
		s.serveGranted(w, r.WithContext(actor.With(r.Context(), a)), g, s.inner)
	}
	c.ServeOther = s.serveOther
	c.Made = func(r *http.Request, t access.Token, what string) {
		s.recordToken(actor.With(r.Context(), actor.Actor{UID: os.Getuid(), Token: t.Name}), &t, what)
	}
	return web.New(c)
}

// serveOther passes a request of the page on to another host, of the fleet or over ssh. There the grant of this host counts,
// or all that its user may do, not that of the login: so it is for who may do everything here, and has no token that was
// given to somebody else.
func (s *Server) serveOther(w http.ResponseWriter, r *http.Request, g access.Grant, host string) {
	name, ssh := strings.CutPrefix(host, web.OverSSH)
	switch {
	case ssh && !slices.ContainsFunc(s.daemon.SSH().List(), func(h api.SSHHost) bool { return h.Host == name }):
		writeError(w, api.Errorf(api.CodeNotFound, "%.60q is not among hosts.names", name).WithHint("`longterm config` tells of the configuration"))
		return
	case !ssh && fleet.CheckName(host) != nil:
		writeError(w, api.Errorf(api.CodeNotFound, "%.60q is no host of a fleet", host).WithHint("`longterm fleet hosts` lists them"))
		return
	case !reachesOthers(&g):
		writeError(w, api.Errorf(api.CodeDenied, "the login %s does not reach other hosts: that is for who may do everything here", g.Name).
			WithHint("`longterm web` makes a link for that"))
		return
	}
	onward := s.onward
	if ssh {
		onward = s.overSSH
	}
	s.serveGranted(w, r, g, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { onward.Serve(w, r, name) }))
}

// reachesOthers says that a login is that of the person whose daemon this is.
func reachesOthers(g *access.Grant) bool {
	return g.Page && g.Rights() == access.Everything && g.Whole() && !g.Masked && g.Agent == ""
}

func (s *Server) dialHost(ctx context.Context, host string) (net.Conn, error) {
	return s.daemon.Fleet().Dial(ctx, host)
}

func (s *Server) dialSSH(ctx context.Context, host string) (net.Conn, error) {
	return s.daemon.SSH().Dial(ctx, host)
}

// ofSSH are the errors of what asks a host over ssh.
var ofSSH = []api.Code{api.CodeNotFound, api.CodeInvalid, api.CodeDenied, api.CodeNoSSH, api.CodeHostUnknown, api.CodeHostRefused, api.CodeHostVersion, api.CodeHostBare}

// permitList refuses the list of other hosts, and of what runs on them, to logins and tokens that may not do everything here.
func permitList(ctx context.Context) error {
	g := grantOf(ctx)
	if g == nil || g.Rights() == access.Everything && g.Whole() && !g.Masked && g.Agent == "" {
		return nil
	}
	return noOthers(g)
}

func noOthers(g *access.Grant) error {
	return api.Errorf(api.CodeDenied, "the token %s does not reach other hosts: that is for who may do everything here", g.Name).
		WithHint("`longterm web` makes a link for that")
}

// permitSSH refuses who must not have this daemon go to other hosts, as its user: logins that may not do everything here,
// and agents.
func permitSSH(ctx context.Context) error {
	if g := grantOf(ctx); g != nil {
		if reachesOthers(g) {
			return nil
		}
		return noOthers(g)
	}
	if callerOf(ctx).Held || actor.Of(ctx).IsAgent() {
		return api.Errorf(api.CodeDenied, "other hosts are reached by a person, not by %s", actor.Of(ctx)).
			WithHint("a person does that, outside of sessions with an agent or with rules, and without %s", actor.Env)
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
	Host string `path:"host" doc:"as hosts.names has it"`
}) ([]api.FleetSession, error) {
	if err := permitSSH(ctx); err != nil {
		return nil, err
	}
	if slot := turns.Taken(ctx); slot != nil { // a host may be long in answering
		slot.Give()
	}
	return s.daemon.SSH().Sessions(ctx, in.Host)
}

// Shared serves who reads a shared session through a relay, within what a token of a name allows.
func (s *Server) Shared(token string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g, err := s.daemon.Tokens().Named(token)
		if err != nil {
			writeError(w, notGranted(err))
			return
		}
		if r.URL.Path == "/web/me" {
			web.Me(w, g)
			return
		}
		r.Header.Del(actor.TokenHeader) // it is ours to say who asks
		s.serveGranted(w, r.WithContext(actor.With(r.Context(), actor.Actor{UID: os.Getuid()})), g, s.inner)
	})
}

// isProxy says that a peer is one of the addresses or networks.
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

// loginDays is how long a login of the page counts, and shareHours a link to a session, where nothing else is asked for.
const (
	loginDays  = 30
	shareHours = 24
)

func (s *Server) openWeb(ctx context.Context, in *struct{ Body api.OpenWeb }) (api.WebLink, error) {
	o := in.Body
	t := access.Token{Name: strings.TrimSuffix(web.LoginPrefix, "-"), May: o.May, Label: o.Label, Page: true, Masked: o.Masked}
	if len(t.May) == 0 {
		t.May = access.Everything.Names()
	}
	if _, err := access.ParseRights(t.May); err != nil {
		return api.WebLink{}, api.Errorf(api.CodeInvalid, "%v", err)
	}
	if err := access.CheckLabel(o.Label); o.Label != "" && err != nil {
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
	v.Link, v.Expires = at.URL+"#login="+s.page.Link(t), time.Now().Add(web.LinkTime).Truncate(time.Second)
	s.recordToken(ctx, &t, "a link to log in was made, for "+strings.Join(t.May, ", "))
	return v, nil
}

func (s *Server) closeWeb(ctx context.Context, _ *struct{}) (none, error) {
	if err := s.daemon.CloseWeb(); err != nil {
		return none{}, err
	}
	s.daemon.Audit().Later(audit.Record{Actor: actor.Of(ctx), Kind: audit.Write, Path: "page", Verdict: "allow", Note: "served no longer"})
	return none{true}, nil
}

func (s *Server) postShare(ctx context.Context, in *sessionBody[api.Share]) (api.Shared, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return api.Shared{}, err
	}
	at := s.daemon.Web()
	if in.Body.Relay == "" && (!at.On || at.Error != "") {
		if at, err = s.daemon.OpenWeb(api.OpenWeb{}); err != nil {
			return api.Shared{}, err
		}
	}
	t := access.Token{
		Name: "share-" + strings.ToLower(rand.Text()[:8]), May: access.Look.Names(), Session: e.ID(), Page: true, Masked: true,
		Expires: time.Now().Add(time.Duration(cmp.Or(in.Body.Hours, shareHours)) * time.Hour).UTC().Truncate(time.Second),
	}
	if in.Body.Type {
		t.May = (access.Look | access.Type).Names()
	}
	made, secret, err := s.daemon.Tokens().Make(t)
	switch {
	case errors.Is(err, access.ErrFull):
		return api.Shared{}, api.Errorf(api.CodeLimit, "%v", err).WithHint("revoke some of them with `longterm token revoke`")
	case err != nil:
		return api.Shared{}, api.Errorf(api.CodeStorage, "%v", err)
	}
	link := at.URL + "#token=" + secret
	if in.Body.Relay != "" {
		if link, err = s.daemon.ShareByRelay(ctx, made, in.Body.Relay); err != nil {
			_, lost := s.daemon.Tokens().Revoke(made.Name)
			return api.Shared{}, errors.Join(err, lost)
		}
	}
	s.recordToken(ctx, &made, "a link to the session was made, to "+strings.Join(made.May, " and ")+", until "+made.Expires.Format(time.RFC3339))
	return api.Shared{Token: tokenView(&made), Link: link}, nil
}
