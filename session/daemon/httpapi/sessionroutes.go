//go:build unix

package httpapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/jobs"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/daemon/sizepolicy"
	"github.com/longterm-dev/longterm/session/daemon/spawn"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/listing"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/vterm"
)

// listQuery selects sessions.
type listQuery struct {
	Label []string `query:"label" doc:"only sessions with these labels, NAME or NAME=VALUE; warm shells are listed only by label longterm.pool, ended commands of run only by longterm.kept"`
}

// countTime is how long a list of sessions waits for the numbers of changes in drafts.
const countTime = 300 * time.Millisecond

func (s *Server) listSessions(ctx context.Context, in *listQuery) ([]api.Session, error) {
	list := []api.Session{}
	var listed []*registry.Handle
	for _, e := range s.reg.All() {
		if (e.IsPooled() || e.IsKeptRun()) && len(in.Label) == 0 || !s.shows(ctx, e.ID()) {
			continue
		}
		if matchLabels(e.Record().Labels, in.Label) {
			listed = append(listed, e)
		}
	}
	counting, cancel := context.WithTimeout(ctx, countTime)
	s.reg.CountDrafts(counting, listed)
	cancel()
	for _, e := range listed {
		st := e.Session.Status()
		if st.State != session.Running && e.IsAdopted() {
			s.reg.RecordLeftoversOnce(e)
		}
		list = append(list, s.reg.Describe(e, st))
	}
	s.daemon.Ports().NoteListed(listed)
	return list, nil
}

// table is a table of sessions.
type table struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

// tableQuery is listQuery with the width of a terminal.
type tableQuery struct {
	Label []string `query:"label" doc:"only sessions with these labels, NAME or NAME=VALUE; warm shells are listed only by label longterm.pool, ended commands of run only by longterm.kept"`
	Width int      `query:"width" minimum:"0" maximum:"10000" doc:"maximum width of a row in cells, with ~ for the home directory; 0: no limit"`
	Color bool     `query:"color" doc:"states have colours (SGR)"`
}

func (s *Server) tableSessions(ctx context.Context, in *tableQuery) (*table, error) {
	list, err := s.listSessions(ctx, &listQuery{in.Label})
	if err != nil {
		return nil, err
	}
	s.prepareAnswer(ctx, &list)
	var b bytes.Buffer
	home, _ := os.UserHomeDir() // "": directories stay whole
	if err := listing.WriteSessions(&b, list, listing.TableFormat{Width: in.Width, Colour: in.Color}, home); err != nil {
		return nil, err
	}
	if n := s.countHiddenRuns(ctx); n > 0 && in.Width > 0 && len(in.Label) == 0 {
		fmt.Fprintf(&b, "hidden: %d kept by `longterm run`; list with `longterm ls --label %s`\n", n, api.KeptRunLabel)
	}
	return &table{"text/plain; charset=utf-8", b.Bytes()}, nil
}

// countHiddenRuns returns the number of ended commands of `run` that lists without labels omit.
func (s *Server) countHiddenRuns(ctx context.Context) (n int) {
	for _, e := range s.reg.All() {
		if e.IsKeptRun() && s.shows(ctx, e.ID()) {
			n++
		}
	}
	return n
}

func (s *Server) newSession(ctx context.Context, in *struct{ Body api.NewSession }) (api.Session, error) {
	if argv := spawn.PlainShellArgv(in.Body.Line); argv != nil && len(in.Body.Argv) == 0 {
		in.Body.Argv, in.Body.Line = argv, ""
	}
	call := registry.Call{ID: in.Body.AskID, RequestDigest: jobs.NewDigest(&in.Body)}
	e, err := s.reg.Started(ctx, call)
	if err != nil {
		return api.Session{}, err
	}
	if e == nil {
		admitted, err := s.admitNew(ctx, &in.Body)
		if err != nil {
			return api.Session{}, err
		}
		e, err = s.reg.CreateIdempotent(ctx, in.Body, call, func(e *registry.Handle) error {
			admitted(e.ID())
			return nil
		})
		if err != nil {
			return api.Session{}, err
		}
	}
	if !s.shows(ctx, e.ID()) { // it was another's call
		return api.Session{}, registry.IDTaken(call.ID)
	}
	return s.reg.Describe(e, e.Session.Status()), nil
}

func (s *Server) getSession(ctx context.Context, in *SessionPath) (api.Session, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return api.Session{}, err
	}
	if e.Session.Status().State != session.Running {
		s.reg.RecordLeftoversOnce(e)
	}
	e.AwaitActivity(ctx)
	s.daemon.Ports().Refresh(e)
	view := s.reg.Describe(e, e.Session.Status())
	view.Cgroup, view.Refused = e.Cgroup(), s.reg.RefusedSince(e, time.Time{})
	if view.Draft != nil {
		s.countChanges(ctx, view.Draft)
	}
	return view, nil
}

