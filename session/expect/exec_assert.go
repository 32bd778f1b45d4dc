package expect

import (
	"fmt"
	"regexp"
	"strings"
)

// run checks the condition once or, with a timeout, until it holds.
func (a *assertAction) run(r *runner, s *Step) error {
	for {
		holds, why, err := r.evaluate(&a.condition, s)
		switch {
		case err != nil:
			return err
		case holds:
			return nil
		case s.Timeout == 0:
			return fmt.Errorf("not so: %s", why)
		}
		if r.sleep(pollInterval) != nil {
			return fmt.Errorf("not so within %v: %s", s.Timeout, why)
		}
	}
}

// evaluate reports whether a condition holds, and if not, why.
func (r *runner) evaluate(c *condition, s *Step) (holds bool, why string, err error) {
	why, err = r.checkVariable(c)
	if why == "" && err == nil && c.needsTerminal() {
		ctx, cancel, _ := r.stepContext(s)
		defer cancel()
		v, stateErr := r.driver.State(ctx)
		if stateErr != nil {
			return false, "", stateErr
		}
		why, err = r.checkTerminal(c, v)
	}
	if why == "" && err == nil && c.Not != nil {
		if holds, _, err = r.evaluate(c.Not, s); holds {
			why = "what should not be is so"
		}
	}
	return why == "" && err == nil, why, err
}

// needsTerminal reports whether a condition depends on the terminal's state.
func (c *condition) needsTerminal() bool {
	return c.Screen != "" || c.ScreenRegexp != "" || c.Exit != nil || c.Cwd != ""
}

// checkVariable returns why a variable does not satisfy a condition, or "".
func (r *runner) checkVariable(c *condition) (why string, err error) {
	if c.Var == "" {
		return "", nil
	}
	got, err := r.expand("${" + c.Var + "}")
	if err != nil {
		return "", err
	}
	if c.Equals != nil {
		want, err := r.expand(*c.Equals)
		if err != nil || got != want {
			return fmt.Sprintf("%s is %q, not %q", c.Var, got, want), err
		}
	}
	if c.Matches != "" {
		if ok, err := r.matches(c.Matches, got); !ok {
			return fmt.Sprintf("%s is %q and does not match /%s/", c.Var, got, c.Matches), err
		}
	}
	return "", nil
}

// checkTerminal returns why a terminal does not satisfy a condition, or "".
func (r *runner) checkTerminal(c *condition, v TerminalState) (why string, err error) {
	if c.Screen != "" {
		want, err := r.expand(c.Screen)
		if err != nil || !strings.Contains(v.Screen, want) {
			return fmt.Sprintf("%q is not on the screen", want), err
		}
	}
	if c.ScreenRegexp != "" {
		if ok, err := r.matches(c.ScreenRegexp, v.Screen); !ok {
			return fmt.Sprintf("nothing on the screen matches /%s/", c.ScreenRegexp), err
		}
	}
	if c.Cwd != "" {
		want, err := r.expand(c.Cwd)
		if err != nil || v.Cwd != want {
			return fmt.Sprintf("the working directory is %q, not %q", v.Cwd, want), err
		}
	}
	if c.Exit != nil && (!v.Exited || v.ExitCode != *c.Exit) {
		if !v.Exited {
			return "the program is running", nil
		}
		return fmt.Sprintf("the exit status is %d, not %d", v.ExitCode, *c.Exit), nil
	}
	return "", nil
}

// matches reports whether text matches a regexp, whose variables match literally.
func (r *runner) matches(template, text string) (bool, error) {
	expr, err := expand(template, r.variable, regexp.QuoteMeta)
	if err != nil {
		return false, err
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return false, err
	}
	return re.MatchString(text), nil
}
