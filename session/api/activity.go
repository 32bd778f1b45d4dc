package api

import "time"

// Progress is how far a program is: as it reports (OSC 9;4), else as its output says.
type Progress struct {
	State   string `json:"state" enum:"normal,error,indeterminate,paused"`
	Percent int    `json:"percent"`
	Current int64  `json:"current,omitempty" doc:"steps or bytes done, where they are counted"`
	Total   int64  `json:"total,omitempty"`
	Label   string `json:"label,omitempty" doc:"what it works on"`
	// Reported says that the program itself told.
	Reported bool `json:"reported,omitempty" doc:"told by the program (OSC 9;4), not read from its output"`
}

// Activity is what the output of a command says of its work.
type Activity struct {
	N          int       `json:"n,omitempty" doc:"number of the command; absent: the session's program"`
	Running    bool      `json:"running"`
	Progress   *Progress `json:"progress,omitempty"`
	Errors     int       `json:"errors"`
	Warnings   int       `json:"warnings"`
	FirstError *Problem  `json:"first_error,omitempty"`
	ElapsedMS  int64     `json:"elapsed_ms"`
	ETAMS      *int64    `json:"eta_ms,omitempty" doc:"how long it will take from now; absent: unknown"`
	Partial    bool      `json:"partial,omitempty" doc:"not all output could be read: the counts are at least these"`

	// Due is ETAMS as a time: it stays true when the answer is kept.
	Due *time.Time `json:"due,omitempty" doc:"when it will be done, as far as known"`
}

// Problem is an error in a command's output.
type Problem struct {
	File    string `json:"file,omitempty" doc:"as printed, within a directory that make told of"`
	Line    int    `json:"line,omitempty" doc:"as printed, from 1"`
	Column  int    `json:"column,omitempty" doc:"as printed, from 1"`
	Message string `json:"message"`
	Offset  uint64 `json:"offset" doc:"of the output's line; screen and output take it"`
}
