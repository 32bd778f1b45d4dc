package expect

import (
	"errors"
	"fmt"
	"strconv"
)

// maxRounds bounds a loop.
const maxRounds = 1_000_000

func (a *loop) run(r *runner, s *Step) error {
	if a.Times == "" {
		for _, item := range a.Over {
			v, err := r.expand(item)
			if err != nil {
				return err
			}
			if over, err := a.round(r, s, v); over || err != nil {
				return err
			}
		}
		return nil
	}
	times, err := r.expand(a.Times)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(times)
	if err != nil || n < 0 || n > maxRounds {
		return fmt.Errorf("%q is no number of rounds", times)
	}
	for i := range n {
		if over, err := a.round(r, s, strconv.Itoa(i+1)); over || err != nil {
			return err
		}
	}
	return nil
}

func (a *loop) round(r *runner, s *Step, v string) (over bool, err error) {
	if a.As != "" {
		r.vars[a.As] = v
	}
	return exitsLoop(s, r.steps(a.Do))
}

// exitsLoop ends the way of a break or continue that is meant for this loop.
func exitsLoop(s *Step, err error) (over bool, _ error) {
	var l *leaving
	if errors.As(err, &l) && (l.Label == "" || l.Label == s.Label) {
		return !l.Next, nil
	}
	return false, err
}

func (a *loop) detail() string {
	if a.Times == "" {
		return fmt.Sprintf("over %d", len(a.Over))
	}
	return a.Times
}

func (a *repeat) run(r *runner, s *Step) error {
	why := ""
	for range a.Max {
		if over, err := exitsLoop(s, r.steps(a.Do)); over || err != nil {
			return err
		}
		holds, reason, err := r.holds(&a.Until, s)
		if holds || err != nil {
			return err
		}
		why = reason
	}
	return fmt.Errorf("not so after %d rounds: %s", a.Max, why)
}

func (a *choose) run(r *runner, s *Step) error {
	holds, _, err := r.holds(&a.If, s)
	switch {
	case err != nil:
		return err
	case holds:
		return r.steps(a.Then)
	}
	return r.steps(a.Else)
}

func (a *call) run(r *runner, _ *Step) error {
	if r.calls >= maxCalls {
		return fmt.Errorf("procedures are called more than %d deep", maxCalls)
	}
	if err := r.assign(a.With); err != nil {
		return err
	}
	r.calls++
	defer func() { r.calls-- }()
	return r.steps(r.script.procedures[a.Procedure].steps)
}

func (a *call) detail() string { return a.Procedure }

func (a *include) run(r *runner, _ *Step) error { return r.steps(a.Steps) }

func (a *leave) run(*runner, *Step) error { return &leaving{*a} }
