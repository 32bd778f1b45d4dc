//go:build unix

package registry

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/session/respond/secret"
	"github.com/longterm-dev/longterm/session/respond/shellcmd"
	"github.com/longterm-dev/longterm/session/sys"
)

// secrets holds the values of a session's env: references. They come from the environment of the client that set the
// rule and are kept in memory only.
type secrets struct {
	mu        sync.Mutex
	values    map[string]string // by reference
	attaching int               // number of rules that are being attached
}

// hold keeps all values until release.
func (s *secrets) hold() { s.count(1) }

// release ends a hold.
func (s *secrets) release() { s.count(-1) }

// count adds n to attaching.
func (s *secrets) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attaching += n
}

// get returns a value by its reference.
func (s *secrets) get(ref string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.values[ref]
	return v, ok
}

// put stores a value.
func (s *secrets) put(ref, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values == nil {
		s.values = map[string]string{}
	}
	s.values[ref] = value
}

// retain forgets the values of all other references, if nothing holds them.
func (s *secrets) retain(refs map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ref := range s.values {
		if !refs[ref] && s.attaching == 0 {
			delete(s.values, ref)
		}
	}
}

// references calls f with each reference to a secret in rules.
func references(rules []respond.Rule, f func(ref string)) {
	for _, r := range rules {
		for _, x := range r.Reply {
			if x.Kind == respond.ReplySecret {
				f(x.Value)
			}
		}
	}
}

// takeSecrets stores the values that rules need and returns an error if one is missing.
func (e *Handle) takeSecrets(rules []respond.Rule, values map[string]string) (err error) {
	references(rules, func(ref string) {
		kind, name, _ := strings.Cut(ref, ":")
		value, given := values[ref]
		switch {
		case kind == "env" && given:
			e.secrets.put(ref, value)
		case kind == "env":
			if _, known := e.secrets.get(ref); !known {
				err = api.Errorf(api.CodeInvalid, "%s has no value", ref).WithHint("give it in secrets: the environment is the client's")
			}
		case kind == "file" && !filepath.IsAbs(name) && !strings.HasPrefix(name, "~/"):
			err = api.Errorf(api.CodeInvalid, "%s: path must be absolute or start with ~/", ref)
		}
	})
	return err
}

// pruneSecrets drops values that no rule refers to.
func (e *Handle) pruneSecrets(ctx context.Context) {
	rules, err := e.Session.Rules(ctx)
	if err != nil {
		return // it is being closed, and everything is forgotten
	}
	refs := map[string]bool{}
	for i := range rules {
		references([]respond.Rule{rules[i].Rule}, func(ref string) { refs[ref] = true })
	}
	e.secrets.retain(refs)
}

// secretResolver resolves secrets and runs hooks for a session's rules.
type secretResolver struct {
	reg *Registry
	e   *Handle
}

// actorContext returns a context in which a requesting agent has the session's agent label.
func (a *secretResolver) actorContext(ctx context.Context) context.Context {
	who := identity.Of(ctx)
	if label := a.reg.AgentOf(a.e); who.IsAgent() && label != "" {
		who.Agent = label
	}
	return identity.WithActor(ctx, who)
}

// Secret implements session.ReplyResolver.
func (a *secretResolver) Secret(ctx context.Context, ref string) ([]byte, error) {
	if strings.HasPrefix(ref, "env:") {
		v, ok := a.e.secrets.get(ref)
		if !ok {
			return nil, fmt.Errorf("%s not sent: its value was not kept over a restart of the daemon; add the rule again", ref)
		}
		return []byte(v), nil
	}
	r := secret.Resolver{Dir: a.dir()}
	v, err := r.Resolve(a.actorContext(ctx), ref)
	if err != nil {
		return nil, fmt.Errorf("not sent: %w", err)
	}
	return v, nil
}

// hookTime bounds the run of a hook.
const hookTime = 10 * time.Second

// Hook implements session.ReplyResolver. The match is passed as LONGTERM_MATCH and on standard input, groups as $1…
// and LONGTERM_CAPTURE_name, so output cannot change the command.
func (a *secretResolver) Hook(ctx context.Context, h session.Hook) ([]byte, error) {
	clean := func(s string) string { return strings.ReplaceAll(s, "\x00", "") }
	match := clean(h.Captures["0"])
	env := append(os.Environ(), "LONGTERM_SESSION="+a.e.rec.ID, "LONGTERM_RULE="+h.Rule, "LONGTERM_MATCH="+match)
	var args []string
	for name, value := range h.Captures {
		if n, err := strconv.Atoi(name); err == nil {
			for len(args) < n {
				args = append(args, "")
			}
			if n > 0 {
				args[n-1] = clean(value)
			}
			continue
		}
		env = append(env, "LONGTERM_CAPTURE_"+name+"="+clean(value))
	}
	c := shellcmd.Command{
		Line: h.Command, Args: args, Env: env, Dir: a.dir(), Stdin: strings.NewReader(match + "\n"),
		Max: 64 << 10, Timeout: hookTime,
	}
	b, err := c.Run(a.actorContext(ctx))
	if err != nil {
		return nil, fmt.Errorf("the hook %q: %w", h.Command, err)
	}
	return b, nil
}

// dir returns the directory of the session's own process from the kernel, else the home directory. Printed directories
// (OSC 7) must not affect where a command is looked up.
func (a *secretResolver) dir() string {
	if pid := a.e.Session.Status().PID; pid > 0 {
		dir, err := sys.Cwd(pid)
		if st, statErr := os.Stat(dir); err == nil && statErr == nil && st.IsDir() {
			return dir
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "/"
	}
	return home
}
