//go:build unix

package request

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/values"
	"github.com/longterm-dev/longterm/session/api"
)

// StartFlags are the flags of every verb that starts a session.
type StartFlags struct {
	name, cwd, engine string
	env, labels       []string
	cols, rows        int
	isolated, Pipe    bool
	Stdin             bool
	Restore           string
	limit             limitFlags
	Sandbox           string
	OnDifference      string
	envMode           string
	envPass           []string
}

func (s *StartFlags) Register(c *cobra.Command) {
	f := c.Flags()
	f.StringVarP(&s.name, "name", "n", "", "name of the session (default: from the command)")
	f.StringVar(&s.cwd, "cwd", "", "working directory (default: the current one)")
	f.StringArrayVar(&s.env, "env", nil, "NAME=VALUE to add to the environment, repeatable")
	f.StringVar(&s.envMode, "env-mode", "", "what of the environment is passed on: full, minimal (HOME, PATH, LANG and the like), listed (and shells.env_listed) (default full; of agents shells.agent_env)")
	f.StringArrayVar(&s.envPass, "env-pass", nil, "NAME of a variable that a minimal or listed environment has besides, repeatable")
	f.StringArrayVar(&s.labels, "label", nil, "NAME=VALUE to label the session with, repeatable")
	f.IntVar(&s.cols, "cols", 0, "width in cells (default 80)")
	f.IntVar(&s.rows, "rows", 0, "height in cells (default 24)")
	f.StringVar(&s.engine, "engine", "", "terminal emulator to use")
	f.BoolVar(&s.isolated, "isolated", false, "give the session a keeper process of its own")
	f.BoolVar(&s.Pipe, "pipe", false, "use pipes instead of a terminal; stdout and stderr are kept apart")
	f.StringVar(&s.Sandbox, "sandbox", "", "profile of the sandbox to start it in: workspace, readonly, network, or one of sandbox.toml")
	f.StringVar(&s.OnDifference, "on-difference", "", "with --sandbox: deny or ask about hosts, and programs where the profile lists some, that it does not list (default: as the profile has it; ask in a learned one)")
	s.limit.register(c)
	f.SetInterspersed(false) // what follows the command belongs to it
}

// Request makes the request; the environment and directory are the caller's.
func (s *StartFlags) Request(cmd *cobra.Command, argv []string) (api.NewSession, error) {
	n := api.NewSession{
		Name: s.name, Argv: argv, Env: os.Environ(), SetEnv: s.env, Cols: s.cols, Rows: s.rows,
		Engine: s.engine, Isolated: s.isolated, Pipe: s.Pipe, Stdin: s.Stdin, Restore: s.Restore, Sandbox: s.Sandbox, OnDifference: s.OnDifference,
		EnvMode: s.envMode, EnvPass: s.envPass, GivenCwd: s.cwd,
	}
	if s.envMode != "" {
		if err := values.OneOf("--env-mode", s.envMode, "full", "minimal", "listed"); err != nil {
			return n, err
		}
	}
	if s.OnDifference != "" {
		if err := values.OneOf("--on-difference", s.OnDifference, "deny", "ask"); err != nil {
			return n, err
		}
		if s.Sandbox == "" && cmd.Flags().Lookup("observe") == nil {
			return n, exit.Usagef("--on-difference is of a sandbox: name its profile with --sandbox")
		}
	}
	if err := sizeGiven(cmd, s); err != nil {
		return n, err
	}
	if _, err := values.Pairs(s.env, "--env"); err != nil {
		return n, err
	}
	var err error
	if n.Labels, err = values.Pairs(s.labels, "--label"); err != nil {
		return n, err
	}
	if n.Limits, err = s.limit.limits(); err != nil {
		return n, err
	}
	if n.Cwd, err = filepath.Abs(s.cwd); err != nil {
		return n, fmt.Errorf("working directory: %w; choose one with --cwd", err)
	}
	return n, nil
}

// sizeGiven refuses a size of 0 that was asked for; not given means the default.
func sizeGiven(cmd *cobra.Command, s *StartFlags) error {
	for name, v := range map[string]int{"cols": s.cols, "rows": s.rows} {
		if cmd.Flags().Changed(name) && v < 1 {
			return exit.Usagef("--%s %d: a size is a positive number of cells", name, v)
		}
	}
	return nil
}
