//go:build unix

package spawn

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/confine"
	"github.com/longterm-dev/longterm/session/daemon/drafts"
	"github.com/longterm-dev/longterm/session/draft"
	"github.com/longterm-dev/longterm/session/policy/effects"
	"github.com/longterm-dev/longterm/session/sandbox"
	"github.com/longterm-dev/longterm/session/shellquote"
)

// draftProfile is the sandbox of a draft without a requested one.
const draftProfile = "workspace"

// minDraftSize is the smallest limit of a draft's changes, in bytes: a directory takes a few KiB.
const minDraftSize = 64 << 10

// Drafts returns the drafts of this daemon's sessions.
func (s *Spawner) Drafts() drafts.Drafts { return drafts.Drafts{Dir: s.Dirs.Drafts()} }

// draftDirs returns the requested directories as absolute paths.
func (s *Spawner) draftDirs(n *api.NewSession, env []string) (dirs []string, err error) {
	home := getenv(env, "HOME")
	for _, dir := range n.Draft {
		rest, ofHome := strings.CutPrefix(dir, "~")
		switch {
		case dir == api.DraftProject:
			if dir, err = projectOf(n.Cwd, home); err != nil {
				return nil, err
			}
		case ofHome && (rest == "" || rest[0] == '/') && filepath.IsAbs(home):
			dir = home + rest
		case !filepath.IsAbs(dir):
			return nil, api.Errorf(api.CodeInvalid, "draft %s: not an absolute path", dir).WithHint("name a directory by its whole path, or as ~/DIR")
		}
		if err := CheckStart(dir, s.Conf.Get().Policy.Roots); err != nil {
			return nil, err
		}
		dirs = append(dirs, filepath.Clean(dir))
	}
	return dirs, nil
}

// projectMarks are names in the topmost directory of a project.
var projectMarks = []string{".git", ".hg", ".jj", ".svn"}

// projectOf returns the topmost directory of the project that dir is in, or dir. It looks for no project above the home
// directory, which itself is a draft only by name.
func projectOf(dir, home string) (string, error) {
	if dir == "" {
		dir = home
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", api.Errorf(api.CodeInvalid, "draft: %v", err).WithHint("choose a directory with --cwd")
	}
	if to, err := filepath.EvalSymlinks(home); err == nil {
		home = to
	}
	if real == home || real == "/" {
		return "", api.Errorf(api.CodeInvalid, "%s is no project, and a draft of all of it is made only by name", real).
			WithHint("start it in a project's directory, or name directories as in --draft=DIR; nothing was started")
	}
	for at := real; at != "/" && at != home; at = filepath.Dir(at) {
		for _, mark := range projectMarks {
			if _, err := os.Lstat(filepath.Join(at, mark)); err == nil {
				return at, nil
			}
		}
	}
	return real, nil
}

// draftsProbed holds the directories for which a probe found that drafts work. A failure is probed again.
var draftsProbed sync.Map

// ReviewProfile is the sandbox of a command that runs in a draft because the rules want that.
const ReviewProfile = "draft"

// PlanDraft returns the draft in which a command would run, or why it cannot run in one. It starts nothing.
func (s *Spawner) PlanDraft(n api.NewSession) (effects.Draft, error) {
	n.Draft, n.Sandbox = []string{api.DraftProject}, ReviewProfile
	p, err := s.Plan(n)
	if err != nil {
		return effects.Draft{}, err
	}
	d := effects.Draft{Root: p.sandbox.drafts[0]}
	if profile := &p.sandbox.profile; profile.Network != sandbox.NetworkOff {
		d.Reaches = profile.Reaches
	}
	return d, nil
}

// checkDrafts returns why no draft can be kept in the state directory, or nil.
func (s *Spawner) checkDrafts() error {
	dir := s.Dirs.Drafts()
	if _, ok := draftsProbed.Load(dir); ok {
		return nil
	}
	err := os.MkdirAll(dir, 0o700)
	if err != nil {
		return StorageError(err, s.Dirs.State)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err == nil {
		err = confine.ProbeDrafts(real)
	}
	if err != nil {
		return drafts.StartError(dir, err)
	}
	draftsProbed.Store(dir, true)
	return nil
}

// mountDrafts completes rules with the directories of a session's drafts. A session that is started again gets the
// draft that it had.
func (s *Spawner) mountDrafts(p *Plan, rules *sandbox.Rules) error {
	if len(rules.Drafts) == 0 {
		return nil
	}
	dir, err := filepath.EvalSymlinks(s.Dirs.Drafts())
	if err != nil {
		return StorageError(err, s.Dirs.State)
	}
	all := drafts.Drafts{Dir: dir}
	d, isNew, err := all.Prepare(p.Record.ID, shellquote.Line(p.Record.Argv), rules.DraftDirs())
	if err != nil {
		return drafts.StartError(dir, err)
	}
	p.newDraft = isNew
	at := map[string]draft.Root{}
	for _, r := range d.Roots() {
		at[r.Lower] = r
	}
	for i := range rules.Drafts {
		r := at[rules.Drafts[i].Path]
		rules.Drafts[i].Upper, rules.Drafts[i].Work = r.Upper, r.Work
	}
	for i := range rules.Caches {
		r, err := d.Cache(rules.Caches[i].Path)
		if err != nil {
			return drafts.StartError(dir, err)
		}
		rules.Caches[i].Upper, rules.Caches[i].Work = r.Upper, r.Work
	}
	rules.Locks = []string{all.MountLock(p.Record.ID)}
	return nil
}

// dropNewDraft removes the draft of a session that did not start, unless a program has already written to it.
func (s *Spawner) dropNewDraft(p *Plan) error {
	if !p.newDraft {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err := s.Drafts().DropEmpty(ctx, p.Record.ID)
	var e *api.Error
	if errors.As(err, &e) && e.Code == api.CodeNotFound {
		return nil
	}
	return err
}
