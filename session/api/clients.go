package api

import (
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/identity"
)

// Attached is a client that shows a session.
type Attached struct {
	N         int            `json:"n" doc:"number of the client at the session, until it leaves"`
	Kind      string         `json:"kind" enum:"terminal,viewer,page" doc:"attached to a terminal, shown in the viewer, or in the browser"`
	By        identity.Actor `json:"by" doc:"owner of the client"`
	Terminal  string         `json:"terminal,omitempty" doc:"its terminal, as in pts/3"`
	May       string         `json:"may" enum:"type,look" doc:"whether its input reaches the session"`
	OwnChoice bool           `json:"own_choice,omitempty" doc:"view-only by its own choice or its token; this cannot be changed here"`
	Cols      int            `json:"cols,omitempty" doc:"width of its terminal, in cells; absent: it does not affect the session's size"`
	Rows      int            `json:"rows,omitempty"`
	Since     time.Time      `json:"since"`
	Inside    []string       `json:"inside,omitempty" doc:"ids of the session in which the client runs, and of sessions that show that session"`
	Typed     *time.Time     `json:"last_typed,omitempty" doc:"time of its newest input; absent: none"`
}

// Renewal holds variables of a user's login for running shells. Only those that shells.renew names are used.
type Renewal struct {
	Env map[string]*string `json:"env" doc:"values by name; null: unset"`
}

// Forms of Command.By for a line that was not typed by the local user.
const (
	ByToken = "token:" // followed by the token's name
	ByHost  = "host:"  // followed by the name of the host
)

// TypedByUser reports whether a user typed the command, as far as known.
func (c *Command) TypedByUser() bool {
	return c.By == "" || strings.HasPrefix(c.By, ByToken) || strings.HasPrefix(c.By, ByHost)
}

// AttachedEdit changes what a client may do.
type AttachedEdit struct {
	May    string `json:"may,omitempty" enum:"type,look" doc:"whether its input reaches the session"`
	Detach bool   `json:"detach,omitempty" doc:"detach it; it is notified, and can attach again"`
}
