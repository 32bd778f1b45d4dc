package shell

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/shellquote"
)

// Renewal returns a file for a shell of a kind, and its name in the shell's state directory. Before its next prompt the
// shell exports the variables, unsets those that are nil, and empties the file.
func Renewal(kind Kind, env map[string]*string) (name string, text []byte, err error) {
	name, unset, export, quote := "renew.sh", "builtin unset %s\n", "builtin export %s=%s\n", shellquote.Word
	if kind == Fish {
		name, unset, export, quote = "renew.fish", "set -eg %s\n", "set -gx %s %s\n", quoteFish
	}
	var b bytes.Buffer
	for _, of := range slices.Sorted(maps.Keys(env)) {
		if !IsName(of) {
			return "", nil, fmt.Errorf("renew the environment: %q is no variable's name", of)
		}
		if value := env[of]; value == nil {
			fmt.Fprintf(&b, unset, of)
		} else {
			fmt.Fprintf(&b, export, of, quote(*value))
		}
	}
	return name, b.Bytes(), nil
}

// IsName reports whether a text is a variable's name in any shell.
func IsName(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case c == '_', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', i > 0 && c >= '0' && c <= '9':
		default:
			return false
		}
	}
	return name != ""
}

func quoteFish(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
}
