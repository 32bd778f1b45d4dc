// Package actor says who asks: on whose behalf something is run, read or answered.
//
// An actor is set once, at the edge (the peer of the Unix socket, and the request's header), is carried
// in the request's context, and kept with the records of what was asked. Nobody asks for it again.
package actor

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Header carries the label of an agent in requests. The environment variable Env and the flag --agent
// set it.
const (
	Header = "Longterm-Agent"
	Env    = "LONGTERM_AGENT"
)

// TokenHeader carries the name of the token that was shown to a process of ours, which asks for who showed it.
const TokenHeader = "Longterm-Token"

// HostHeader carries who asks from another host, as in ssh:user@host. It is the word of a process of the same user,
// as the label of an agent is.
const HostHeader = "Longterm-Host"

// MaxLabel is how long a label may be, in bytes.
const MaxLabel = 64

// Actor is who asks. The zero value is the daemon itself.
type Actor struct {
	UID   int    `json:"uid"`
	PID   int    `json:"pid,omitempty" doc:"of the client"`
	Agent string `json:"agent,omitempty" doc:"label of an agent; empty: a person"`
	Token string `json:"token,omitempty" doc:"name of the token that was used"`
	Host  string `json:"host,omitempty" doc:"host that the request came from, where it is not this one"`
	// Policy names the rules that are kept with the session that the client itself runs in: they hold for all it asks for.
	Policy string `json:"policy,omitempty" doc:"rules of the session that the client runs in; they hold for it"`
}

// IsAgent says that what asks is a program on somebody's behalf, not the person.
func (a Actor) IsAgent() bool { return a.Agent != "" }

// String is the actor as records and people read it: "uid 1000 agent claude".
func (a Actor) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "uid %d", a.UID)
	for _, f := range []struct{ name, value string }{{"agent", a.Agent}, {"token", a.Token}, {"host", a.Host}} {
		if f.value != "" {
			b.WriteString(" " + f.name + " " + f.value)
		}
	}
	return b.String()
}

type key struct{}

// With is a context in which a asks.
func With(ctx context.Context, a Actor) context.Context { return context.WithValue(ctx, key{}, a) }

// Of is who asks in a context; nobody being named, it is the zero Actor.
func Of(ctx context.Context) Actor {
	a, _ := ctx.Value(key{}).(Actor)
	return a
}

// CheckLabel says what is wrong with an agent's label. It is shown to people and kept in records: it is
// short, printable and of one word per blank. Empty is no label, and right.
func CheckLabel(label string) error {
	switch {
	case len(label) > MaxLabel:
		return fmt.Errorf("the agent's label is %d bytes long; %d are the most", len(label), MaxLabel)
	case !utf8.ValidString(label):
		return fmt.Errorf("the agent's label %q is not UTF-8", label)
	case label != strings.TrimSpace(label):
		return fmt.Errorf("the agent's label %q begins or ends with a blank", label)
	}
	for _, r := range label {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("the agent's label %q has a character that cannot be printed", label)
		}
	}
	return nil
}
