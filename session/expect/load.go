package expect

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// LoadOptions limit what a source may refer to.
type LoadOptions struct {
	// Vars are variables given from outside; their names count as defined.
	Vars map[string]string
	// Include reads a file that a script includes, by the path as written there. nil:
	// including is not possible.
	Include func(path string) ([]byte, error)
	// Dir is the directory in which programs start, and the base of a relative cwd, whose existence is checked. If
	// empty, it is not checked.
	Dir string
}

// Load loads a script and returns its problems. The script is nil if any problem is not a warning.
func Load(src []byte, opts LoadOptions) (*Script, []Problem) {
	d := &decoder{opts: &opts, defines: make(map[string]bool), script: &Script{
		Vars: make(map[string]string), procedures: make(map[string]*procedure)}}
	if root := d.parse(src); root != nil {
		d.root(root)
		d.check()
	}
	sortProblems(d.problems)
	if Err(d.problems) != nil {
		return nil, d.problems
	}
	return d.script, d.problems
}

// Check returns the problems of a script.
func Check(src []byte, opts LoadOptions) []Problem {
	_, problems := Load(src, opts)
	return problems
}

// rootKeys are the keys of a script, and of a file it includes.
var rootKeys = []string{"name", "timeout", "step_timeout", "vars", "require", "procedures", "steps"}

func (d *decoder) root(n *yaml.Node) {
	f := d.fields(n, rootKeys...)
	s := d.script
	if x := f["name"]; x != nil {
		s.Name = d.str(x)
	}
	if x := f["timeout"]; x != nil {
		s.Timeout = d.duration(x)
	}
	if x := f["step_timeout"]; x != nil {
		s.StepTimeout = d.duration(x)
	}
	s.Steps = d.parts(f)
	if f["steps"] == nil {
		d.errorf(n, "steps is missing")
	}
}

// parts decodes the common parts of a script and an included file. Variables that are set already stay.
func (d *decoder) parts(f fields) []Step {
	if x := f["vars"]; x != nil {
		for _, p := range d.assignments(x, d.template) {
			if _, set := d.script.Vars[p.name]; !set {
				d.script.Vars[p.name] = p.value
			}
		}
	}
	if x := f["require"]; x != nil {
		for _, item := range d.list(x) {
			d.script.Require = append(d.script.Require, d.variable(item))
		}
	}
	if x := f["procedures"]; x != nil {
		d.pairs(x, d.procedure)
	}
	if x := f["steps"]; x != nil {
		return d.steps(x)
	}
	return nil
}

func (d *decoder) procedure(key, value *yaml.Node) {
	if had := d.script.procedures[key.Value]; had != nil {
		d.errorf(key, "there is a procedure %q already, at %v", key.Value, had.pos)
		return
	}
	p := &procedure{pos: d.pos(key)}
	d.script.procedures[key.Value] = p
	p.steps = d.steps(value)
}

// maxIncludes bounds files in files.
const maxIncludes = 10

func decodeInclude(d *decoder, v *yaml.Node, _ fields) action {
	path := d.str(v)
	a := &include{}
	switch {
	case d.opts.Include == nil:
		d.errorf(v, "files cannot be included here")
		return a
	case slices.Contains(d.files, path):
		d.errorf(v, "%s includes itself: %s", path, strings.Join(append(d.files, path), " → "))
		return a
	case len(d.files) >= maxIncludes:
		d.errorf(v, "files are included more than %d deep", maxIncludes)
		return a
	}
	src, err := d.opts.Include(path)
	if err != nil {
		d.errorf(v, "%v", err)
		return a
	}
	file := d.file
	d.file, d.files = path, append(d.files, path)
	if root := d.parse(src); root != nil {
		a.Steps = d.parts(d.fields(root, rootKeys...))
	}
	d.file, d.files = file, d.files[:len(d.files)-1]
	return a
}

