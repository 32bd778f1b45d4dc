//go:build unix

package httpapi

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/audit"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/web"
)

// requireLocalUser rejects callers other than the local user: a token must not create tokens.
func (s *Server) requireLocalUser(ctx context.Context, r *Route) error {
	what := "listing, creating or revoking tokens"
	switch {
	case strings.Contains(r.Path, "/fleet"):
		what = "changing a machine's fleet membership"
	case strings.Contains(r.Path, "/shares"):
		what = "listing or ending share links"
	case strings.Contains(r.Path, "/clients"):
		what = "listing or changing clients"
	case !strings.Contains(r.Path, "/tokens"):
		what = "opening sessions to a browser"
	}
	if err := requireUser(ctx, what); err != nil {
		return err
	}
	a := identity.Of(ctx)
	if !a.IsAgent() && a.Token == "" && !callerOf(ctx).IsRestricted {
		return nil
	}
	return api.Errorf(api.CodeDenied, "%s requires a user, not %s", what, a).
		WithHint("a user does that on this machine, without %s", identity.Env)
}

func tokenView(t *apitoken.Token) api.Token {
	return api.Token{
		Name: t.Name, Level: t.Level, May: t.May, Session: t.Session, Label: t.Label, Agent: t.Agent, Page: t.Page, Masked: t.Masked, Created: t.Created, Expires: t.Expires,
		Expired: !t.Expires.IsZero() && time.Now().After(t.Expires),
	}
}

func (s *Server) listTokens(context.Context, *struct{}) ([]api.Token, error) {
	all, err := s.daemon.Tokens().List()
	if err != nil {
		return nil, api.Errorf(api.CodeStorage, "%v", err)
	}
	list := make([]api.Token, 0, len(all))
	for i := range all {
		list = append(list, tokenView(&all[i]))
	}
	return list, nil
}

func (s *Server) newToken(ctx context.Context, in *struct{ Body api.NewToken }) (api.MadeToken, error) {
	n := in.Body
	for _, label := range []string{n.Name, n.Agent} {
		if err := identity.CheckLabel(label); err != nil {
			return api.MadeToken{}, api.Errorf(api.CodeInvalid, "a token's name is a label as agents have: %v", err).WithHint("give a short name of printable characters")
		}
	}
	t := apitoken.Token{Name: n.Name, Level: n.Level, May: n.May, Label: n.Label, Agent: n.Agent}
	if len(n.May) > 0 && n.Level != "" {
		return api.MadeToken{}, api.Errorf(api.CodeInvalid, "both level and rights given").WithHint("use one of them: a level is a set of rights")
	}
	if err := apitoken.CheckLabel(n.Label); n.Label != "" && err != nil {
		return api.MadeToken{}, api.Errorf(api.CodeInvalid, "%v", err)
	}
	if t.Level == "" {
		t.Level = apitoken.Read.String()
	}
	if n.Session != "" {
		e, err := s.reg.Resolve(n.Session)
		if err != nil {
			return api.MadeToken{}, err
		}
		t.Session = e.ID()
	}
	if n.Days > 0 {
		t.Expires = time.Now().AddDate(0, 0, n.Days).UTC().Truncate(time.Second)
	}
	made, secret, err := s.daemon.Tokens().Make(t)
	switch {
	case errors.Is(err, apitoken.ErrTaken):
		return api.MadeToken{}, api.Errorf(api.CodeNameTaken, "%v: %s", err, n.Name).WithHint("choose another name, or `longterm token revoke %s`", n.Name)
	case errors.Is(err, apitoken.ErrFull):
		return api.MadeToken{}, api.Errorf(api.CodeLimit, "%v", err).WithHint("revoke some of them with `longterm token revoke`")
	case err != nil:
		return api.MadeToken{}, api.Errorf(api.CodeStorage, "%v", err)
	}
	what := "made, level " + made.Level
	if len(made.May) > 0 {
		what = "made, may " + strings.Join(made.May, ", ")
	}
	if !t.Expires.IsZero() {
		what += ", until " + t.Expires.Format(time.RFC3339)
	}
	s.recordToken(ctx, &made, what)
	return api.MadeToken{Token: tokenView(&made), Secret: secret}, nil
}

