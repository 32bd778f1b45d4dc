//go:build unix

package spawn

import (
	"os"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/config"
)

// ForAgents is what the sessions of agents have in their environment, unless it is set for them: what they
// run has no pager that waits for a key, and no colours.
var ForAgents = []string{"PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "SYSTEMD_PAGER=cat", "NO_COLOR=1"}

// minimal are the variables of a minimal environment; LC_* too.
var minimal = []string{"HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG", "LANGUAGE", "TZ", "TMPDIR", "XDG_RUNTIME_DIR"}

// WithMode is a request whose environment is what its mode leaves of it. An agent's has the mode of the
// configuration where it names none.
func WithMode(n api.NewSession, agent bool, conf *config.Shells) api.NewSession {
	mode := n.EnvMode
	if agent {
		n.SetEnv = append(slices.Clone(ForAgents), n.SetEnv...)
		if mode == "" {
			mode = conf.AgentEnv
		}
	}
	if mode == "" || mode == config.EnvFull {
		return n
	}
	env := n.Env
	if env == nil {
		env = os.Environ()
	}
	listed := n.EnvPass
	if mode == config.EnvListed {
		listed = append(slices.Clone(conf.EnvListed), listed...)
	}
	n.Env = []string{} // not nil, which is all
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains(minimal, name) || strings.HasPrefix(name, "LC_") || slices.Contains(listed, name) {
			n.Env = append(n.Env, kv)
		}
	}
	return n
}

// sshAgent names the socket of an ssh agent.
const sshAgent = "SSH_AUTH_SOCK"

// WithAgentSocket is a person's request whose session reaches the ssh agent of who attached last, where the configuration
// wants that and nothing else is asked for. Sessions under other rules, or in a sandbox, reach none in this way.
func (s *Spawner) WithAgentSocket(n api.NewSession) api.NewSession {
	full := n.EnvMode == "" || n.EnvMode == config.EnvFull
	if !s.Conf.Get().Shells.SSHAgent || !full || n.Policy != "" || n.Sandbox != "" || n.Temporary || getenv(n.SetEnv, sshAgent) != "" {
		return n
	}
	link := s.Dirs.AgentSocket()
	if own := getenv(n.Env, sshAgent); own != "" {
		if _, err := os.Stat(link); err != nil { // it leads nowhere: until somebody attaches, to who started this
			if err := s.Dirs.LinkAgentSocket(own); err != nil {
				s.Log.Warn("an ssh agent is not passed on", "err", err)
			}
		}
	}
	n.SetEnv = append(n.SetEnv[:len(n.SetEnv):len(n.SetEnv)], sshAgent+"="+link)
	return n
}
