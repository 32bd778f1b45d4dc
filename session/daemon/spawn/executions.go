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

// judge has what a session executes judged, where the configuration says so, and our own executable started in the place
// of a program that something is put on.
func (s *Spawner) judge(k Keeper, p *Plan) error {
	conf := s.Conf.Get().Policy
	if conf.Executions == config.ExecutionsAlways || conf.Executions == config.ExecutionsAgents && p.isBound() {
		p.shim, p.spec.Executions = true, confine.ExecutionsWanted
		if conf.RequireExecutions {
			p.spec.Executions = confine.ExecutionsRequired
		}
		p.spec.Reach = k.Link().Hello().Reach
	}
	if !p.shim {
		return nil
	}
	if p.spec.File != "" {
		link, err := s.linkFirst(p.Record.ID, p.path)
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

// pin has nothing but the file be started that was judged, as it was then. A sandbox may have a PATH of its own, which finds
// another.
func (p *Plan) pin(judged api.JudgedFile) error {
	if judged.ID == "" {
		return nil
	}
	real, err := filepath.EvalSymlinks(p.path)
	if err != nil {
		real = p.path
	}
	if real != judged.Path && p.box != nil {
		return nil
	}
	if real != judged.Path || sys.FileID(p.path) != judged.ID {
		return api.Errorf(api.CodeDenied, "Blocked: %s is another file now than when it was judged", p.path).
			WithHint("look what has changed it, and start it again: it is judged anew")
	}
	p.spec.File = judged.ID
	return nil
}

// linkFirst makes the link by which a session's first program is executed, so that it is the file that was compared.
func (s *Spawner) linkFirst(id, path string) (string, error) {
	dir := filepath.Join(s.Dirs.Session(id), "first")
	link := filepath.Join(dir, filepath.Base(path))
	err := os.RemoveAll(dir) // of a program before it
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = os.Symlink(confine.FirstFile, link)
	}
	if err != nil {
		return "", StorageError(err, s.Dirs.State)
	}
	return link, nil
}

// judged is what came of it.
func (p *Plan) judged(spawned *wire.Spawned) error {
	if p.spec.Executions == "" {
		return nil
	}
	var why string
	var report confine.Report
	switch {
	case spawned.Judged:
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
		return notJudged(why)
	}
	p.Executions = "not judged: " + why
	return nil
}

func notJudged(why string) error {
	return api.Errorf(api.CodeUnavailable, "executions in the session cannot be judged, and policy.require_executions says that they must: %s", why).
		WithHint("run `longterm doctor`; or `longterm config set policy.require_executions false` to start it all the same")
}

// named is an error of a start by way of our own executable, about the program that was meant.
func (p *Plan) named(err error) error {
	var failed *link.SpawnError
	if !p.shim || !errors.As(err, &failed) {
		return err
	}
	if p.spec.Executions == confine.ExecutionsRequired && confine.IsUnjudged(failed.Message) {
		return notJudged(failed.Message)
	}
	failed.Path = p.spec.Path
	return err
}
