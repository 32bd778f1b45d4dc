//go:build unix

package httpapi

import (
	"context"
	"maps"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/session/sys"
)

// getEnv tells a session's environment as well as it is known.
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
			WithHint("only a running session has one; in a shell that tells nothing of itself, run `env`")
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

// startEnv is what a program was started with, where the system tells; nil elsewhere.
func startEnv(pid int) shell.Env {
	started, err := sys.ReadEnviron(pid)
	if err != nil {
		return nil
	}
	return maps.Collect(started.All())
}
