//go:build unix

package spawn

import (
	"os"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/redact"
)

// AgentDefaultEnv are default variables of agents' sessions: pagers do not wait for a key, and programs print no colours.
var AgentDefaultEnv = []string{"PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "SYSTEMD_PAGER=cat", "NO_COLOR=1"}

// minimalVars are the variables of a minimal environment; LC_* too.
var minimalVars = []string{"HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG", "LANGUAGE", "TZ", "TMPDIR", "XDG_RUNTIME_DIR"}

// WithMode applies a request's environment mode. For agents the default is the mode of the configuration. It returns how
// many variables an agent's session does not get because it starts in a CI job (withoutSecrets).
func WithMode(n api.NewSession, agent bool, settings *config.Settings) (_ api.NewSession, omitted int) {
	mode, conf := n.EnvMode, &settings.Shells
	if agent {
		n.SetEnv = append(slices.Clone(AgentDefaultEnv), n.SetEnv...)
		if mode == "" {
			mode = conf.AgentEnv
		}
	}
	env := n.Env
	if env == nil {
		env = os.Environ()
	}
	if mode == "" || mode == config.EnvFull {
		if agent && n.EnvMode == "" && isCI(env) {
			kept := withoutSecrets(env, append(slices.Clone(conf.EnvListed), n.EnvPass...), settings.Secrets.Names)
			if omitted = len(env) - len(kept); omitted > 0 {
				n.Env = kept
			}
		}
		return n, omitted
	}
	listed := n.EnvPass
	if mode == config.EnvListed {
		listed = append(slices.Clone(conf.EnvListed), listed...)
	}
	n.Env = []string{} // not nil, which is all
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains(minimalVars, name) || strings.HasPrefix(name, "LC_") || slices.Contains(listed, name) {
			n.Env = append(n.Env, kv)
		}
	}
	return n, 0
}

// isCI reports whether an environment is one of a CI job.
func isCI(env []string) bool {
	ci := getenv(env, "CI")
	return ci == "true" || ci == "1"
}

// withoutSecrets returns an environment without the variables that hold secrets by their names, except the listed ones
// and those whose values are settings.
func withoutSecrets(env, listed, patterns []string) []string {
	secret := redact.NewNames(patterns)
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		return secret.Match(name) && !isSetting(name, value) && !slices.Contains(listed, name)
	})
}

// shortSecrets are the names of variables that may hold secrets of a few digits.
var shortSecrets = redact.NewNames([]string{"*PASS*", "*_PWD", "*_PIN"})

// isSetting reports whether a variable with a secret's name holds none: its value is empty, a truth value, or a number too
// short to be one. redact.IsSecretValue cannot decide it, as it rejects all values that must not be masked everywhere, such as
// short passwords.
func isSetting(name, value string) bool {
	switch strings.ToLower(value) {
	case "", "true", "false":
		return true
	}
	return len(value) < redact.MinValue && !shortSecrets.Match(name) && strings.Trim(value, "0123456789") == ""
}

// sshAgent names the socket of an ssh agent.
const sshAgent = "SSH_AUTH_SOCK"

// WithAgentSocket connects a user's session to the ssh agent of the client that attached last, if the configuration
// enables it and the request allows it. Sessions with a policy or in a sandbox get none.
func (s *Spawner) WithAgentSocket(n api.NewSession) api.NewSession {
	full := n.EnvMode == "" || n.EnvMode == config.EnvFull
	if !s.Conf.Get().Shells.SSHAgent || !full || n.Policy != "" || n.Sandbox != "" || n.Temporary || getenv(n.SetEnv, sshAgent) != "" {
		return n
	}
	link := s.Dirs.AgentSocket()
	if own := getenv(n.Env, sshAgent); own != "" {
		if _, err := os.Stat(link); err != nil { // dangling: use the caller's until a client attaches
			if err := s.Dirs.LinkAgentSocket(own); err != nil {
				s.Log.Warn("link the ssh agent", "err", err)
			}
		}
	}
	n.SetEnv = append(n.SetEnv[:len(n.SetEnv):len(n.SetEnv)], sshAgent+"="+link)
	return n
}
