package expect

import "time"

// Report is the result of a script.
type Report struct {
	Script     string    `json:"script"`
	OK         bool      `json:"ok"`
	Error      string    `json:"error,omitempty"`
	Started    time.Time `json:"started"`
	DurationMS int64     `json:"duration_ms"`
	Steps      []Result  `json:"steps"`
	Omitted    int       `json:"omitted,omitempty"` // steps that are not listed: too many
	ExitCode   *int      `json:"exit_code"`         // of the program, if it ended
	Screen     string    `json:"screen,omitempty"`  // when it failed
}

// Status is the outcome of a step.
type Status string

// Statuses.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Skipped Status = "skipped" // it was not reached because one before it failed
)

// Result is the result of a step. It shows input as written in the script, with variables unexpanded, as their values
// may be confidential.
type Result struct {
	Pos
	Verb       string `json:"verb"`
	Name       string `json:"name,omitempty"`
	Detail     string `json:"detail,omitempty"` // what was typed, what was expected
	Depth      int    `json:"depth,omitempty"`  // of steps in steps
	Status     Status `json:"status"`
	Match      string `json:"match,omitempty"` // what an expectation found
	Error      string `json:"error,omitempty"`
	DurationMS int64  `json:"duration_ms"`
}

// maxResults is how many steps a report lists.
const maxResults = 10_000
