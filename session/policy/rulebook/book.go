package rulebook

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/config/tomldoc"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/suggestname"
)

// Options are the locations of a Book's files.
type Options struct {
	File string // the user's policy.toml
	// path of a copy of the last valid user file; "" for none. A directory next to it holds the copies of project files
	LastGoodCopy  string
	MayDeleteCopy bool          // this long-lived process may delete LastGoodCopy: it knows how long the file is missing
	Root          string        // directory that only longterm writes and that holds all of the above; "" if none
	Trust         string        // directory of the user's trust records; "" trusts nothing
	Home          string        // home of subjects without one
	UserPreset    policy.Preset // default for users without another in a file; "" is hard
	AgentPreset   policy.Preset // default for agents; "" is hard
	Log           *slog.Logger  // nil: none
	AssumeTrusted string        // a project file that counts as trusted, to show what trust would change

	now func() time.Time // clock; set by tests
}

// Book holds the rules in effect.
type Book struct {
	o Options

	mu       sync.Mutex // guards what follows
	userFile *fileState
	projects map[string]*fileState
	loads    int // number of loads so far: each loaded content gets a number
	engines  map[string]*compiledEngine
}

// fileState is the last read state of a rule file.
type fileState struct {
	path         string
	project      bool     // a project's file, not the user's
	id           identity // of the last load
	existed      bool     // at the last check
	missingSince time.Time
	file         *File // the last valid one; nil: none
	hasCopy      bool  // Options.LastGoodCopy, or its directory, has a copy of it
	hash         string
	number       int    // number of the load
	using        string // content in use: file, kept, none or broken
	problems     []string

	trust   *trustRecord // of a project's file: what the user trusts
	trustID identity
}

// How long a file must be unchanged before it is read, and missing before it counts as removed: editors write in steps
// and rename.
const (
	settleTime  = 100 * time.Millisecond
	missingTime = 100 * time.Millisecond
)

// Bounds of the caches: beyond them everything is read or built again.
const (
	maxProjects = 256
	maxEngines  = 256
)

// Open reads the user's file. Status reports its errors; they are not returned.
func Open(o Options) *Book {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.now == nil {
		o.now = time.Now
	}
	b := &Book{o: o, userFile: &fileState{path: o.File}, projects: map[string]*fileState{}, engines: map[string]*compiledEngine{}}
	b.reloadIfChanged(b.userFile, true)
	return b
}

// SetDefaults changes the presets that apply if no file sets another.
func (b *Book) SetDefaults(person, agents policy.Preset) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.o.UserPreset != person || b.o.AgentPreset != agents {
		b.o.UserPreset, b.o.AgentPreset = person, agents
		clear(b.engines)
	}
}

// Status returns the state of the user's file, after reloading it if it changed.
func (b *Book) Status() FileStatus {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reloadIfChanged(b.userFile, false)
	return b.userFile.status()
}

func (k *fileState) status() FileStatus {
	st := FileStatus{File: k.path, Using: k.using, Project: k.project, Hash: k.hash, Problems: slices.Clone(k.problems)}
	if st.Problems == nil {
		st.Problems = []string{}
	}
	if k.file != nil {
		st.Rules = k.file.Rules()
	}
	return st
}

// reloadIfChanged reads a file if it changed; now reads one that was just written, too.
func (b *Book) reloadIfChanged(k *fileState, now bool) bool {
	if k.path == "" {
		k.using = "none"
		return false
	}
	st, link, err := statPath(k.path)
	at := b.o.now()
	switch {
	case isMissing(err) && !link:
		if !k.existed && k.using != "" {
			return false
		}
		if k.existed && !now && k.using != "none" {
			if k.missingSince.IsZero() {
				k.missingSince = missingSinceAtLatest(k.path, at)
			}
			if at.Sub(k.missingSince) < missingTime {
				return false
			}
		}
		b.markMissing(k)
		return true
	case err == nil && k.existed && k.id == identityOf(st):
		k.missingSince = time.Time{}
		return false
	case err == nil && !now && k.file != nil && at.Sub(st.ModTime()).Abs() < settleTime:
		return false
	}
	k.missingSince = time.Time{}
	was := strings.Join(k.problems, "\n")
	b.load(k)
	if said := strings.Join(k.problems, "\n"); said != was {
		for _, p := range k.problems {
			b.o.Log.Error("rules are not taken", "problem", p)
		}
	}
	return true
}

// load reads a file. If it has errors, the last valid content stays in use.
func (b *Book) load(k *fileState) {
	c, err := read(k.path)
	if errors.Is(err, fs.ErrNotExist) { // since it was looked for
		b.markMissing(k)
		return
	}
	if k.existed = true; err != nil && c.st == nil && slices.Equal(k.problems, problemLines(err)) {
		return // no content, and no new problem
	}
	b.loads++
	k.id, k.number = c.id, b.loads
	var file *File
	if err == nil {
		k.hash = HashOf(c.src)
		file, err = Decode(k.path, c.src, k.project)
	}
	if err == nil {
		k.file, k.using, k.problems = file, "file", nil
		b.o.Log.Info("rules", "file", k.path, "rules", file.Rules())
		b.saveCopy(k, c.src)
		return
	}
	k.problems = problemLines(err)
	if b.forget(k); k.file == nil {
		k.file = b.lastGood(k)
	}
	k.using = "broken"
	if k.file != nil {
		k.using = "kept"
	}
}

