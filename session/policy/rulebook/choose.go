package rulebook

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/policy"
)

// compiledEngine is an engine shared by equal subjects.
type compiledEngine struct {
	engine  *policy.Engine
	sources *Sources
	until   time.Time // when the first of its rules expires; zero: never
}

// chooser gathers the rules for a subject.
type chooser struct {
	book    *Book
	subject *Subject
	now     time.Time
	files   []chosenFile
}

// chosenFile is a file and the sections of it that count.
type chosenFile struct {
	*fileState
	trust    *trustRecord // of a project's file; nil: none
	sections []int
	dirs     []string // of a trusted project: its directory, by all names that the subject has for it
}

// isTrusted reports whether a file's allow rules count.
func (c *chosenFile) isTrusted() bool {
	return !c.project || c.trust != nil && c.trust.Hash == c.file.Hash
}

// add adds the sections of a file that apply to the subject.
func (c *chooser) add(k *fileState, trust *trustRecord) {
	f := chosenFile{fileState: k, trust: trust}
	if k.project && trust != nil {
		f.dirs = projectNames(filepath.Dir(filepath.Dir(k.path)), c.subject)
	}
	if k.file != nil {
		for i := range k.file.Sections {
			if k.file.Sections[i].applies(c.subject) {
				f.sections = append(f.sections, i)
			}
		}
	}
	c.files = append(c.files, f)
}

// key returns a key that is equal for subjects that get the same engine.
func (c *chooser) key() string {
	var b strings.Builder
	b.WriteString(c.subject.Policy + "\x00" + strconv.FormatBool(c.subject.Agent != "") + "\x00" + c.subject.Home)
	for i := range c.files {
		f := &c.files[i]
		b.WriteString("\x00" + strconv.Itoa(f.number))
		if f.trust != nil {
			b.WriteString("t" + f.trust.Hash + strings.Join(f.dirs, "\x00"))
		}
		for _, n := range f.sections {
			b.WriteString("," + strconv.Itoa(n))
		}
	}
	return b.String()
}

// compile builds the engine and records the sources of its rules.
func (c *chooser) compile() *compiledEngine {
	out := &compiledEngine{sources: &Sources{byName: map[string]int{}}}
	s := out.sources
	s.Preset = c.book.o.UserPreset
	if c.subject.Agent != "" {
		s.Preset = c.book.o.AgentPreset
	}
	if s.Preset == "" {
		s.Preset = policy.Hard
	}
	c.applyRequested(s)
	for i := range c.files {
		f := &c.files[i]
		c.addStatus(s, f)
		for _, n := range f.sections {
			c.addSection(out, f, &f.file.Sections[n])
		}
	}
	s.presetForAgentsOnly = c.subject.Agent == "" && s.From == ""
	rules := make([]policy.Rule, len(s.Rules))
	for i := range s.Rules {
		rules[i] = s.Rules[i].Rule
	}
	var err error
	if out.engine, err = policy.New(policy.Options{Preset: s.Preset, Rules: rules, Own: c.book.ListOwn()}); err != nil {
		// Each rule was validated when read. Rules that still fail require approval for everything.
		c.book.o.Log.Error("rules cannot be compiled", "err", err)
		s.Preset, s.From = policy.Listed, err.Error()
		out.engine, _ = policy.New(policy.Options{Preset: policy.Listed, Own: c.book.ListOwn()})
	}
	return out
}

// applyRequested applies the requested preset if it is stricter.
func (c *chooser) applyRequested(s *Sources) {
	name := policy.Preset(c.subject.Policy)
	switch {
	case name == "":
	case slices.Contains(presets, name):
		if s.From = "--policy"; stricter(name, s.Preset) != s.Preset {
			s.Preset = name
		}
	default:
		s.From = "--policy"
		for i := range c.files {
			for _, n := range c.files[i].sections {
				if c.files[i].file.Sections[n].Name == c.subject.Policy {
					return
				}
			}
		}
		s.Preset, s.From = policy.Listed, "unknown policy "+strconv.Quote(c.subject.Policy)
	}
}

// addStatus records the state of a file.
func (c *chooser) addStatus(s *Sources, f *chosenFile) {
	st := f.status()
	// The denials of a broken user file are unknown, so this applies to the user too; a project's file may come from
	// others.
	if f.using == "broken" && (!f.project || c.subject.Agent != "" || c.subject.Policy != "") && stricter(s.Preset, policy.ReadOnly) != s.Preset {
		s.Preset, s.From = policy.ReadOnly, f.path+" is invalid"
	}
	if f.project && f.file != nil {
		st.Trusted = f.isTrusted()
		if st.Changed = f.trust != nil && !st.Trusted; st.Changed {
			st.Problems = append(st.Problems, fmt.Sprintf("%s: it has changed since you trusted it on %s: what it allows does not count; "+
				"look at it, then `longterm policy trust %s`", f.path, f.trust.Time.Local().Format(time.DateTime), f.path))
		}
	}
	s.Files = append(s.Files, st)
}

