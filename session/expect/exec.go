package expect

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"time"
)

func (a *spawnAction) run(r *runner, s *Step) error {
	p := Spawn{Cols: a.Cols, Rows: a.Rows}
	var errs []error
	expand := func(template string) string {
		v, err := r.expand(template)
		errs = append(errs, err)
		return v
	}
	p.Line, p.Cwd = expand(a.Line), expand(a.Cwd)
	for _, arg := range a.Argv {
		p.Argv = append(p.Argv, expand(arg))
	}
	if a.Env != nil {
		p.Env = make(map[string]string)
		for name, v := range a.Env {
			p.Env[name] = expand(v)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	ctx, cancel, _ := r.stepContext(s)
	defer cancel()
	return r.driver.Spawn(ctx, p)
}

func (a *spawnAction) detail() string {
	if a.Line != "" {
		return a.Line
	}
	return strings.Join(a.Argv, " ")
}

func (a *inputAction) run(r *runner, s *Step) error {
	in := Input{Kind: a.Kind, Value: a.Text, Force: a.Force}
	if a.Kind != InputSecret {
		quote := func(s string) string { return s }
		if a.Kind == InputKeys {
			quote = func(s string) string { return strings.ReplaceAll(s, "<", "<lt>") }
		}
		v, err := expand(a.Text, r.variable, quote)
		if err != nil {
			return err
		}
		in.Value = v
		if a.Kind == InputKeys && v != a.Text && v != "" && isASCIILetter(v[0]) {
			in.Value = "<" + v[:1] + ">" + v[1:] // C-c in a variable is text
		}
	}
	ctx, cancel, _ := r.stepContext(s)
	defer cancel()
	if in.Value != "" {
		if err := r.driver.Type(ctx, in); err != nil {
			return err
		}
	}
	if !a.Enter {
		return nil
	}
	return r.driver.Type(ctx, Input{Kind: InputKeys, Value: "<Enter>"})
}

// isASCIILetter reports whether b is an ASCII letter.
func isASCIILetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

func (a *inputAction) detail() string { return strconv.Quote(a.Text) }

func (a *expectAction) run(r *runner, s *Step) error {
	patterns, err := a.patterns(r)
	if err != nil {
		return err
	}
	ctx, cancel, after := r.stepContext(s)
	m, err := r.driver.Expect(ctx, patterns)
	cancel()
	switch {
	case err == nil:
	case r.outerContext(s).Err() != nil:
		return r.timeoutError(r.outerContext(s).Err())
	case !errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("expecting %s: %w", describePatterns(patterns), err)
	case a.hasTimeout:
		// The timeout of the step bounds the wait, not the steps after it.
		return r.runOutsideTimeout(s, func() error { return r.runSteps(a.Timeout) })
	default:
		return fmt.Errorf("%s did not appear within %v", describePatterns(patterns), after)
	}
	r.groups = m.Groups
	maps.Copy(r.vars, m.NamedGroups)
	r.recordMatch(s, m.Text)
	if a.Branches[m.Pattern].pattern.Exit {
		r.recordExitStatus()
	}
	return r.runOutsideTimeout(s, func() error { return r.runSteps(a.Branches[m.Pattern].steps) })
}

// outerContext returns the context around a step, without the step's timeout.
func (r *runner) outerContext(s *Step) context.Context {
	if s.Timeout > 0 {
		return r.outerCtx
	}
	return r.ctx
}

// runOutsideTimeout runs nested steps that a step's timeout does not include.
func (r *runner) runOutsideTimeout(s *Step, f func() error) error {
	if s.Timeout == 0 {
		return f()
	}
	inner := r.ctx
	r.ctx = r.outerCtx
	err := f()
	r.ctx = inner
	return err
}

// recordMatch sets the match in the result of the current step.
func (r *runner) recordMatch(s *Step, text string) {
	if n := len(r.report.Steps); n > 0 && r.report.Steps[n-1].Pos == s.Pos {
		r.report.Steps[n-1].Match = text
	}
}

// patterns returns the patterns with their variables expanded. In a regexp a variable's value matches literally.
func (a *expectAction) patterns(r *runner) ([]Pattern, error) {
	var list []Pattern
	for _, b := range a.Branches {
		text, err := r.expand(b.pattern.Text)
		if err != nil {
			return nil, err
		}
		expr, err := expand(b.pattern.Regexp, r.variable, regexp.QuoteMeta)
		if err != nil {
			return nil, err
		}
		list = append(list, Pattern{Text: text, Regexp: expr, Exit: b.pattern.Exit})
	}
	return list, nil
}

func (a *expectAction) detail() string {
	var list []Pattern
	for _, b := range a.Branches {
		list = append(list, b.pattern)
	}
	return describePatterns(list)
}

// describePatterns returns the patterns for messages.
func describePatterns(list []Pattern) string {
	var parts []string
	for _, p := range list {
		switch {
		case p.Exit:
			parts = append(parts, "exit")
		case p.Text != "":
			parts = append(parts, strconv.Quote(p.Text))
		default:
			parts = append(parts, "/"+p.Regexp+"/")
		}
	}
	return strings.Join(parts, " or ")
}

func (a *waitAction) run(r *runner, s *Step) error {
	if a.Exit {
		ctx, cancel, after := r.stepContext(s)
		defer cancel()
		_, err := r.driver.Expect(ctx, []Pattern{{Exit: true}})
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("the program did not end within %v", after)
		}
		r.recordExitStatus()
		return err
	}
	return r.sleep(a.Duration)
}

// sleep waits for d, or until the step's context ends.
func (r *runner) sleep(d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-r.ctx.Done():
		return r.timeoutError(r.ctx.Err())
	}
}

// recordExitStatus sets ${exit}.
func (r *runner) recordExitStatus() {
	if v, err := r.driver.State(r.ctx); err == nil && v.Exited {
		r.vars["exit"] = strconv.Itoa(v.ExitCode)
	}
}

func (a *waitAction) detail() string {
	if a.Exit {
		return "exit"
	}
	return a.Duration.String()
}

func (a *captureAction) run(r *runner, s *Step) error {
	ctx, cancel, _ := r.stepContext(s)
	defer cancel()
	v, err := r.driver.State(ctx)
	if err != nil {
		return err
	}
	for _, p := range a.assignments {
		expr, err := expand(p.value, r.variable, regexp.QuoteMeta)
		if err != nil {
			return err
		}
		re, err := regexp.Compile(expr)
		if err != nil {
			return err
		}
		m := re.FindStringSubmatch(v.Screen)
		if m == nil {
			return fmt.Errorf("nothing on the screen matches /%s/", p.value)
		}
		r.vars[p.name] = m[min(1, len(m)-1)]
	}
	return nil
}

func (a *setAction) run(r *runner, _ *Step) error { return r.assign(a.assignments) }

// assign sets variables.
func (r *runner) assign(list []assignment) error {
	for _, p := range list {
		v, err := r.expand(p.value)
		if err != nil {
			return err
		}
		r.vars[p.name] = v
	}
	return nil
}

func (a *failAction) run(r *runner, _ *Step) error {
	reason, err := r.expand(a.Reason)
	if err != nil {
		return err
	}
	return errors.New(reason)
}
