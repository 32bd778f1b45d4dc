//go:build unix

package spawn

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/confine"
	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys"
)

// enableExecutionChecks enables execution checks if the configuration requires them. Our own executable then starts in place of the
// program and sets up the checks.
func (s *Spawner) enableExecutionChecks(k Keeper, p *Plan) error {
	conf := s.Conf.Get().Policy
	if conf.Executions == config.ExecutionsAlways || conf.Executions == config.ExecutionsAgents && p.isBound() {
		p.shim, p.spec.Executions = true, confine.ExecutionsWanted
		if conf.RequireExecutions {
			p.spec.Executions = confine.ExecutionsRequired
		}
		p.spec.Reach = k.Link().Hello().HandlesSignalCalls
	}
	if !p.shim {
		return nil
	}
	if p.spec.File != "" {
		link, err := s.linkProgram(p.Record.ID, p.path)
		if err != nil {
			return err
		}
		p.spec.Link = link
	}
	p.spec.Path, p.path = p.path, sys.SharedExe()
	if p.path == "" {
		exe, err := os.Executable()
		if err != nil {
			return err
		}
		p.path = exe
	}
	var err error
	if p.argv, p.env, err = p.spec.Command(p.argv, p.env); err != nil {
		return api.Errorf(api.CodeInvalid, "%v", err)
	}
	return nil
}

// pin makes sure that only the judged file is started, unchanged. A sandbox may have another PATH, which finds another
// file.
func (p *Plan) pin(judged api.JudgedFile) error {
	if judged.ID == "" {
		return nil
	}
	real, err := filepath.EvalSymlinks(p.path)
	if err != nil {
		real = p.path
	}
	if real != judged.Path && p.sandbox != nil {
		return nil
	}
	if real != judged.Path || sys.FileID(p.path) != judged.ID {
		return api.Errorf(api.CodeDenied, "Blocked: %s has changed since it was judged", p.path).
			WithHint("check what changed it and start it again")
	}
	p.spec.File = judged.ID
	return nil
}

// linkProgram makes the link by which a session's first program is executed, so that it is the file that was compared.
func (s *Spawner) linkProgram(id, path string) (string, error) {
	dir := filepath.Join(s.Dirs.Session(id), "first")
	link := filepath.Join(dir, filepath.Base(path))
	err := os.RemoveAll(dir) // of a program before it
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = os.Symlink(confine.ComparedFile, link)
	}
	if err != nil {
		return "", StorageError(err, s.Dirs.State)
	}
	return link, nil
}

// executionDecision records whether executions are checked, and returns an error if they must be and are not.
func (p *Plan) executionDecision(spawned *wire.Spawned) error {
	if p.spec.Executions == "" {
		return nil
	}
	var why string
	var report confine.Report
	switch {
	case spawned.Checked:
		p.Executions = api.ExecutionsJudged
		return nil
	case !spawned.Shim:
		why = "the keeper is of an older version (run `longterm daemon upgrade`)"
	case json.Unmarshal([]byte(spawned.Report), &report) == nil && report.Why != "":
		why = report.Why
	default:
		why = "the keeper has no listener"
	}
	if p.spec.Executions == confine.ExecutionsRequired {
		return notChecked(why)
	}
	p.Executions = "not judged: " + why
	return nil
}

// notChecked returns the error for required execution checks that are unavailable.
func notChecked(why string) error {
	return api.Errorf(api.CodeUnavailable, "executions cannot be checked, but policy.require_executions is set: %s", why).
		WithHint("run `longterm doctor`, or start it without checks after `longterm config set policy.require_executions false`")
}

// withProgramName replaces our own executable in a start error by the intended program.
func (p *Plan) withProgramName(err error) error {
	var failed *link.SpawnError
	if !p.shim || !errors.As(err, &failed) {
		return err
	}
	if p.spec.Executions == confine.ExecutionsRequired && confine.IsUnchecked(failed.Message) {
		return notChecked(failed.Message)
	}
	failed.Path = p.spec.Path
	return err
}
