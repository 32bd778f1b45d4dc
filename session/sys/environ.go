package sys

import (
	"bytes"
	"iter"
	"strings"
)

// Environ is a process's initial environment in the form of /proc/PID/environ: each entry ends with a NUL.
type Environ []byte

// Lookup returns the first value of a variable.
func (e Environ) Lookup(name string) (value string, ok bool) {
	if name == "" {
		return "", false
	}
	for rest := []byte(e); len(rest) > 0; {
		entry, after, _ := bytes.Cut(rest, []byte{0})
		if len(entry) > len(name) && entry[len(name)] == '=' && string(entry[:len(name)]) == name {
			return string(entry[len(name)+1:]), true
		}
		rest = after
	}
	return "", false
}

// All iterates over the variables in order; it skips text that is not NAME=value.
func (e Environ) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for kv := range strings.SplitSeq(string(e), "\x00") {
			if name, value, ok := strings.Cut(kv, "="); ok && name != "" && !yield(name, value) {
				return
			}
		}
	}
}
