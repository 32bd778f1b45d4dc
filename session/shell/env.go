package shell

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Env has the exported variables of a shell.
type Env map[string]string

// ErrIncompleteEnv is returned for an environment that is being written: read it again after the next prompt.
var ErrIncompleteEnv = errors.New("the environment is just being written")

// maxEnvironBytes bounds the file that ReadEnv reads: a shell cannot pass more than this to a program.
const maxEnvironBytes = 16 << 20

// ReadEnv returns the environment that the shell wrote to its state directory before its newest prompt, and that
// prompt's number. It omits the shell's internal variables.
func ReadEnv(dir string) (env Env, prompt uint64, err error) {
	f, err := os.Open(filepath.Join(dir, "environ"))
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, maxEnvironBytes))
	if err != nil {
		return nil, 0, err
	}
	return ParseEnviron(b)
}

// ParseEnviron parses the file that the scripts write:
//
//	longterm-env 1 FORMAT PROMPT\n … # end PROMPT\n
//
// The format is "nul" (NAME=value, each ended by a zero byte) or "sh" (declarations in the shell's syntax). The scripts
// cannot rename a file without starting a program, so the last line marks a complete file.
func ParseEnviron(b []byte) (Env, uint64, error) {
	head, body, _ := bytes.Cut(b, []byte("\n"))
	var format, number string
	if fields := strings.Fields(string(head)); len(fields) == 4 && fields[0] == "longterm-env" && fields[1] == "1" {
		format, number = fields[2], fields[3]
	} else {
		return nil, 0, ErrIncompleteEnv
	}
	prompt, err := strconv.ParseUint(number, 10, 63)
	if err != nil {
		return nil, 0, fmt.Errorf("environment of prompt %q: %w", number, ErrIncompleteEnv)
	}
	body, whole := bytes.CutSuffix(body, []byte("# end "+number+"\n"))
	if !whole {
		return nil, 0, ErrIncompleteEnv
	}
	var env Env
	switch format {
	case "nul":
		env = parseNul(string(body))
	case "sh":
		if env, err = ParseDeclarations(string(body)); err != nil {
			return nil, 0, err
		}
	default:
		return nil, 0, fmt.Errorf("environment in the unknown format %q", format)
	}
	maps.DeleteFunc(env, func(name, _ string) bool { return isBookkeeping(name) })
	return env.compact(), prompt, nil
}

// compact returns the same environment in one piece of memory. An environment is stored as long as its shell waits, and
// its strings would retain the whole file and the unused capacity of their buffers.
func (e Env) compact() Env {
	size := 0
	for name, value := range e {
		size += len(name) + len(value)
	}
	var all strings.Builder
	all.Grow(size) // so that it is never reallocated
	packed := make(Env, len(e))
	for name, value := range e {
		from := all.Len()
		all.WriteString(name)
		all.WriteString(value)
		both := all.String()[from:]
		packed[both[:len(name)]] = both[len(name):]
	}
	return packed
}

// parseNul parses NAME=value pairs, each ended by a zero byte.
func parseNul(s string) Env {
	env := Env{}
	for kv := range strings.SplitSeq(s, "\x00") {
		if name, value, ok := strings.Cut(kv, "="); ok && name != "" {
			env[name] = value
		}
	}
	return env
}

// isBookkeeping reports whether a variable changes with every command, or belongs to the integration.
func isBookkeeping(name string) bool {
	switch name {
	case "_", "PS0", "PS1", "PS2", "PROMPT", "PROMPT2", "PROMPT_COMMAND", "SHLVL", "OLDPWD", "PWD", "_AST_FEATURES":
		return true
	}
	return strings.HasPrefix(name, "__longterm_") || strings.HasPrefix(name, "_longterm_") || strings.HasPrefix(name, "LONGTERM_SHELL_")
}

// EnvChangeKind is the kind of a change of a variable.
type EnvChangeKind string

// Kinds of changes.
const (
	EnvSet     EnvChangeKind = "set"
	EnvChanged EnvChangeKind = "changed"
	EnvUnset   EnvChangeKind = "unset"
)

// EnvChange is the change of a variable. It omits the value of a secret.
type EnvChange struct {
	Name     string        `json:"name"`
	Kind     EnvChangeKind `json:"kind"`
	Value    string        `json:"value,omitempty"`
	Redacted bool          `json:"redacted,omitempty"`
}

// DiffEnv returns the changes from one environment to another, sorted by name.
func DiffEnv(before, after Env) []EnvChange {
	var changes []EnvChange
	for name, value := range after {
		was, had := before[name]
		switch {
		case !had:
			changes = append(changes, newEnvChange(name, EnvSet, value))
		case was != value:
			changes = append(changes, newEnvChange(name, EnvChanged, value))
		}
	}
	for name := range before {
		if _, has := after[name]; !has {
			changes = append(changes, EnvChange{Name: name, Kind: EnvUnset})
		}
	}
	slices.SortFunc(changes, func(a, b EnvChange) int { return strings.Compare(a.Name, b.Name) })
	return changes
}

// newEnvChange returns a change, redacted for a secret.
func newEnvChange(name string, kind EnvChangeKind, value string) EnvChange {
	if IsSecret(name, value) {
		return EnvChange{Name: name, Kind: kind, Redacted: true}
	}
	return EnvChange{Name: name, Kind: kind, Value: value}
}
