package expect

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// variableUse is the use of a variable in a template.
type variableUse struct {
	pos  Pos
	name string
}

// noteVariables records the variables of a template.
func (d *decoder) noteVariables(n *yaml.Node, s string) {
	_, _ = expand(s, func(name string) (string, bool) {
		d.variableUses = append(d.variableUses, variableUse{d.pos(n), name})
		return "", true
	}, nil)
}

// expand replaces ${name} by the result of get, converted by quote (nil: unchanged). $${ is a literal ${. The error
// names the first variable that get does not find.
func expand(s string, get func(string) (string, bool), quote func(string) string) (string, error) {
	if !strings.Contains(s, "${") {
		return s, nil
	}
	var b strings.Builder
	var err error
	for {
		i := strings.Index(s, "${")
		if i < 0 {
			b.WriteString(s)
			return b.String(), err
		}
		if i > 0 && s[i-1] == '$' {
			b.WriteString(s[:i-1] + "${")
			s = s[i+2:]
			continue
		}
		name, rest, ok := strings.Cut(s[i+2:], "}")
		if !ok {
			b.WriteString(s)
			return b.String(), err
		}
		v, known := get(name)
		if !known && err == nil {
			err = fmt.Errorf("the variable %q has no value", name)
		}
		if quote != nil {
			v = quote(v)
		}
		b.WriteString(s[:i] + v)
		s = rest
	}
}

// isVariableName reports whether s is valid as the name of a variable.
func isVariableName(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}
