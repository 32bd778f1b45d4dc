package expect

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
)

// The parts of JUnit's format that its readers agree on.
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name      string      `xml:"name,attr"`
		Tests     int         `xml:"tests,attr"`
		Failures  int         `xml:"failures,attr"`
		Skipped   int         `xml:"skipped,attr"`
		Time      string      `xml:"time,attr"`
		Timestamp string      `xml:"timestamp,attr"`
		Cases     []junitCase `xml:"testcase"`
		Output    string      `xml:"system-out,omitempty"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitFailure `xml:"failure"`
		Skipped *struct{}     `xml:"skipped"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes reports as one JUnit document: a suite for each script, a case for
// each step.
func WriteJUnit(w io.Writer, reports ...Report) error {
	var doc junitSuites
	for i := range reports {
		doc.Suites = append(doc.Suites, reports[i].junit())
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (r *Report) junit() junitSuite {
	s := junitSuite{Name: r.Script, Time: seconds(r.DurationMS), Output: r.Screen,
		Timestamp: r.Started.UTC().Format("2006-01-02T15:04:05")}
	failed := false
	for i := range r.Steps {
		c := r.Steps[i].junit(r.Script)
		if c.Failure != nil {
			s.Failures++
			failed = true
		}
		if c.Skipped != nil {
			s.Skipped++
		}
		s.Cases = append(s.Cases, c)
	}
	if !r.OK && !failed { // a failure of no step: a variable that was not given
		s.Failures++
		s.Cases = append(s.Cases, junitCase{Name: "run", Class: r.Script, Time: seconds(0), Failure: &junitFailure{Message: r.Error}})
	}
	s.Tests = len(s.Cases)
	return s
}

func (r *Result) junit(script string) junitCase {
	c := junitCase{Name: r.title(), Class: script, Time: seconds(r.DurationMS)}
	switch r.Status {
	case Failed:
		c.Failure = &junitFailure{Message: r.Error, Text: r.Pos.String() + ": " + r.Error}
	case Skipped:
		c.Skipped = &struct{}{}
	}
	return c
}

// title is a step in a line.
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

func seconds(ms int64) string { return strconv.FormatFloat(float64(ms)/1000, 'f', 3, 64) }
