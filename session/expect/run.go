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
	Vars        map[string]string                // set by the caller
	LookupEnv   func(name string) (string, bool) // ${env:NAME}; undefined if nil
	StepTimeout time.Duration                    // of steps without a timeout in the script; default 60 s
	OnStepStart func(Result)                     // called with each step at its start
	OnStepEnd   func(Result)                     // called with each step at its end
}

const (
	defaultStepTimeout = 60 * time.Second
	maxCallDepth       = 100 // depth of procedure calls
	pollInterval       = 50 * time.Millisecond
)

// Run runs a script to its end or its first failure, which is in the report.
func Run(ctx context.Context, s *Script, d Driver, opts Options) Report {
	r := &runner{script: s, driver: d, opts: opts, vars: make(map[string]string)}
	r.report = Report{Script: cmp.Or(s.Name, "script"), Started: time.Now()}
	err := r.initVars()
	if err == nil {
		if s.Timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, s.Timeout)
			defer cancel()
		}
		r.ctx = ctx
		err = r.runSteps(s.Steps)
	}
	r.completeReport(context.WithoutCancel(ctx), err)
	return r.report
}

// runner is the state of a run.
type runner struct {
	script    *Script
	driver    Driver
	opts      Options
	ctx       context.Context // of the innermost step with its own timeout
	outerCtx  context.Context // of the steps around that step
	vars      map[string]string
	groups    []string // of the last match
	report    Report
	depth     int // of nested steps
	callDepth int // of procedure calls
}

// initVars sets the variables of the caller and the script.
func (r *runner) initVars() error {
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
		v, err := r.expandConstant(template, 0)
		if err != nil {
			return fmt.Errorf("vars: %s: %w", name, err)
		}
		r.vars[name] = v
	}
	return nil
}

// expandConstant expands a template of vars, which may refer to other ones in any order.
func (r *runner) expandConstant(template string, depth int) (string, error) {
	var err error
	v, unknown := expand(template, func(name string) (string, bool) {
		if given, ok := r.opts.Vars[name]; ok {
			return given, true
		}
		t, ok := r.script.Vars[name]
		if !ok {
			return r.variable(name)
		}
		if depth > len(r.script.Vars) {
			err = errors.New("variables name each other in a circle")
			return "", true
		}
		v, e := r.expandConstant(t, depth+1)
		err = cmp.Or(err, e)
		return v, true
	}, nil)
	return v, cmp.Or(err, unknown)
}

// variable returns the value of a variable. ok is false if it has none.
func (r *runner) variable(name string) (string, bool) {
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

// expand replaces the variables in a template.
func (r *runner) expand(template string) (string, error) {
	return expand(template, r.variable, nil)
}

// runSteps runs steps until one fails.
func (r *runner) runSteps(steps []Step) error {
	r.depth++
	defer func() { r.depth-- }()
	for i := range steps {
		if err := r.runStep(&steps[i]); err != nil {
			r.addSkipped(steps[i+1:], err)
			return err
		}
	}
	return nil
}

// runStep runs a step and records its result.
func (r *runner) runStep(s *Step) error {
	began := time.Now()
	at := r.addResult(s)
	if r.opts.OnStepStart != nil {
		r.opts.OnStepStart(s.result(r.depth - 1))
	}
	err := r.runWithTimeout(s, func() error { return s.action.run(r, s) })
	var res Result
	if at >= 0 {
		res = r.report.Steps[at]
	}
	res.DurationMS = time.Since(began).Milliseconds()
	res.Status = Passed
	if isFailure(err) {
		res.Status, res.Error = Failed, err.Error()
	}
	if at >= 0 {
		r.report.Steps[at] = res
	}
	if r.opts.OnStepEnd != nil {
		r.opts.OnStepEnd(res)
	}
	return err
}

// addResult adds a step to the report. It returns the index, or -1 if the report is full.
func (r *runner) addResult(s *Step) int {
	if len(r.report.Steps) >= maxResults {
		r.report.Omitted++
		return -1
	}
	r.report.Steps = append(r.report.Steps, s.result(r.depth-1))
	return len(r.report.Steps) - 1
}

// result returns the result of a step that has not run yet.
func (s *Step) result(depth int) Result {
	res := Result{Pos: s.Pos, Verb: s.Verb, Name: s.Name, Depth: depth}
	if d, ok := s.action.(interface{ detail() string }); ok {
		res.Detail = d.detail()
	}
	return res
}

// addSkipped adds the steps after a failure to the report.
func (r *runner) addSkipped(steps []Step, err error) {
	if !isFailure(err) {
		return
	}
	for i := range steps {
		if at := r.addResult(&steps[i]); at >= 0 {
			r.report.Steps[at].Status = Skipped
		}
	}
}

// runWithTimeout runs f under the timeout of a step, which includes nested steps.
func (r *runner) runWithTimeout(s *Step, f func() error) error {
	if err := r.ctx.Err(); err != nil {
		return r.timeoutError(err)
	}
	if s.Timeout == 0 {
		return f()
	}
	outermost, outer := r.outerCtx, r.ctx
	ctx, cancel := context.WithTimeout(outer, s.Timeout)
	defer cancel()
	r.ctx, r.outerCtx = ctx, outer
	err := f()
	r.ctx, r.outerCtx = outer, outermost
	return err
}

// stepContext returns the context of a step that waits, and its timeout.
func (r *runner) stepContext(s *Step) (ctx context.Context, cancel context.CancelFunc, after time.Duration) {
	if s.Timeout > 0 { // runWithTimeout has set it
		return r.ctx, func() {}, s.Timeout
	}
	after = cmp.Or(r.script.StepTimeout, r.opts.StepTimeout, defaultStepTimeout)
	ctx, cancel = context.WithTimeout(r.ctx, after)
	return ctx, cancel, after
}

// timeoutError converts a context's error for the report.
func (r *runner) timeoutError(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("time ran out")
	}
	return err
}

// completeReport sets the outcome of the run, and the program's exit status if it has ended.
func (r *runner) completeReport(ctx context.Context, err error) {
	rep := &r.report
	var l *loopControlError
	if errors.As(err, &l) {
		err = nil
	}
	rep.OK = err == nil
	rep.DurationMS = time.Since(rep.Started).Milliseconds()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	v, stateErr := r.driver.State(ctx)
	if stateErr == nil && !v.Exited && r.waitForExit(ctx) {
		v, stateErr = r.driver.State(ctx)
	}
	if stateErr == nil && v.Exited {
		rep.ExitCode = &v.ExitCode
	}
	if err != nil {
		rep.Error = err.Error()
		if stateErr == nil {
			rep.Screen = v.Screen
		}
	}
}

// endGrace is how long a program may take to end after the last step: most scripts end with an expect of its last
// output.
const endGrace = 250 * time.Millisecond

// waitForExit waits at most endGrace, and reports whether the program ended.
func (r *runner) waitForExit(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, endGrace)
	defer cancel()
	_, err := r.driver.Expect(ctx, []Pattern{{Exit: true}})
	return err == nil
}

// loopControlError carries a break or continue to its loop.
type loopControlError struct{ loopControl }

// Error returns a message for a break or continue without a loop, which Load rejects.
func (l *loopControlError) Error() string { return "not in a loop" }

// isFailure reports whether err ends the script. A break or continue does not.
func isFailure(err error) bool {
	var l *loopControlError
	return err != nil && !errors.As(err, &l)
}
