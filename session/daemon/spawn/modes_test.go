//go:build unix

package spawn

import (
	"slices"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/config"
)

// TestWithMode checks which variables each environment mode keeps, and which ones agents' sessions get in addition.
//
// FEATURES: R66
func TestWithMode(t *testing.T) {
	env := []string{"HOME=/h", "A_TOKEN=x", "LC_ALL=C", "CI=1", "EXTRA=2", "PATH=/bin"}
	conf := &config.Shells{AgentEnv: config.EnvMinimal, EnvListed: []string{"CI"}}
	for _, c := range []struct {
		mode  string
		pass  []string
		agent bool
		want  []string
	}{
		{"", nil, false, env},
		{"full", nil, true, env},
		{"", nil, true, []string{"HOME=/h", "LC_ALL=C", "PATH=/bin"}},
		{"minimal", []string{"EXTRA"}, false, []string{"HOME=/h", "LC_ALL=C", "EXTRA=2", "PATH=/bin"}},
		{"listed", []string{"EXTRA"}, false, []string{"HOME=/h", "LC_ALL=C", "CI=1", "EXTRA=2", "PATH=/bin"}},
	} {
		n := WithMode(api.NewSession{Env: env, SetEnv: []string{"PAGER=less"}, EnvMode: c.mode, EnvPass: c.pass}, c.agent, conf)
		if !slices.Equal(n.Env, c.want) {
			t.Errorf("%+v: %q", c, n.Env)
		}
		if got := childEnv(append(slices.Clone(n.Env), n.SetEnv...), "id", "/"); !slices.Contains(got, "PAGER=less") ||
			slices.Contains(got, "GIT_PAGER=cat") != c.agent || slices.Contains(got, "NO_COLOR=1") != c.agent || !slices.Contains(got, "LONGTERM_SESSION=id") {
			t.Errorf("%+v: %q", c, got)
		}
	}
	if n := WithMode(api.NewSession{EnvMode: "minimal"}, false, conf); n.Env == nil || slices.ContainsFunc(n.Env, func(kv string) bool { return kv[0] == '_' }) {
		t.Errorf("of the daemon's: %q", n.Env)
	}
}
