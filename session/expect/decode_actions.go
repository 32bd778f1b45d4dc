package expect

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/vterm/input"
)

// action is the work of a step.
type action interface {
	// run performs the step.
	run(r *runner, s *Step) error
}

// decodeSpawn decodes the command of spawn: a line, an argument vector, or a mapping.
func decodeSpawn(d *decoder, v *yaml.Node, _ fields) action {
	a := &spawnAction{}
	switch v = d.resolve(v); v.Kind {
	case yaml.ScalarNode:
		a.Line = d.template(v)
	case yaml.SequenceNode:
		a.Argv = d.templates(v)
	default:
		d.spawnFields(a, v)
	}
	if a.Line == "" && len(a.Argv) == 0 {
		d.errorf(v, "spawn needs a command")
	}
	return a
}

// spawnFields decodes the mapping of a spawn.
func (d *decoder) spawnFields(a *spawnAction, v *yaml.Node) {
	f := d.fields(v, "command", "argv", "cwd", "env", "cols", "rows")
	if n := f["command"]; n != nil {
		a.Line = d.template(n)
	}
	if n := f["argv"]; n != nil {
		a.Argv = d.templates(n)
	}
	if a.Line != "" && len(a.Argv) > 0 {
		d.errorf(v, "spawn has a command and an argv; one is needed")
	}
	if n := f["cwd"]; n != nil {
		a.Cwd = d.template(n)
		d.checkDirectory(n, a.Cwd)
	}
	if n := f["env"]; n != nil {
		a.Env = make(map[string]string)
		d.eachPair(n, func(key, value *yaml.Node) { a.Env[key.Value] = d.template(value) })
	}
	if n := f["cols"]; n != nil {
		a.Cols = d.number(n)
	}
	if n := f["rows"]; n != nil {
		a.Rows = d.number(n)
	}
}

// checkDirectory reports a missing directory, unless its name has variables.
func (d *decoder) checkDirectory(n *yaml.Node, dir string) {
	if d.opts.Dir == "" || dir == "" || strings.Contains(dir, "$") {
		return
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(d.opts.Dir, dir)
	}
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		d.errorf(n, "cwd: directory %s not found", dir)
	}
}

// templates decodes a list of templates.
func (d *decoder) templates(n *yaml.Node) []string {
	var list []string
	for _, item := range d.list(n) {
		list = append(list, d.template(item))
	}
	return list
}

// inputLine is text followed by Enter. It exists in sources only.
const inputLine InputKind = "line"

// decodeInput returns the decoder of a verb that types.
func decodeInput(kind InputKind) func(*decoder, *yaml.Node, fields) action {
	return func(d *decoder, v *yaml.Node, f fields) action {
		a := &inputAction{Kind: kind}
		if kind == InputSecret {
			a.Text = d.scalar(v)
			if err := respond.CheckSecret(a.Text); err != nil {
				d.errorf(v, "%v", err)
			}
		} else {
			a.Text = d.template(v)
		}
		if kind == inputLine {
			a.Kind, a.Enter = InputText, true
		}
		if kind == InputKeys {
			d.checkKeys(v, a.Text)
		}
		if n := f["enter"]; n != nil {
			a.Enter = d.boolean(n)
		}
		if n := f["force"]; n != nil {
			a.Force = d.boolean(n)
		}
		return a
	}
}

// checkKeys reports invalid key names. Variables in the template count as text.
func (d *decoder) checkKeys(n *yaml.Node, template string) {
	text, _ := expand(template, func(string) (string, bool) { return "x", true }, nil)
	if _, err := input.ParseKeys(text); err != nil {
		d.errorf(n, "%v", err)
	}
}

// decodeExpect decodes one branch or a list of branches.
func decodeExpect(d *decoder, v *yaml.Node, _ fields) action {
	a := &expectAction{}
	v = d.resolve(v)
	if v.Kind != yaml.SequenceNode {
		if b, ok := d.branch(v, a); ok {
			a.Branches = append(a.Branches, b)
		}
		return a
	}
	for _, item := range v.Content {
		if b, ok := d.branch(d.resolve(item), a); ok {
			a.Branches = append(a.Branches, b)
		}
	}
	if len(a.Branches) == 0 && !a.hasTimeout {
		d.errorf(v, "expect needs something to expect")
	}
	return a
}

