// Package gateway is the one way to every "may this be done".
//
//	Ask → rules in effect → Judgement → allow | deny | approval: recorded, told, waited for → Answer → audit
//
// Whoever is about to have a line typed, a command started, a program executed or a secret shown asks
// here first, and only here; no door has a way around it and none repeats it. An approval is a record
// before it is a question (queue.go is the pure machine of those that are open), so that it outlives
// whoever asked, answered or carried it: asked again with the same id after a restart, an asking finds
// its record. Rules, records, the audit trail and the bus of events are the interfaces of ports.go.
package gateway

import (
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/policy"
)

// Kind is what is asked for.
type Kind string

// The kinds.
const (
	Line      Kind = "line"      // a line for a shell
	Command   Kind = "command"   // argv of run and new
	Execution Kind = "execution" // an execve inside a session
	Network   Kind = "network"   // host:port, of a sandbox
	Reveal    Kind = "reveal"    // a secret
	Write     Kind = "write"     // a file of rules that is trusted, and the like
)

// Ask is what somebody wants to do.
type Ask struct {
	// ID is durable: the same id is the same asking. It is a job's, or an execution's. Asked again after
	// a restart it finds its record.
	ID    string
	Kind  Kind
	Actor actor.Actor

	Session, Name string // of the session; empty: none yet
	Labels        map[string]string

	Line, Shell string // of a line
	Path        string // of an execution: the file that is executed; of a network: "host:port"; else what it is about
	Argv        []string
	Cwd, Home   string

	// Depth and Parent are of an execution: 0 is what was asked for; Parent is the argv of what started it.
	Depth  int
	Parent []string

	Policy string // preset or name of rules that the call asked for, or that is kept with the session
	Yes    bool   // skips asking, never denials
}

// Answer is what came of an asking that may go ahead.
type Answer struct {
	Verdict   policy.Verdict
	Judgement policy.Judgement
	Approval  string // "A7"; empty: nobody had to be asked
	Feedback  string // what the person who answered said
	Scope     string // "once", "session" or "always" when an approval answered it
}