func (s *Server) editSession(ctx context.Context, in *sessionBody[api.Edit]) (api.Session, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return api.Session{}, err
	}
	if err := mayLabel(ctx, e, in.Body.Labels); err != nil {
		return api.Session{}, err
	}
	if err := s.reg.Edit(e, in.Body); err != nil {
		return api.Session{}, err
	}
	if in.Body.Size != "" {
		e.Clients.SetPolicy(sizepolicy.Policy(in.Body.Size))
		(&stream{srv: s, e: e}).applySize(ctx)
	}
	view := s.reg.Describe(e, e.Session.Status())
	s.reg.Bus.Publish("edited", &view)
	return view, nil
}

// mayLabel rejects labels from an agent that would restart another's session or make it part of a project. Its own
// sessions are exempt.
func mayLabel(ctx context.Context, e *registry.Handle, labels map[string]string) error {
	by, rec := identity.Of(ctx), e.Record()
	if !by.IsAgent() || rec.Agent == by.Agent {
		return nil
	}
	for name, value := range labels {
		ours := strings.HasPrefix(name, api.RestartLabel) || strings.HasPrefix(name, api.ProjectLabel)
		if ours && rec.Labels[name] != value {
			return api.Errorf(api.CodeDenied, "the label %s of session %s is not for %s to change", name, rec.Name, by).
				WithHint("only the user, or the agent that started the session, may do that")
		}
	}
	return nil
}

func (s *Server) removeSession(ctx context.Context, in *struct {
	SessionPath
	Force        bool `query:"force" doc:"end a running session first"`
	DiscardDraft bool `query:"discard_draft" doc:"discard the changes of its draft too; without it, a draft with changes is an error"`
}) (noContent, error) {
	e, err := s.reg.ResolveToEnd(in.Session)
	if err != nil {
		return noContent{}, err
	}
	if err := s.admitEnding(ctx, "remove session", e); err != nil {
		return noContent{}, err
	}
	after := context.WithoutCancel(ctx) // the caller may run in the session and end with it
	if !in.DiscardDraft {
		if err := s.reg.CheckNoDraft(ctx, e); err != nil {
			return noContent{}, err
		}
		return noContent{true}, s.reg.Remove(after, e, in.Force)
	}
	to, err := s.draftTarget(in.Session)
	if err == nil {
		err = mayDiscard(ctx, to)
	}
	if missing := (*api.Error)(nil); errors.As(err, &missing) && missing.Code == api.CodeNotFound {
		return noContent{true}, s.reg.Remove(after, e, in.Force)
	}
	if err != nil {
		return noContent{}, err
	}
	if err := s.reg.Remove(after, e, in.Force); err != nil {
		return noContent{}, err
	}
	_, err = s.discard(after, &draftTarget{id: to.id, name: to.name}, nil)
	if missing := (*api.Error)(nil); errors.As(err, &missing) && missing.Code == api.CodeNotFound { // without changes it ended with the session
		err = nil
	}
	return noContent{true}, err
}

func (s *Server) postResize(ctx context.Context, in *sessionBody[api.Resize]) (noContent, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return noContent{}, err
	}
	if !vterm.ValidSize(in.Body.Cols, in.Body.Rows) {
		return noContent{}, api.Errorf(api.CodeInvalid, "size %d×%d", in.Body.Cols, in.Body.Rows).
			WithHint("columns must be %d to %d, rows %d to %d", vterm.MinCols, vterm.MaxCols, vterm.MinRows, vterm.MaxRows)
	}
	return noContent{true}, e.Session.Resize(ctx, in.Body.Cols, in.Body.Rows)
}

func (s *Server) postSignal(ctx context.Context, in *sessionBody[api.Signal]) (noContent, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return noContent{}, err
	}
	if err := s.admitSignal(ctx, e, &in.Body); err != nil {
		return noContent{}, err
	}
	return noContent{true}, s.reg.Signal(ctx, e, in.Body)
}

func (s *Server) postKill(ctx context.Context, in *sessionBody[api.Kill]) (api.Session, error) {
	e, err := s.reg.ResolveToEnd(in.Session)
	if err != nil {
		return api.Session{}, err
	}
	if s.targetsEndedSession(ctx, e) {
		return s.reg.Describe(e, e.Session.Status()), nil
	}
	if err := s.admitEnding(ctx, "end session", e); err != nil {
		return api.Session{}, err
	}
	// The client may go away; half a kill ladder is of no use.
	if err := s.reg.Kill(context.WithoutCancel(ctx), e, s.graceOf(ctx, in.Body.GraceMS)); err != nil {
		return api.Session{}, err
	}
	return s.reg.Describe(e, e.Session.Status()), nil
}

// graceOf returns the grace of a request, ms if it is positive, else the configured grace for its caller.
func (s *Server) graceOf(ctx context.Context, ms int) time.Duration {
	if ms > 0 {
		return time.Duration(ms) * time.Millisecond
	}
	return s.conf.GraceFor(identity.Of(ctx))
}

