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
	"github.com/longterm-dev/longterm/session/spelling"
)

// Options say where a Book's files are.
type Options struct {
	File   string        // the person's policy.toml
	Kept   string        // a copy of the last one that was in order; "" is none. In a directory beside it are those of projects
	Keep   bool          // this process stays: it has seen for how long a file is gone when it takes Kept away
	Root   string        // directory that is longterm's alone, with all of the above; "" where there is no such
	Trust  string        // directory of what the person trusts; "" trusts nothing
	Home   string        // of subjects that have none
	Person policy.Preset // where no file says another: for persons; "" is hard
	Agents policy.Preset // and for agents; "" is hard
	Log    *slog.Logger  // nil: none
	Trying string        // a project's file that counts as trusted: to see what trust would change

	now func() time.Time // of tests
}

// Book is the rules in effect.
type Book struct {
	o Options

	mu       sync.Mutex // guards what follows
	person   *known
	projects map[string]*known
	loads    int // counts what was read: each content has a number of its own
	engines  map[string]*compiled
}

// known is what is known of a file.
type known struct {
	path     string
	project  bool
	id       identity // of what was read last
	there    bool     // at the last look
	gone     time.Time
	file     *File // the last that was in order; nil: none
	isKept   bool  // a copy of it is
	hash     string
	number   int
	using    string
	problems []string

	trust   *trustRecord // of a project's file: what the person trusts
	trustID identity
}

// Times that a file has to be left alone before it is read, and to stay away before it counts as removed:
// editors write in steps, and rename.
const (
	settleTime = 100 * time.Millisecond
	goneTime   = 100 * time.Millisecond
)

// Bounds of what is kept: beyond them all is read or made anew.
const (
	maxProjects = 256
	maxEngines  = 256
)

// Open reads the person's file. One with mistakes is said in Status, and is no error.
func Open(o Options) *Book {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.now == nil {
		o.now = time.Now
	}
	b := &Book{o: o, person: &known{path: o.File}, projects: map[string]*known{}, engines: map[string]*compiled{}}
	b.look(b.person, true)
	return b
}

// SetDefaults changes the presets that count where no file says another.
func (b *Book) SetDefaults(person, agents policy.Preset) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.o.Person != person || b.o.Agents != agents {
		b.o.Person, b.o.Agents = person, agents
		clear(b.engines)
	}
}

// Status says what became of the person's file, which is read anew if it is another than the one last read.
func (b *Book) Status() FileStatus {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.look(b.person, false)
	return b.person.status()
}

func (k *known) status() FileStatus {
	st := FileStatus{File: k.path, Using: k.using, Project: k.project, Hash: k.hash, Problems: slices.Clone(k.problems)}
	if st.Problems == nil {
		st.Problems = []string{}
	}
	if k.file != nil {
		st.Rules = k.file.Rules()
	}
	return st
}

// look reads a file if it changed; now reads one that was just written, too.
func (b *Book) look(k *known, now bool) bool {
	if k.path == "" {
		k.using = "none"
		return false
	}
	st, link, err := lookAt(k.path)
	at := b.o.now()
	switch {
	case missing(err) && !link:
		if !k.there && k.using != "" {
			return false
		}
		if k.there && !now && k.using != "none" {
			if k.gone.IsZero() {
				k.gone = goneSince(k.path, at)
			}
			if at.Sub(k.gone) < goneTime {
				return false
			}
		}
		b.takeNone(k)
		return true
	case err == nil && k.there && k.id == identityOf(st):
		k.gone = time.Time{}
		return false
	case err == nil && !now && k.file != nil && at.Sub(st.ModTime()).Abs() < settleTime:
		return false
	}
	k.gone = time.Time{}
	was := strings.Join(k.problems, "\n")
	b.load(k)
	if said := strings.Join(k.problems, "\n"); said != was {
		for _, p := range k.problems {
			b.o.Log.Error("rules are not taken", "problem", p)
		}
	}
	return true
}

