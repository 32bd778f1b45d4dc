package model

import "time"

// Detail is a line of what is known of a session, and where it leads.
type Detail struct {
	Group string // what it belongs to, as in environment
	Text  string
	Note  string // what is said of it on the side
	Tone  Tone
	Lead  Lead
}

// Tone is how a line fares.
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

// Lead is where a line leads: one of these is set, or none.
type Lead struct {
	Copy      string // text for the clipboard
	Command   int    // a command of the session's shell, by its number
	Rule      string // a rule of the session, by its id, to be removed
	Job       string // a job, by its id, to be stopped
	Approvals bool   // what waits for the person's approval
	Size      bool   // whose size the session takes
	Errors    bool   // the errors that it printed, and the editor
	Answer    bool   // what the program asks is answered
	Client    int    // who shows the session, by its number: it looks only from then on, or types again (Types)
	Types     bool   // what Client may then do
}

// Glance is what can be seen of a session in a line.
type Glance struct {
	Last string    // its last line that is not empty
	At   time.Time // when it was looked at
}
