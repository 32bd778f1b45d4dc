//go:build unix

package httpapi

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"

	"github.com/longterm-dev/longterm/session/access"
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
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
	case asked == "" && g.Level < access.All:
		return g.Name
	}
	return asked
}