// check looks at what needs the whole script.
func (d *decoder) check() {
	d.checkVars()
	for _, c := range d.calls {
		p := d.script.procedures[c.name]
		if p == nil {
			names := slices.Sorted(maps.Keys(d.script.procedures))
			hint := ""
			if near := nearest(c.name, names); near != "" {
				hint = fmt.Sprintf("; did you mean %q?", near)
			}
			d.problems = append(d.problems, Problem{Pos: c.pos, Message: fmt.Sprintf("procedure %q not found%s", c.name, hint)})
			continue
		}
		p.called = true
	}
	d.checkSteps(d.script.Steps, nil)
	for name, p := range d.script.procedures {
		if !p.called {
			d.warnf(p.pos, "the procedure %q is never called", name)
		}
		d.checkSteps(p.steps, nil)
	}
}

func (d *decoder) checkVars() {
	known := maps.Clone(d.defines)
	for name := range d.opts.Vars {
		known[name] = true
	}
	names := slices.Sorted(maps.Keys(known))
	for _, u := range d.uses {
		if known[u.name] || builtin(u.name) {
			continue
		}
		hint := ""
		if near := nearest(u.name, names); near != "" {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		if strings.ContainsAny(u.name[:min(1, len(u.name))], "#!@*?-/%^,") || u.name == "" { // of a shell
			hint = "; a literal ${ is written $${"
		}
		d.problems = append(d.problems, Problem{Pos: u.pos, Message: fmt.Sprintf("the variable %q is not defined%s", u.name, hint)})
	}
}

// builtin reports whether a variable has its value from the runner: match and the
// numbers of its groups, exit, and the environment.
func builtin(name string) bool {
	_, err := strconv.ParseUint(name, 10, 16)
	return err == nil || name == "match" || name == "exit" || strings.HasPrefix(name, "env:")
}

// scope is the labels of the loops around a step, innermost last. "" has no label.
type scope []*loopLabel

type loopLabel struct {
	name string
	used bool
}

// checkSteps checks the labels of steps, and that each step can be reached.
func (d *decoder) checkSteps(steps []Step, loops scope) {
	for i := range steps {
		s := &steps[i]
		if i > 0 && ends(&steps[i-1]) {
			d.warnf(s.Pos, "this step is never reached")
		}
		d.checkStep(s, loops)
	}
}

func (d *decoder) checkStep(s *Step, loops scope) {
	switch a := s.action.(type) {
	case *loop:
		d.checkLoop(s, a.Do, loops)
	case *repeat:
		d.checkLoop(s, a.Do, loops)
	case *expect:
		for _, b := range a.Branches {
			d.checkSteps(b.do, loops)
		}
		d.checkSteps(a.Timeout, loops)
	case *choose:
		d.checkSteps(a.Then, loops)
		d.checkSteps(a.Else, loops)
	case *include:
		d.checkSteps(a.Steps, loops)
	case *leave:
		d.checkLeave(s, a, loops)
	}
	if s.Label != "" && s.Verb != "loop" && s.Verb != "repeat" {
		d.warnf(s.Pos, "the label %q has no use: break and continue refer to loops only", s.Label)
	}
}

func (d *decoder) checkLoop(s *Step, do []Step, loops scope) {
	l := &loopLabel{name: s.Label}
	d.checkSteps(do, append(slices.Clip(loops), l))
	if s.Label != "" && !l.used {
		d.warnf(s.Pos, "the label %q is never used", s.Label)
	}
}

func (d *decoder) checkLeave(s *Step, a *leave, loops scope) {
	for i := len(loops) - 1; i >= 0; i-- {
		if a.Label == "" || loops[i].name == a.Label {
			loops[i].used = true
			return
		}
	}
	msg := s.Verb + " is not in a loop"
	if a.Label != "" {
		msg = fmt.Sprintf("no loop around this has the label %q", a.Label)
	}
	d.problems = append(d.problems, Problem{Pos: s.Pos, Message: msg})
}

// ends reports whether nothing after a step is ever reached.
func ends(s *Step) bool {
	switch s.action.(type) {
	case *leave, *fail:
		return true
	}
	return false
}