// branch decodes a branch. ok is false for an invalid one, and for a timeout, which goes into a.
func (d *decoder) branch(n *yaml.Node, a *expectAction) (b expectBranch, ok bool) {
	b.pos = d.pos(n)
	if n.Kind == yaml.ScalarNode {
		b.pattern.Text = d.template(n)
		return b, d.checkPattern(n, b.pattern)
	}
	f := d.fields(n, "text", "regexp", "exit", "timeout", "do")
	kinds := 0
	for _, k := range []string{"text", "regexp", "exit", "timeout"} {
		if f[k] != nil {
			kinds++
		}
	}
	if kinds != 1 {
		d.errorf(n, "one of text, regexp, exit: true and timeout: true is needed")
		return b, false
	}
	if x := f["do"]; x != nil {
		b.steps = d.steps(x)
	}
	return d.branchPattern(n, f, b, a)
}

// branchPattern decodes the pattern of a branch.
func (d *decoder) branchPattern(n *yaml.Node, f fields, b expectBranch, a *expectAction) (expectBranch, bool) {
	switch {
	case f["text"] != nil:
		b.pattern.Text = d.template(f["text"])
		return b, d.checkPattern(f["text"], b.pattern)
	case f["regexp"] != nil:
		b.pattern.Regexp = d.template(f["regexp"])
		d.defineGroups(b.pattern.Regexp)
		return b, d.checkPattern(f["regexp"], b.pattern)
	case f["exit"] != nil:
		b.pattern.Exit = d.requireTrue(f["exit"])
		return b, true
	}
	if d.requireTrue(f["timeout"]); a.hasTimeout {
		d.errorf(n, "timeout is given twice")
	}
	a.Timeout, a.hasTimeout = b.steps, true
	return b, false
}

// requireTrue decodes a boolean that must be true.
func (d *decoder) requireTrue(n *yaml.Node) bool {
	if !d.boolean(n) {
		d.errorf(n, "only true makes sense here")
	}
	return true
}

// checkPattern reports an invalid pattern. Its variables count as the text x.
func (d *decoder) checkPattern(n *yaml.Node, p Pattern) bool {
	text, _ := expand(p.Text, func(string) (string, bool) { return "x", true }, nil)
	expr, _ := expand(p.Regexp, func(string) (string, bool) { return "x", true }, nil)
	if _, err := respond.Compile(respond.Pattern{Text: text, Regexp: expr}); err != nil {
		d.errorf(n, "%s", strings.TrimPrefix(err.Error(), "pattern 1: "))
		return false
	}
	return true
}

// defineGroups marks the named groups of a regexp as defined variables.
func (d *decoder) defineGroups(expr string) {
	expr, _ = expand(expr, func(string) (string, bool) { return "x", true }, nil)
	if re, err := regexp.Compile(expr); err == nil {
		for _, name := range re.SubexpNames() {
			d.defined[name] = true
		}
	}
}

func decodeLoop(d *decoder, v *yaml.Node, f fields) action {
	a := &loopAction{}
	switch v = d.resolve(v); v.Kind {
	case yaml.SequenceNode:
		a.Over = d.templates(v)
	default:
		a.Times = d.template(v)
		if !strings.Contains(a.Times, "$") {
			d.number(v)
		}
	}
	if n := f["as"]; n != nil {
		a.As = d.variableName(n)
	}
	a.Do = d.requiredSteps(v, f["do"], "do")
	return a
}

// requiredSteps decodes the steps of a verb's key. n is nil if the key is missing, which is reported at the position of
// at.
func (d *decoder) requiredSteps(at, n *yaml.Node, key string) []Step {
	if n == nil {
		d.errorf(at, "%s is missing", key)
		return nil
	}
	return d.steps(n)
}

// variableName decodes the name of a variable that is assigned.
func (d *decoder) variableName(n *yaml.Node) string {
	name := d.scalar(n)
	if !isVariableName(name) {
		d.errorf(n, "%q is no name for a variable: letters, digits and _ are", name)
	}
	d.defined[name] = true
	return name
}

func decodeRepeat(d *decoder, v *yaml.Node, f fields) action {
	a := &repeatAction{Do: d.steps(v), Max: defaultRepeatRounds}
	if n := f["max"]; n != nil {
		a.Max = d.number(n)
	}
	if f["until"] == nil {
		d.errorf(v, "until is missing")
		return a
	}
	a.Until = d.condition(f["until"])
	return a
}

// defaultRepeatRounds bounds the rounds of a repeat without max.
const defaultRepeatRounds = 100

