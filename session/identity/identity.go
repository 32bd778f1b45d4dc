// Package identity identifies the caller of each request: the user or agent on whose behalf it runs, reads or answers.
//
// An actor is set once, at the edge (from the peer of the Unix socket and the request's header), travels in the
// request's context, and is stored with records.
package identity

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

// TokenHeader carries the name of the token that one of our processes verified, which then acts for its holder.
const TokenHeader = "Longterm-Token"

// HostHeader carries the caller on another host, as in ssh:user@host. A process of the same user sets it, like an
// agent's label.
const HostHeader = "Longterm-Host"

// MaxLabel is how long a label may be, in bytes.
const MaxLabel = 64

// Actor is a caller. The zero value is the daemon itself.
type Actor struct {
	UID   int    `json:"uid"`
	PID   int    `json:"pid,omitempty" doc:"of the client"`
	Agent string `json:"agent,omitempty" doc:"label of an agent; empty: a user"`
	Token string `json:"token,omitempty" doc:"name of the token that was used"`
	Host  string `json:"host,omitempty" doc:"host that the request came from, where it is not this one"`
	// Policy names the rules of the session that the client runs in; they apply to all its requests.
	Policy string `json:"policy,omitempty" doc:"rules of the session that the client runs in; they hold for it"`
}

// IsAgent reports whether the caller is a program acting for a user.
func (a Actor) IsAgent() bool { return a.Agent != "" }

// String returns the actor in the form of records: "uid 1000 agent claude".
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

// WithActor returns a context with caller a.
func WithActor(ctx context.Context, a Actor) context.Context { return context.WithValue(ctx, key{}, a) }

// Of returns the caller in a context, or the zero Actor.
func Of(ctx context.Context) Actor {
	a, _ := ctx.Value(key{}).(Actor)
	return a
}

// CheckLabel returns the error of an invalid agent label. Labels are displayed and recorded: short, printable, words
// separated by single blanks. An empty label is valid.
func CheckLabel(label string) error {
	switch {
	case len(label) > MaxLabel:
		return fmt.Errorf("the agent's label is %d bytes long; %d are the most", len(label), MaxLabel)
	case !utf8.ValidString(label):
		return fmt.Errorf("the agent's label %q is not UTF-8", label)
	case label != strings.TrimSpace(label):
		return fmt.Errorf("the agent's label %q starts or ends with a blank", label)
	}
	for _, r := range label {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("the agent's label %q has a character that cannot be printed", label)
		}
	}
	return nil
}
