// Package junit writes results of tests as JUnit XML: the parts of the format that its readers agree on.
package junit

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"time"
)

// Suite is a set of tests. Its counts may include tests without a Case.
type Suite struct {
	Name      string `xml:"name,attr"`
	Tests     int    `xml:"tests,attr"`
	Failures  int    `xml:"failures,attr"`
	Skipped   int    `xml:"skipped,attr"`
	Time      string `xml:"time,attr"`
	Timestamp string `xml:"timestamp,attr"`
	Cases     []Case `xml:"testcase"`
	Output    string `xml:"system-out,omitempty"`
}

// Case is a test.
type Case struct {
	Name    string    `xml:"name,attr"`
	Class   string    `xml:"classname,attr"`
	Time    string    `xml:"time,attr"`
	Failure *Failure  `xml:"failure"`
	Skipped *struct{} `xml:"skipped"`
}

// Failure is the reason of a failed test.
type Failure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// Write writes suites as one document. Invalid UTF-8 and characters that XML lacks are replaced.
func Write(w io.Writer, suites []Suite) error {
	doc := struct {
		XMLName xml.Name `xml:"testsuites"`
		Suites  []Suite  `xml:"testsuite"`
	}{Suites: suites}
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

// Seconds returns a time as JUnit has it.
func Seconds(ms int64) string { return strconv.FormatFloat(float64(ms)/1000, 'f', 3, 64) }

// Timestamp returns a moment as JUnit has it.
func Timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05") }