func (s *Server) revokeToken(ctx context.Context, in *struct {
	Token string `path:"token" maxLength:"64" doc:"its name"`
}) (noContent, error) {
	return s.revoke(ctx, in.Token)
}

func (s *Server) revoke(ctx context.Context, name string) (noContent, error) {
	was, err := s.daemon.Tokens().Revoke(name)
	var notKept *apitoken.NotKeptError
	switch {
	case errors.As(err, &notKept): // revoked, but not stored: the error takes precedence
	case err != nil:
		return noContent{}, api.Errorf(api.CodeStorage, "%v", err)
	case !was:
		return noContent{}, api.Errorf(api.CodeNotFound, "no token %q", name).WithHint("`longterm token ls` lists them")
	}
	s.daemon.TokensRemoved()
	s.gate.RevokeToken(name)
	s.recordToken(ctx, &apitoken.Token{Name: name}, "revoked")
	if notKept != nil {
		return noContent{}, api.Errorf(api.CodeStorage, "the token %s is revoked: %v", name, notKept).
			WithHint("make room before the daemon ends; what is written next to the tokens has it, `longterm token new` for one")
	}
	return noContent{true}, nil
}

// recordToken adds an action on a token to the audit log.
func (s *Server) recordToken(ctx context.Context, t *apitoken.Token, what string) {
	s.daemon.Audit().AppendLater(audit.Record{
		Actor: identity.Of(ctx), Kind: audit.Write, Session: t.Session, Path: "token " + t.Name, Verdict: "allow", Note: what,
	})
}

const (
	sharePrefix = "share-" // of the names of share links' tokens
	shareHours  = 24       // default lifetime of a share link
)

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
	t := apitoken.Token{
		Name: sharePrefix + strings.ToLower(rand.Text()[:8]), May: apitoken.Look.Names(), Session: e.ID(), Page: true, Masked: true,
		Expires: time.Now().Add(time.Duration(cmp.Or(in.Body.Hours, shareHours)) * time.Hour).UTC().Truncate(time.Second),
	}
	if g := grantOf(ctx); g != nil && !g.Expires.IsZero() && g.Expires.Before(t.Expires) {
		t.Expires = g.Expires // a link of a login does not outlive it
	}
	if in.Body.Type {
		t.May = (apitoken.Look | apitoken.Type).Names()
	}
	made, secret, err := s.daemon.Tokens().Make(t)
	switch {
	case errors.Is(err, apitoken.ErrFull):
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
	v := api.Shared{Token: tokenView(&made), Link: link, Local: in.Body.Relay == "" && at.Local}
	if in.Body.QR {
		v.QR, v.QRSize = web.QRPath(link)
	}
	return v, nil
}

// listShares lists the share links of a session that count.
func (s *Server) listShares(ctx context.Context, in *struct {
	Session string `path:"session"`
}) ([]api.Token, error) {
	return s.sharesOf(ctx, in.Session)
}

func (s *Server) sharesOf(ctx context.Context, session string) ([]api.Token, error) {
	e, err := s.reg.Resolve(session)
	if err != nil {
		return nil, err
	}
	all, err := s.listTokens(ctx, nil)
	return slices.DeleteFunc(all, func(t api.Token) bool {
		return t.Expired || !t.Page || t.Session != e.ID() || !strings.HasPrefix(t.Name, sharePrefix)
	}), err
}

func (s *Server) endShare(ctx context.Context, in *struct {
	Session string `path:"session"`
	Token   string `path:"token" maxLength:"64" doc:"name of the link's token"`
}) (noContent, error) {
	all, err := s.sharesOf(ctx, in.Session)
	if err != nil {
		return noContent{}, err
	}
	if !slices.ContainsFunc(all, func(t api.Token) bool { return t.Name == in.Token }) {
		return noContent{}, api.Errorf(api.CodeNotFound, "no share link %q of this session (ended or expired)", in.Token).
			WithHint("`longterm token ls` lists all links")
	}
	return s.revoke(ctx, in.Token)
}
