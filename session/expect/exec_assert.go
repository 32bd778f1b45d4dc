package expect

import (
	"fmt"
	"regexp"
	"strings"
)

// run looks once, or until the step's own timeout.
func (a *assert) run(r *runner, s *Step) error {
	for {
		holds, why, err := r.holds(&a.condition, s)
		switch {
		case err != nil:
			return err
		case holds:
			return nil
		case s.Timeout == 0:
			return fmt.Errorf("not so: %s", why)
		}
		if r.sleep(pollEvery) != nil {
			return fmt.Errorf("not so within %v: %s", s.Timeout, why)
		}
	}
}

// holds reports whether a condition holds, and if not, why.
func (r *runner) holds(c *condition, s *Step) (holds bool, why string, err error) {
	why, err = r.compare(c)
	if why == "" && err == nil && c.needsTerminal() {
		ctx, cancel, _ := r.deadline(s)
		defer cancel()
		v, lookErr := r.driver.Look(ctx)
		if lookErr != nil {
			return false, "", lookErr
		}
		why, err = r.check(c, v)
	}
	if why == "" && err == nil && c.Not != nil {
		if holds, _, err = r.holds(c.Not, s); holds {
			why = "what should not be is so"
		}
	}
	return why == "" && err == nil, why, err
}

// needsTerminal reports whether a condition is about the terminal.
func (c *condition) needsTerminal() bool {
	return c.Screen != "" || c.ScreenRegexp != "" || c.Exit != nil || c.Cwd != ""
}

// compare returns why a variable fails a condition, or "".
func (r *runner) compare(c *condition) (why string, err error) {
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

// check returns why a terminal fails a condition, or "".
func (r *runner) check(c *condition, v View) (why string, err error) {
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

func (r *runner) matches(template, text string) (bool, error) {
	expr, err := expand(template, r.value, regexp.QuoteMeta)
	if err != nil {
		return false, err
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return false, err
	}
	return re.MatchString(text), nil
}
