package expect

import (
	"errors"
	"fmt"
	"strconv"
)

// maxRounds bounds the rounds of a loop.
const maxRounds = 1_000_000

func (a *loopAction) run(r *runner, s *Step) error {
	if a.Times == "" {
		for _, item := range a.Over {
			v, err := r.expand(item)
			if err != nil {
				return err
			}
			if isOver, err := a.runRound(r, s, v); isOver || err != nil {
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
		if isOver, err := a.runRound(r, s, strconv.Itoa(i+1)); isOver || err != nil {
			return err
		}
	}
	return nil
}

// runRound runs the steps with v in the loop's variable. isOver is true after a break.
func (a *loopAction) runRound(r *runner, s *Step, v string) (isOver bool, err error) {
	if a.As != "" {
		r.vars[a.As] = v
	}
	return handleLoopControl(s, r.runSteps(a.Do))
}

// handleLoopControl handles a break or continue for the loop s. isOver is true after a break. Other errors are
// returned.
func handleLoopControl(s *Step, err error) (isOver bool, _ error) {
	var l *loopControlError
	if errors.As(err, &l) && (l.Label == "" || l.Label == s.Label) {
		return !l.IsContinue, nil
	}
	return false, err
}

func (a *loopAction) detail() string {
	if a.Times == "" {
		return fmt.Sprintf("over %d", len(a.Over))
	}
	return a.Times
}

func (a *repeatAction) run(r *runner, s *Step) error {
	why := ""
	for range a.Max {
		if isOver, err := handleLoopControl(s, r.runSteps(a.Do)); isOver || err != nil {
			return err
		}
		holds, reason, err := r.evaluate(&a.Until, s)
		if holds || err != nil {
			return err
		}
		why = reason
	}
	return fmt.Errorf("not so after %d rounds: %s", a.Max, why)
}

func (a *ifAction) run(r *runner, s *Step) error {
	holds, _, err := r.evaluate(&a.If, s)
	switch {
	case err != nil:
		return err
	case holds:
		return r.runSteps(a.Then)
	}
	return r.runSteps(a.Else)
}

func (a *callAction) run(r *runner, _ *Step) error {
	if r.callDepth >= maxCallDepth {
		return fmt.Errorf("procedures are called more than %d deep", maxCallDepth)
	}
	if err := r.assign(a.With); err != nil {
		return err
	}
	r.callDepth++
	defer func() { r.callDepth-- }()
	return r.runSteps(r.script.procedures[a.Procedure].steps)
}

func (a *callAction) detail() string { return a.Procedure }

func (a *includeAction) run(r *runner, _ *Step) error { return r.runSteps(a.Steps) }

func (a *loopControl) run(*runner, *Step) error { return &loopControlError{*a} }
