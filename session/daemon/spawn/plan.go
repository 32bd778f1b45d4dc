//go:build unix

// Package spawn plans how a session's process starts and starts it through a keeper: program, environment, directory,
// limits, size, sandbox, and the integration of shells.
//
//	request or record → Plan → integrated shell → sandbox → execution checks → keeper
//
// It depends on directories, the configuration and the keeper's protocol, not on the registry or a running session. It
// runs on the goroutines of its callers. Memory is in bytes, CPU in thousandths of a core, sizes in cells.
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
	"github.com/longterm-dev/longterm/session/daemon/liveconfig"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/store"
	"github.com/longterm-dev/longterm/vterm"
)

// Spawner plans and starts sessions' processes.
type Spawner struct {
	Dirs paths.Dirs
	Log  *slog.Logger
	Conf *liveconfig.Settings
}

// Default size of a session, in cells.
const defaultCols, defaultRows = 80, 24

// Plan describes the process of a new session, with all defaults applied.
type Plan struct {
	Record             store.Session
	path               string // of the executable
	env                []string
	pipe               bool
	input              bool   // with pipe: standard input is a pipe
	fallback           bool   // use pipes if no terminal is available
	memory, cpu, pids  uint64 // limits, as the keeper takes them; 0: none
	umask              uint64 // as the keeper takes it
	Base               uint64 // offset of the first output
	UsedCommandNumbers uint64 // command numbers used by the session's earlier shells
	// argv is what is started: the record's argv, or the command that loads the shell integration.
	argv          []string
	noIntegration bool         // no integration
	PipeReason    string       // why it uses pipes although a terminal was requested
	sandbox       *sandboxPlan // sandbox; nil if none
	// newDraft is set once a draft was created for this start.
	newDraft bool
	spec     confine.Spec
	shim     bool // start our own executable in its place, which applies spec to itself first
	// Executions is set after the start: "judged", "not judged: WHY", or empty if checks are not required.
	Executions string
}

// Plan returns what to start for a request, with all defaults.
func (s *Spawner) Plan(n api.NewSession) (*Plan, error) {
	p := &Plan{pipe: n.Pipe, input: n.Stdin, fallback: n.PipeFallback, env: n.Env, noIntegration: n.Plain}
	if err := p.setLimits(n.Limits); err != nil {
		return nil, err
	}
	if mask, err := strconv.ParseUint(n.Umask, 8, 12); err == nil {
		p.umask = mask&0o777 + 1
	}
	if p.env == nil {
		p.env = os.Environ()
	}
	if err := s.enterRequested(p, &n); err != nil {
		return nil, err
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
	if err := s.recordAccesses(p, n.Observe); err != nil {
		return nil, err
	}
	return p, s.checkSandbox(p)
}
