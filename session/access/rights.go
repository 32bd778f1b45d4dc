package access

import (
	"fmt"
	"slices"
	"strings"
)

// Rights are what a token allows where it says so one by one; 0: it goes by its level.
type Rights uint8

// Rights of a token. Whoever may do anything may look.
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

// Names are the rights' names; of none at all nil.
func (r Rights) Names() []string {
	var names []string
	for i, name := range rightNames {
		if r&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// level is the level that allows no more than the rights do: for whoever only knows levels.
func (r Rights) level() Level {
	switch {
	case r == Everything:
		return All
	default:
		return Read
	}
}

// Rights are what a grant allows, whether it says so by level or one by one. A level allows no approvals and no end
// of sessions unless it is the highest; what else it allows is its routes' to say.
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

// Shows says whether the grant covers a session.
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

// Whole says that the grant covers all sessions.
func (g Grant) Whole() bool { return g.Session == "" && g.Label == "" }

// Of says in words which sessions the grant is for.
func (g Grant) Of() string {
	switch {
	case g.Session != "":
		return "one session"
	case g.Label != "":
		return "sessions with the label " + g.Label
	}
	return "all sessions"
}

// CheckLabel says what is wrong with the label of a scope, key=value.
func CheckLabel(label string) error {
	if key, _, ok := strings.Cut(label, "="); !ok || key == "" {
		return fmt.Errorf("%q is no label; give key=value", label)
	}
	return nil
}
