//go:build unix

package httpapi

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/identity"
)

func (s *Server) getStatus(ctx context.Context, _ *struct{}) (api.Status, error) {
	st := s.daemon.Status(ctx)
	st.Caller = callerOf(ctx)
	return st, nil
}

func (s *Server) postStop(ctx context.Context, in *struct{ Body api.Stop }) (noContent, error) {
	if err := requireUser(ctx, "ending the daemon"); err != nil {
		return noContent{}, err
	}
	if in.Body.KillSessions {
		if err := s.admitStop(ctx); err != nil {
			return noContent{}, err
		}
	}
	s.log.Info("stop requested", "by", peerString(ctx))
	s.daemon.Stop(in.Body)
	return noContent{true}, nil
}

// admitStop rejects an agent that would end all sessions while sessions of others run.
func (s *Server) admitStop(ctx context.Context) error {
	by := identity.Of(ctx)
	if !by.IsAgent() {
		return nil
	}
	for _, e := range s.reg.All() {
		if rec := e.Record(); rec.Agent != by.Agent && e.Session.Status().State == session.Running {
			return api.Errorf(api.CodeDenied, "ending all sessions is not for %s: %s is not its own", by, rec.Name).
				WithHint("end your own with `longterm kill`, or leave the sessions alone: `longterm daemon stop`")
		}
	}
	return nil
}

func (s *Server) postUpgrade(ctx context.Context, in *struct{ Body api.Upgrade }) (noContent, error) {
	if err := requireUser(ctx, "replacing the daemon"); err != nil {
		return noContent{}, err
	}
	if !filepath.IsAbs(in.Body.Path) {
		return noContent{}, api.Errorf(api.CodeInvalid, "path %s is not absolute", in.Body.Path)
	}
	s.log.Info("upgrade requested", "by", peerString(ctx), "to", in.Body.Path)
	var refused *api.Error
	if err := s.daemon.Upgrade(ctx, in.Body.Path); errors.As(err, &refused) {
		return noContent{}, refused
	} else if err != nil {
		return noContent{}, api.Errorf(api.CodeUnavailable, "%v", err).WithHint("nothing was changed")
	}
	return noContent{true}, nil
}

func (s *Server) postPrune(ctx context.Context, in *struct{ Body api.Prune }) (api.Pruned, error) {
	b := in.Body
	return s.reg.Maintenance.Prune(ctx, time.Now(), registry.Budget{
		SessionBytes: b.SessionBytes, SessionAge: time.Duration(b.SessionAgeMS) * time.Millisecond,
		TotalBytes: b.TotalBytes, Dead: b.Dead, DeadAge: time.Duration(b.DeadAgeMS) * time.Millisecond,
	})
}
