//go:build unix

package request

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/flagvalues"
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
	draft             []string
	draftSize         string
	envMode           string
	envPass           []string
}

func (s *StartFlags) Register(c *cobra.Command) {
	f := c.Flags()
	f.StringVarP(&s.name, "name", "n", "", "`NAME` of the session (default: from the command)")
	f.StringVar(&s.cwd, "cwd", "", "working `DIR` (default: the current one)")
	f.StringArrayVar(&s.env, "env", nil, "additional variable `NAME=VALUE`, or NAME: passed as it is in any mode, repeatable")
	f.StringVar(&s.envMode, "env-mode", "", "inherited environment, a `MODE`: full (also secrets of agents in CI jobs), minimal (HOME, PATH, LANG and the like), listed (minimal and shells.env_listed) (default full; for agents shells.agent_env)")
	f.StringArrayVar(&s.envPass, "env-pass", nil, "`NAME` of an additional variable of a minimal or listed environment, repeatable")
	f.StringArrayVar(&s.labels, "label", nil, "label `NAME=VALUE` of the session, repeatable")
	f.IntVar(&s.cols, "cols", 0, "width in cells (default 80)")
	f.IntVar(&s.rows, "rows", 0, "height in cells (default 24)")
	f.StringVar(&s.engine, "engine", "", "`NAME` of the terminal emulator")
	f.BoolVar(&s.isolated, "isolated", false, "separate keeper process for the session")
	f.BoolVar(&s.Pipe, "pipe", false, "pipes instead of a terminal, with separate stdout and stderr")
	f.StringVar(&s.Sandbox, "sandbox", "", "sandbox `PROFILE`: workspace, readonly, network, or one of sandbox.toml")
	f.StringVar(&s.OnDifference, "on-difference", "", "with --sandbox: `ANSWER` for hosts and programs that the profile does not list, deny or ask (default: the profile's; ask in a learned one)")
	f.StringArrayVar(&s.draft, "draft", nil, "keep file changes apart as a draft, to be listed (changes), committed or discarded: of the project in which it starts, or of `DIR`, as in --draft=DIR, repeatable; implies --sandbox workspace")
	f.Lookup("draft").NoOptDefVal = ownProject
	f.StringVar(&s.draftSize, "draft-size", "", "with --draft: limit of the disk space of its changes, a `SIZE` such as 512M or 2G; beyond it the programs are ended, and the changes stay")
	s.limit.register(c)
	f.SetInterspersed(false) // arguments after the command belong to it
}

// Request returns the request that starts a session, with the caller's environment and directory.
func (s *StartFlags) Request(cmd *cobra.Command, argv []string) (api.NewSession, error) {
	n := api.NewSession{
		Name: s.name, Argv: argv, Env: os.Environ(), Cols: s.cols, Rows: s.rows,
		Engine: s.engine, Isolated: s.isolated, Pipe: s.Pipe, Stdin: s.Stdin, Restore: s.Restore, Sandbox: s.Sandbox, OnDifference: s.OnDifference,
		EnvMode: s.envMode, GivenCwd: s.cwd,
	}
	if s.envMode != "" {
		if err := flagvalues.OneOf("--env-mode", s.envMode, "full", "minimal", "listed"); err != nil {
			return n, err
		}
	}
	if s.OnDifference != "" {
		if err := flagvalues.OneOf("--on-difference", s.OnDifference, "deny", "ask"); err != nil {
			return n, err
		}
		if s.Sandbox == "" && len(s.draft) == 0 && cmd.Flags().Lookup("observe") == nil {
			return n, exit.Usagef("--on-difference requires --sandbox")
		}
	}
	if err := checkSize(cmd, s); err != nil {
		return n, err
	}
	var err error
	if n.SetEnv, n.EnvPass, err = splitEnv(s.env, s.envPass); err != nil {
		return n, err
	}
	if n.Labels, err = flagvalues.Pairs(s.labels, "--label"); err != nil {
		return n, err
	}
	if n.Limits, err = s.limit.limits(); err != nil {
		return n, err
	}
	if n.Draft, err = draftDirs(s.draft); err != nil {
		return n, err
	}
	if n.DraftSize, err = flagvalues.Bytes(s.draftSize); err != nil {
		return n, fmt.Errorf("--draft-size: %w", err)
	}
	if cmd.Flags().Changed("draft-size") {
		switch {
		case s.draftSize == "":
			return n, exit.Usagef("--draft-size: no size; use one such as 512M or 2G")
		case len(s.draft) == 0:
			return n, exit.Usagef("--draft-size requires --draft")
		}
	}
	if n.Cwd, err = filepath.Abs(s.cwd); err != nil {
		return n, fmt.Errorf("working directory: %w; choose one with --cwd", err)
	}
	return n, nil
}

// splitEnv splits values of --env into settings and names of variables to pass, which are added to pass.
func splitEnv(values, pass []string) (set, names []string, err error) {
	names = pass
	for _, v := range values {
		if strings.Contains(v, "=") {
			set = append(set, v)
			continue
		}
		if v == "" {
			return nil, nil, exit.Usagef("--env: no name; use NAME or NAME=VALUE")
		}
		if _, ok := os.LookupEnv(v); !ok {
			return nil, nil, exit.Usagef("--env %s: variable not set; use NAME=VALUE", v)
		}
		names = append(names, v)
	}
	_, err = flagvalues.Pairs(set, "--env")
	return set, names, err
}

// ownProject is the value of --draft without a directory: the current project.
const ownProject = "(project)"

// draftDirs returns the directories of --draft as the daemon takes them: absolute, below ~, or the project.
func draftDirs(given []string) (dirs []string, err error) {
	for _, dir := range given {
		switch {
		case dir == "":
			return nil, exit.Usagef("--draft= names no directory; use --draft for the project, or --draft=DIR")
		case dir == ownProject:
			dir = api.DraftProject
		case dir != "~" && !strings.HasPrefix(dir, "~/"):
			if dir, err = filepath.Abs(dir); err != nil {
				return nil, fmt.Errorf("--draft: %w", err)
			}
		}
		dirs = append(dirs, dir)
	}
	return dirs, nil
}

// checkSize rejects an explicit size below 1. Without the flag, the default size applies.
func checkSize(cmd *cobra.Command, s *StartFlags) error {
	for name, v := range map[string]int{"cols": s.cols, "rows": s.rows} {
		if cmd.Flags().Changed(name) && v < 1 {
			return exit.Usagef("--%s %d: must be a positive number of cells", name, v)
		}
	}
	return nil
}
