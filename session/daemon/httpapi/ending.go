//go:build unix

package httpapi

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/gateway"
	"github.com/longterm-dev/longterm/session/daemon/registry"
)

// mayEnd asks a person before an agent ends or forgets sessions that it has not started itself, and waits for the answer.
// Several are one asking.
func (s *Server) mayEnd(ctx context.Context, what string, list ...*registry.Handle) error {
	by := actor.Of(ctx)
	if !by.IsAgent() {
		return nil
	}
	var others []*registry.Handle
	var names []string
	for _, e := range list {
		if rec := e.Record(); rec.Agent != by.Agent {
			others, names = append(others, e), append(names, rec.Name)
		}
	}
	if len(others) == 0 {
		return nil
	}
	rec := others[0].Record()
	_, err := s.admit(ctx, gateway.Ask{
		ID: uuid.NewString(), Kind: gateway.Stop, Actor: by, Session: rec.ID, Name: rec.Name, Labels: rec.Labels,
		Path: what + " " + strings.Join(names, ", "),
	}, "")
	return err
}

// endless are signals that end or stop nothing by themselves.
var endless = map[string]bool{"INT": true, "2": true, "CONT": true, "18": true, "WINCH": true, "28": true, "URG": true, "CHLD": true, "0": true}

// maySignal asks before an agent sends a signal that ends or stops to a session that is not its own. Ctrl-C it may type, too.
func (s *Server) maySignal(ctx context.Context, e *registry.Handle, signal *api.Signal) error {
	name := strings.TrimPrefix(strings.ToUpper(signal.Signal), "SIG")
	if endless[name] {
		return nil
	}
	return s.mayEnd(ctx, "signal "+name+" to session", e)
}
