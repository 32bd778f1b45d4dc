//go:build unix

package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/access"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/gateway"
	"github.com/longterm-dev/longterm/session/daemon/pagesocket"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/secrets"
)

func (s *Server) servePage(w http.ResponseWriter, r *http.Request) {
	if err := s.pages.Serve(w, r); err != nil {
		writeError(w, err)
	}
}

// pageHost is what the page's socket asks of us.
type pageHost struct{ s *Server }

var _ pagesocket.Host = pageHost{}

func (h pageHost) Grant(ctx context.Context) access.Grant {
	if g := grantOf(ctx); g != nil {
		return *g
	}
	return access.Grant{Level: access.All}
}

func (h pageHost) Sessions(ctx context.Context) ([]api.Session, error) {
	return h.s.listSessions(ctx, &listQuery{})
}

func (h pageHost) Session(ctx context.Context, name string) (*registry.Handle, error) {
	return h.s.visible(ctx, name)
}

func (h pageHost) Approvals(ctx context.Context) ([]api.Approval, error) {
	asked, err := h.s.gate.List(ctx, gateway.Query{Limit: 1000})
	mine := []api.Approval{}
	for i := range asked {
		if h.s.shows(ctx, asked[i].Session) {
			mine = append(mine, asked[i])
		}
	}
	return mine, err
}

func (h pageHost) ShowsEvent(ctx context.Context, e *api.Event) bool { return h.s.showsEvent(ctx, e) }
func (h pageHost) Veil(ctx context.Context) *secrets.Set             { return h.s.veil(ctx) }

func (h pageHost) Type(ctx context.Context, e *registry.Handle, t session.Typing, asked func()) error {
	_, err := h.s.typeAsked(ctx, e, t, "", asked)
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
