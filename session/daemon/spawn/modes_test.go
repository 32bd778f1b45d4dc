//go:build unix

package spawn

import (
	"slices"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/config"
)

// TestWithMode checks which variables each environment mode keeps, and which ones agents' sessions get in addition.
//
// FEATURES: R66
func TestWithMode(t *testing.T) {
	env := []string{"HOME=/h", "A_TOKEN=x", "LC_ALL=C", "CI=1", "EXTRA=2", "PATH=/bin"}
	conf := &config.Settings{Shells: config.Shells{AgentEnv: config.EnvMinimal, EnvListed: []string{"CI"}}}
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
		n, _ := WithMode(api.NewSession{Env: env, SetEnv: []string{"PAGER=less"}, EnvMode: c.mode, EnvPass: c.pass}, c.agent, conf)
		if !slices.Equal(n.Env, c.want) {
			t.Errorf("%+v: %q", c, n.Env)
		}
		if got := childEnv(append(slices.Clone(n.Env), n.SetEnv...), "id", "/"); !slices.Contains(got, "PAGER=less") ||
			slices.Contains(got, "GIT_PAGER=cat") != c.agent || slices.Contains(got, "NO_COLOR=1") != c.agent || !slices.Contains(got, "LONGTERM_SESSION=id") {
			t.Errorf("%+v: %q", c, got)
		}
	}
	if n, _ := WithMode(api.NewSession{EnvMode: "minimal"}, false, conf); n.Env == nil || slices.ContainsFunc(n.Env, func(kv string) bool { return kv[0] == '_' }) {
		t.Errorf("of the daemon's: %q", n.Env)
	}
}

// An agent's session in a CI job has no variables that look like secrets, except named ones.
//
// FEATURES: R66 R133
func TestWithMode_AgentInCI(t *testing.T) {
	conf := config.Default()
	conf.Shells.EnvListed = []string{"LISTED_TOKEN"}
	env := []string{"CI=true", "A_TOKEN=x", "LISTED_TOKEN=y", "db_password=z", "HOME=/h", "SSH_AUTH_SOCK=/s", "GITHUB_SHA=1"}
	without := func(names ...string) []string {
		return slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return slices.Contains(names, strings.SplitN(kv, "=", 2)[0]) })
	}
	for name, c := range map[string]struct {
		n     api.NewSession
		agent bool
		want  []string
		left  int
	}{
		"an agent":       {api.NewSession{Env: env}, true, without("A_TOKEN", "db_password"), 2},
		"a named one":    {api.NewSession{Env: env, EnvPass: []string{"A_TOKEN"}}, true, without("db_password"), 1},
		"all by request": {api.NewSession{Env: env, EnvMode: config.EnvFull}, true, env, 0},
		"minimal":        {api.NewSession{Env: env, EnvMode: config.EnvMinimal}, true, []string{"HOME=/h"}, 0},
		"CI=1":           {api.NewSession{Env: append([]string{"CI=1"}, env[1:]...)}, true, append([]string{"CI=1"}, without("CI", "A_TOKEN", "db_password")...), 2},
		"settings": {
			api.NewSession{Env: []string{"CI=true", "TOKENIZERS_PARALLELISM=false", "MAX_TOKENS=4096", "NO_TOKEN=", "A_TOKEN=123456", "CARD_PIN=1234", "DB_PASSWORD=1", "B_TOKEN=12ab", "DATABASE_URL=postgres://u:pw@host/db"}},
			true, []string{"CI=true", "TOKENIZERS_PARALLELISM=false", "MAX_TOKENS=4096", "NO_TOKEN="}, 5,
		},
		"a user":              {api.NewSession{Env: env}, false, env, 0},
		"no CI job":           {api.NewSession{Env: env[1:]}, true, env[1:], 0},
		"CI set to the child": {api.NewSession{Env: env[1:], SetEnv: []string{"CI=true"}}, true, env[1:], 0},
	} {
		n, left := WithMode(c.n, c.agent, conf)
		if !slices.Equal(n.Env, c.want) || left != c.left {
			t.Errorf("%s: %q, %d; want %q, %d", name, n.Env, left, c.want, c.left)
		}
	}
	t.Setenv("CI", "true")
	t.Setenv("A_TOKEN", "x")
	if n, left := WithMode(api.NewSession{}, true, conf); left == 0 || slices.Contains(n.Env, "A_TOKEN=x") || !slices.Contains(n.Env, "CI=true") {
		t.Errorf("of the daemon's: %d, %q", left, n.Env)
	}
}
