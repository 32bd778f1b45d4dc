package expect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"
)

// Options configure the run of a script.
type Options struct {
	Vars        map[string]string                // given from outside
	LookupEnv   func(name string) (string, bool) // ${env:NAME}; undefined if nil
	StepTimeout time.Duration                    // of steps without a timeout in the script; default 60 s
	OnBegin     func(Result)                     // called with each step at its start
	OnStep      func(Result)                     // and when it ends
}

const (
	defaultStepTimeout = 60 * time.Second
	maxCalls           = 100 // procedures in procedures
	pollEvery          = 50 * time.Millisecond
)

// Run runs a script to its end or its first failure. What is wrong is in the report.
func Run(ctx context.Context, s *Script, d Driver, opts Options) Report {
	r := &runner{script: s, driver: d, opts: opts, vars: make(map[string]string)}
	r.report = Report{Script: cmp.Or(s.Name, "script"), Started: time.Now()}
	err := r.begin()
	if err == nil {
		if s.Timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, s.Timeout)
			defer cancel()
		}
		r.ctx = ctx
		err = r.steps(s.Steps)
	}
	r.finish(context.WithoutCancel(ctx), err)
	return r.report
}

// runner is a run under way.
type runner struct {
	script *Script
	driver Driver
	opts   Options
	ctx    context.Context // of the innermost step with a separate deadline
	outer  context.Context // of the steps around that step
	vars   map[string]string
	groups []string // of the last match
	report Report
	depth  int
	calls  int
}

// begin initializes the variables.
func (r *runner) begin() error {
	maps.Copy(r.vars, r.opts.Vars)
	for _, name := range r.script.Require {
		if _, ok := r.vars[name]; !ok {
			return fmt.Errorf("the variable %q must be given", name)
		}
	}
	for name, template := range r.script.Vars {
		if _, given := r.opts.Vars[name]; given {
			continue
		}
		v, err := r.constant(template, 0)
		if err != nil {
			return fmt.Errorf("vars: %s: %w", name, err)
		}
		r.vars[name] = v
	}
	return nil
}

// constant expands a template of vars, which may name others of them in any order.
func (r *runner) constant(template string, depth int) (string, error) {
	var err error
	v, unknown := expand(template, func(name string) (string, bool) {
		if given, ok := r.opts.Vars[name]; ok {
			return given, true
		}
		t, ok := r.script.Vars[name]
		if !ok {
			return r.value(name)
		}
		if depth > len(r.script.Vars) {
			err = errors.New("variables name each other in a circle")
			return "", true
		}
		v, e := r.constant(t, depth+1)
		err = cmp.Or(err, e)
		return v, true
	}, nil)
	return v, cmp.Or(err, unknown)
}

// value returns the value of a variable.
func (r *runner) value(name string) (string, bool) {
	if env, ok := strings.CutPrefix(name, "env:"); ok {
		if r.opts.LookupEnv == nil {
			return "", false
		}
		return r.opts.LookupEnv(env)
	}
	if name == "match" {
		name = "0"
	}
	if n, err := strconv.Atoi(name); err == nil {
		if n < 0 || n >= len(r.groups) {
			return "", false
		}
		return r.groups[n], true
	}
	v, ok := r.vars[name]
	return v, ok
}

func (r *runner) expand(template string) (string, error) {
	return expand(template, r.value, nil)
}

// steps runs steps until one fails.
func (r *runner) steps(steps []Step) error {
	r.depth++
	defer func() { r.depth-- }()
	for i := range steps {
		if err := r.step(&steps[i]); err != nil {
			r.skip(steps[i+1:], err)
			return err
		}
	}
	return nil
}

// step runs one step, and records its result.
func (r *runner) step(s *Step) error {
	began := time.Now()
	at := r.note(s)
	if r.opts.OnBegin != nil {
		r.opts.OnBegin(s.result(r.depth - 1))
	}
	err := r.within(s, func() error { return s.action.run(r, s) })
	var res Result
	if at >= 0 {
		res = r.report.Steps[at]
	}
	res.DurationMS = time.Since(began).Milliseconds()
	res.Status = Passed
	if stops(err) {
		res.Status, res.Error = Failed, err.Error()
	}
	if at >= 0 {
		r.report.Steps[at] = res
	}
	if r.opts.OnStep != nil {
		r.opts.OnStep(res)
	}
	return err
}

// note lists a step in the report. It returns its index, or -1 if there are too many.
func (r *runner) note(s *Step) int {
	if len(r.report.Steps) >= maxResults {
		r.report.Omitted++
		return -1
	}
	r.report.Steps = append(r.report.Steps, s.result(r.depth-1))
	return len(r.report.Steps) - 1
}

func (s *Step) result(depth int) Result {
	res := Result{Pos: s.Pos, Verb: s.Verb, Name: s.Name, Depth: depth}
	if d, ok := s.action.(interface{ detail() string }); ok {
		res.Detail = d.detail()
	}
	return res
}

// skip lists what is not reached after a failure.
func (r *runner) skip(steps []Step, err error) {
	if !stops(err) {
		return
	}
	for i := range steps {
		if at := r.note(&steps[i]); at >= 0 {
			r.report.Steps[at].Status = Skipped
		}
	}
}

// within runs a step with nested steps under its deadline.
func (r *runner) within(s *Step, f func() error) error {
	if err := r.ctx.Err(); err != nil {
		return r.late(err)
	}
	if s.Timeout == 0 {
		return f()
	}
	outermost, outer := r.outer, r.ctx
	ctx, cancel := context.WithTimeout(outer, s.Timeout)
	defer cancel()
	r.ctx, r.outer = ctx, outer
	err := f()
	r.ctx, r.outer = outer, outermost
	return err
}

// deadline returns the context of a step that waits.
func (r *runner) deadline(s *Step) (ctx context.Context, cancel context.CancelFunc, after time.Duration) {
	if s.Timeout > 0 { // within has set it
		return r.ctx, func() {}, s.Timeout
	}
	after = cmp.Or(r.script.StepTimeout, r.opts.StepTimeout, defaultStepTimeout)
	ctx, cancel = context.WithTimeout(r.ctx, after)
	return ctx, cancel, after
}

// late converts the context's error for the report.
func (r *runner) late(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("time ran out")
	}
	return err
}

// finish completes the report.
func (r *runner) finish(ctx context.Context, err error) {
	rep := &r.report
	var l *leaving
	if errors.As(err, &l) {
		err = nil
	}
	rep.OK = err == nil
	rep.DurationMS = time.Since(rep.Started).Milliseconds()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	v, lookErr := r.driver.Look(ctx)
	if lookErr == nil && !v.Exited && r.endsSoon(ctx) {
		v, lookErr = r.driver.Look(ctx)
	}
	if lookErr == nil && v.Exited {
		rep.ExitCode = &v.ExitCode
	}
	if err != nil {
		rep.Error = err.Error()
		if lookErr == nil {
			rep.Screen = v.Screen
		}
	}
}

// endGrace is how long a program may take to end after the last step: most scripts end with an expect of its last
// output.
const endGrace = 250 * time.Millisecond

// endsSoon waits a moment for the program's end.
func (r *runner) endsSoon(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, endGrace)
	defer cancel()
	_, err := r.driver.Expect(ctx, []Pattern{{Exit: true}})
	return err == nil
}

// leaving is break and continue on their way to their loop.
type leaving struct{ leave }

func (l *leaving) Error() string { return "not in a loop" }

// stops reports whether err ends the script, and is not merely a loop left.
func stops(err error) bool {
	var l *leaving
	return err != nil && !errors.As(err, &l)
}
