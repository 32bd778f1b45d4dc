package shell

import (
	"slices"
	"strings"
)

// environment is a list of NAME=value. Of a name that occurs twice the last counts, as
// in os/exec.
type environment []string

func (e environment) get(name string) (string, bool) {
	for _, kv := range slices.Backward(e) {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			return v, true
		}
	}
	return "", false
}

func (e *environment) unset(name string) {
	*e = slices.DeleteFunc(*e, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
}

func (e *environment) set(name, value string) {
	e.unset(name)
	*e = append(*e, name+"="+value)
}

// shim sets name to value and leaves what it was in another variable, from which the
// script puts it back.
func (e *environment) shim(name, saved, value string) {
	was, ok := e.get(name)
	e.unset(saved)
	if ok {
		e.set(saved, was)
	}
	e.set(name, value)
}
