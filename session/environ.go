package session

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"

	"github.com/longterm-dev/longterm/session/shell"
)

// Environ is what the session's shell exports, as of its newest prompt; nil when that is not
// known.
func (s *Session) Environ(ctx context.Context) (env shell.Env, err error) {
	err = s.do(ctx, func() {
		if s.lines.shell == nil {
			return
		}
		if now, _, readErr := shell.ReadEnv(s.lines.shell.stateDir); readErr == nil {
			env = now
			return
		}
		env = maps.Clone(s.lines.shell.env) // it is being written, or the shell has ended
	})
	return env, err
}

// changedFile, in a session's directory, holds what the shell's environment was changed in,
// without secrets: a shell that is restored gets it. It outlives the shell.
const changedFile = "environ.json"

// keepChanges adds up what changed.
func (h *lineHost) keepChanges(changes []shell.EnvChange) {
	s := h.s
	if len(changes) == 0 || s.cfg.Dir == "" || s.quiet {
		return
	}
	t := h.shell
	if t.changed == nil {
		t.changed = LastEnv(s.cfg.Dir)
	}
	for i := range changes {
		switch c := &changes[i]; {
		case c.Redacted:
			delete(t.changed, c.Name)
		case c.Kind == shell.EnvUnset:
			t.changed[c.Name] = nil
		default:
			t.changed[c.Name] = &c.Value
		}
	}
	b, err := json.Marshal(t.changed)
	if err != nil {
		s.log.Warn("write down what changed in the environment", "session", s.cfg.ID, "err", err)
		return
	}
	s.history.disk.keepEnviron(b)
}

// LastEnv is what a session's shell had changed in its environment, as it was written down
// in the session's directory: without secrets. A nil value stands for a variable that was
// unset.
func LastEnv(dir string) map[string]*string {
	env := map[string]*string{}
	if b, err := os.ReadFile(filepath.Join(dir, changedFile)); err == nil {
		_ = json.Unmarshal(b, &env) // what cannot be read is not known
	}
	if env == nil {
		env = map[string]*string{}
	}
	return env
}
