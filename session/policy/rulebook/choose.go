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

// compiled is an engine for all who are alike.
type compiled struct {
	engine  *policy.Engine
	sources *Sources
	until   time.Time // when the first of its rules expires; zero: never
}

// chooser gathers the rules for a subject.
type chooser struct {
	book    *Book
	subject *Subject
	now     time.Time
	files   []chosen
}

// chosen is a file and the sections of it that count.
type chosen struct {
	*known
	trust    *trustRecord // of a project's file; nil: none
	sections []int
	at       []string // of a trusted project: its directory, by all names that the subject has for it
}

// trusted says that what a file allows counts.
func (c *chosen) trusted() bool { return !c.project || c.trust != nil && c.trust.Hash == c.file.Hash }

func (c *chooser) add(k *known, trust *trustRecord) {
	f := chosen{known: k, trust: trust}
	if k.project && trust != nil {
		f.at = projectNames(filepath.Dir(filepath.Dir(k.path)), c.subject)
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

// key is the same for subjects who get the same engine.
func (c *chooser) key() string {
	var b strings.Builder
	b.WriteString(c.subject.Policy + "\x00" + strconv.FormatBool(c.subject.Agent != "") + "\x00" + c.subject.Home)
	for i := range c.files {
		f := &c.files[i]
		b.WriteString("\x00" + strconv.Itoa(f.number))
		if f.trust != nil {
			b.WriteString("t" + f.trust.Hash + strings.Join(f.at, "\x00"))
		}
		for _, n := range f.sections {
			b.WriteString("," + strconv.Itoa(n))
		}
	}
	return b.String()
}

// compile makes the engine, and says where its rules come from.
func (c *chooser) compile() *compiled {
	out := &compiled{sources: &Sources{byName: map[string]int{}}}
	s := out.sources
	s.Preset = c.book.o.Person
	if c.subject.Agent != "" {
		s.Preset = c.book.o.Agents
	}
	if s.Preset == "" {
		s.Preset = policy.Hard
	}
	c.asked(s)
	for i := range c.files {
		f := &c.files[i]
		c.status(s, f)
		for _, n := range f.sections {
			c.section(out, f, &f.file.Sections[n])
		}
	}
	s.soft = c.subject.Agent == "" && s.From == ""
	rules := make([]policy.Rule, len(s.Rules))
	for i := range s.Rules {
		rules[i] = s.Rules[i].Rule
	}
	var err error
	if out.engine, err = policy.New(policy.Options{Preset: s.Preset, Rules: rules, Own: c.book.ListOwn()}); err != nil {
		// Each rule was checked where it was read. What cannot be is asked about, all of it.
		c.book.o.Log.Error("rules cannot be compiled", "err", err)
		s.Preset, s.From = policy.Listed, err.Error()
		out.engine, _ = policy.New(policy.Options{Preset: policy.Listed, Own: c.book.ListOwn()})
	}
	return out
}

// asked takes the preset that was asked for, if it is stricter.
func (c *chooser) asked(s *Sources) {
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
		s.Preset, s.From = policy.Listed, "there is no policy "+strconv.Quote(c.subject.Policy)
	}
}

// status notes what became of a file.
func (c *chooser) status(s *Sources, f *chosen) {
	st := f.status()
	// What a person's own file denies is not known then, and counts for the person, too; a project's may be anybody's.
	if f.using == "broken" && (!f.project || c.subject.Agent != "" || c.subject.Policy != "") && stricter(s.Preset, policy.ReadOnly) != s.Preset {
		s.Preset, s.From = policy.ReadOnly, f.path+" is not in order"
	}
	if f.project && f.file != nil {
		st.Trusted = f.trusted()
		if st.Changed = f.trust != nil && !st.Trusted; st.Changed {
			st.Problems = append(st.Problems, fmt.Sprintf("%s: it has changed since you trusted it on %s: what it allows does not count; "+
				"look at it, then `longterm policy trust %s`", f.path, f.trust.Time.Local().Format(time.DateTime), f.path))
		}
	}
	s.Files = append(s.Files, st)
}

// section takes a section's preset and rules.
func (c *chooser) section(out *compiled, f *chosen, sec *Section) {
	s := out.sources
	if sec.Preset != "" && stricter(s.Preset, sec.Preset) != s.Preset || sec.Preset == s.Preset && s.From == "" {
		s.Preset, s.From = sec.Preset, fmt.Sprintf("%s:%d", f.path, sec.PresetAt.Line)
	}
	for i := range sec.Rules {
		r := &sec.Rules[i]
		e := Entry{Rule: r.Rule, File: f.path, Line: r.At.Line, Column: r.At.Column, Section: sec.Name, Until: r.Until}
		e.Roots, e.Why = c.roots(f, r)
		if f.project && r.Decision == policy.Allow && f.trusted() && e.Why == "" {
			if e.Roots = narrowed(e.Roots, f.at); len(e.Roots) == 0 {
				e.Why = "what a project's file allows counts in the project only, and it names other directories"
			}
		}
		switch {
		case !r.Until.IsZero() && !c.now.Before(r.Until):
			e.Why = "it expired on " + Until(r.Until)
		case r.Decision == policy.Allow && !f.trusted():
			e.Why = "it allows, and its file is not trusted: `longterm policy trust " + f.path + "`"
		}
		if e.Why != "" {
			s.Idle = append(s.Idle, e)
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

// roots are the directories of a rule, as they are named and as they are. Where the home directory is not
// known a rule that is strict counts everywhere, and one that allows nowhere.
func (c *chooser) roots(f *chosen, r *Rule) (roots []string, idle string) {
	for _, dir := range r.Cwd {
		switch {
		case dir == "~" || strings.HasPrefix(dir, "~/"):
			if c.subject.Home == "" {
				if r.Decision == policy.Allow {
					return nil, "the home directory is not known"
				}
				return nil, ""
			}
			dir = filepath.Join(c.subject.Home, dir[1:])
		case !filepath.IsAbs(dir):
			dir = filepath.Join(filepath.Dir(filepath.Dir(f.path)), dir)
		}
		roots = append(roots, filepath.Clean(dir))
		if real := resolved(dir); !slices.Contains(roots, real) {
			roots = append(roots, real)
		}
	}
	return roots, ""
}

// narrowed are the roots of a rule as far as they are in a project; all of it where the rule names none.
func narrowed(roots, project []string) (in []string) {
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

// projectNames are a project's directory, which has no links in it, and the names by which a subject is in it: shells tell where
// they are with the links that led there.
func projectNames(dir string, s *Subject) []string {
	names := []string{dir}
	for _, cwd := range []string{s.Cwd, s.Start} {
		if !filepath.IsAbs(cwd) || cwd == s.Cwd && s.Real {
			continue
		}
		cwd = filepath.Clean(reachable(cwd))
		if policy.InRoots(cwd, names) || !policy.InRoots(resolved(cwd), names[:1]) {
			continue
		}
		name := cwd // it is below the project by a link from elsewhere, unless what it is in is the project
		for up := cwd; len(up) > 1; up = filepath.Dir(up) {
			if resolved(up) == dir {
				name = up
				break
			}
		}
		names = append(names, name)
	}
	return names
}
