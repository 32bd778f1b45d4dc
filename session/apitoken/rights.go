package apitoken

import (
	"fmt"
	"slices"
	"strings"
)

// Rights are a token's explicit rights; 0: its level applies.
type Rights uint8

// Rights of a token. Any right includes Look.
const (
	Look    Rights = 1 << iota // sees sessions and what they printed
	Type                       // types into sessions, and has lines run in them
	Approve                    // answers approvals
	Manage                     // starts, changes, ends and removes sessions
)

// Everything are all rights.
const Everything = Look | Type | Approve | Manage

var rightNames = []string{"look", "type", "approve", "manage"}

// ParseRights reads the names of rights.
func ParseRights(names []string) (Rights, error) {
	var r Rights
	for _, name := range names {
		i := slices.Index(rightNames, name)
		if i < 0 {
			return 0, fmt.Errorf("%q is no right; there are %s", name, strings.Join(rightNames, ", "))
		}
		r |= 1 << i
	}
	if r != 0 {
		r |= Look
	}
	return r, nil
}

// Names returns the rights' names; nil for none.
func (r Rights) Names() []string {
	var names []string
	for i, name := range rightNames {
		if r&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// level returns the highest level within the rights, for callers that only know levels.
func (r Rights) level() Level {
	switch {
	case r == Everything:
		return All
	default:
		return Read
	}
}

// Rights returns what a grant allows, by level or explicitly. Only the highest level allows approvals and ending
// sessions; the routes decide the rest.
func (g Grant) Rights() Rights {
	switch {
	case g.May != 0:
		return g.May
	case g.Level == Read:
		return Look
	case g.Level == Change:
		return Look | Type
	}
	return Everything
}

// Shows reports whether the grant covers a session.
func (g Grant) Shows(id string, labels map[string]string) bool {
	if g.Session != "" && g.Session != id {
		return false
	}
	if g.Label == "" {
		return true
	}
	key, value, _ := strings.Cut(g.Label, "=")
	got, ok := labels[key]
	return ok && got == value
}

// Whole reports whether the grant covers all sessions.
func (g Grant) Whole() bool { return g.Session == "" && g.Label == "" }

// Of describes the sessions of the grant.
func (g Grant) Of() string {
	switch {
	case g.Session != "":
		return "one session"
	case g.Label != "":
		return "sessions with the label " + g.Label
	}
	return "all sessions"
}

// CheckLabel returns the error of an invalid scope label, key=value.
func CheckLabel(label string) error {
	if key, _, ok := strings.Cut(label, "="); !ok || key == "" {
		return fmt.Errorf("%q is not a label; use key=value", label)
	}
	return nil
}
