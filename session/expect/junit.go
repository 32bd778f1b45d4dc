package expect

import (
	"fmt"
	"io"

	"github.com/longterm-dev/longterm/session/output/junit"
)

// WriteJUnit writes reports as one JUnit document: a suite for each script, a case for each step.
func WriteJUnit(w io.Writer, reports ...Report) error {
	suites := make([]junit.Suite, len(reports))
	for i := range reports {
		suites[i] = reports[i].junitSuite()
	}
	return junit.Write(w, suites)
}

// junitSuite returns the report as a suite.
func (r *Report) junitSuite() junit.Suite {
	s := junit.Suite{Name: r.Script, Time: junit.Seconds(r.DurationMS), Output: r.Screen,
		Timestamp: junit.Timestamp(r.Started)}
	failed := false
	for i := range r.Steps {
		c := r.Steps[i].junitCase(r.Script)
		if c.Failure != nil {
			s.Failures++
			failed = true
		}
		if c.Skipped != nil {
			s.Skipped++
		}
		s.Cases = append(s.Cases, c)
	}
	if !r.OK && !failed { // a failure before the first step, such as a missing variable
		s.Failures++
		s.Cases = append(s.Cases, junit.Case{Name: "run", Class: r.Script, Time: junit.Seconds(0), Failure: &junit.Failure{Message: r.Error}})
	}
	s.Tests = len(s.Cases)
	return s
}

// junitCase returns the step as a case.
func (r *Result) junitCase(script string) junit.Case {
	c := junit.Case{Name: r.title(), Class: script, Time: junit.Seconds(r.DurationMS)}
	switch r.Status {
	case Failed:
		c.Failure = &junit.Failure{Message: r.Error, Text: r.Pos.String() + ": " + r.Error}
	case Skipped:
		c.Skipped = &struct{}{}
	}
	return c
}

// title describes a step in one line.
func (r *Result) title() string {
	t := fmt.Sprintf("%v %s", r.Pos, r.Verb)
	switch {
	case r.Name != "":
		t += " " + r.Name
	case r.Detail != "":
		t += " " + r.Detail
	}
	return t
}
