package session

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store/atomicfile"
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

// Renew has the session's shell export variables before its next prompt, and unset those that are nil. It is said to nobody
// that a command changed them, and a shell that is restored has them. Shells that cannot do that keep what they have.
func (s *Session) Renew(ctx context.Context, env map[string]*string) error {
	var dir string
	var kind shell.Kind
	if err := s.do(ctx, func() { dir, kind = s.lines.renews(env) }); err != nil || dir == "" {
		return err
	}
	name, text, err := shell.Renewal(kind, env)
	if err != nil {
		return err
	}
	// Several clients may attach at a time. What was left before and not read is replaced.
	if err := atomicfile.Write(filepath.Join(dir, name), atomicfile.Options{Shared: true}, text); err != nil {
		return fmt.Errorf("renew the environment: %w", err)
	}
	return nil
}

// renews notes variables that the shell is about to have; the directory is where it looks for them. Empty: it has them
// already, or does not look.
func (h *lineHost) renews(env map[string]*string) (dir string, kind shell.Kind) {
	t := h.shell
	if t == nil || t.other != nil || !t.kind.Spec().Renews || t.State().Quality != shell.Full {
		return "", ""
	}
	if t.env == nil { // before its first prompt
		return t.stateDir, t.kind
	}
	after := maps.Clone(t.env)
	for name, value := range env {
		if value == nil {
			delete(after, name)
		} else {
			after[name] = *value
		}
	}
	changes := shell.DiffEnv(t.env, after)
	if len(changes) == 0 {
		return "", ""
	}
	t.env = after
	h.s.cfg.Known.LearnEnv(maps.All(after))
	h.keepChanges(changes)
	return t.stateDir, t.kind
}
