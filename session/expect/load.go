package expect

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// LoadOptions configure Load.
type LoadOptions struct {
	// Vars are variables set by the caller; their names count as defined.
	Vars map[string]string
	// Include returns the content of an included file, by the path as written there. If nil, including is an error.
	Include func(path string) ([]byte, error)
	// Dir is the directory in which programs start, and the base of a relative cwd. If set, Load checks that cwd
	// exists.
	Dir string
}

// Load loads a script and returns its problems. The script is nil if any problem is not a warning.
func Load(src []byte, opts LoadOptions) (*Script, []Problem) {
	d := &decoder{opts: &opts, defined: make(map[string]bool), script: &Script{
		Vars: make(map[string]string), procedures: make(map[string]*procedure)}}
	if root := d.parse(src); root != nil {
		d.decodeRoot(root)
		d.checkReferences()
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

// rootKeys are the keys of a script, and of an included file.
var rootKeys = []string{"name", "timeout", "step_timeout", "vars", "require", "procedures", "steps"}

// decodeRoot decodes the whole script.
func (d *decoder) decodeRoot(n *yaml.Node) {
	f := d.fields(n, rootKeys...)
	s := d.script
	if x := f["name"]; x != nil {
		s.Name = d.scalar(x)
	}
	if x := f["timeout"]; x != nil {
		s.Timeout = d.duration(x)
	}
	if x := f["step_timeout"]; x != nil {
		s.StepTimeout = d.duration(x)
	}
	s.Steps = d.decodeCommon(f)
	if f["steps"] == nil {
		d.errorf(n, "steps is missing")
	}
}

// decodeCommon decodes the keys that a script and an included file have in common. Variables that are already set keep
// their values.
func (d *decoder) decodeCommon(f fields) []Step {
	if x := f["vars"]; x != nil {
		for _, p := range d.assignments(x, d.template) {
			if _, set := d.script.Vars[p.name]; !set {
				d.script.Vars[p.name] = p.value
			}
		}
	}
	if x := f["require"]; x != nil {
		for _, item := range d.list(x) {
			d.script.Require = append(d.script.Require, d.variableName(item))
		}
	}
	if x := f["procedures"]; x != nil {
		d.eachPair(x, d.decodeProcedure)
	}
	if x := f["steps"]; x != nil {
		return d.steps(x)
	}
	return nil
}

// decodeProcedure decodes a procedure and adds it to the script.
func (d *decoder) decodeProcedure(key, value *yaml.Node) {
	if had := d.script.procedures[key.Value]; had != nil {
		d.errorf(key, "there is a procedure %q already, at %v", key.Value, had.pos)
		return
	}
	p := &procedure{pos: d.pos(key)}
	d.script.procedures[key.Value] = p
	p.steps = d.steps(value)
}

// maxIncludeDepth bounds the depth of included files.
const maxIncludeDepth = 10

// decodeInclude decodes an included file in place of the step.
func decodeInclude(d *decoder, v *yaml.Node, _ fields) action {
	path := d.scalar(v)
	a := &includeAction{}
	switch {
	case d.opts.Include == nil:
		d.errorf(v, "files cannot be included here")
		return a
	case slices.Contains(d.includeStack, path):
		d.errorf(v, "%s includes itself: %s", path, strings.Join(append(d.includeStack, path), " → "))
		return a
	case len(d.includeStack) >= maxIncludeDepth:
		d.errorf(v, "files are included more than %d deep", maxIncludeDepth)
		return a
	}
	src, err := d.opts.Include(path)
	if err != nil {
		d.errorf(v, "%v", err)
		return a
	}
	file := d.file
	d.file, d.includeStack = path, append(d.includeStack, path)
	if root := d.parse(src); root != nil {
		a.Steps = d.decodeCommon(d.fields(root, rootKeys...))
	}
	d.file, d.includeStack = file, d.includeStack[:len(d.includeStack)-1]
	return a
}

// checkReferences checks variables, procedure calls and labels, once the whole script is decoded.
func (d *decoder) checkReferences() {
	d.checkVars()
	for _, c := range d.procedureCalls {
		p := d.script.procedures[c.name]
		if p == nil {
			names := slices.Sorted(maps.Keys(d.script.procedures))
			hint := ""
			if near := nearestName(c.name, names); near != "" {
				hint = fmt.Sprintf("; did you mean %q?", near)
			}
			d.problems = append(d.problems, Problem{Pos: c.pos, Message: fmt.Sprintf("procedure %q not found%s", c.name, hint)})
			continue
		}
		p.isCalled = true
	}
	d.checkSteps(d.script.Steps, nil)
	for name, p := range d.script.procedures {
		if !p.isCalled {
			d.warnf(p.pos, "the procedure %q is never called", name)
		}
		d.checkSteps(p.steps, nil)
	}
}

// checkVars reports the use of undefined variables.
func (d *decoder) checkVars() {
	known := maps.Clone(d.defined)
	for name := range d.opts.Vars {
		known[name] = true
	}
	names := slices.Sorted(maps.Keys(known))
	for _, u := range d.variableUses {
		if known[u.name] || isBuiltin(u.name) {
			continue
		}
		hint := ""
		if near := nearestName(u.name, names); near != "" {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		if strings.ContainsAny(u.name[:min(1, len(u.name))], "#!@*?-/%^,") || u.name == "" { // of a shell
			hint = "; a literal ${ is written $${"
		}
		d.problems = append(d.problems, Problem{Pos: u.pos, Message: fmt.Sprintf("the variable %q is not defined%s", u.name, hint)})
	}
}

// isBuiltin reports whether the runner sets a variable: match and the numbers of its groups, exit, and the environment.
func isBuiltin(name string) bool {
	_, err := strconv.ParseUint(name, 10, 16)
	return err == nil || name == "match" || name == "exit" || strings.HasPrefix(name, "env:")
}

// loopScope has the loops around a step, the innermost last.
type loopScope []*loopLabel

// loopLabel is the label of a loop, "" for none.
type loopLabel struct {
	name   string
	isUsed bool // a break or continue refers to it
}

// checkSteps checks the labels in steps, and that each step can be reached.
func (d *decoder) checkSteps(steps []Step, loops loopScope) {
	for i := range steps {
		s := &steps[i]
		if i > 0 && endsFlow(&steps[i-1]) {
			d.warnf(s.Pos, "this step is never reached")
		}
		d.checkStep(s, loops)
	}
}

// checkStep checks the labels in a step and its nested steps.
func (d *decoder) checkStep(s *Step, loops loopScope) {
	switch a := s.action.(type) {
	case *loopAction:
		d.checkLoop(s, a.Do, loops)
	case *repeatAction:
		d.checkLoop(s, a.Do, loops)
	case *expectAction:
		for _, b := range a.Branches {
			d.checkSteps(b.steps, loops)
		}
		d.checkSteps(a.Timeout, loops)
	case *ifAction:
		d.checkSteps(a.Then, loops)
		d.checkSteps(a.Else, loops)
	case *includeAction:
		d.checkSteps(a.Steps, loops)
	case *loopControl:
		d.checkLoopControl(s, a, loops)
	}
	if s.Label != "" && s.Verb != "loop" && s.Verb != "repeat" {
		d.warnf(s.Pos, "the label %q has no use: break and continue refer to loops only", s.Label)
	}
}

// checkLoop checks the labels in the steps of a loop.
func (d *decoder) checkLoop(s *Step, do []Step, loops loopScope) {
	l := &loopLabel{name: s.Label}
	d.checkSteps(do, append(slices.Clip(loops), l))
	if s.Label != "" && !l.isUsed {
		d.warnf(s.Pos, "the label %q is never used", s.Label)
	}
}

// checkLoopControl checks that a break or continue is within its loop.
func (d *decoder) checkLoopControl(s *Step, a *loopControl, loops loopScope) {
	for i := len(loops) - 1; i >= 0; i-- {
		if a.Label == "" || loops[i].name == a.Label {
			loops[i].isUsed = true
			return
		}
	}
	msg := s.Verb + " is not in a loop"
	if a.Label != "" {
		msg = fmt.Sprintf("no loop around this has the label %q", a.Label)
	}
	d.problems = append(d.problems, Problem{Pos: s.Pos, Message: msg})
}

// endsFlow reports whether no step after s is ever reached.
func endsFlow(s *Step) bool {
	switch s.action.(type) {
	case *loopControl, *failAction:
		return true
	}
	return false
}
