package expect

import "time"

// Report is the result of a run.
type Report struct {
	Script     string    `json:"script"`
	OK         bool      `json:"ok"`
	Error      string    `json:"error,omitempty"`
	Started    time.Time `json:"started"`
	DurationMS int64     `json:"duration_ms"`
	Steps      []Result  `json:"steps"`
	Omitted    int       `json:"omitted,omitempty"` // steps that are not listed, as there are too many
	ExitCode   *int      `json:"exit_code"`         // of the program, if it has ended
	Screen     string    `json:"screen,omitempty"`  // at a failure
}

// Status is the outcome of a step.
type Status string

// Statuses.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Skipped Status = "skipped" // a step before it failed
)

// Result is the result of a step. It shows input as written in the script, with variables unexpanded, as their values
// may be confidential.
type Result struct {
	Pos
	Verb       string `json:"verb"`
	Name       string `json:"name,omitempty"`
	Detail     string `json:"detail,omitempty"` // the input or the patterns
	Depth      int    `json:"depth,omitempty"`  // of nesting
	Status     Status `json:"status"`
	Match      string `json:"match,omitempty"` // text that an expectation matched
	Error      string `json:"error,omitempty"`
	DurationMS int64  `json:"duration_ms"`
}

// maxResults bounds the steps in a report.
const maxResults = 10_000
