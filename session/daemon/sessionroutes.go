//go:build unix

package daemon

import (
	"context"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/vterm"
)

func (s *server) listSessions(_ context.Context, in *struct {
	Label []string `query:"label" doc:"only sessions with these labels, NAME or NAME=VALUE; warm shells of the pool are listed by their label longterm.pool only"`
}) ([]api.Session, error) {
	list := []api.Session{}
	for _, e := range s.hub.all() {
		if e.pooled() && len(in.Label) == 0 {
			continue
		}
		if matchLabels(e.record().Labels, in.Label) {
			st := e.s.Status()
			if st.State != session.Running && e.adopted() {
				s.hub.seeLeft(e)
			}
			list = append(list, s.hub.describe(e, st))
		}
	}
	return list, nil
}

func (s *server) newSession(ctx context.Context, in *struct{ Body api.NewSession }) (api.Session, error) {
	e, err := s.hub.create(ctx, in.Body)
	if err != nil {
		return api.Session{}, err
	}
	return s.hub.describe(e, e.s.Status()), nil
}

func (s *server) getSession(_ context.Context, in *SessionPath) (api.Session, error) {
	e, err := s.hub.resolve(in.Session)
	if err != nil {
		return api.Session{}, err
	}
	if e.s.Status().State != session.Running {
		s.hub.seeLeft(e)
	}
	view := s.hub.describe(e, e.s.Status())
	view.Cgroup = e.cgroup()
	return view, nil
}

func (s *server) editSession(ctx context.Context, in *sessionBody[api.Edit]) (api.Session, error) {
	e, err := s.hub.resolve(in.Session)
	if err != nil {
		return api.Session{}, err
	}
	if err := s.hub.edit(e, in.Body); err != nil {
		return api.Session{}, err
	}
	if in.Body.Size != "" {
		e.seat.setPolicy(SizePolicy(in.Body.Size))
		(&stream{srv: s, e: e}).fit(ctx)
	}
	view := s.hub.describe(e, e.s.Status())
	s.hub.bus.Publish("edited", &view)
	return view, nil
}

func (s *server) removeSession(ctx context.Context, in *struct {
	SessionPath
	Force bool `query:"force" doc:"end it first when it runs"`
}) (none, error) {
	e, err := s.hub.resolve(in.Session)
	if err != nil {
		return none{}, err
	}
	return none{true}, s.hub.remove(ctx, e, in.Force)
}

func (s *server) postResize(ctx context.Context, in *sessionBody[api.Resize]) (none, error) {
	e, err := s.hub.resolve(in.Session)
	if err != nil {
		return none{}, err
	}
	if !vterm.ValidSize(in.Body.Cols, in.Body.Rows) {
		return none{}, api.Errorf(api.CodeInvalid, "size %d×%d", in.Body.Cols, in.Body.Rows).
			WithHint("columns must be %d to %d, rows %d to %d", vterm.MinCols, vterm.MaxCols, vterm.MinRows, vterm.MaxRows)
	}
	return none{true}, e.s.Resize(ctx, in.Body.Cols, in.Body.Rows)
}

func (s *server) postSignal(ctx context.Context, in *sessionBody[api.Signal]) (none, error) {
	e, err := s.hub.resolve(in.Session)
	if err != nil {
		return none{}, err
	}
	return none{true}, s.hub.signal(ctx, e, in.Body)
}

func (s *server) postKill(ctx context.Context, in *sessionBody[api.Kill]) (api.Session, error) {
	e, err := s.hub.resolve(in.Session)
	if err != nil {
		return api.Session{}, err
	}
	grace := s.conf.Grace()
	if in.Body.GraceMS > 0 {
		grace = time.Duration(in.Body.GraceMS) * time.Millisecond
	}
	// The client may go away; half a kill ladder helps nobody.
	if err := s.hub.kill(context.WithoutCancel(ctx), e, grace); err != nil {
		return api.Session{}, err
	}
	return s.hub.describe(e, e.s.Status()), nil
}

func matchLabels(labels map[string]string, want []string) bool {
	for _, w := range want {
		name, value, hasValue := strings.Cut(w, "=")
		got, ok := labels[name]
		if !ok || hasValue && got != value {
			return false
		}
	}
	return true
}

func (s *server) postRestore(ctx context.Context, in *sessionBody[api.Restore]) (api.Session, error) {
	e, err := s.hub.resolve(in.Session)
	if err != nil {
		return api.Session{}, err
	}
	if e, err = s.hub.restore(ctx, e, in.Body); err != nil {
		return api.Session{}, err
	}
	return s.hub.describe(e, e.s.Status()), nil
}
