//go:build unix

package spawn

import (
	"os"
	"path/filepath"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sandbox"
	"github.com/longterm-dev/longterm/session/shellquote"
	"github.com/longterm-dev/longterm/store"
)

// PlanRestore returns what to start for an ended session: its original program, or argv instead if not nil.
func (s *Spawner) PlanRestore(rec store.Session, cwd string, req api.Restore, argv []string) (*Plan, error) {
	p := &Plan{pipe: rec.Pipe, env: req.Env}
	if p.env == nil {
		p.env = os.Environ()
	}
	if err := s.restoreSandbox(p, rec.ID); err != nil {
		return nil, err
	}
	p.env = append(p.env[:len(p.env):len(p.env)], rec.Env...)
	p.env = append(p.env, s.lastEnv(rec.ID)...)
	switch {
	case req.Shell && req.Command:
		return nil, api.Errorf(api.CodeInvalid, "both shell and command requested").WithHint("choose one")
	case req.Shell && !rec.Shell:
		rec.Argv, rec.Shell = []string{UserShell(p.env)}, true
	case !rec.Shell && !req.Command:
		return nil, api.Errorf(api.CodeInvalid, "session %s ran a command, not a shell: %s", rec.Name, shellquote.Line(rec.Argv)).
			WithHint("give --command to run it again, or --shell to have a shell in its directory")
	}
	if cwd == "" {
		cwd = rec.Cwd
	}
	rec.Cwd = existing(cwd)
	if p.sandbox != nil && !sandbox.IsInside(rec.Cwd, p.sandbox.cwd) {
		rec.Cwd = p.sandbox.cwd
	}
	if err := CheckStart(rec.Cwd, s.Conf.Get().Policy.Roots); err != nil {
		return nil, err
	}
	p.env = childEnv(p.env, rec.ID, rec.Cwd, rec.Env...)
	var err error
	if argv == nil || req.Shell {
		argv = rec.Argv
	}
	if p.path, err = lookPath(argv[0], p.env, rec.Cwd); err != nil {
		return nil, err
	}
	if err := p.pin(req.Judged); err != nil {
		return nil, err
	}
	rec.State, rec.ExitCode, rec.Signal, rec.Stopped, rec.Ended = string(session.Running), nil, "", false, time.Time{}
	rec.User, rec.System, rec.MaxRSS = 0, 0, 0
	p.Record, p.argv = rec, argv
	return p, s.checkSandbox(p)
}

// Request returns a plan as a request that can be judged.
func (p *Plan) Request() *api.NewSession {
	r := &p.Record
	return &api.NewSession{
		Name: r.Name, Labels: r.Labels, Argv: p.argv, Cwd: r.Cwd, Pipe: r.Pipe, Env: p.env, SetEnv: r.Env, ApprovalOptions: api.ApprovalOptions{Policy: r.Policy},
	}
}

// existing returns a directory, or its nearest existing parent.
func existing(dir string) string {
	for {
		if st, err := os.Stat(dir); err == nil && st.IsDir() || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}
