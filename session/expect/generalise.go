package expect

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/pattern"
	"go.yaml.in/yaml/v3"
)

// Prompts are rarely the same twice: they have the time in them, a directory, a count.

// varying lists the varying parts of a prompt, and their patterns. The first that matches is used.
var varying = []struct{ part, instead string }{
	{`\d{4}-\d{2}-\d{2}`, `\d{4}-\d{2}-\d{2}`},
	{`\d{1,2}:\d{2}(?::\d{2})?`, `\d{1,2}:\d{2}(:\d{2})?`},
	{`\b[0-9a-f]*\d[0-9a-f]*[a-f][0-9a-f]{5,}\b|\b[0-9a-f]*[a-f][0-9a-f]*\d[0-9a-f]{5,}\b`, `[0-9a-f]+`},
	{`(?:^|[\s:(\["'])(?:~|\.{0,2}/)[^\s:$#>)\]"']*`, `\S+`}, // the character before it is kept
	{`\d+(?:\.\d+)*`, `[\d.]+`},
}

var varyingPart = pattern.Lazy(func() string {
	var parts []string
	for _, v := range varying {
		parts = append(parts, "("+v.part+")")
	}
	return strings.Join(parts, "|")
}())

const (
	// maxPrompt is how much of a prompt is looked for, in characters.
	maxPrompt = 80
	// plainPrompt is the length from which a prompt is distinct from other output at any position.
	plainPrompt = 6
)

// generalise returns a pattern that matches a prompt, also with other values in its varying parts.
func generalise(prompt string) Pattern {
	begin := "^"
	for utf8.RuneCountInString(prompt) > maxPrompt {
		_, n := utf8.DecodeRuneInString(prompt)
		prompt, begin = prompt[n:], ""
	}
	var b strings.Builder
	at := 0
	for _, m := range varyingPart.FindAllStringSubmatchIndex(prompt, -1) {
		from, instead := m[0], ""
		for i, v := range varying {
			if m[2+2*i] >= 0 {
				instead = v.instead
			}
		}
		if instead == `\S+` && !strings.ContainsRune("~./", rune(prompt[from])) {
			from++ // the character before a path
		}
		b.WriteString(quote(prompt[at:from]) + instead)
		at = m[1]
	}
	if at == 0 && len(strings.TrimSpace(prompt)) >= plainPrompt {
		return Pattern{Text: prompt}
	}
	b.WriteString(quote(prompt[at:]))
	return Pattern{Regexp: begin + b.String() + "$"}
}

// quote makes text part of a regexp in a template.
func quote(s string) string { return literal(regexp.QuoteMeta(s)) }

// node returns a pattern as a YAML node.
func (p Pattern) node() *yaml.Node {
	if p.Text != "" {
		return text(literal(p.Text))
	}
	return mapping("regexp", text(p.Regexp))
}
