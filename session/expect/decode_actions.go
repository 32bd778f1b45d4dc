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

// action is what a step does.
type action interface {
	run(r *runner, s *Step) error
}

func decodeSpawn(d *decoder, v *yaml.Node, _ fields) action {
	a := &spawn{}
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

func (d *decoder) spawnFields(a *spawn, v *yaml.Node) {
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
		d.directory(n, a.Cwd)
	}
	if n := f["env"]; n != nil {
		a.Env = make(map[string]string)
		d.pairs(n, func(key, value *yaml.Node) { a.Env[key.Value] = d.template(value) })
	}
	if n := f["cols"]; n != nil {
		a.Cols = d.number(n)
	}
	if n := f["rows"]; n != nil {
		a.Rows = d.number(n)
	}
}

// directory checks one that can be known before the script runs.
func (d *decoder) directory(n *yaml.Node, dir string) {
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

func (d *decoder) templates(n *yaml.Node) []string {
	var list []string
	for _, item := range d.list(n) {
		list = append(list, d.template(item))
	}
	return list
}

// inputLine is text followed by Enter, in a source only.
const inputLine InputKind = "line"

func decodeTyping(kind InputKind) func(*decoder, *yaml.Node, fields) action {
	return func(d *decoder, v *yaml.Node, f fields) action {
		a := &typing{Kind: kind}
		if kind == InputSecret {
			a.Text = d.str(v)
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
			d.keys(v, a.Text)
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

// keys checks key names. Variables in the template count as text.
func (d *decoder) keys(n *yaml.Node, template string) {
	text, _ := expand(template, func(string) (string, bool) { return "x", true }, nil)
	if _, err := input.ParseKeys(text); err != nil {
		d.errorf(n, "%v", err)
	}
}

func decodeExpect(d *decoder, v *yaml.Node, _ fields) action {
	a := &expect{}
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
	if len(a.Branches) == 0 && !a.OnTime {
		d.errorf(v, "expect needs something to expect")
	}
	return a
}

// branch decodes one branch. A branch for a timeout has no pattern and goes into a.
func (d *decoder) branch(n *yaml.Node, a *expect) (b branch, ok bool) {
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
		b.do = d.steps(x)
	}
	return d.branchPattern(n, f, b, a)
}

func (d *decoder) branchPattern(n *yaml.Node, f fields, b branch, a *expect) (branch, bool) {
	switch {
	case f["text"] != nil:
		b.pattern.Text = d.template(f["text"])
		return b, d.checkPattern(f["text"], b.pattern)
	case f["regexp"] != nil:
		b.pattern.Regexp = d.template(f["regexp"])
		d.groups(b.pattern.Regexp)
		return b, d.checkPattern(f["regexp"], b.pattern)
	case f["exit"] != nil:
		b.pattern.Exit = d.yes(f["exit"])
		return b, true
	}
	if d.yes(f["timeout"]); a.OnTime {
		d.errorf(n, "timeout is given twice")
	}
	a.Timeout, a.OnTime = b.do, true
	return b, false
}

// yes decodes a boolean that must be true.
func (d *decoder) yes(n *yaml.Node) bool {
	if !d.boolean(n) {
		d.errorf(n, "only true makes sense here")
	}
	return true
}

// checkPattern checks a pattern, with x for its variables.
func (d *decoder) checkPattern(n *yaml.Node, p Pattern) bool {
	text, _ := expand(p.Text, func(string) (string, bool) { return "x", true }, nil)
	expr, _ := expand(p.Regexp, func(string) (string, bool) { return "x", true }, nil)
	if _, err := respond.Compile(respond.Pattern{Text: text, Regexp: expr}); err != nil {
		d.errorf(n, "%s", strings.TrimPrefix(err.Error(), "pattern 1: "))
		return false
	}
	return true
}

// groups notes that a regexp's named groups become variables.
func (d *decoder) groups(expr string) {
	expr, _ = expand(expr, func(string) (string, bool) { return "x", true }, nil)
	if re, err := regexp.Compile(expr); err == nil {
		for _, name := range re.SubexpNames() {
			d.defines[name] = true
		}
	}
}

func decodeLoop(d *decoder, v *yaml.Node, f fields) action {
	a := &loop{}
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
		a.As = d.variable(n)
	}
	a.Do = d.body(v, f["do"], "do")
	return a
}

// body decodes the required steps of a verb.
func (d *decoder) body(at, n *yaml.Node, key string) []Step {
	if n == nil {
		d.errorf(at, "%s is missing", key)
		return nil
	}
	return d.steps(n)
}

// variable decodes the name of a variable that is assigned.
func (d *decoder) variable(n *yaml.Node) string {
	name := d.str(n)
	if !validName(name) {
		d.errorf(n, "%q is no name for a variable: letters, digits and _ are", name)
	}
	d.defines[name] = true
	return name
}

func decodeRepeat(d *decoder, v *yaml.Node, f fields) action {
	a := &repeat{Do: d.steps(v), Max: defaultRepeat}
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

// defaultRepeat is how often a repeat without max goes round.
const defaultRepeat = 100

func decodeIf(d *decoder, v *yaml.Node, f fields) action {
	a := &choose{If: d.condition(v), Then: d.body(v, f["then"], "then")}
	if n := f["else"]; n != nil {
		a.Else = d.steps(n)
	}
	return a
}

func decodeWait(d *decoder, v *yaml.Node, _ fields) action {
	if v = d.resolve(v); v.Kind == yaml.ScalarNode && v.Value == "exit" {
		return &wait{Exit: true}
	}
	t, err := time.ParseDuration(d.str(v))
	if err != nil || t <= 0 {
		d.errorf(v, "a time such as 500ms, or exit, is needed here")
	}
	return &wait{For: t}
}

func decodeAssert(d *decoder, v *yaml.Node, _ fields) action {
	return &assert{d.condition(v)}
}

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

func (d *decoder) comparison(n *yaml.Node, f fields, c *condition) {
	if x := f["var"]; x != nil {
		c.Var = d.str(x)
		d.use(x, "${"+c.Var+"}")
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

// regexp decodes an expression that may match across lines.
func (d *decoder) regexp(n *yaml.Node) string {
	s := d.template(n)
	expr, _ := expand(s, func(string) (string, bool) { return "x", true }, nil)
	if _, err := regexp.Compile(expr); err != nil {
		d.errorf(n, "%v", err)
	}
	return s
}

func decodeCapture(d *decoder, v *yaml.Node, _ fields) action {
	return &capture{d.assignments(v, d.regexp)}
}

func decodeSet(d *decoder, v *yaml.Node, _ fields) action {
	return &set{d.assignments(v, d.template)}
}

// assignments decodes variables and their values.
func (d *decoder) assignments(n *yaml.Node, value func(*yaml.Node) string) []pair {
	var list []pair
	d.pairs(n, func(key, val *yaml.Node) {
		list = append(list, pair{d.pos(key), d.variable(key), value(val)})
	})
	return list
}

func decodeCall(d *decoder, v *yaml.Node, f fields) action {
	a := &call{Procedure: d.str(v)}
	if n := f["with"]; n != nil {
		a.With = d.assignments(n, d.template)
	}
	d.calls = append(d.calls, reference{d.pos(v), a.Procedure})
	return a
}

func decodeFail(d *decoder, v *yaml.Node, _ fields) action {
	return &fail{d.template(v)}
}

func decodeLeave(next bool) func(*decoder, *yaml.Node, fields) action {
	return func(d *decoder, v *yaml.Node, _ fields) action {
		a := &leave{Next: next}
		if v = d.resolve(v); v.Tag != "!!null" {
			a.Label = d.str(v)
		}
		return a
	}
}
