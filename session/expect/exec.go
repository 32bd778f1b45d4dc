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

func (a *spawn) run(r *runner, s *Step) error {
	p := Spawn{Cols: a.Cols, Rows: a.Rows}
	var errs []error
	x := func(template string) string {
		v, err := r.expand(template)
		errs = append(errs, err)
		return v
	}
	p.Line, p.Cwd = x(a.Line), x(a.Cwd)
	for _, arg := range a.Argv {
		p.Argv = append(p.Argv, x(arg))
	}
	if a.Env != nil {
		p.Env = make(map[string]string)
		for name, v := range a.Env {
			p.Env[name] = x(v)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	ctx, cancel, _ := r.deadline(s)
	defer cancel()
	return r.driver.Spawn(ctx, p)
}

func (a *spawn) detail() string {
	if a.Line != "" {
		return a.Line
	}
	return strings.Join(a.Argv, " ")
}

func (a *typing) run(r *runner, s *Step) error {
	in := Input{Kind: a.Kind, Value: a.Text, Force: a.Force}
	if a.Kind != InputSecret {
		quote := func(s string) string { return s }
		if a.Kind == InputKeys {
			quote = func(s string) string { return strings.ReplaceAll(s, "<", "<lt>") }
		}
		v, err := expand(a.Text, r.value, quote)
		if err != nil {
			return err
		}
		in.Value = v
		if a.Kind == InputKeys && v != a.Text && v != "" && asciiLetter(v[0]) {
			in.Value = "<" + v[:1] + ">" + v[1:] // a variable's C-c is text
		}
	}
	ctx, cancel, _ := r.deadline(s)
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

func asciiLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

func (a *typing) detail() string { return strconv.Quote(a.Text) }

func (a *expect) run(r *runner, s *Step) error {
	patterns, err := a.patterns(r)
	if err != nil {
		return err
	}
	ctx, cancel, after := r.deadline(s)
	m, err := r.driver.Expect(ctx, patterns)
	cancel()
	switch {
	case err == nil:
	case r.outerContext(s).Err() != nil:
		return r.late(r.outerContext(s).Err())
	case !errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("expecting %s: %w", describePatterns(patterns), err)
	case a.OnTime:
		// The step's own deadline, if it has one, was for the waiting.
		return r.beyond(s, func() error { return r.steps(a.Timeout) })
	default:
		return fmt.Errorf("%s did not appear within %v", describePatterns(patterns), after)
	}
	r.groups = m.Groups
	maps.Copy(r.vars, m.Names)
	r.noteMatch(s, m.Text)
	if a.Branches[m.Pattern].pattern.Exit {
		r.noteEnd()
	}
	return r.beyond(s, func() error { return r.steps(a.Branches[m.Pattern].do) })
}

// outerContext returns the context around a step.
func (r *runner) outerContext(s *Step) context.Context {
	if s.Timeout > 0 {
		return r.outer
	}
	return r.ctx
}

// beyond runs steps that a step's deadline is not for.
func (r *runner) beyond(s *Step, f func() error) error {
	if s.Timeout == 0 {
		return f()
	}
	inner := r.ctx
	r.ctx = r.outer
	err := f()
	r.ctx = inner
	return err
}

// noteMatch notes what the step that began last found.
func (r *runner) noteMatch(s *Step, text string) {
	if n := len(r.report.Steps); n > 0 && r.report.Steps[n-1].Pos == s.Pos {
		r.report.Steps[n-1].Match = text
	}
}

// patterns returns the patterns with their variables expanded. In a regexp a variable's value matches literally.
func (a *expect) patterns(r *runner) ([]Pattern, error) {
	var list []Pattern
	for _, b := range a.Branches {
		text, err := r.expand(b.pattern.Text)
		if err != nil {
			return nil, err
		}
		expr, err := expand(b.pattern.Regexp, r.value, regexp.QuoteMeta)
		if err != nil {
			return nil, err
		}
		list = append(list, Pattern{Text: text, Regexp: expr, Exit: b.pattern.Exit})
	}
	return list, nil
}

func (a *expect) detail() string {
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

func (a *wait) run(r *runner, s *Step) error {
	if a.Exit {
		ctx, cancel, after := r.deadline(s)
		defer cancel()
		_, err := r.driver.Expect(ctx, []Pattern{{Exit: true}})
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("the program did not end within %v", after)
		}
		r.noteEnd()
		return err
	}
	return r.sleep(a.For)
}

func (r *runner) sleep(d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-r.ctx.Done():
		return r.late(r.ctx.Err())
	}
}

// noteEnd gives ${exit} its value.
func (r *runner) noteEnd() {
	if v, err := r.driver.Look(r.ctx); err == nil && v.Exited {
		r.vars["exit"] = strconv.Itoa(v.ExitCode)
	}
}

func (a *wait) detail() string {
	if a.Exit {
		return "exit"
	}
	return a.For.String()
}

func (a *capture) run(r *runner, s *Step) error {
	ctx, cancel, _ := r.deadline(s)
	defer cancel()
	v, err := r.driver.Look(ctx)
	if err != nil {
		return err
	}
	for _, p := range a.list {
		expr, err := expand(p.value, r.value, regexp.QuoteMeta)
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

func (a *set) run(r *runner, _ *Step) error { return r.assign(a.list) }

func (r *runner) assign(list []pair) error {
	for _, p := range list {
		v, err := r.expand(p.value)
		if err != nil {
			return err
		}
		r.vars[p.name] = v
	}
	return nil
}

func (a *fail) run(r *runner, _ *Step) error {
	reason, err := r.expand(a.Reason)
	if err != nil {
		return err
	}
	return errors.New(reason)
}
