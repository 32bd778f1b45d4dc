package shell

import (
	"slices"
	"strings"
)

// environment is a list of NAME=value. For a name that occurs twice the last value counts, as in os/exec.
type environment []string

// get returns the value of a variable.
func (e environment) get(name string) (string, bool) {
	for _, kv := range slices.Backward(e) {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			return v, true
		}
	}
	return "", false
}

// unset removes a variable.
func (e *environment) unset(name string) {
	*e = slices.DeleteFunc(*e, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
}

// set sets a variable.
func (e *environment) set(name, value string) {
	e.unset(name)
	*e = append(*e, name+"="+value)
}

// replaceSaving sets name to value and its former value in the variable saved, from which the script restores it.
func (e *environment) replaceSaving(name, saved, value string) {
	was, ok := e.get(name)
	e.unset(saved)
	if ok {
		e.set(saved, was)
	}
	e.set(name, value)
}