// problemLines returns an error as lines.
func problemLines(err error) (lines []string) {
	for _, p := range tomldoc.ProblemsOf(err) {
		lines = append(lines, p.Error())
	}
	return lines
}

// markMissing records that the file is missing.
func (b *Book) markMissing(k *fileState) {
	b.loads++
	*k = fileState{path: k.path, project: k.project, using: "none", number: b.loads}
	b.saveCopy(k, nil)
}

// presets are the names of presets, the laxest first.
var presets = []policy.Preset{policy.Off, policy.Hard, policy.BuildDraft, policy.Build, policy.ReadOnly, policy.Listed}

// Presets returns the names of presets, the laxest first.
func Presets() []policy.Preset { return slices.Clone(presets) }

// stricter returns the stricter of two presets.
func stricter(a, b policy.Preset) policy.Preset {
	if slices.Index(presets, a) >= slices.Index(presets, b) {
		return a
	}
	return b
}

// CheckPolicyName returns an error unless the name given to --policy is a preset or a section of the user's file.
func (b *Book) CheckPolicyName(name string) error {
	names := b.names()
	if slices.Contains(names, name) {
		return nil
	}
	hint := "; there are " + strings.Join(names, ", ")
	if near := suggestname.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return fmt.Errorf("policy %q not found%s", name, hint)
}

// names returns the valid names for --policy.
func (b *Book) names() (all []string) {
	for _, p := range presets {
		all = append(all, string(p))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reloadIfChanged(b.userFile, false)
	if b.userFile.file != nil {
		for _, s := range b.userFile.file.Sections {
			if s.Name != "" {
				all = append(all, s.Name)
			}
		}
	}
	return all
}

// For returns the rules for a subject. Both results are shared; do not change them.
func (b *Book) For(s Subject) (*policy.Engine, *Sources) {
	if s.Home == "" {
		s.Home = b.o.Home
	}
	if s.Cache == nil {
		s.Cache = new(LookupCache)
	}
	again := s.Cache.isFor(&s)
	if !again {
		s.Cache.projects = projectsOf(&s) // may be slow to answer: others do not wait for it
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !again {
		b.reloadIfChanged(b.userFile, false)
	}
	c := chooser{book: b, subject: &s, now: b.o.now()}
	c.add(b.userFile, nil)
	if !again {
		s.Cache.projects = append(s.Cache.projects, b.missingProjects(&s)...)
	}
	for _, k := range b.projectsAt(s.Cache.projects, again) {
		c.add(k, b.trustOf(k))
		if k.path == b.o.AssumeTrusted && k.file != nil {
			c.files[len(c.files)-1].trust = &trustRecord{Path: k.path, Hash: k.file.Hash}
		}
	}
	key := c.key()
	if found := b.engines[key]; found != nil && (found.until.IsZero() || c.now.Before(found.until)) {
		return found.engine, found.sources
	}
	if len(b.engines) >= maxEngines {
		clear(b.engines)
	}
	made := c.compile()
	b.engines[key] = made
	return made.engine, made.sources
}

// projectsOf returns the rule files of the projects that a subject is in.
func projectsOf(s *Subject) (found []string) {
	if !s.IsCwdResolved || mayBeInProject(s.Cwd) {
		found = projectFiles(s.Cwd, s.Home)
	}
	for _, p := range projectFiles(s.StartDir, s.Home) {
		if !slices.Contains(found, p) {
			found = append(found, p)
		}
	}
	return found
}

// ListOwn returns the absolute paths of the files and directories that are longterm's, for policy.Options.Own.
func (b *Book) ListOwn() (all []string) {
	if b.o.File != "" {
		dir := filepath.Dir(b.o.File)
		all = append(all, b.o.File, filepath.Join(dir, "config.toml"), filepath.Join(dir, "run")) // sockets, with LONGTERM_DIR
	}
	if b.o.Trust != "" {
		all = append(all, filepath.Dir(b.o.Trust)) // all that is kept
	}
	if b.o.Root != "" {
		all = append(all, b.o.Root)
	}
	return all
}

// projectsAt returns the state of project files, after checking them unless they were just checked. The user's own file
// is excluded.
func (b *Book) projectsAt(paths []string, checked bool) (all []*fileState) {
	if len(b.projects) > maxProjects {
		clear(b.projects)
	}
	for _, p := range paths {
		k := b.projects[p]
		if k == nil {
			k = &fileState{path: p, project: true}
			b.projects[p] = k
			checked = false // the next ones may have been forgotten, too
		}
		if !checked {
			b.reloadIfChanged(k, false)
		}
		if k.using != "none" && !(b.userFile.existed && k.id == b.userFile.id) {
			all = append(all, k)
		}
	}
	return all
}