func (s *Server) postKillSeveral(ctx context.Context, in *struct{ Body api.KillSeveral }) (api.Killed, error) {
	list, err := s.toKill(ctx, &in.Body)
	if err != nil {
		return api.Killed{}, err
	}
	out := api.Killed{Ended: make([]api.Session, 0, len(list))}
	list = slices.DeleteFunc(list, func(e *registry.Handle) bool {
		over := s.targetsEndedSession(ctx, e)
		if over {
			out.Ended = append(out.Ended, s.reg.Describe(e, e.Session.Status()))
		}
		return over
	})
	if err := s.admitEnding(ctx, "end sessions", list...); err != nil {
		return api.Killed{}, err
	}
	for i, err := range s.reg.KillEach(context.WithoutCancel(ctx), list, s.graceOf(ctx, in.Body.GraceMS)) {
		e, why := list[i], new(api.Error)
		if err == nil {
			out.Ended = append(out.Ended, s.reg.Describe(e, e.Session.Status()))
		} else if errors.As(toAPI(err), &why) {
			out.Failed = append(out.Failed, api.Failed{ID: e.ID(), Error: *why})
		}
	}
	return out, nil
}

// toKill returns the sessions to end, each once. Ended sessions are included only by name, for their leftover
// processes.
func (s *Server) toKill(ctx context.Context, k *api.KillSeveral) (list []*registry.Handle, err error) {
	many := k.All || len(k.Labels) > 0
	switch {
	case !many && len(k.Sessions) == 0:
		return nil, api.Errorf(api.CodeInvalid, "no session named").WithHint("name sessions, or select all or those with a label")
	case k.All && len(k.Labels) > 0, many && len(k.Sessions) > 0:
		return nil, api.Errorf(api.CodeInvalid, "sessions, all of them or those with a label").WithHint("choose one of these")
	}
	for _, ref := range k.Sessions {
		if _, err := s.visible(ctx, ref); err != nil {
			return nil, err
		}
		e, err := s.reg.ResolveToEnd(ref)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(list, e) {
			list = append(list, e)
		}
	}
	if !many {
		return list, nil
	}
	lives := s.reg.Lives
	if s.hasProcesses != nil {
		lives = s.hasProcesses
	}
	for _, e := range s.reg.All() {
		if !e.IsPooled() && s.shows(ctx, e.ID()) && matchLabels(e.Record().Labels, k.Labels) && lives(e) {
			list = append(list, e)
		}
	}
	return list, nil
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

func (s *Server) postRestore(ctx context.Context, in *sessionBody[api.Restore]) (api.Session, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return api.Session{}, err
	}
	line := ""
	if !in.Body.NewConversation {
		line = s.reg.ResumeLine(e)
		in.Body.Command = in.Body.Command || !in.Body.Shell && s.reg.ResumesItself(e)
	}
	if err := s.admitRestore(ctx, e, &in.Body); err != nil {
		return api.Session{}, err
	}
	if e, err = s.reg.Restore(ctx, e, in.Body); err != nil {
		return api.Session{}, err
	}
	if line != "" {
		never := int64(0)
		call := api.Call{Background: true, TimeoutMS: &never, IdleTimeoutMS: &never}
		if _, err := s.jobs.Exec(ctx, e, api.Exec{Call: call, Line: line, Wait: true}); err != nil {
			return api.Session{}, fmt.Errorf("the shell is there, and the agent's conversation was not taken up again (%s): %w", line, s.explainRejection(e, err))
		}
	}
	return s.reg.Describe(e, e.Session.Status()), nil
}

// getEnv returns a session's environment as far as it is known.
func (s *Server) getEnv(ctx context.Context, in *SessionPath) (api.Environment, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return api.Environment{}, err
	}
	env, err := e.Session.Environ(ctx)
	if err != nil {
		return api.Environment{}, err
	}
	source := "shell"
	if env == nil {
		source, env = "guess", e.Unintegrated.Guess().Environ()
	}
	if st := e.Session.Status(); env == nil && st.State == session.Running {
		source, env = "start", startEnv(st.PID)
	}
	if env == nil {
		return api.Environment{}, api.Errorf(api.CodeUnavailable, "the environment of session %s is not known", e.Record().Name).
			WithHint("only running sessions have one; in a shell without integration, run `env`")
	}
	return environmentOf(source, env), nil
}

// environmentOf leaves the values of secrets out.
func environmentOf(source string, env shell.Env) api.Environment {
	a := api.Environment{Source: source, Env: make(map[string]string, len(env))}
	for name, value := range env {
		if shell.IsSecret(name, value) {
			value = registry.Redacted
		}
		a.Env[name] = value
	}
	return a
}

// startEnv returns the initial environment of a process, or nil if the system does not provide it.
func startEnv(pid int) shell.Env {
	started, err := sys.ReadEnviron(pid)
	if err != nil {
		return nil
	}
	return maps.Collect(started.All())
}