func decodeIf(d *decoder, v *yaml.Node, f fields) action {
	a := &ifAction{If: d.condition(v), Then: d.requiredSteps(v, f["then"], "then")}
	if n := f["else"]; n != nil {
		a.Else = d.steps(n)
	}
	return a
}

func decodeWait(d *decoder, v *yaml.Node, _ fields) action {
	if v = d.resolve(v); v.Kind == yaml.ScalarNode && v.Value == "exit" {
		return &waitAction{Exit: true}
	}
	t, err := time.ParseDuration(d.scalar(v))
	if err != nil || t <= 0 {
		d.errorf(v, "a time such as 500ms, or exit, is needed here")
	}
	return &waitAction{Duration: t}
}

// decodeAssert decodes a condition that must hold.
func decodeAssert(d *decoder, v *yaml.Node, _ fields) action {
	return &assertAction{d.condition(v)}
}

// condition decodes a condition.
func (d *decoder) condition(n *yaml.Node) condition {
	var c condition
	if d.depth++; d.depth > maxDepth {
		d.errorf(n, "conditions are nested more than %d deep", maxDepth)
		d.depth--
		return c
	}
	defer func() { d.depth-- }()
	f := d.fields(n, "screen", "screen_regexp", "exit", "cwd", "var", "equals", "matches", "not")
	if len(f) == 0 {
		d.errorf(n, "a condition is needed: screen, screen_regexp, exit, cwd, var or not")
	}
	if x := f["screen"]; x != nil {
		c.Screen = d.template(x)
	}
	if x := f["screen_regexp"]; x != nil {
		c.ScreenRegexp = d.regexp(x)
	}
	if x := f["exit"]; x != nil {
		code := d.number(x)
		c.Exit = &code
	}
	if x := f["cwd"]; x != nil {
		c.Cwd = d.template(x)
	}
	if x := f["not"]; x != nil {
		not := d.condition(x)
		c.Not = &not
	}
	d.comparison(n, f, &c)
	return c
}

// comparison decodes the comparison with a variable.
func (d *decoder) comparison(n *yaml.Node, f fields, c *condition) {
	if x := f["var"]; x != nil {
		c.Var = d.scalar(x)
		d.noteVariables(x, "${"+c.Var+"}")
	}
	if x := f["equals"]; x != nil {
		s := d.template(x)
		c.Equals = &s
	}
	if x := f["matches"]; x != nil {
		c.Matches = d.regexp(x)
	}
	compares := c.Equals != nil || f["matches"] != nil
	if (f["var"] != nil) != compares {
		d.errorf(n, "var goes with equals or matches")
	}
}

// regexp decodes a regexp that may match across lines.
func (d *decoder) regexp(n *yaml.Node) string {
	s := d.template(n)
	expr, _ := expand(s, func(string) (string, bool) { return "x", true }, nil)
	if _, err := regexp.Compile(expr); err != nil {
		d.errorf(n, "%v", err)
	}
	return s
}

func decodeCapture(d *decoder, v *yaml.Node, _ fields) action {
	return &captureAction{d.assignments(v, d.regexp)}
}

func decodeSet(d *decoder, v *yaml.Node, _ fields) action {
	return &setAction{d.assignments(v, d.template)}
}

// assignments decodes variables and their values, which value decodes.
func (d *decoder) assignments(n *yaml.Node, value func(*yaml.Node) string) []assignment {
	var list []assignment
	d.eachPair(n, func(key, val *yaml.Node) {
		list = append(list, assignment{d.pos(key), d.variableName(key), value(val)})
	})
	return list
}

func decodeCall(d *decoder, v *yaml.Node, f fields) action {
	a := &callAction{Procedure: d.scalar(v)}
	if n := f["with"]; n != nil {
		a.With = d.assignments(n, d.template)
	}
	d.procedureCalls = append(d.procedureCalls, reference{d.pos(v), a.Procedure})
	return a
}

func decodeFail(d *decoder, v *yaml.Node, _ fields) action {
	return &failAction{d.template(v)}
}

// decodeLoopControl returns the decoder of break or continue.
func decodeLoopControl(next bool) func(*decoder, *yaml.Node, fields) action {
	return func(d *decoder, v *yaml.Node, _ fields) action {
		a := &loopControl{IsContinue: next}
		if v = d.resolve(v); v.Tag != "!!null" {
			a.Label = d.scalar(v)
		}
		return a
	}
}
