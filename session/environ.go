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

// Environ returns the variables that the session's shell exports, as of its newest prompt. It returns nil if they are
// unknown.
func (s *Session) Environ(ctx context.Context) (env shell.Env, err error) {
	err = s.do(ctx, func() {
		if s.lines.shell == nil {
			return
		}
		if now, _, readErr := shell.ReadEnv(s.lines.shell.stateDir); readErr == nil {
			env = now
			return
		}
		env = maps.Clone(s.lines.shell.env) // the file is being written, or the shell has ended
	})
	return env, err
}

// environFile is a file in the session's directory. It holds the variables that changed in the shell's environment,
// without secrets, for a restored shell. It outlives the shell.
const environFile = "environ.json"

// recordEnvChanges adds changes to those since the first prompt.
func (h *lineHost) recordEnvChanges(changes []shell.EnvChange) {
	s := h.s
	if len(changes) == 0 || s.cfg.Dir == "" || s.publishMuted {
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
	s.history.disk.saveEnviron(b)
}

// LastEnv returns the environment variables that a session's shell had changed, as recorded in the session's directory,
// without secrets. The value is nil for a variable that was unset.
func LastEnv(dir string) map[string]*string {
	env := map[string]*string{}
	if b, err := os.ReadFile(filepath.Join(dir, environFile)); err == nil {
		_ = json.Unmarshal(b, &env) // unreadable: unknown
	}
	if env == nil {
		env = map[string]*string{}
	}
	return env
}

// RenewEnviron makes the session's shell export variables before its next prompt, and unset those that are nil. The change is
// not reported as one of a command, and a restored shell gets the variables too. Shells that do not read renewals
// (shell.Spec.ReadsEnvUpdate) keep their environment.
func (s *Session) RenewEnviron(ctx context.Context, env map[string]*string) error {
	var dir string
	var kind shell.Kind
	if err := s.do(ctx, func() { dir, kind = s.lines.recordRenewal(env) }); err != nil || dir == "" {
		return err
	}
	name, text, err := shell.EnvUpdateFile(kind, env)
	if err != nil {
		return err
	}
	// Several clients may attach at a time. A file that the shell has not read yet is replaced.
	if err := atomicfile.Write(filepath.Join(dir, name), atomicfile.Options{Shared: true}, text); err != nil {
		return fmt.Errorf("renew the environment: %w", err)
	}
	return nil
}

// recordRenewal records variables that the shell is about to get, and returns the directory in which the shell looks
// for them. It returns "" if the shell has them already, or does not look.
func (h *lineHost) recordRenewal(env map[string]*string) (dir string, kind shell.Kind) {
	t := h.shell
	if t == nil || t.foreignShell != nil || !t.kind.Spec().ReadsEnvUpdate || t.State().Quality != shell.Full {
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
	h.s.cfg.Vault.LearnEnv(maps.All(after))
	h.recordEnvChanges(changes)
	return t.stateDir, t.kind
}