// addSection adds a section's preset and rules to the engine's.
func (c *chooser) addSection(out *compiledEngine, f *chosenFile, sec *Section) {
	s := out.sources
	if sec.Preset != "" && stricter(s.Preset, sec.Preset) != s.Preset || sec.Preset == s.Preset && s.From == "" {
		s.Preset, s.From = sec.Preset, fmt.Sprintf("%s:%d", f.path, sec.PresetAt.Line)
	}
	for i := range sec.Rules {
		r := &sec.Rules[i]
		e := Entry{Rule: r.Rule, File: f.path, Line: r.At.Line, Column: r.At.Column, Section: sec.Name, Until: r.Until}
		e.Roots, e.Why = c.roots(f, r)
		e.Draft = e.Draft && f.isTrusted() // without trust a file is only stricter, and ask is
		if f.project && r.Decision == policy.Allow && f.isTrusted() && e.Why == "" {
			if e.Roots = narrow(e.Roots, f.dirs); len(e.Roots) == 0 {
				e.Why = "what a project's file allows counts in the project only, and it names other directories"
			}
		}
		switch {
		case !r.Until.IsZero() && !c.now.Before(r.Until):
			e.Why = "it expired on " + Until(r.Until)
		case r.Decision == policy.Allow && !f.isTrusted():
			e.Why = "it allows, and its file is not trusted: `longterm policy trust " + f.path + "`"
		}
		if e.Why != "" {
			s.Ineffective = append(s.Ineffective, e)
			continue
		}
		if !r.Until.IsZero() && (out.until.IsZero() || r.Until.Before(out.until)) {
			out.until = r.Until
		}
		if _, taken := s.byName[e.Name]; taken {
			e.Name += fmt.Sprintf(" (%s:%d)", f.path, r.At.Line)
		}
		s.byName[e.Name] = len(s.Rules)
		s.Rules = append(s.Rules, e)
	}
}

// roots returns the directories of a rule, by name and resolved. With an unknown home directory a strict rule applies
// everywhere, and an allow rule nowhere.
func (c *chooser) roots(f *chosenFile, r *Rule) (roots []string, idle string) {
	for _, dir := range r.Cwd {
		switch {
		case dir == "~" || strings.HasPrefix(dir, "~/"):
			if c.subject.Home == "" {
				if r.Decision == policy.Allow {
					return nil, "home directory unknown"
				}
				return nil, ""
			}
			dir = filepath.Join(c.subject.Home, dir[1:])
		case !filepath.IsAbs(dir):
			dir = filepath.Join(filepath.Dir(filepath.Dir(f.path)), dir)
		}
		roots = append(roots, filepath.Clean(dir))
		if real := resolve(dir); !slices.Contains(roots, real) {
			roots = append(roots, real)
		}
	}
	return roots, ""
}

// narrow returns the parts of a rule's roots inside a project; all of the project if the rule has none.
func narrow(roots, project []string) (in []string) {
	if len(roots) == 0 {
		return project
	}
	for _, root := range roots {
		if policy.InRoots(root, project) {
			in = append(in, root)
			continue
		}
		for _, dir := range project {
			if policy.InRoots(dir, []string{root}) && !slices.Contains(in, dir) {
				in = append(in, dir)
			}
		}
	}
	return in
}

// projectNames returns a project's directory without links, and the names by which a subject is in it: shells report
// their directory with links.
func projectNames(dir string, s *Subject) []string {
	names := []string{dir}
	for _, cwd := range []string{s.Cwd, s.StartDir} {
		if !filepath.IsAbs(cwd) || cwd == s.Cwd && s.IsCwdResolved {
			continue
		}
		cwd = filepath.Clean(clampDepth(cwd))
		if policy.InRoots(cwd, names) || !policy.InRoots(resolve(cwd), names[:1]) {
			continue
		}
		name := cwd // it is below the project by a link from elsewhere, unless what it is in is the project
		for up := cwd; len(up) > 1; up = filepath.Dir(up) {
			if resolve(up) == dir {
				name = up
				break
			}
		}
		names = append(names, name)
	}
	return names
}
