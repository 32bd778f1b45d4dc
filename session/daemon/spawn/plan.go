//go:build unix

// Package spawn says how a session's process is started, and has a keeper start it: the program, its
// environment, directory, limits and size, and how a shell is made to tell of its commands.
//
//	request or record → Plan → integrated shell → keeper
//
// It knows directories, the configuration and the keeper's protocol, and neither the set of sessions
// nor a running one. Memory is in bytes, CPU in thousandths of a core, sizes are in cells.
package spawn

import (
	"cmp"
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/confine"
	"github.com/longterm-dev/longterm/session/daemon/settings"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/store"
	"github.com/longterm-dev/longterm/vterm"
)

// Spawner says how a session's process is started, and has a keeper start it.
type Spawner struct {
	Dirs paths.Dirs
	Log  *slog.Logger
	Conf *settings.Settings
}

// Default size of a session, in cells.
const defaultCols, defaultRows = 80, 24

// Plan is what create decided.
type Plan struct {
	Record            store.Session
	path              string // of the executable
	env               []string
	pipe              bool
	input             bool   // with pipe
	fallback          bool   // pipe, if there is no terminal
	memory, cpu, pids uint64 // limits, as the keeper takes them; 0: none
	umask             uint64 // as the keeper takes it
	Base              uint64 // offset its output begins at
	Numbers           uint64 // that its commands have already: those of a shell before
	// argv is what is started: the record's, or how a shell loads the integration.
	argv  []string
	plain bool   // no integration
	Why   string // it is on pipes, though that was not asked for
	box   *box   // the sandbox that it is started in; nil: none
	spec  confine.Spec
	shim  bool // our own executable is started in its place, which puts spec on itself first
	// Executions is whether they are judged, once it was started: "judged", "not judged: WHY", or empty where they need not be.
	Executions string
}

// Plan decides what is started for a request, with everything that it leaves out.
func (s *Spawner) Plan(n api.NewSession) (*Plan, error) {
	p := &Plan{pipe: n.Pipe, input: n.Stdin, fallback: n.PipeFallback, env: n.Env, plain: n.Plain}
	if err := p.limit(n.Limits); err != nil {
		return nil, err
	}
	if mask, err := strconv.ParseUint(n.Umask, 8, 12); err == nil {
		p.umask = mask&0o777 + 1
	}
	if p.env == nil {
		p.env = os.Environ()
	}
	if n.OnDifference != "" && n.Sandbox == "" {
		return nil, api.Errorf(api.CodeInvalid, "on_difference is of a sandbox, and none is asked for").WithHint("name a profile (--sandbox), or leave it out")
	}
	if n.Sandbox != "" {
		if err := s.enter(p, n.Sandbox, n.OnDifference, n.Limits); err != nil {
			return nil, err
		}
	}
	p.env = append(p.env[:len(p.env):len(p.env)], n.SetEnv...)
	shells := s.Conf.Get().Shells
	if shells.Default != "" && len(n.Argv) == 0 {
		p.env = append(p.env, "SHELL="+shells.Default)
	}
	if n.Restore == "" && !n.Temporary && !n.Pipe {
		n.Restore = shells.Restore
	}
	argv, isOne, err := commandOf(n, p.env)
	if err != nil {
		return nil, err
	}
	cwd, err := checkCwd(n.Cwd)
	if err != nil {
		return nil, err
	}
	if err := CheckStart(cwd, s.Conf.Get().Policy.Roots); err != nil {
		return nil, err
	}
	cols, rows := n.Cols, n.Rows
	if cols == 0 {
		cols = defaultCols
	}
	if rows == 0 {
		rows = defaultRows
	}
	if !vterm.ValidSize(cols, rows) {
		return nil, api.Errorf(api.CodeInvalid, "size %d×%d", cols, rows).
			WithHint("columns must be %d to %d, rows %d to %d", vterm.MinCols, vterm.MaxCols, vterm.MinRows, vterm.MaxRows)
	}
	if n.Engine != "" {
		if _, err := session.NewEngine(n.Engine, vterm.Options{Cols: 1, Rows: 1}); err != nil {
			return nil, api.Errorf(api.CodeInvalid, "%v", err)
		}
	}
	id := uuid.NewString()
	p.env = childEnv(p.env, id, cwd, n.SetEnv...)
	if p.path, err = lookPath(argv[0], p.env, cwd); err != nil {
		return nil, err
	}
	if shells.Default == "" || len(n.Argv) > 0 { // the configuration's shell is its own choice
		if err := p.pin(n.Judged); err != nil {
			return nil, err
		}
	}
	key := paths.MainKeeper
	if n.Isolated {
		key = id
	}
	engine := cmp.Or(n.Engine, shells.Engine)
	if err := CheckLabels(n.Labels); err != nil {
		return nil, err
	}
	p.argv = argv
	isOne = isOne || IsShell(argv)
	p.Record = store.Session{
		ID: id, Name: n.Name, Argv: argv, Shell: isOne, Cwd: cwd, Env: n.SetEnv, Labels: n.Labels,
		Cols: cols, Rows: rows, Engine: engine, Keeper: key, Pipe: n.Pipe, Temporary: n.Temporary, Restore: n.Restore,
		State: string(session.Running), Created: time.Now(),
	}
	if n.Name != "" {
		if err := CheckName(n.Name); err != nil {
			return nil, err
		}
	}
	if err := s.observe(p, n.Observe); err != nil {
		return nil, err
	}
	return p, s.checkSandbox(p)
}
