package expect

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/pattern"
	"go.yaml.in/yaml/v3"
)

// Prompts vary: they contain the time, a directory or a count.

// varyingParts are regexps of the varying parts of a prompt, and the patterns that replace them. The first that matches
// is used.
var varyingParts = []struct{ part, replacement string }{
	{`\d{4}-\d{2}-\d{2}`, `\d{4}-\d{2}-\d{2}`},
	{`\d{1,2}:\d{2}(?::\d{2})?`, `\d{1,2}:\d{2}(:\d{2})?`},
	{`\b[0-9a-f]*\d[0-9a-f]*[a-f][0-9a-f]{5,}\b|\b[0-9a-f]*[a-f][0-9a-f]*\d[0-9a-f]{5,}\b`, `[0-9a-f]+`},
	{`(?:^|[\s:(\["'])(?:~|\.{0,2}/)[^\s:$#>)\]"']*`, `\S+`}, // without the character before it
	{`\d+(?:\.\d+)*`, `[\d.]+`},
}

// anyVaryingPart matches each varying part, as a group.
var anyVaryingPart = pattern.Lazy(func() string {
	var parts []string
	for _, v := range varyingParts {
		parts = append(parts, "("+v.part+")")
	}
	return strings.Join(parts, "|")
}())

const (
	// maxPrompt bounds the matched end of a prompt, in characters.
	maxPrompt = 80
	// minDistinctPrompt is the length from which a prompt is distinct from other output at any position.
	minDistinctPrompt = 6
)

// generalisePrompt returns a pattern that matches a prompt, also with other values in its varying parts.
func generalisePrompt(prompt string) Pattern {
	begin := "^"
	for utf8.RuneCountInString(prompt) > maxPrompt {
		_, n := utf8.DecodeRuneInString(prompt)
		prompt, begin = prompt[n:], ""
	}
	var b strings.Builder
	at := 0
	for _, m := range anyVaryingPart.FindAllStringSubmatchIndex(prompt, -1) {
		from, replacement := m[0], ""
		for i, v := range varyingParts {
			if m[2+2*i] >= 0 {
				replacement = v.replacement
			}
		}
		if replacement == `\S+` && !strings.ContainsRune("~./", rune(prompt[from])) {
			from++ // the character before a path
		}
		b.WriteString(quotePattern(prompt[at:from]) + replacement)
		at = m[1]
	}
	if at == 0 && len(strings.TrimSpace(prompt)) >= minDistinctPrompt {
		return Pattern{Text: prompt}
	}
	b.WriteString(quotePattern(prompt[at:]))
	return Pattern{Regexp: begin + b.String() + "$"}
}

// quotePattern escapes text for a regexp in a template.
func quotePattern(s string) string { return escapeVariables(regexp.QuoteMeta(s)) }

// node returns a pattern as a YAML node.
func (p Pattern) node() *yaml.Node {
	if p.Text != "" {
		return scalarNode(escapeVariables(p.Text))
	}
	return mappingNode("regexp", scalarNode(p.Regexp))
}
