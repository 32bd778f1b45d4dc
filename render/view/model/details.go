package model

import "time"

// Detail is a line about a session, with an action.
type Detail struct {
	Group  string // heading, such as environment
	Text   string
	Note   string // short text on the right
	Tone   Tone
	Action DetailAction
}

// Tone is the look of a line: neutral, good, bad and so on.
type Tone uint8

// Tones.
const (
	TonePlain Tone = iota
	ToneGood
	ToneBad
	ToneWarn
	ToneBusy
	ToneWants
)

// DetailAction is the action of a line: one field is set, or none.
type DetailAction struct {
	Copy      string // copy this text
	Command   int    // show the output of this command of the shell
	Rule      string // remove this response rule
	Job       string // stop this job
	Approvals bool   // open the pending approvals
	Size      bool   // choose the size policy
	Errors    bool   // open the list of errors
	Answer    bool   // answer the program's prompt
	Client    int    // make this client view-only, or let it type (Types)
	Types     bool   // value to set for Client
}

// Summary is a one-line summary of a session.
type Summary struct {
	Last string    // its last non-empty line
	At   time.Time // when it was read
}
