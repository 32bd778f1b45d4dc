package respond

import "time"

// ActionKind is the kind of an Action.
type ActionKind string

// Kinds of actions. Perform actions in order.
const (
	ActText    ActionKind = "text"    // type Value as it is
	ActKeys    ActionKind = "keys"    // press the keys named in Value (input.ParseKeys)
	ActSecret  ActionKind = "secret"  // resolve the reference in Value and type that
	ActHook    ActionKind = "hook"    // run the hook Value, with Captures
	ActFail    ActionKind = "fail"    // the rules of Rule's list have failed and ended; Value is the reason
	ActRefused ActionKind = "refused" // a reply was not sent; Value is the reason
	ActMatched ActionKind = "fired"   // a rule matched: Record; its replies follow
)

// Action is a request to the owner of the session.
type Action struct {
	Kind     ActionKind        `json:"kind"`
	Rule     int               `json:"rule"` // index in Set.Rules; -1: none
	Value    string            `json:"value,omitempty"`
	Captures map[string]string `json:"captures,omitempty"` // by number and by name
	Record   *Record           `json:"record,omitempty"`
}

// Record describes a match, for the history. It has references to secrets, never their values.
type Record struct {
	Time        time.Time `json:"time"`
	Rule        int       `json:"rule"`
	Name        string    `json:"name,omitempty"`
	On          Target    `json:"on"`
	Offset      uint64    `json:"offset"`        // end of the output processed before the match
	Row         *uint64   `json:"row,omitempty"` // number of the screen row, for screen rules
	Match       string    `json:"match"`
	MatchNumber int       `json:"use"` // how many times the rule has matched, including this match
	Reply       []Reply   `json:"reply"`
}
