package shell

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/shellquote"
)

// EnvUpdateFile returns the name and content of a file for a shell's state directory. Before its next prompt the shell
// exports the variables, unsets those that are nil, and empties the file.
func EnvUpdateFile(kind Kind, env map[string]*string) (name string, text []byte, err error) {
	name, unset, export, quote := "renew.sh", "builtin unset %s\n", "builtin export %s=%s\n", shellquote.Word
	if kind == Fish {
		name, unset, export, quote = "renew.fish", "set -eg %s\n", "set -gx %s %s\n", quoteFish
	}
	var b bytes.Buffer
	for _, variable := range slices.Sorted(maps.Keys(env)) {
		if !IsVariableName(variable) {
			return "", nil, fmt.Errorf("renew the environment: %q is no variable's name", variable)
		}
		if value := env[variable]; value == nil {
			fmt.Fprintf(&b, unset, variable)
		} else {
			fmt.Fprintf(&b, export, variable, quote(*value))
		}
	}
	return name, b.Bytes(), nil
}

// IsVariableName reports whether a text is valid as a variable's name in any shell.
func IsVariableName(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case c == '_', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', i > 0 && c >= '0' && c <= '9':
		default:
			return false
		}
	}
	return name != ""
}

// quoteFish quotes a text for fish.
func quoteFish(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
}
