package api

import (
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/actor"
)

// Attached is a client that shows a session to somebody.
type Attached struct {
	N        int         `json:"n" doc:"its number at the session, for as long as it is there"`
	Kind     string      `json:"kind" enum:"terminal,viewer,page" doc:"attached to a terminal, shown in the viewer, or in the browser"`
	By       actor.Actor `json:"by" doc:"whose it is"`
	Terminal string      `json:"terminal,omitempty" doc:"that it runs on, as in pts/3"`
	May      string      `json:"may" enum:"type,look" doc:"whether what it types reaches the session"`
	Own      bool        `json:"own_choice,omitempty" doc:"it cannot type because it said so when it came, or by its token; that is not changed here"`
	Cols     int         `json:"cols,omitempty" doc:"of its terminal, in cells; absent: it has no say in the session's size"`
	Rows     int         `json:"rows,omitempty"`
	Since    time.Time   `json:"since"`
	Inside   []string    `json:"inside,omitempty" doc:"ids of the session that it runs in itself, and of those that show that one"`
	Typed    *time.Time  `json:"last_typed,omitempty" doc:"when it typed last; absent: it has not"`
}

// Renewal is variables of a person's login for the shells that run. Only those that shells.renew names count.
type Renewal struct {
	Env map[string]*string `json:"env" doc:"values by name; null: unset"`
}

// Forms of Command.By for people who typed a line and are not the user at this machine.
const (
	ByToken = "token:" // with the token's name behind it
	ByHost  = "host:"  // with the host it came from
)

// ByPerson says that a person typed the command, as far as is known.
func (c *Command) ByPerson() bool {
	return c.By == "" || strings.HasPrefix(c.By, ByToken) || strings.HasPrefix(c.By, ByHost)
}

// AttachedEdit changes what a client may do.
type AttachedEdit struct {
	May    string `json:"may,omitempty" enum:"type,look" doc:"whether what it types reaches the session"`
	Detach bool   `json:"detach,omitempty" doc:"have it leave; it is told, and can come back"`
}
