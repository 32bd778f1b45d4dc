package redact

import (
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// assignment matches an assignment in a command line: NAME=value, NAME='value', NAME="value".
var assignment = pattern.Lazy(`\b([A-Za-z_][A-Za-z0-9_]*)=(?:'([^']*)'|"([^"$` + "`" + `\\]*)"|([^\s;&|<>()$'"` + "`" + `\\]+))`)

// maxCommand bounds the part of a command line that is searched for assignments, in bytes.
const maxCommand = 64 << 10

// RedactCommand returns a command line with its secrets masked. It first learns values that the line assigns to secret
// variables.
func (v *Vault) RedactCommand(line string) string {
	if v == nil {
		return line
	}
	if head := line[:min(len(line), maxCommand)]; strings.Contains(head, "=") {
		names := v.names()
		for _, m := range assignment.FindAllStringSubmatch(head, -1) {
			if names.Match(m[1]) {
				v.Learn(m[2] + m[3] + m[4])
			}
		}
	}
	return v.Set().RedactText(line)
}
