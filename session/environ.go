package session

import (
	"context"
	"maps"

	"github.com/longterm-dev/longterm/session/shell"
)

// Environ is what the session's shell exports, as of its newest prompt; nil when that is not
// known.
func (s *Session) Environ(ctx context.Context) (env shell.Env, err error) {
	err = s.do(ctx, func() {
		if s.shell == nil {
			return
		}
		if now, _, readErr := shell.ReadEnv(s.shell.stateDir); readErr == nil {
			env = now
			return
		}
		env = maps.Clone(s.shell.env) // it is being written, or the shell has ended
	})
	return env, err
}
