package api

import "time"

// Progress is a program's progress: as the program reports it (OSC 9;4), otherwise as read from its output.
type Progress struct {
	State   string `json:"state" enum:"normal,error,indeterminate,paused"`
	Percent int    `json:"percent"`
	Current int64  `json:"current,omitempty" doc:"steps or bytes done, where they are counted"`
	Total   int64  `json:"total,omitempty"`
	Label   string `json:"label,omitempty" doc:"what it works on"`
	// Reported states that the program itself reported it.
	Reported bool `json:"reported,omitempty" doc:"reported by the program (OSC 9;4), not read from its output"`
}

// Activity describes a command's work as read from its output.
type Activity struct {
	N          int       `json:"n,omitempty" doc:"number of the command; absent: the session's program"`
	Running    bool      `json:"running"`
	Progress   *Progress `json:"progress,omitempty"`
	Errors     int       `json:"errors"`
	Warnings   int       `json:"warnings"`
	FirstError *Problem  `json:"first_error,omitempty"`
	ElapsedMS  int64     `json:"elapsed_ms"`
	ETAMS      *int64    `json:"eta_ms,omitempty" doc:"estimated time left; absent: unknown"`
	Partial    bool      `json:"partial,omitempty" doc:"part of the output could not be read: the counts are lower bounds"`

	// Due is ETAMS as a time: it stays true when the answer is kept.
	Due *time.Time `json:"due,omitempty" doc:"estimated end"`
}

// Problem is an error in a command's output.
type Problem struct {
	File    string `json:"file,omitempty" doc:"as printed, relative to a directory that make reported"`
	Line    int    `json:"line,omitempty" doc:"as printed, from 1"`
	Column  int    `json:"column,omitempty" doc:"as printed, from 1"`
	Message string `json:"message"`
	Offset  uint64 `json:"offset" doc:"of the output's line; screen and output take it"`
}