// load reads a file. With mistakes in it what was read before stays.
func (b *Book) load(k *known) {
	c, err := read(k.path)
	if errors.Is(err, fs.ErrNotExist) { // since it was looked for
		b.takeNone(k)
		return
	}
	if k.there = true; err != nil && c.st == nil && slices.Equal(k.problems, saidOf(err)) {
		return // no content, and nothing new to be said
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
		b.keep(k, c.src)
		return
	}
	k.problems = saidOf(err)
	if b.forget(k); k.file == nil {
		k.file = b.kept(k)
	}
	k.using = "broken"
	if k.file != nil {
		k.using = "kept"
	}
}

// saidOf is an error as lines.
func saidOf(err error) (lines []string) {
	for _, p := range tomldoc.ProblemsOf(err) {
		lines = append(lines, p.Error())
	}
	return lines
}

// takeNone notes that there is no file.
func (b *Book) takeNone(k *known) {
	b.loads++
	*k = known{path: k.path, project: k.project, using: "none", number: b.loads}
	b.keep(k, nil)
}

// presets are their names, the laxest first.
var presets = []policy.Preset{policy.Off, policy.Hard, policy.Build, policy.ReadOnly, policy.Listed}

// Presets are the names of presets, the laxest first.
func Presets() []policy.Preset { return slices.Clone(presets) }

// stricter is the stricter of two presets.
func stricter(a, b policy.Preset) policy.Preset {
	if slices.Index(presets, a) >= slices.Index(presets, b) {
		return a
	}
	return b
}

// Known says whether a name that --policy gives is a preset or a section of the person's file.
func (b *Book) Known(name string) error {
	names := b.names()
	if slices.Contains(names, name) {
		return nil
	}
	hint := "; there are " + strings.Join(names, ", ")
	if near := spelling.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return fmt.Errorf("there is no policy %q%s", name, hint)
}

// names are what --policy may give.
func (b *Book) names() (all []string) {
	for _, p := range presets {
		all = append(all, string(p))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.look(b.person, false)
	if b.person.file != nil {
		for _, s := range b.person.file.Sections {
			if s.Name != "" {
				all = append(all, s.Name)
			}
		}
	}
	return all
}

// For are the rules for a subject. Both are shared with others and are not to be changed.
func (b *Book) For(s Subject) (*policy.Engine, *Sources) {
	if s.Home == "" {
		s.Home = b.o.Home
	}
	if s.Seen == nil {
		s.Seen = new(Seen)
	}
	again := s.Seen.by(&s)
	if !again {
		s.Seen.projects = projectsOf(&s) // may be slow to answer: others do not wait for it
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !again {
		b.look(b.person, false)
	}
	c := chooser{book: b, subject: &s, now: b.o.now()}
	c.add(b.person, nil)
	if !again {
		s.Seen.projects = append(s.Seen.projects, b.goneFrom(&s)...)
	}
	for _, k := range b.projectsAt(s.Seen.projects, again) {
		c.add(k, b.trusted(k))
		if k.path == b.o.Trying && k.file != nil {
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

// projectsOf are the files of rules of the projects that a subject is in.
func projectsOf(s *Subject) (found []string) {
	if !s.Real || mayBeInProject(s.Cwd) {
		found = projectFiles(s.Cwd, s.Home)
	}
	for _, p := range projectFiles(s.Start, s.Home) {
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

// projectsAt are what is known of projects' files, which are looked at unless they were just now. The person's own is none
// of them.
func (b *Book) projectsAt(paths []string, looked bool) (all []*known) {
	if len(b.projects) > maxProjects {
		clear(b.projects)
	}
	for _, p := range paths {
		k := b.projects[p]
		if k == nil {
			k = &known{path: p, project: true}
			b.projects[p] = k
			looked = false // the next ones may have been forgotten, too
		}
		if !looked {
			b.look(k, false)
		}
		if k.using != "none" && !(b.person.there && k.id == b.person.id) {
			all = append(all, k)
		}
	}
	return all
}
