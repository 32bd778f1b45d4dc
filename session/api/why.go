package api

import (
	"time"

	"github.com/longterm-dev/longterm/session/output/diagnostics"
)

// Why compares a run of a command with a good run of the same command.
type Why struct {
	Run  ComparedRun  `json:"run"`
	Good *ComparedRun `json:"good,omitempty" doc:"the run for comparison: the newest good run before it, or the requested one; absent: none"`
	// Match describes how similar the commands are.
	Match      string   `json:"match,omitempty" enum:"same,project,similar,given" doc:"same: the same words in the same directory; project: the same words elsewhere in the project; similar: other options or variables; given: the caller named the run"`
	Recent     int      `json:"recent_runs,omitempty" doc:"earlier runs of the same words in the same directory, at most 20"`
	RecentBad  int      `json:"recent_failures,omitempty" doc:"number of failures among them"`
	FirstError *WhyLine `json:"first_error,omitempty" doc:"the first error or failure in the output; only without a good run"`

	New          []WhyLine `json:"new_lines,omitempty" doc:"lines without a counterpart in the good run: the first ones, and those that look like failures. Differences in numbers, times, ids, directories and colours are ignored"`
	NewLines     int       `json:"new_line_count"`
	Missing      []WhyLine `json:"missing_lines,omitempty" doc:"the first lines of the good run without a counterpart"`
	MissingLines int       `json:"missing_line_count"`
	Partial      bool      `json:"partial,omitempty" doc:"only part of the output was compared: it is too large, or was removed"`

	diagnostics.Changes
	Versions []WhyVersion `json:"versions,omitempty" doc:"versions that both runs printed and that differ"`
	SlowerMS int64        `json:"slower_ms" doc:"additional time compared with the good run; negative: it was faster"`

	Variables []WhyVariable `json:"variables,omitempty" doc:"environment variables that differ, as far as sessions report them; secrets are masked"`
	Commits   []WhyCommit   `json:"commits,omitempty" doc:"commits since the good run, newest first"`
	Dropped   int           `json:"dropped_commits,omitempty" doc:"commits of the good run that are missing now"`
	Committed []string      `json:"committed_files,omitempty" doc:"files that these commits changed"`
	Files     []string      `json:"changed_files,omitempty" doc:"uncommitted files that were changed or created since the good run"`
	Locks     []string      `json:"lock_files,omitempty" doc:"lock files of package managers among these files"`
	FileCount int           `json:"changed_file_count,omitempty"`
	Notes     []string      `json:"notes,omitempty" doc:"what could not be compared, and why"`
}

// ComparedRun is one run of a command.
type ComparedRun struct {
	Session    string    `json:"session"`
	Name       string    `json:"name" doc:"of its session"`
	Command    int       `json:"command,omitempty" doc:"its number in the session; absent: the session's own program"`
	Line       string    `json:"line"`
	Cwd        string    `json:"cwd,omitempty"`
	State      string    `json:"state" enum:"running,done,lost"`
	ExitCode   *int      `json:"exit_code"`
	Signal     string    `json:"signal,omitempty"`
	Started    time.Time `json:"started,omitzero"`
	Ended      time.Time `json:"ended,omitzero"`
	DurationMS int64     `json:"duration_ms"`
	Output     Range     `json:"output"`
}

// WhyLine is a line of a run's output.
type WhyLine struct {
	Number  int    `json:"number" doc:"from 1"`
	Text    string `json:"text"`
	Telling bool   `json:"telling,omitempty" doc:"it looks like a failure"`
}

// WhyVersion is a version that both runs printed.
type WhyVersion struct {
	Name   string `json:"name"`
	Before string `json:"before" doc:"of the good run"`
	After  string `json:"after"`
}

// WhyVariable is an environment variable that differs.
type WhyVariable struct {
	Name   string  `json:"name"`
	Before *string `json:"before" doc:"of the good run; null: unset, or not changed in its session"`
	After  *string `json:"after" doc:"null: unset, or not changed in its session"`
}

// WhyCommit is a commit.
type WhyCommit struct {
	ID      string `json:"id"`
	Subject string `json:"subject"`
	Author  string `json:"author,omitempty"`
}
